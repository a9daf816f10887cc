#include "planner/search/constraints.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/run/markets.hpp"

namespace smplan {

std::string_view to_string(RejectionReason reason) {
  switch (reason) {
    case RejectionReason::Divisibility:
      return "divisibility";
    case RejectionReason::Unsupported:
      return "unsupported";
    case RejectionReason::Topology:
      return "topology";
    case RejectionReason::Memory:
      return "memory";
    case RejectionReason::HostMemory:
      return "host_memory";
    case RejectionReason::Headroom:
      return "headroom";
    case RejectionReason::OutOfMemoryRisk:
      return "oom_probability";
    case RejectionReason::Hourly:
      return "max_hourly";
    case RejectionReason::WithoutEfa:
      return "without_efa";
    case RejectionReason::TrainingPlan:
      return "training_plan";
    case RejectionReason::NoCheckpoints:
      return "no_checkpoints";
    case RejectionReason::TrainingPlanDays:
      return "training_plan_days";
    case RejectionReason::Deadline:
      return "deadline";
    case RejectionReason::Budget:
      return "budget";
  }
  return "unknown";
}

std::optional<Rejection> memory_rejection(const MemoryEstimate& memory, double min_headroom, double safe_part) {
  const double wanted = memory.wanted.value();
  const double limit = memory.limit.value();
  if (!memory.fits_device()) return Rejection{RejectionReason::Memory, wanted, limit};
  if (!memory.fits_host()) {
    return Rejection{RejectionReason::HostMemory, memory.host_per_node.value(), memory.host_limit.value()};
  }
  if (!memory.fits_nvme()) {
    return Rejection{RejectionReason::HostMemory, memory.nvme_per_node.value(), memory.nvme_limit.value()};
  }
  const double usable = limit * (1 - min_headroom);
  if (wanted > usable) return Rejection{RejectionReason::Headroom, wanted, usable};
  if (wanted > limit * safe_part) return Rejection{RejectionReason::OutOfMemoryRisk, wanted, limit * safe_part};
  return std::nullopt;
}

std::optional<RejectionReason> fleet_rejection(const PlanRequest& request, const InstanceType& instance, Market market,
                                               std::int32_t count) {
  if (count > 1 && request.types_defaulted) {
    const bool by_tcp = instance.network.kind != NetworkKind::Efa;
    const bool has_efa = std::any_of(request.instances.begin(), request.instances.end(),
                                     [](const InstanceType* i) { return i->network.kind == NetworkKind::Efa; });
    if (by_tcp && has_efa) return RejectionReason::WithoutEfa;
  }
  // UltraServers are sold by the server, not by the block.
  const bool too_large = market == Market::CapacityBlock && instance.sold_in.empty() && count > kMostPlanInstances;
  return too_large ? std::optional(RejectionReason::TrainingPlan) : std::nullopt;
}

bool has_run_limits(const PlanRequest& request) {
  const bool by_plan =
      std::find(request.markets.begin(), request.markets.end(), Market::CapacityBlock) != request.markets.end();
  return by_plan || request.deadline || request.budget || request.run.checkpoint_target == CheckpointTarget::None;
}

std::optional<Rejection> limit_rejection(const PlanRequest& request, const RunCost& cost) {
  if (cost.unsafe) {
    return Rejection{RejectionReason::NoCheckpoints, cost.productive.value(),
                     hours(kSpotWithoutCheckpointHours).value()};
  }
  if (cost.by_training_plan && cost.time_to_train() > days(kMostPlanDays)) {
    return Rejection{RejectionReason::TrainingPlanDays, cost.time_to_train().value(), days(kMostPlanDays).value()};
  }
  const Seconds time = request.confidence ? cost.spread.at(*request.confidence) : cost.time_to_train();
  if (request.deadline && time > *request.deadline) {
    return Rejection{RejectionReason::Deadline, time.value(), request.deadline->value()};
  }
  const Usd total = request.confidence ? cost.cost_at(*request.confidence) : cost.total();
  if (request.budget && total > *request.budget) {
    return Rejection{RejectionReason::Budget, total.value(), request.budget->value()};
  }
  return std::nullopt;
}

std::optional<Rejection> hourly_rejection(const PlanRequest& request, UsdPerSecond hourly) {
  if (request.max_hourly && hourly > *request.max_hourly) {
    return Rejection{RejectionReason::Hourly, hourly.value(), request.max_hourly->value()};
  }
  return std::nullopt;
}

bool nearer(const Rejection& a, const Rejection& b) {
  if (a.reason != b.reason) return a.reason > b.reason;
  return a.needed * b.available < b.needed * a.available;
}

std::string shortfall(const Rejection& r) {
  switch (r.reason) {
    case RejectionReason::Memory:
    case RejectionReason::HostMemory:
    case RejectionReason::Headroom:
    case RejectionReason::OutOfMemoryRisk:
      return fmt::format("needs {}, has {}", format_bytes(Bytes(r.needed)), format_bytes(Bytes(r.available)));
    case RejectionReason::Hourly:
      return fmt::format("costs {}, the limit is {}", format_usd_per_hour(UsdPerSecond(r.needed)),
                         format_usd_per_hour(UsdPerSecond(r.available)));
    case RejectionReason::TrainingPlanDays:
      return fmt::format("takes {}, a training plan on offer lasts {} at most", format_duration(Seconds(r.needed)),
                         format_duration(Seconds(r.available)));
    case RejectionReason::NoCheckpoints:
      return fmt::format("takes {} on spot capacity without checkpoints, more than {} is refused",
                         format_duration(Seconds(r.needed)), format_duration(Seconds(r.available)));
    case RejectionReason::Deadline:
      return fmt::format("takes {}, the deadline is {}", format_duration(Seconds(r.needed)),
                         format_duration(Seconds(r.available)));
    case RejectionReason::Budget:
      return fmt::format("costs {}, the budget is {}", format_usd(Usd(r.needed)), format_usd(Usd(r.available)));
    case RejectionReason::Divisibility:
    case RejectionReason::Unsupported:
    case RejectionReason::Topology:
    case RejectionReason::WithoutEfa:
    case RejectionReason::TrainingPlan:
      return {};
  }
  return {};
}

std::string rejections(std::span<const std::uint64_t, kRejectionReasonCount> rejected) {
  std::string text;
  for (int i = 0; i < kRejectionReasonCount; ++i) {
    const std::uint64_t n = rejected[static_cast<std::size_t>(i)];
    if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(static_cast<RejectionReason>(i)), n);
  }
  return text;
}

}  // namespace smplan
