#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "cli/command.hpp"
#include "cli/commands/export_answer.hpp"
#include "cli/commands/job_source.hpp"
#include "cli/render/rl_page.hpp"
#include "cli/request_options.hpp"
#include "cli/stale_prices.hpp"
#include "planner/preflight/job_rl.hpp"
#include "planner/rl/rl_export.hpp"

namespace smplan::cli {
namespace {

struct RlFlags {
  RlSpec spec;
  std::optional<std::string> model;
  std::optional<std::string> from;
  std::optional<std::string> export_target;
};

std::string text_of(const RlRequest& request, const RlPlanSet& set, const Context& context) {
  if (context.format == Format::Table) return rl_text(request, set, context.style);
  if (context.format == Format::Markdown) return rl_markdown(request, set);
  return render(rl_listing(request, set), context);
}

std::vector<std::string_view> target_names() {
  std::vector<std::string_view> names;
  for (const RlTarget& target : rl_targets()) names.push_back(target.name);
  return names;
}

/// The best plan that the target has words for, as a job.
Result<Answer> export_best_rl(const RlRequest& request, const RlPlanSet& set, const std::string& target,
                              const Context& context) {
  std::optional<Diagnostics> refusal;
  const ExportOptions options;
  for (std::size_t rank = 1; rank <= set.plans.size(); ++rank) {
    const RlPlan& plan = set.plans[rank - 1];
    Result<Answer> answer = export_answer(export_rl({request, plan, rank, options, context.catalog}, target), context);
    if (answer) {
      const std::string why = refusal ? "; of the first, " + refusal->front().message : "";
      answer->notes.insert(answer->notes.begin(),
                           fmt::format("this is plan {}: {}{}", rank, rl_words(request, plan), why));
    }
    if (answer || answer.error().front().code != "not-expressible") return answer;
    if (!refusal) refusal = answer.error();
  }
  return tl::unexpected<Diagnostics>(*refusal);
}

Result<Answer> run_rl(const RlFlags& flags, const Context& context) {
  RlSpec spec = flags.spec;
  if (flags.model && spec.request.model) {
    return fail("conflict", "MODEL and --model", "the model is given twice", "give one of them");
  }
  if (flags.model) spec.request.model = flags.model;
  if (flags.from) {
    const Result<Job> job = read_job_source(*flags.from);
    if (!job) return tl::unexpected<Diagnostics>(job.error());
    Result<RlSpec> said = rl_spec_of_job(*job, context.catalog, std::move(spec));
    if (!said) return tl::unexpected<Diagnostics>(said.error());
    spec = std::move(*said);
  }
  if (flags.export_target) {
    const Result<const RlTarget*> target = find_rl_target(*flags.export_target, "--export");
    if (!target) return tl::unexpected<Diagnostics>(target.error());
    if (!spec.framework) spec.framework = to_string((*target)->framework);
  }
  const Result<RlRequest> request = resolve_rl(spec, context.catalog, environment_region(), now());
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  const RlPlanSet set = rl_search(*request, context.catalog);
  const bool for_people = context.format == Format::Table || context.format == Format::Markdown;
  Answer answer;
  if (set.plans.empty()) {
    answer.code = ExitCode::NoAnswer;
    if (flags.export_target) {
      answer.aside =
          no_rl_plan_text(*request, set, context.style);  // no job: a report is not written where one belongs
    } else if (for_people) {
      answer.text = no_rl_plan_text(*request, set, context.style);
    } else {
      answer.text = text_of(*request, set, context);
      answer.notes.push_back(no_rl_plan_reason(*request, set));
    }
    return answer;
  }
  if (flags.export_target) return export_best_rl(*request, set, *flags.export_target, context);
  answer.text = text_of(*request, set, context);
  std::vector<Plan> trained;
  for (const RlPlan& plan : set.plans) trained.push_back(plan.training);
  answer.notes = spec.left_open;
  for (std::string& note : stale_price_notes(trained)) answer.notes.push_back(std::move(note));
  if (!for_people) answer.notes.push_back("not measured: " + rl_caveat(*request));
  return answer;
}

}  // namespace

Command rl_command() {
  auto flags = std::make_shared<RlFlags>();
  return {
      "rl", "Plan reinforcement learning: instances, placement, training and generation of a step",
      "smplan rl llama-3.1-8b --algorithm grpo --prompts 128 --samples 8 --instances 'ml.p5*'\n"
      "  smplan rl qwen2.5-7b --finetune lora --response-length 2k --response-limit 8k --placement colocated,split\n"
      "  smplan rl llama-3.1-8b --instances ml.p5.48xlarge --export verl --output job/",
      [flags](Flags& app) {
        app.add_option("MODEL", flags->model, "A public model, see `smplan models list`")->type_name("MODEL");
        app.add_option("--from", flags->from,
                       "Start from a job of verl or NeMo-RL, or a HyperPod recipe of verl or of several turns "
                       "(mtrl); flags go before what it says")
            ->type_name("FILE");
        for (const RlName& name : rl_names()) {
          app.add_option(std::string(name.flag), flags->spec.*name.member, std::string(name.help))
              .type_name(std::string(name.type))
              .group("Reinforcement learning");
        }
        app.add_option("--finetune", flags->spec.request.finetune,
                       "What of the policy is trained: all weights, adapters, or adapters on a quantized model [full]")
            .type_name("full|lora|qlora")
            .group("Work");
        app.add_option("--count", flags->spec.request.count,
                       "Instances, those that generate among them: 8, a list 8,16 or a range 1..16 [1,2,4,8,16,32]")
            .type_name("N")
            .group("Hardware");
        add_request_options(app, flags->spec.request, is_rl_member);
        app.add_option("--export", flags->export_target,
                       fmt::format("Print the best plan as a job: {}", fmt::join(target_names(), ", ")))
            ->type_name("TARGET");
      },
      [flags](const Context& context) { return run_rl(*flags, context); }};
}

}  // namespace smplan::cli
