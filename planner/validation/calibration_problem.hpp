#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalogs/catalog.hpp"
#include "models/calibration.hpp"
#include "planner/validation/measured_run.hpp"
#include "planner/validation/run_resolution.hpp"

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
