#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/least_squares.hpp"
#include "catalogs/catalog.hpp"
#include "planner/calibration/calibration_options.hpp"
#include "planner/validation/measured_run.hpp"
#include "planner/validation/run_resolution.hpp"

namespace smplan {

/// One number that the fit moves, and where it lives.
struct CalibrationTarget {
  std::string owner;
  std::string_view key;
  FitParameter parameter;
  double shipped = 0;
  const StackParameter* stack_parameter = nullptr;    ///< either of a stack
  const DeviceParameter* device_parameter = nullptr;  ///< or of an accelerator

  /// Whether it is a number of that stack's profile.
  [[nodiscard]] bool of_profile(std::string_view stack) const;
};

/// A timed run, ready to be predicted under changing profiles.
struct Observation {
  std::size_t run = 0;  ///< index into the runs
  ResolvedRun resolved;
  Seconds measured;
  std::string silicon;  ///< its accelerators'
  std::vector<std::string> traits;
  bool fitted = true;                   ///< false: only reported
  std::size_t stack = 0;                ///< index into CalibrationProblem::stacks
  std::vector<std::size_t> targets{};   ///< indices of the numbers that its prediction reads
  std::vector<std::size_t> moved_by{};  ///< those of them that really change it
};

/// An accelerator that runs used. What it sustains is that of its silicon: all cards with it share the numbers.
struct CalibratedDevice {
  std::string accelerator;
  std::string silicon;
};

/// What runs had, in order, by the profile that predicts them.
using TraitsByProfile = std::map<std::string, std::set<std::string>>;

/// Timed runs and the numbers that predict them.
struct CalibrationProblem {
  std::vector<Stack> stacks;  ///< without texts and lists: cheap to copy
  std::vector<CalibratedDevice> devices;
  std::vector<CalibrationTarget> targets;
  std::vector<Observation> observations;

  /// The catalog's value of each target.
  [[nodiscard]] std::vector<double> shipped() const;
  /// The observations that are not doubtful.
  [[nodiscard]] std::vector<Observation*> fitted();
  [[nodiscard]] const std::string& profile_of(const Observation& o) const;
  [[nodiscard]] const std::string& profile_of(std::string_view stack_id) const;
  [[nodiscard]] TraitsByProfile traits_of(const std::vector<Observation*>& some) const;
};

/// Fails if no run can be predicted and was timed.
Result<CalibrationProblem> calibration_problem(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                               const CalibrationOptions& options);

/// log(predicted / measured) under a value for each target. Not for one observation from two threads: its cluster is
/// the scratch pad.
double log_error(const CalibrationProblem& problem, Observation& o, std::span<const double> values);

/// The targets' values that suit these observations. What none of them tells keeps the catalog's to the last digit.
FitResult fit_to(const std::vector<Observation*>& observations, const CalibrationProblem& problem,
                 const std::vector<MeasuredRun>& runs, const CalibrationOptions& options);

/// Stacks that run the same code share a profile, whose numbers are fitted once.
const std::string& profile_owner(const Stack& stack);

}  // namespace smplan
