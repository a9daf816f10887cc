#pragma once

#include <cstdint>
#include <optional>

#include "models/cost.hpp"

namespace smplan {

/// Jobs on the same instances, one after the other.
struct JobSeries {
  std::int64_t jobs = 1;
  Seconds gap;  ///< from the end of one to the start of the next
};

/// Longest time that a warm pool keeps instances without a job, by the documented quota; the API takes six hours.
/// Source: SageMaker developer guide, managed warm pools; botocore 1.43.67, KeepAlivePeriodInSeconds.
inline constexpr double kWarmPoolQuotaSeconds = 3600;
inline constexpr double kWarmPoolMostSeconds = 21600;

/// What keeping the instances between the jobs of a series costs and saves.
struct WarmPool {
  bool possible = false;  ///< the gap is short enough, and the market lets instances stay
  Usd kept;               ///< idle instances between the jobs
  Usd saved;              ///< start-up that is not paid again
  Seconds sooner;         ///< how much earlier the series is done
  [[nodiscard]] Usd net() const { return kept - saved; }
  /// Dollars for each hour gained; below zero the pool pays for itself.
  [[nodiscard]] double usd_per_hour_gained() const { return sooner > Seconds() ? net() / Usd(1) / (sooner / hours(1)) : 0; }
};
/// Managed spot training cannot use warm pools, and reserved capacity is paid anyway.
WarmPool weigh_warm_pool(const JobSeries& series, const Operations& operations, UsdPerSecond hourly, Market market);

/// Trials of a hyperparameter search. Early stopping as in successive halving: after each rung only one in `eta` goes
/// on, eta times longer (Li et al. 2018, Hyperband, algorithm 1).
struct TrialSearch {
  std::int64_t trials = 1;
  int eta = 1;    ///< 1: every trial runs to its end
  int rungs = 1;  ///< lengths that trials are compared at
};
/// Full runs that the search is worth: `trials` without early stopping.
double full_runs(const TrialSearch& search);

/// How many trials at a time, and what it comes to.
struct TrialFleet {
  std::int64_t at_a_time = 0;
  Seconds time;
  Usd cost;
};
/// The fewest trials at a time that are done by the deadline (a search that sees results before it chooses finds
/// more), or one at a time without a deadline. Starts are paid once for each place, where the pool is warm. `run` is
/// one full trial; `most` limits what may run together. Nothing if no number fits deadline and budget.
std::optional<TrialFleet> size_trials(const TrialSearch& search, const RunCost& run, std::int64_t most,
                                      std::optional<Seconds> deadline, std::optional<Usd> budget);

}  // namespace smplan
