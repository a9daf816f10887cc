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

namespace {

/// The same request by each framework that it did not compare.
std::optional<Plan> by_other_software(const PlanRequest& request, const RequestSpec& spec, const Catalog& catalog) {
  std::optional<Plan> best;
  for (const Stack& stack : catalog.stacks()) {
    const bool compared = std::any_of(request.stacks.begin(), request.stacks.end(),
                                      [&](const Stack* known) { return known->id == stack.id; });
    if (compared) continue;
    RequestSpec other = spec;
    other.stack = stack.id;
    other.top = "1";
    Result<PlanRequest> resolved = resolve(other, catalog, environment_region());
    if (!resolved) continue;
    resolved->workload = request.workload;
    PlanSet set = search(*resolved, catalog);
    if (set.plans.empty()) continue;
    if (!best || set.plans.front().cost.total() < best->cost.total()) best = std::move(set.plans.front());
  }
  return best;
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

}  // namespace

std::optional<WayOut> way_out(const PlanSet& set, const RequestSpec& spec, const Catalog& catalog) {
  if (!is_short_of_memory(set)) return std::nullopt;
  // Nothing came as far as its memory: what was asked for may be what the compared frameworks do not have.
  if (!set.nearest_miss && !spec.stack) {
    if (auto plan = by_other_software(set.request, spec, catalog)) return WayOut{std::move(*plan), true};
  }
  auto plan = smallest_fit(set.request, spec, catalog);
  return plan ? std::optional(WayOut{std::move(*plan)}) : std::nullopt;
}

}  // namespace smplan::cli
