#pragma once

#include <cstdint>

#include "catalogs/operations.hpp"
#include "catalogs/price.hpp"

namespace smplan {

/// Jobs on the same instances, one after the other.
struct JobSeries {
  std::int64_t jobs = 1;
  Seconds gap;  ///< from the end of one to the start of the next
};

/// Longest time that a warm pool keeps instances without a job, by the documented quota; the API takes six hours.
/// Source: SageMaker developer guide, managed warm pools; botocore 1.43.67, KeepAlivePeriodInSeconds.
inline constexpr Seconds kWarmPoolQuota = Seconds(3600);
inline constexpr Seconds kWarmPoolMost = Seconds(21600);

/// What keeping the instances between the jobs of a series costs and saves.
struct WarmPool {
  bool possible = false;  ///< the gap is short enough, and the market lets instances stay
  Usd kept;               ///< idle instances between the jobs
  Usd saved;              ///< start-up that is not paid again
  Seconds sooner;         ///< how much earlier the series is done
  [[nodiscard]] Usd net() const { return kept - saved; }
  /// Dollars for each hour gained; below zero the pool pays for itself.
  [[nodiscard]] double usd_per_hour_gained() const {
    return sooner > Seconds() ? net() / Usd(1) / (sooner / hours(1)) : 0;
  }
};
/// Managed spot training cannot use warm pools, and reserved capacity is paid anyway.
WarmPool weigh_warm_pool(const JobSeries& series, const Operations& operations, UsdPerSecond hourly, Market market);

}  // namespace smplan
