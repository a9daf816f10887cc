#pragma once

#include <cstdint>
#include <optional>

#include "models/cost.hpp"

namespace smplan {

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
