#include <memory>

#include "base/clock.hpp"
#include "cli/command.hpp"
#include "cli/render/estimate_page.hpp"
#include "cli/request_options.hpp"
#include "cli/stale_prices.hpp"
#include "planner/answer/plan_json.hpp"
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

Result<Answer> run_estimate(const RequestSpec& spec, const Context& context) {
  const Result<PlanRequest> request = resolve(spec, context.catalog, environment_region(), Purpose::Estimate, now());
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  const Stopwatch watch;
  Result<PlanSet> set = estimate(*request, context.catalog);
  if (!set) return tl::unexpected<Diagnostics>(set.error());
  set->search.seconds = watch.seconds();
  const Plan& plan = set->plans.front();
  Answer answer;
  answer.text = text_of(*set, context);
  answer.notes = stale_price_notes(set->plans);
  if (!plan.memory.fits()) {
    answer.code = ExitCode::NoAnswer;
    answer.notes.push_back(verdict(plan) + "; `smplan plan` searches what is not fixed");
  }
  return answer;
}

}  // namespace

Command estimate_command() {
  auto spec = std::make_shared<RequestSpec>();
  return {"estimate", "Predict one configuration: memory, step time and cost, each broken down",
          "smplan estimate --model llama-2-70b --instances ml.p4d.24xlarge --count 32 --stack fsdp --shard-degree 256\n"
          "  smplan estimate --params 13B --instances ml.p5.48xlarge --count 4 --stack megatron --tp 8 --micro-batch 2",
          [spec](Flags& app) { add_request_options(app, *spec); },
          [spec](const Context& context) { return run_estimate(*spec, context); }};
}

}  // namespace smplan::cli
