#pragma once

#include "planner/search/search.hpp"

namespace smplan {

/// Predicts one exact configuration; fits or not, the numbers are there. Fails if the strategy is
/// invalid for the workload, the stack or the cluster.
Result<Plan> evaluate(const PlanRequest& request, const Catalog& catalog, const InstanceType& instance,
                      std::int32_t count, const Stack& stack, const Strategy& strategy);

/// The one configuration that a request names: one instance type, one count. Degrees not given are 1
/// (data parallel takes what is left) and nothing is offloaded; of sharding, micro-batch, recompute,
/// schedule, stack and collectives not given, the fastest that fits is taken, and said so. The set has
/// exactly one plan; it may not fit (`plans[0].memory.fits()`).
Result<PlanSet> estimate(const PlanRequest& request, const Catalog& catalog, const SearchOptions& options = {});

}  // namespace smplan
