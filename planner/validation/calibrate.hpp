#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
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

/// Standard deviation of log(predicted / measured) for P10-P90: the normal distribution's that holds
/// four fifths of the errors, which count as `independent` runs, and `prior` as ten. Outliers do not widen it.
double interval_sigma(std::vector<double> log_ratios, double prior, double independent);

/// Accelerators of one design: what is left out together to see how a new one would be predicted.
/// The accelerator's name where the catalog lacks it.
std::string accelerator_family(const MeasuredRun& run, const Catalog& catalog);

/// Id of the stack that a run is taken to have used; empty if none is known.
std::string stack_of(const MeasuredRun& run, const Catalog& catalog);

}  // namespace smplan
