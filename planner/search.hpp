#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/monitor.hpp"
#include "planner/plan.hpp"

namespace smplan {

struct SearchOptions {
  int threads = 0;             ///< 0: all cores. Results do not depend on it.
  Monitor* monitor = nullptr;  ///< counts groups under a stack; a search that it stops is not exact
};

/// The best plans of the whole space that the request spans.
PlanSet search(const PlanRequest& request, const Catalog& catalog, const SearchOptions& options = {});

/// Predicts one exact configuration; fits or not, the numbers are there. Fails if the strategy is
/// invalid for the workload, the stack or the cluster.
Result<Plan> evaluate(const PlanRequest& request, const Catalog& catalog, const InstanceType& instance,
                      std::int32_t count, const Stack& stack, const Strategy& strategy);

/// The one configuration that a request names: one instance type, one count. Degrees not given are 1
/// (data parallel takes what is left) and nothing is offloaded; of sharding, micro-batch, recompute,
/// schedule, stack and collectives not given, the fastest that fits is taken, and said so. The set has
/// exactly one plan; it may not fit (`plans[0].memory.fits()`).
Result<PlanSet> estimate(const PlanRequest& request, const Catalog& catalog, const SearchOptions& options = {});

/// Why the winner won, what bounds it, what the alternatives lose. Plain sentences.
std::vector<std::string> explain(const PlanSet& set, const Catalog& catalog, std::size_t rank = 1,
                                 const SearchOptions& options = {});

}  // namespace smplan
