#include "planner/search/incumbents.hpp"

#include <limits>

#include "planner/search/constraints.hpp"

namespace smplan {

bool Incumbents::useless(const PlanRequest& request, const Group& group, const Stack& stack, Seconds step) const {
  // Until something fits, what misses a limit may be the nearest miss.
  if (!has_plan) return false;
  StepEstimate bound;
  bound.components.compute = step;
  const RunCost run = group_cost(group, stack, bound);
  const Seconds time = run.time_to_train();
  const Usd cost = run.total();
  if (limit_rejection(request, run)) return true;
  // The frontier is the whole answer to the pareto objective; otherwise the ranked list is one too.
  const bool ranked = request.objective != Objective::Pareto;
  if (ranked) {
    const Score mine = score(request, time, cost);
    if (!last_shown || mine <= *last_shown || hardly_behind(mine, *first)) return false;
  }
  return is_dominated({time.value(), cost.value()}, frontier);
}

Seconds Incumbents::horizon(const PlanRequest& request, const Group& group, const Stack& stack, Seconds floor) const {
  constexpr int kDoublings = 24;
  constexpr int kHalvings = 8;
  Seconds useful = floor;
  Seconds beyond = floor;
  int doubling = 0;
  do {
    useful = beyond;
    beyond *= 2;
    if (++doubling > kDoublings) return Seconds(std::numeric_limits<double>::infinity());
  } while (!useless(request, group, stack, beyond));
  for (int i = 0; i < kHalvings; ++i) {
    const Seconds middle = (useful + beyond) / 2;
    (useless(request, group, stack, middle) ? beyond : useful) = middle;
  }
  return beyond;
}

}  // namespace smplan
