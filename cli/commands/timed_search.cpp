#include "cli/commands/timed_search.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "cli/request_options.hpp"
#include "planner/request/names.hpp"

namespace smplan::cli {

PlanSet timed_search(const PlanRequest& request, const Catalog& catalog) {
  const Stopwatch watch;
  PlanSet set = search(request, catalog);
  set.search.seconds = watch.seconds();
  return set;
}

std::optional<Plan> smallest_fit(const PlanRequest& request, const RequestSpec& spec, const Catalog& catalog) {
  const RequestSpec open = without(spec, {RequestGroup::Hardware, RequestGroup::Software, RequestGroup::Dimension,
                                          RequestGroup::Execution, RequestGroup::Goal});
  Result<PlanRequest> relaxed = resolve(open, catalog, environment_region());
  if (!relaxed) return std::nullopt;
  // A model read from standard input cannot be read again; the work is the same in any case.
  relaxed->workload = request.workload;
  relaxed->top = 1000;
  for (const std::int32_t count : {1, 2, 4, 8, 16, 32, 64, 128}) {
    relaxed->counts = {count};
    PlanSet set = search(*relaxed, catalog);
    const auto cheapest = std::min_element(set.plans.begin(), set.plans.end(),
                                           [](const Plan& a, const Plan& b) { return a.cost.hourly < b.cost.hourly; });
    if (cheapest != set.plans.end()) return *cheapest;
  }
  return std::nullopt;
}

}  // namespace smplan::cli
