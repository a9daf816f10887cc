#pragma once

#include <string>
#include <vector>

#include "base/least_squares.hpp"

namespace smplan {

/// What may be fitted.
enum class CalibrationScope {
  Stacks,            ///< stack profiles only: what a user's own runs can tell
  StacksAndDevices,  ///< + how much of kernel speed each accelerator sustains in training
};

struct CalibrationOptions {
  CalibrationScope scope = CalibrationScope::Stacks;
  /// Factor on every prior's width. The profiles that ship already rest on many runs: a user's few
  /// move them part of the way. 1 is free: for a fit that starts from rough figures.
  double prior_scale = 0.3;
  /// A number whose prior the runs narrow by less than this part keeps it: fewer numbers, each told by runs.
  double least_narrowing = 0;
  /// A label a run, for the width of the intervals: it is taken from the errors of each group under a
  /// fit without it. Empty: from the errors of the fit itself.
  std::vector<std::string> interval_groups;
  /// Ids of doubtful runs: their errors are reported, nothing is fitted on them.
  std::vector<std::string> not_fitted;
  FitOptions fit;
};

/// What a scope is fitted with unless told otherwise: with devices from rough figures, so as freely as the shipped fit,
/// and only what the runs narrow by 12 % or more: with those chosen by hand eighty numbers at most, each told by runs.
CalibrationOptions calibration_options(CalibrationScope scope);

}  // namespace smplan
