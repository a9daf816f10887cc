#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "cli/command.hpp"
#include "cli/commands/export_answer.hpp"
#include "cli/commands/timed_search.hpp"
#include "cli/render/no_plan.hpp"
#include "cli/render/plan_table.hpp"
#include "cli/request_options.hpp"
#include "cli/stale_prices.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/export/target.hpp"

namespace smplan::cli {
namespace {

std::string text_of(const PlanSet& set, const Context& context) {
  switch (context.format) {
    case Format::Json:
      return to_json(set);
    case Format::Csv:
      return to_csv(set);
    case Format::Markdown:
      return plan_markdown(set);
    case Format::Table:
      return plan_text(set, context.style);
  }
  return {};
}

struct PlanFlags {
  RequestSpec spec;
  std::optional<std::string> export_target;
};

Result<Answer> run_plan(const PlanFlags& flags, const Context& context) {
  RequestSpec spec = flags.spec;
  if (flags.export_target) {
    const Result<const ExportTarget*> target = find_export_target(*flags.export_target, "--export");
    if (!target) return tl::unexpected<Diagnostics>(target.error());
    // A file that a tool reads has to say the plan; a launcher takes what the stack's own file says.
    if ((*target)->side == TargetSide::Strategy && !spec.launchable) spec.launchable = (*target)->name;
  }
  const Result<PlanRequest> request = resolve(spec, context.catalog, environment_region(), Purpose::Plan, now());
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  const PlanSet set = timed_search(*request, context.catalog);
  Answer answer;
  if (!set.plans.empty()) {
    if (flags.export_target) return export_best(set, *flags.export_target, context);
    answer.text = text_of(set, context);
    answer.notes = stale_price_notes(set.plans);
    return answer;
  }
  answer.code = ExitCode::NoAnswer;
  const std::optional<WayOut> way = way_out(set, spec, context.catalog);
  if (flags.export_target) {
    answer.aside = no_plan_text(set, way, context.style);  // no job: a report is not written where one belongs
  } else if (context.format == Format::Json || context.format == Format::Csv) {
    answer.text = text_of(set, context);
    answer.notes.push_back(no_plan_reason(set, way));
  } else {
    answer.text = no_plan_text(set, way, context.style);
  }
  return answer;
}

}  // namespace

Command plan_command() {
  auto flags = std::make_shared<PlanFlags>();
  return {"plan", "Search instance types, counts and strategies; print the ranked plans",
          "smplan plan --params 13B\n"
          "  smplan plan --model llama-3-70b --tokens 300B --deadline 14d --budget 500000 --instances 'ml.p5*'",
          [flags](Flags& app) {
            add_request_options(app, flags->spec);
            app.add_option("--export", flags->export_target, "Print the best plan as a job, see `smplan export --help`")
                ->type_name("TARGET");
          },
          [flags](const Context& context) { return run_plan(*flags, context); }};
}

}  // namespace smplan::cli
