#include "planner/search/objective.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace smplan {

std::string_view to_string(Objective objective) {
  switch (objective) {
    case Objective::Cost:
      return "cost";
    case Objective::Time:
      return "time";
    case Objective::Balanced:
      return "balanced";
    case Objective::Pareto:
      return "pareto";
  }
  return "unknown";
}

std::optional<Objective> objective_from(std::string_view name) {
  for (const Objective o : {Objective::Cost, Objective::Time, Objective::Balanced, Objective::Pareto}) {
    if (name == to_string(o)) return o;
  }
  return std::nullopt;
}

Score score(const PlanRequest& request, Seconds time_to_train, Usd total) {
  const double time = time_to_train.value();
  const double cost = total.value();
  Score s;
  s.over_limit = time_to_train > request.horizon;
  if (s.over_limit) {
    // Nobody waits years to save a percent: what misses the horizon ranks by how far it misses it.
    s.value = time;
    s.second = cost;
    return s;
  }
  switch (request.objective) {
    case Objective::Cost:
    case Objective::Pareto:
      s.value = cost;
      s.second = time;
      break;
    case Objective::Time:
      s.value = time;
      s.second = cost;
      break;
    case Objective::Balanced:
      s.value = std::pow(cost, request.cost_weight) * std::pow(time, 1 - request.cost_weight);
      s.second = cost;
      break;
  }
  return s;
}

bool hardly_behind(const Score& mine, const Score& best) {
  return mine.over_limit == best.over_limit && mine.value <= best.value * kSimplerMayCost;
}

Complexity complexity(const Strategy& s) {
  Complexity c;
  for (const std::int32_t degree :
       {s.tensor_parallel, s.pipeline_parallel, s.virtual_pipeline, s.context_parallel, s.expert_parallel}) {
    if (degree <= 1) continue;
    c.dimensions += std::has_single_bit(static_cast<std::uint32_t>(degree)) ? 1 : 2;
    c.degrees *= degree;
  }
  if (s.offload.any()) ++c.dimensions;
  if (s.execution != Execution{}) {
    for (const DimensionRow& row : dimensions()) {
      if (row.of_execution && row.applies(s)) ++c.dimensions;
    }
  }
  return c;
}

int variants_per_group(const PlanRequest& request) {
  constexpr int kFewest = 2;
  const auto groups = static_cast<int>(
      std::max<std::size_t>(1, request.instances.size() * request.counts.size() * request.markets.size()));
  return std::max(kFewest, (request.top + groups - 1) / groups);
}

}  // namespace smplan
