#pragma once

#include <cstdint>
#include <string_view>

#include "base/units.hpp"
#include "catalogs/price.hpp"

namespace smplan {

/// A run without checkpoints on capacity that can be taken away may last so long and no longer. SageMaker holds
/// algorithms that cannot save to the same hour. Source: SageMaker developer guide, managed spot training.
inline constexpr double kSpotWithoutCheckpointHours = 1;

/// Training plans are bought for whole days, 182 at most.
/// Source: SageMaker developer guide, search-training-plan-offerings.
inline constexpr double kMostPlanDays = 182;

/// Instances that must be bought to use `instances`: a capacity block or training plan comes in 1, 2, 4, 8,
/// 16, 32 or 64, and larger fleets in blocks of 64; other markets sell one by one.
std::int32_t purchasable_instances(Market market, std::int32_t instances);

/// Time that is paid for a run of `time`: whole days of a reservation, which gives its instances back
/// `reclaim` before its end; the time itself elsewhere.
Seconds paid_time(Market market, Seconds time, Seconds reclaim);

/// What the reader has to know about buying so, one sentence; empty for on-demand.
std::string_view market_rule(Market market);

}  // namespace smplan
