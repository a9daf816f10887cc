#include "cli/commands/plan_source.hpp"

#include "base/clock.hpp"
#include "cli/commands/timed_search.hpp"
#include "cli/request_options.hpp"

namespace smplan::cli {

void add_plan_source(Flags& command, PlanSource& source) {
  command
      .add_option("--plan", source.file,
                  "Answer of `smplan plan --format json`, in the place of a request (- is standard input)")
      ->type_name("FILE");
  add_request_options(command, source.spec);
}

Result<void> check_plan_source(const PlanSource& source) {
  const RequestSpec& spec = source.spec;
  if (source.file && (spec.params || spec.model || spec.hf_config || spec.arch)) {
    return fail("plan-choice", "--plan", "a plan file and a model were given",
                "leave out --plan to search, or the request's flags to read the file");
  }
  return {};
}

Result<PlanSet> searched_plans(const PlanSource& source, const Catalog& catalog) {
  const Result<PlanRequest> request = resolve(source.spec, catalog, environment_region(), Purpose::Plan, now());
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  return timed_search(*request, catalog);
}

}  // namespace smplan::cli
