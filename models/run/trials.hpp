#pragma once

#include <cstdint>

namespace smplan {

/// Full runs that a hyperparameter search is worth. With early stopping, successive halving: after each rung one in
/// `keep` trials goes on, `keep` times as long as before, until the last ones run to their end; `keep` = 1 lets every
/// trial run to its end. Source: Li et al. 2018 (Hyperband), algorithm 1.
double full_runs(std::int64_t trials, int keep);

}  // namespace smplan
