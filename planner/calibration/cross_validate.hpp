#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "planner/calibration/calibration_options.hpp"
#include "planner/validation/measured_run.hpp"

namespace smplan {

class Catalog;
struct CalibrationProblem;

/// Predicted over measured step time of a run when its group was not fitted on.
struct LeftOutError {
  std::size_t run = 0;  ///< index into the runs
  std::string group;
  std::string stack;
  double ratio = 1;
  std::size_t unmeasured = 0;  ///< traits that no other run of the stack had
  bool inside = false;         ///< the interval that the other groups' errors would have given holds it
  bool fitted = true;          ///< false: doubtful, fitted on by none
};

/// `groups`: a label a run. Runs without a prediction or a measured time are absent. What nothing
/// else tells stays at the catalog's figures, so these must not rest on the runs themselves.
Result<std::vector<LeftOutError>> cross_validate(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                                 const CalibrationOptions& options,
                                                 const std::vector<std::string>& groups);

/// Errors of each group under a fit to all others.
std::vector<LeftOutError> leave_out(CalibrationProblem& problem, const std::vector<MeasuredRun>& runs,
                                    const CalibrationOptions& options, const std::vector<std::string>& groups);

}  // namespace smplan
