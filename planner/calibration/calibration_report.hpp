#pragma once

#include <string>
#include <vector>

#include "planner/calibration/calibrate.hpp"
#include "planner/calibration/cross_validate.hpp"
#include "planner/validation/report.hpp"

namespace smplan {

/// Errors of what was left out, by group (largest first).
struct LeftOutReport {
  std::string by;  ///< what the groups are: `source`, `model`, ...
  std::vector<LeftOutError> errors;
  std::vector<ErrorSummary> groups;
  ErrorSummary all;
  /// Over groups of ten runs or more: smaller ones say little.
  std::size_t large_groups = 0;
  double mean_of_large = 0;
  double worst_of_large = 0;
};
LeftOutReport summarise_left_out(std::string by, std::vector<LeftOutError> errors);

/// What the fit found, and what was left out if that was asked for.
std::string calibration_json(const CalibrationResult& result, const LeftOutReport* left_out,
                             const std::vector<MeasuredRun>& runs);
/// One line a left-out run.
std::string left_out_csv(const LeftOutReport& report, const std::vector<MeasuredRun>& runs);
/// One line a number of a profile.
std::string fitted_csv(const CalibrationResult& result);

}  // namespace smplan
