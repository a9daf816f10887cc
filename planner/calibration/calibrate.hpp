#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "catalogs/catalog.hpp"
#include "planner/calibration/calibration_options.hpp"
#include "planner/validation/measured_run.hpp"

namespace smplan {

/// A number that the fit could move.
struct FittedParameter {
  std::string owner;  ///< stack id, or silicon of accelerators
  std::string key;    ///< as in catalog files, with its unit
  std::string_view meaning;
  double prior = 0;
  double prior_spread = 0;  ///< standard deviation
  double value = 0;
  double spread = 0;
  std::size_t runs = 0;     ///< that depend on it
  bool determined = false;  ///< the runs narrow the prior by more than a twentieth
};

struct CalibrationResult {
  Catalog catalog;       ///< with the fitted profiles
  std::size_t runs = 0;  ///< fitted on
  double mape_before = 0;
  double mape_after = 0;
  std::vector<FittedParameter> parameters;
  std::vector<std::string> stacks;        ///< ids whose profiles were fitted
  std::vector<std::string> accelerators;  ///< keys whose sustained rates were fitted
};

/// Fits the profiles of the stacks that the runs used, near what the catalog has: few runs move them
/// little. Fails if no run can be predicted and was timed.
Result<CalibrationResult> calibrate(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                    const CalibrationOptions& options);

}  // namespace smplan
