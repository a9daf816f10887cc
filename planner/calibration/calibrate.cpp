#include "planner/calibration/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "planner/calibration/calibration_problem.hpp"
#include "planner/calibration/cross_validate.hpp"
#include "planner/calibration/error_sample.hpp"
#include "planner/calibration/fit_knobs.hpp"
#include "planner/validation/prediction.hpp"

namespace smplan {
namespace {

double mean_error(CalibrationProblem& c, std::span<const double> values) {
  double sum = 0;
  for (Observation& o : c.observations) sum += std::abs(std::exp(log_error(c, o, values)) - 1);
  return sum / static_cast<double>(c.observations.size());
}

/// Log errors by profile: of left-out groups where they are named, else of the fit.
ErrorsByProfile errors_by_profile(CalibrationProblem& c, const std::vector<MeasuredRun>& runs,
                                  const CalibrationOptions& options, const std::vector<double>& fitted) {
  ErrorsByProfile errors;
  for (const Stack& stack : c.stacks) errors[profile_owner(stack)] = {};
  if (!options.interval_groups.empty()) {
    for (const LeftOutError& e : leave_out(c, runs, options, options.interval_groups)) {
      if (e.fitted) errors[c.profile_of(e.stack)].add(e.ratio, e.group);
    }
    return errors;
  }
  for (Observation* o : c.fitted()) {
    errors[c.profile_of(*o)].logs.push_back(log_error(c, *o, fitted));
  }
  return errors;
}

/// Log errors of peak memory. The ledger has no fitted number, so these are those of new runs too.
ErrorsByProfile memory_errors_by_profile(const std::vector<MeasuredRun>& runs, const Catalog& catalog) {
  ErrorsByProfile errors;
  for (const MeasuredRun& run : runs) {
    if (!run.peak_mem_gib_per_gpu || *run.peak_mem_gib_per_gpu <= 0) continue;
    const Result<ResolvedRun> resolved = resolve_run(run, catalog);
    if (!resolved) continue;
    const ResolvedRun& r = *resolved;
    const MemoryEstimate memory = estimate_memory(r.workload, r.strategy, r.cluster, r.stack);
    const Bytes peak = reported_peak(memory, r.stack, run.memory_kind) * static_cast<double>(run.devices_per_gpu);
    const double ratio = peak / gib(*run.peak_mem_gib_per_gpu);
    if (ratio > 0) errors[profile_owner(r.stack)].logs.push_back(std::log(ratio));
  }
  return errors;
}

/// Puts the fitted numbers into the catalog.
void store(CalibrationProblem& c, const std::vector<MeasuredRun>& runs, std::span<const double> values,
           const ErrorsByProfile& errors, CalibrationResult& result) {
  const TraitsByProfile found = c.traits_of(c.fitted());
  const ErrorsByProfile memory = memory_errors_by_profile(runs, result.catalog);
  for (const auto& [owner, own_errors] : errors) {
    StackProfile profile = result.catalog.find_stack(owner)->profile;
    profile.stack = owner;
    for (std::size_t t = 0; t < c.targets.size(); ++t) {
      const CalibrationTarget& target = c.targets[t];
      if (target.of_profile(owner)) target.stack_parameter->set(profile, values[t]);
    }
    profile.residual_sigma = own_errors.sigma(profile.residual_sigma);
    profile.program_sigma = 0;  // the runs are of the programs that will be planned
    if (memory.contains(owner)) profile.memory_sigma = memory.at(owner).sigma(profile.memory_sigma);
    if (found.contains(owner)) {
      std::set<std::string> all(profile.measured.begin(), profile.measured.end());
      all.insert(found.at(owner).begin(), found.at(owner).end());
      profile.measured.assign(all.begin(), all.end());
    }
    result.catalog.set_stack_profile(profile);
    result.stacks.push_back(owner);
  }
  for (const CalibratedDevice& device : c.devices) {
    const AcceleratorProfile& own = *result.catalog.find_accelerator_profile(device.accelerator);
    SustainedRate rate{.accelerator = device.accelerator};
    for (std::size_t t = 0; t < c.targets.size(); ++t) {
      const CalibrationTarget& target = c.targets[t];
      if (target.device_parameter == nullptr || target.owner != device.silicon) continue;
      // Cards may have come with figures of their own: what no run tells is left to each.
      const DeviceParameter& p = *target.device_parameter;
      rate.*p.rate = values[t] == target.shipped ? own.*p.profile : values[t];
    }
    result.catalog.set_sustained_rate(rate);
    result.accelerators.push_back(device.accelerator);
  }
}

}  // namespace

Result<CalibrationResult> calibrate(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                    const CalibrationOptions& options) {
  Result<CalibrationProblem> problem = calibration_problem(runs, catalog, options);
  if (!problem) return tl::unexpected(problem.error());
  CalibrationProblem& c = *problem;
  const FitResult fitted = fit_to(c.fitted(), c, runs, options);
  CalibrationResult result;
  result.catalog = catalog;
  result.runs = c.fitted().size();
  std::vector<std::size_t> runs_on(c.targets.size());
  for (const Observation& o : c.observations) {
    if (!o.fitted) continue;
    for (const std::size_t t : o.moved_by) ++runs_on[t];
  }
  for (std::size_t t = 0; t < c.targets.size(); ++t) {
    const CalibrationTarget& target = c.targets[t];
    result.parameters.push_back({.owner = target.owner,
                                 .key = std::string(target.key),
                                 .meaning = find_fit_knob(target.key)->meaning,
                                 .prior = target.shipped,
                                 .prior_spread = fitted.prior_spreads[t],
                                 .value = fitted.values[t],
                                 .spread = fitted.spreads[t],
                                 .runs = runs_on[t],
                                 .determined = fitted.narrowing[t] < 0.95});
  }
  result.mape_before = mean_error(c, c.shipped());
  result.mape_after = mean_error(c, fitted.values);
  store(c, runs, fitted.values, errors_by_profile(c, runs, options, fitted.values), result);
  return result;
}

}  // namespace smplan
