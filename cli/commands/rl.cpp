#include <memory>

#include "base/clock.hpp"
#include "cli/command.hpp"
#include "cli/commands/job_source.hpp"
#include "cli/render/rl_page.hpp"
#include "cli/request_options.hpp"
#include "cli/stale_prices.hpp"
#include "planner/preflight/job_rl.hpp"

namespace smplan::cli {
namespace {

struct RlFlags {
  RlSpec spec;
  std::optional<std::string> model;
  std::optional<std::string> from;
};

std::string text_of(const RlRequest& request, const RlPlanSet& set, const Context& context) {
  if (context.format == Format::Table) return rl_text(request, set, context.style);
  if (context.format == Format::Markdown) return rl_markdown(request, set);
  return render(rl_listing(request, set), context);
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
  const Result<RlRequest> request = resolve_rl(spec, context.catalog, environment_region(), now());
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  const RlPlanSet set = rl_search(*request, context.catalog);
  const bool for_people = context.format == Format::Table || context.format == Format::Markdown;
  Answer answer;
  if (set.plans.empty()) {
    answer.code = ExitCode::NoAnswer;
    if (for_people) {
      answer.text = no_rl_plan_text(*request, set, context.style);
    } else {
      answer.text = text_of(*request, set, context);
      answer.notes.push_back(no_rl_plan_reason(*request, set));
    }
    return answer;
  }
  answer.text = text_of(*request, set, context);
  std::vector<Plan> trained;
  for (const RlPlan& plan : set.plans) trained.push_back(plan.training);
  answer.notes = stale_price_notes(trained);
  if (!for_people) answer.notes.push_back("not measured: " + rl_caveat(*request));
  return answer;
}

}  // namespace

Command rl_command() {
  auto flags = std::make_shared<RlFlags>();
  return {"rl", "Plan reinforcement learning: instances, placement, training and generation of a step",
          "smplan rl llama-3.1-8b --algorithm grpo --prompts 128 --samples 8 --instances 'ml.p5*'\n"
          "  smplan rl qwen2.5-7b --finetune lora --response-length 2k --response-limit 8k --placement colocated,split",
          [flags](Flags& app) {
            app.add_option("MODEL", flags->model, "A public model, see `smplan models list`")->type_name("MODEL");
            app.add_option("--from", flags->from,
                           "Start from a job of verl or NeMo-RL, or a HyperPod recipe of verl; flags go before what it "
                           "says")
                ->type_name("FILE");
            for (const RlName& name : rl_names()) {
              app.add_option(std::string(name.flag), flags->spec.*name.member, std::string(name.help))
                  .type_name(std::string(name.type))
                  .group("Reinforcement learning");
            }
            app.add_option(
                   "--finetune", flags->spec.request.finetune,
                   "What of the policy is trained: all weights, adapters, or adapters on a quantized model [full]")
                .type_name("full|lora|qlora")
                .group("Work");
            app.add_option("--count", flags->spec.request.count,
                           "Instances, those that generate among them: 8, a list 8,16 or a range 1..16 [1,2,4,8,16,32]")
                .type_name("N")
                .group("Hardware");
            add_request_options(app, flags->spec.request, is_rl_member);
          },
          [flags](const Context& context) { return run_rl(*flags, context); }};
}

}  // namespace smplan::cli
