#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/rollout/rollout.hpp"
#include "planner/rl/rl_step.hpp"
#include "planner/search/search.hpp"

namespace smplan {

/// Memory of one device, in the two halves of a step.
struct RlMemory {
  Bytes training;    ///< its peak, beside what a sleeping engine keeps
  Bytes generation;  ///< the engine, beside the states that stay
  Bytes limit;
  Bytes host;  ///< of a node: states and frozen models that wait there, and what training offloads
  Bytes host_limit;
};

/// One complete answer.
struct RlPlan {
  const InstanceType* instance = nullptr;  ///< points into the catalog of the request
  std::int32_t instances = 0;              ///< all of them
  std::int32_t training_instances = 0;
  std::int32_t rollout_instances = 0;  ///< colocated: the same as those that train
  Market market = Market::OnDemand;
  RlPlacement placement = RlPlacement::Colocated;
  bool offloads = false;  ///< training states wait in host memory while the engine generates
  Plan training;          ///< one optimizer step of the policy
  std::optional<Plan> critic;
  std::int32_t rollout_tensor = 1;
  std::int64_t replicas = 0;
  RolloutMemory engine;
  RolloutTime rollout;  ///< of a replica
  RlParts parts;
  RlInterval interval;
  RlMemory memory;
  RunCost cost;
  const Price* price = nullptr;  ///< nullptr where the type has none

  [[nodiscard]] Seconds step() const { return rl_step_time(parts, placement); }
  /// What to tell the engine that it may take of a device (gpu_memory_utilization, mem_fraction_static).
  [[nodiscard]] double engine_share(const RolloutEngine& engine_facts) const;
};

/// What came nearest to a plan, and what it lacks.
struct RlMiss {
  const InstanceType* instance = nullptr;
  std::int32_t instances = 0;
  RlPlacement placement = RlPlacement::Colocated;
  std::string what;  ///< `training`, `the engine`, `the host`, `the run`
  Rejection rejection;
};

/// Ranked answer: the best of each instance type, count, placement and market.
struct RlPlanSet {
  std::vector<RlPlan> plans;  ///< at most training.top
  std::array<std::uint64_t, kRejectionReasonCount> rejected{};
  std::optional<RlMiss> nearest_miss;  ///< only if there is no plan
  std::uint64_t considered = 0;        ///< ways to place, cut and offload that were priced
};

/// Instance types by counts by placements by degrees of the engine by the best strategies of training, which search()
/// finds. Those that generate are a quarter, half or three quarters of the instances where they are split.
///
/// Memory: an engine that sleeps keeps its context and graphs. Training states stay on the devices while it generates,
/// or wait in host memory; frozen models wait there always. The critic is trained on the policy's devices in its turn,
/// and its states stay or wait as the policy's do.
RlPlanSet rl_search(const RlRequest& request, const Catalog& catalog, const SearchOptions& options = {});

}  // namespace smplan
