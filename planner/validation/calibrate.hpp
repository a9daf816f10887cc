#pragma once

#include <functional>
#include <string>
#include <vector>

#include "catalogs/catalog.hpp"
#include "models/calibration.hpp"
#include "planner/validation/measured_run.hpp"

namespace smplan {

/// What may be fitted.
enum class CalibrationScope {
  Stacks,            ///< stack profiles only: what a user's own runs can tell
  StacksAndDevices,  ///< + how much of kernel speed each accelerator sustains in training
};

struct CalibrationOptions {
  CalibrationScope scope = CalibrationScope::Stacks;
  /// Runs of a source share this much weight per square root of their number, so that a large table
  /// does not drown the others.
  double source_weight = 1;
  FitOptions fit;
};

struct CalibrationResult {
  Catalog catalog;  ///< with the fitted profiles
  std::size_t runs = 0;
  double mape_before = 0;
  double mape_after = 0;
  /// name, before, after
  struct Change {
    std::string name;
    double before = 0;
    double after = 0;
  };
  std::vector<Change> changes;
  std::vector<std::string> stacks;  ///< ids that were fitted
};

/// Fits the profiles of the stacks that the runs used, near their shipped values: few runs move them
/// little. Fails if no run can be predicted and was timed.
Result<CalibrationResult> calibrate(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                    const CalibrationOptions& options);

/// The fitted profiles as an overlay that every command accepts.
std::string calibration_overlay(const CalibrationResult& result, const std::string& source, const std::string& as_of);

/// Predicted over measured step time of each run when what `leave_out` names for it was not fitted on;
/// NaN-free: runs without a prediction are absent.
struct LeftOutError {
  std::size_t run = 0;  ///< index into the runs
  std::string group;
  double ratio = 1;
};
Result<std::vector<LeftOutError>> cross_validate(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                                 const CalibrationOptions& options,
                                                 const std::function<std::string(const MeasuredRun&)>& leave_out);

}  // namespace smplan
