#pragma once

#include <cstdint>
#include <string_view>

#include "base/units.hpp"
#include "catalogs/operations.hpp"
#include "catalogs/price.hpp"

namespace smplan {

/// A run without checkpoints on capacity that can be taken away may last so long and no longer. SageMaker holds
/// algorithms that cannot save to the same hour. Source: SageMaker developer guide, managed spot training.
inline constexpr double kSpotWithoutCheckpointHours = 1;

/// Training plans are bought for whole days, 182 at most.
/// Source: SageMaker developer guide, search-training-plan-offerings.
inline constexpr double kMostPlanDays = 182;

/// Largest training plan on offer; a job's ResourceConfig has one TrainingPlanArn.
/// Source: SageMaker developer guide, search-training-plan-offerings; botocore 1.44.5.
inline constexpr std::int32_t kMostPlanInstances = 64;

/// Instances that must be bought to use `instances`: a capacity block or training plan comes in 1, 2, 4, 8,
/// 16, 32 or 64, and larger fleets in blocks of 64; other markets sell one by one.
std::int32_t purchasable_instances(Market market, std::int32_t instances);

/// Time that is paid for a run of `time`: whole days of a reservation, which gives its instances back
/// `reclaim` before its end; the time itself elsewhere.
Seconds paid_time(Market market, Seconds time, Seconds reclaim);

/// How far the price of a run may be from what the catalog has: a standard deviation of its logarithm. Zones differ,
/// prices that AWS sets move with the years, spot prices with the months. `age_years` is that of the price.
double price_sigma(const Price& price, double age_years, const Operations& operations);

/// What the reader has to know about buying so, one sentence; empty for on-demand. `standing`: for a cluster, which is
/// no training job.
std::string_view market_rule(Market market, bool standing = false);

}  // namespace smplan
