#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "cli/command.hpp"
#include "cli/commands/job_source.hpp"
#include "cli/render/estimate_page.hpp"
#include "cli/request_options.hpp"
#include "cli/stale_prices.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/preflight/check.hpp"
#include "planner/search/estimate.hpp"
#include "planner/search/search.hpp"

namespace smplan::cli {
namespace {

std::string text_of(const PlanSet& set, const Context& context) {
  switch (context.format) {
    case Format::Json:
      return to_json(set);
    case Format::Csv:
      return to_csv(set);
    case Format::Markdown:
      return estimate_markdown(set);
    case Format::Table:
      return estimate_text(set, context.style);
  }
  return {};
}

struct EstimateFlags {
  RequestSpec spec;
  std::optional<std::string> from;
};

/// Of a job whose types are tried in order: which of them is predicted; empty of others.
std::string types_left_out(const Job& job, const RequestSpec& flags) {
  const std::vector<Job> tried = alternatives_of(job);
  const Job& predicted = estimated_of(tried, flags);
  const auto type_of = [](const Job& one) { return one.instance_type.value_or("one that is not known"); };
  std::string others;
  for (const Job& one : tried) {
    if (&one != &predicted) others += (others.empty() ? "" : ", ") + type_of(one);
  }
  if (others.empty()) return {};
  return fmt::format(
      "predicted on {}; the job tries {} too where there is no capacity: --instances chooses one, smplan check "
      "predicts each",
      type_of(predicted), others);
}

/// What the file says, under the flags.
Result<RequestSpec> spec_of(const EstimateFlags& flags, const Context& context, std::vector<std::string>& notes) {
  if (!flags.from) return flags.spec;
  const Result<Job> job = read_job_source(*flags.from);
  if (!job) return tl::unexpected<Diagnostics>(job.error());
  for (const Unread& u : job->unread)
    notes.push_back(fmt::format("{}: {}", u.where.name().empty() ? *flags.from : u.where.name(), u.why));
  if (const std::string others = types_left_out(*job, flags.spec); !others.empty()) notes.push_back(others);
  return request_of_job(*job, context.catalog, flags.spec, environment_region());
}

Result<Answer> run_estimate(const EstimateFlags& flags, const Context& context) {
  Answer answer;
  const Result<RequestSpec> spec = spec_of(flags, context, answer.notes);
  if (!spec) return tl::unexpected<Diagnostics>(spec.error());
  const Result<PlanRequest> request = resolve(*spec, context.catalog, environment_region(), Purpose::Estimate, now());
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  const Stopwatch watch;
  Result<PlanSet> set = estimate(*request, context.catalog);
  if (!set) return tl::unexpected<Diagnostics>(set.error());
  set->search.seconds = watch.seconds();
  const Plan& plan = set->plans.front();
  answer.text = text_of(*set, context);
  for (std::string& note : stale_price_notes(set->plans)) answer.notes.push_back(std::move(note));
  if (!plan.memory.fits()) {
    answer.code = ExitCode::NoAnswer;
    answer.notes.push_back(verdict(plan) + "; `smplan plan` searches what is not fixed");
  }
  return answer;
}

}  // namespace

Command estimate_command() {
  auto flags = std::make_shared<EstimateFlags>();
  return {"estimate", "Predict one configuration: memory, step time and cost, each broken down",
          "smplan estimate --model llama-2-70b --instances ml.p4d.24xlarge --count 32 --stack fsdp --shard-degree 256\n"
          "  smplan estimate --params 13B --instances ml.p5.48xlarge --count 4 --stack megatron --tp 8 --micro-batch 2",
          [flags](Flags& app) {
            app.add_option("--from", flags->from,
                           "Start from a job: whatever `smplan check` reads; flags go before what it says")
                ->type_name("FILE");
            add_request_options(app, flags->spec);
          },
          [flags](const Context& context) { return run_estimate(*flags, context); }};
}

}  // namespace smplan::cli
