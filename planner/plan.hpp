#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/cost.hpp"
#include "models/memory.hpp"
#include "models/step.hpp"
#include "planner/request.hpp"

namespace smplan {

/// Why a candidate is no plan. Order is the order of the checks; names are the JSON's `rejected` keys.
enum class RejectionReason {
  Divisibility,
  Unsupported,
  Topology,
  Memory,
  HostMemory,
  Headroom,
  Hourly,
  Deadline,
  Budget,
};
inline constexpr int kRejectionReasonCount = 9;
std::string_view to_string(RejectionReason reason);

/// A candidate that fell short, with how much.
struct Rejection {
  RejectionReason reason = RejectionReason::Divisibility;
  double needed = 0;  ///< base units of what is short (bytes, seconds, USD)
  double available = 0;
};

/// One complete answer.
struct Plan {
  const InstanceType* instance = nullptr;  ///< points into the catalog of the request
  std::int32_t instance_count = 0;
  const Stack* stack = nullptr;
  Strategy strategy;
  std::int64_t micro_batches = 0;
  MemoryEstimate memory;
  StepEstimate step;
  RunCost cost;
  const Price* price = nullptr;  ///< nullptr where the type has none (estimate only)
  std::vector<std::string> warnings;

  [[nodiscard]] std::int64_t gpus() const { return strategy.gpus(); }
  [[nodiscard]] bool over_job_limit() const { return cost.time_to_train() > days(kMaxJobDays); }
};

struct SearchStats {
  std::uint64_t space = 0;      ///< candidates enumerated
  std::uint64_t evaluated = 0;  ///< through the full model
  std::uint64_t pruned = 0;     ///< dismissed by a bound
  double seconds = 0;
  bool exact = true;
};

/// Ranked answer. `plans` is best first in a total order (objective, then cost, time, strategy).
struct PlanSet {
  PlanRequest request;
  std::vector<Plan> plans;          ///< at most request.top
  std::vector<std::size_t> pareto;  ///< indices into `frontier`'s ranks: plans on the time/cost frontier
  std::vector<Plan> frontier;       ///< the whole frontier, fastest last, even beyond `top`
  std::array<std::uint64_t, kRejectionReasonCount> rejected{};
  /// The candidate that came nearest to fitting when nothing does.
  std::optional<Plan> nearest_miss;
  std::optional<Rejection> nearest_miss_reason;
  SearchStats search;
};

}  // namespace smplan
