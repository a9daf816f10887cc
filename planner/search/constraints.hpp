#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "planner/answer/plan.hpp"

namespace smplan {

/// Whether the devices, the host and its disks hold what the candidate needs, and leave the headroom.
/// `safe_part` is the part of the device's memory up to which the chance to run out is allowed.
std::optional<Rejection> memory_rejection(const MemoryEstimate& memory, double min_headroom, double safe_part = 1);

/// Whether limit_rejection can refuse anything.
bool has_run_limits(const PlanRequest& request);
/// Long runs without checkpoints on spot capacity, the days of a training plan, deadline and budget (at the confidence
/// asked for), in that order. The hourly limit does not depend on the strategy: hourly_rejection.
std::optional<Rejection> limit_rejection(const PlanRequest& request, const RunCost& cost);
/// What is wrong with a fleet whatever its strategy: more instances than one training plan on offer has; and, where the
/// request leaves the types open, what C120 of `check` warns of: several instances that talk over TCP while others have
/// EFA.
std::optional<RejectionReason> fleet_rejection(const PlanRequest& request, const InstanceType& instance, Market market,
                                               std::int32_t count);
std::optional<Rejection> hourly_rejection(const PlanRequest& request, UsdPerSecond hourly);

/// Whether `a` came nearer to being a plan: it passed more checks, or is short by the smaller factor.
bool nearer(const Rejection& a, const Rejection& b);

/// `needs 1.3 TiB, has 22 GiB`: in the unit of the reason, empty where there is none.
std::string shortfall(const Rejection& rejection);
/// `memory 120, divisibility 44`; empty if nothing was refused.
std::string rejections(std::span<const std::uint64_t, kRejectionReasonCount> rejected);

}  // namespace smplan
