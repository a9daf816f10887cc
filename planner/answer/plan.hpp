#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/memory/memory.hpp"
#include "models/run/cost.hpp"
#include "models/step/step.hpp"
#include "planner/answer/uncertainty.hpp"
#include "planner/request/request.hpp"

namespace smplan {

/// Why a candidate is no plan. Order is the order of the checks; names are the JSON's `rejected` keys.
enum class RejectionReason {
  Divisibility,
  Unsupported,
  Topology,
  Memory,
  HostMemory,
  Headroom,
  OutOfMemoryRisk,  ///< fits, but runs out more often than the request allows
  Hourly,
  WithoutEfa,        ///< several instances over TCP, which no engineer starts unasked where others have EFA
  TrainingPlan,      ///< more instances than one training plan on offer has
  NoCheckpoints,     ///< long, on spot capacity, and nothing is saved
  TrainingPlanDays,  ///< longer than one training plan on offer lasts
  Deadline,
  Budget,
};
inline constexpr int kRejectionReasonCount = 14;
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
  Market market = Market::OnDemand;
  const Stack* stack = nullptr;            ///< executed as the strategy says
  std::shared_ptr<const Stack> own_stack;  ///< keeps it where it is not as the catalog has it
  Strategy strategy;
  Precision precision = Precision::Bf16;  ///< of the matrix products on this hardware
  std::int64_t micro_batches = 0;
  MemoryEstimate memory;
  StepEstimate step;
  RunCost cost;
  const Price* price = nullptr;      ///< nullptr where the type has none (estimate only)
  const Price* on_demand = nullptr;  ///< of the same type and region; nullptr where none is known
  PeakInterval peak_interval;        ///< of the peak that the device would take if its memory had no end
  double out_of_memory_probability = 0;
  std::vector<std::string>
      unmeasured;  ///< traits that no measured run of the stack had (planner/answer/uncertainty.hpp)
  std::vector<std::string> warnings;

  [[nodiscard]] std::int64_t gpus() const { return strategy.gpus(); }
  /// The same purchase and strategy, whatever the numbers.
  [[nodiscard]] bool same_as(const Plan& other) const {
    return instance == other.instance && instance_count == other.instance_count && market == other.market &&
           stack->id == other.stack->id && strategy == other.strategy;
  }
  [[nodiscard]] bool over_job_limit() const { return !cost.standing && cost.time_to_train() > days(kMaxJobDays); }
};

/// What a reader should know before trusting or ordering the plan: no room left in memory, nothing like it
/// measured, old or derived price, a type that needs a training plan, more than one job's length, low utilisation.
std::vector<std::string> plan_warnings(const PlanRequest& request, const Plan& plan);

/// `space` = `evaluated` + `pruned` + the candidates rejected before the step was priced (divisibility,
/// unsupported, topology, memory, host memory, headroom, risk, hourly). A set of degrees that does not divide
/// counts once, whatever its other dimensions; so does an instance count over the hourly limit.
struct SearchStats {
  std::uint64_t space = 0;      ///< candidates enumerated
  std::uint64_t evaluated = 0;  ///< through the full model
  std::uint64_t pruned = 0;     ///< dismissed by a bound, or by a lighter variant that fits
  double seconds = 0;           ///< set by the caller that owns a clock
  bool exact = true;
};

/// The candidate that came nearest to being a plan, and what it lacks. Memory is always there; step and
/// cost are zero where memory already refuses it.
struct NearestMiss {
  Plan plan;
  Rejection rejection;
};

/// Ranked answer. `plans` is best first in a total order (objective, then cost, time, strategy), at most
/// `variants_per_group` of them on one instance type and count, and one per split of the model (tensor,
/// pipeline, context, expert) and stack, so that the list is ten ideas and not one in ten coats.
struct PlanSet {
  PlanRequest request;
  std::vector<Plan> plans;  ///< at most request.top
  /// All undominated (time to train, total cost) of the whole space, cheapest first.
  std::vector<Plan> frontier;
  std::vector<std::size_t> pareto;  ///< ranks (1-based, into `plans`) that lie on the frontier
  int variants_per_group = 0;
  std::array<std::uint64_t, kRejectionReasonCount> rejected{};
  std::optional<NearestMiss> nearest_miss;  ///< only if there is no plan
  SearchStats search;
};

}  // namespace smplan
