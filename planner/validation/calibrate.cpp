#include "planner/validation/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/step.hpp"
#include "planner/validation/prediction.hpp"
#include "planner/validation/run_resolution.hpp"

namespace smplan {
namespace {

/// A timed run, ready to be predicted under changing profiles.
struct Observation {
  std::size_t run = 0;  ///< index into the runs
  ResolvedRun resolved;
  Seconds measured;
  std::size_t stack = 0;   ///< index into Profiles::stacks
  std::size_t device = 0;  ///< index into Profiles::devices
};

/// The profiles that a fit may move.
struct Profiles {
  std::vector<Stack> stacks;
  std::vector<AcceleratorProfile> devices;
};

template <typename T, typename Key>
std::size_t index_of(std::vector<T>& list, const T& value, Key key) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (key(list[i]) == key(value)) return i;
  }
  list.push_back(value);
  return list.size() - 1;
}

std::vector<Observation> observe(const std::vector<MeasuredRun>& runs, const Catalog& catalog, Profiles& profiles) {
  std::vector<Observation> observations;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Result<ResolvedRun> resolved = resolve_run(runs[i], catalog);
    if (!resolved) continue;
    const std::optional<Seconds> measured = measured_step_time(runs[i], catalog);
    if (!measured) continue;
    const Stack& base = *catalog.find_stack(resolved->stack.id);
    Observation o{.run = i, .resolved = std::move(*resolved), .measured = *measured};
    o.stack = index_of(profiles.stacks, base, [](const Stack& s) { return s.id; });
    o.device = index_of(profiles.devices, o.resolved.cluster.accelerator_profile,
                        [](const AcceleratorProfile& p) { return p.accelerator; });
    observations.push_back(std::move(o));
  }
  return observations;
}

Seconds predict(const Observation& o, const Profiles& profiles) {
  const ResolvedRun& r = o.resolved;
  Stack stack = r.stack;
  stack.profile = apply_settings(profiles.stacks[o.stack], r.settings).profile;
  Cluster cluster = r.cluster;
  cluster.accelerator_profile = profiles.devices[o.device];
  return estimate_step(r.workload, r.strategy, cluster, stack).time();
}

/// One number that the fit moves, and how.
struct Target {
  FitParameter parameter;
  std::size_t index = 0;                            ///< of the stack or device
  const StackParameter* stack_parameter = nullptr;  ///< null: the device's sustained fraction
};

/// How freely a parameter leaves its shipped value, on the logit scale; what no run of a table can
/// tell apart stays put.
double prior_width(const StackParameter& p) {
  if (p.key == "residual_sigma" || p.key == "allocator_slack") return 0;
  if (p.key == "host_time_step_us" || p.key == "host_time_micro_batch_us") return 0.7;
  if (p.key == "overlap_contention" || p.key == "straggler") return 0.5;
  return 1.0;
}

/// The logit scale needs values strictly inside the bounds.
double inside(double x, double low, double high) {
  const double margin = 0.005 * (high - low);
  return std::clamp(x, low + margin, high - margin);
}

/// Times range over decades: their bounds are set around the shipped value.
FitParameter stack_fit_parameter(const Stack& stack, const StackParameter& p) {
  const double value = p.get(stack.profile);
  FitParameter f{
      .name = stack.id + "." + std::string(p.key), .low = p.low, .high = p.high, .prior_width = prior_width(p)};
  if (p.time != nullptr) {
    f.low = 0;
    f.high = std::max(10 * value, 100.0);
  }
  f.initial = inside(value, f.low, f.high);
  return f;
}

std::vector<Target> targets(const Profiles& profiles, CalibrationScope scope) {
  std::vector<Target> list;
  for (std::size_t i = 0; i < profiles.stacks.size(); ++i) {
    for (const StackParameter& p : stack_parameters()) {
      if (prior_width(p) == 0) continue;
      list.push_back({.parameter = stack_fit_parameter(profiles.stacks[i], p), .index = i, .stack_parameter = &p});
    }
  }
  if (scope == CalibrationScope::Stacks) return list;
  for (std::size_t i = 0; i < profiles.devices.size(); ++i) {
    const double value = profiles.devices[i].sustained_fraction;
    list.push_back({.parameter = {.name = profiles.devices[i].accelerator + ".sustained_fraction",
                                  .initial = inside(value, kMinSustainedFraction, kMaxSustainedFraction),
                                  .low = kMinSustainedFraction,
                                  .high = kMaxSustainedFraction,
                                  .prior_width = 0.5},
                    .index = i});
  }
  return list;
}

Profiles with_values(const Profiles& profiles, const std::vector<Target>& targets, std::span<const double> values) {
  Profiles moved = profiles;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Target& t = targets[i];
    if (t.stack_parameter != nullptr) {
      t.stack_parameter->set(moved.stacks[t.index].profile, values[i]);
    } else {
      moved.devices[t.index].sustained_fraction = values[i];
    }
  }
  return moved;
}

/// A run of a source of n weighs 1/sqrt(n): tables count, but not by their length.
std::vector<double> run_weights(const std::vector<Observation>& observations, const std::vector<MeasuredRun>& runs,
                                double scale) {
  std::map<std::string, double> count;
  for (const Observation& o : observations) count[runs[o.run].source] += 1;
  // Residuals are log errors of about 0.1: this weight makes one run worth a hundredth of a prior
  // width, a table of a hundred runs worth ten.
  constexpr double kPrecision = 100;
  std::vector<double> weights;
  for (const Observation& o : observations) {
    weights.push_back(scale * kPrecision / std::sqrt(count[runs[o.run].source]));
  }
  return weights;
}

double mean_error(const std::vector<Observation>& observations, const Profiles& profiles) {
  double sum = 0;
  for (const Observation& o : observations) sum += std::abs(predict(o, profiles) / o.measured - 1);
  return sum / static_cast<double>(observations.size());
}

struct Fit {
  Profiles before;
  Profiles after;
  std::vector<Target> targets;
  std::vector<double> values;
};

Fit fit_profiles(const std::vector<Observation>& observations, const Profiles& profiles,
                 const std::vector<MeasuredRun>& runs, const CalibrationOptions& options) {
  Fit fit{.before = profiles, .targets = targets(profiles, options.scope)};
  std::vector<FitParameter> parameters;
  for (const Target& t : fit.targets) parameters.push_back(t.parameter);
  const ResidualFunction residuals = [&](std::span<const double> values, std::span<double> out) {
    const Profiles moved = with_values(profiles, fit.targets, values);
    for (std::size_t i = 0; i < observations.size(); ++i) {
      out[i] = std::log(predict(observations[i], moved) / observations[i].measured);
    }
  };
  const std::vector<double> weights = run_weights(observations, runs, options.source_weight);
  fit.values = fit_parameters(parameters, residuals, weights, options.fit).values;
  fit.after = with_values(profiles, fit.targets, fit.values);
  return fit;
}

}  // namespace

Result<CalibrationResult> calibrate(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                    const CalibrationOptions& options) {
  Profiles profiles;
  const std::vector<Observation> observations = observe(runs, catalog, profiles);
  if (observations.empty()) {
    return fail("no-runs", "calibrate", "no run can be predicted and has a measured speed",
                "'smplan validate' says of each row why");
  }
  const Fit fit = fit_profiles(observations, profiles, runs, options);
  CalibrationResult result{.catalog = catalog, .runs = observations.size()};
  result.mape_before = mean_error(observations, fit.before);
  result.mape_after = mean_error(observations, fit.after);
  for (std::size_t i = 0; i < fit.targets.size(); ++i) {
    result.changes.push_back({fit.targets[i].parameter.name, fit.targets[i].parameter.initial, fit.values[i]});
  }
  for (const Stack& stack : fit.after.stacks) {
    result.catalog.set_stack_profile(stack.profile);
    result.stacks.push_back(stack.id);
  }
  for (const AcceleratorProfile& device : fit.after.devices) {
    if (options.scope == CalibrationScope::Stacks) break;
    result.catalog.set_sustained_rate({.accelerator = device.accelerator, .fraction = device.sustained_fraction});
  }
  return result;
}

Result<std::vector<LeftOutError>> cross_validate(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                                 const CalibrationOptions& options,
                                                 const std::function<std::string(const MeasuredRun&)>& leave_out) {
  Profiles profiles;
  const std::vector<Observation> observations = observe(runs, catalog, profiles);
  std::set<std::string> groups;
  for (const Observation& o : observations) groups.insert(leave_out(runs[o.run]));
  if (groups.size() < 2) {
    return fail("one-group", "--cross-validate", "the runs fall into fewer than two groups",
                "there must be something left to fit on");
  }
  std::vector<LeftOutError> errors;
  for (const std::string& group : groups) {
    std::vector<Observation> kept;
    for (const Observation& o : observations) {
      if (leave_out(runs[o.run]) != group) kept.push_back(o);
    }
    const Fit fit = fit_profiles(kept, profiles, runs, options);
    for (const Observation& o : observations) {
      if (leave_out(runs[o.run]) == group) {
        errors.push_back({o.run, group, predict(o, fit.after) / o.measured});
      }
    }
  }
  return errors;
}

}  // namespace smplan
