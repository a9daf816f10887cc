#include "planner/validation/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "models/step.hpp"
#include "planner/uncertainty.hpp"
#include "planner/validation/fit_knobs.hpp"
#include "planner/validation/prediction.hpp"
#include "planner/validation/run_resolution.hpp"

namespace smplan {
namespace {

/// One number that the fit moves, and where it lives.
struct Target {
  std::string owner;
  std::string_view key;
  FitParameter parameter;
  double shipped = 0;
  const StackParameter* stack_parameter = nullptr;    ///< either of a stack
  const DeviceParameter* device_parameter = nullptr;  ///< or of an accelerator

  /// Whether it is a number of that stack's profile.
  [[nodiscard]] bool of_profile(std::string_view stack) const {
    return stack_parameter != nullptr && (stack_parameter->shared || owner == stack);
  }
};

/// A timed run, ready to be predicted under changing profiles.
struct Observation {
  std::size_t run = 0;  ///< index into the runs
  ResolvedRun resolved;
  Seconds measured;
  std::string silicon;  ///< its accelerators'
  std::vector<std::string> traits;
  bool fitted = true;                   ///< false: only reported
  std::size_t stack = 0;                ///< index into Calibration::stacks
  std::vector<std::size_t> targets{};   ///< indices of the numbers that its prediction reads
  std::vector<std::size_t> moved_by{};  ///< those of them that really change it
};

/// An accelerator that runs used. What it sustains is that of its silicon: all cards with it share the numbers.
struct Device {
  std::string accelerator;
  std::string silicon;
};

/// Runs, the numbers behind them and what they are now.
struct Calibration {
  std::vector<Stack> stacks;  ///< without texts and lists: cheap to copy
  std::vector<Device> devices;
  std::vector<Target> targets;
  std::vector<Observation> observations;

  [[nodiscard]] std::vector<double> shipped() const {
    std::vector<double> values;
    for (const Target& t : targets) values.push_back(t.shipped);
    return values;
  }
};

/// Of a stack, the model of a step reads numbers and switches only.
Stack bare(const Stack& stack) {
  Stack b = stack;
  b.name.clear();
  b.versions.clear();
  b.limitation.clear();
  b.provenance = {};
  b.profile.stack.clear();
  b.profile.provenance = {};
  b.profile.measured.clear();
  b.aliases = b.offloads = b.precisions = {};
  b.shardings = {};
  b.recomputes = {};
  b.schedules = {};
  b.collectives = {};
  return b;
}

/// Owner of the numbers that are the same for every stack.
constexpr std::string_view kEveryStack = "every stack";

/// Stacks that run the same code share a profile, whose numbers are fitted once.
const std::string& profile_owner(const Stack& stack) { return stack.runs_like.empty() ? stack.id : stack.runs_like; }

/// The logit scale needs values strictly inside the bounds.
double inside(double x, double low, double high) {
  const double margin = 0.005 * (high - low);
  return std::clamp(x, low + margin, high - margin);
}

Target stack_target(const Stack& stack, const StackParameter& p, const FitKnob& knob,
                    const CalibrationOptions& options) {
  const double value = p.get(stack.profile);
  const std::string owner(p.shared ? kEveryStack : profile_owner(stack));
  const bool devices = options.scope == CalibrationScope::StacksAndDevices;
  FitParameter f{.name = owner + "." + std::string(p.key),
                 .low = p.low,
                 .high = p.high,
                 .prior_width = options.prior_scale * knob.prior_width * (devices ? knob.beside_devices : 1)};
  // Times range over decades: their bounds are set around the catalog's value.
  if (p.time != nullptr) f.high = std::min(p.high, std::max(10 * value, 100.0));
  f.initial = inside(value, f.low, f.high);
  return {.owner = owner, .key = p.key, .parameter = f, .shipped = value, .stack_parameter = &p};
}

Target device_target(const AcceleratorProfile& device, const std::string& silicon, const DeviceParameter& p,
                     double prior_scale) {
  const FitKnob& knob = *find_fit_knob(p.key);
  const double value = device.*p.profile;
  return {.owner = silicon,
          .key = p.key,
          .parameter = {.name = silicon + "." + std::string(p.key),
                        .initial = inside(value, p.low, p.high),
                        .low = p.low,
                        .high = p.high,
                        .prior_width = prior_scale * knob.prior_width},
          .shipped = value,
          .device_parameter = &p};
}

/// Index of the stack, with the targets of its profile added at their first run.
std::size_t stack_index(Calibration& c, const Stack& stack, const CalibrationOptions& options) {
  bool known_profile = false;
  for (std::size_t i = 0; i < c.stacks.size(); ++i) {
    if (c.stacks[i].id == stack.id) return i;
    known_profile = known_profile || profile_owner(c.stacks[i]) == profile_owner(stack);
  }
  c.stacks.push_back(bare(stack));
  if (known_profile) return c.stacks.size() - 1;
  const bool first = c.stacks.size() == 1;
  for (const StackParameter& p : stack_parameters()) {
    const FitKnob* knob = find_fit_knob(p.key);
    if (knob != nullptr && (first || !p.shared)) c.targets.push_back(stack_target(stack, p, *knob, options));
  }
  return c.stacks.size() - 1;
}

void add_device(Calibration& c, const AcceleratorProfile& device, const std::string& silicon, double prior_scale) {
  bool known_silicon = false;
  for (const Device& d : c.devices) {
    if (d.accelerator == device.accelerator) return;
    known_silicon = known_silicon || d.silicon == silicon;
  }
  c.devices.push_back({device.accelerator, silicon});
  if (known_silicon) return;
  for (const DeviceParameter& p : device_parameters()) {
    c.targets.push_back(device_target(device, silicon, p, prior_scale));
  }
}

/// Not for one observation from two threads: its cluster is the scratch pad.
Seconds predict(const Calibration& c, Observation& o, std::span<const double> values) {
  Stack stack = c.stacks[o.stack];
  ResolvedRun& r = o.resolved;
  for (const std::size_t t : o.targets) {
    const Target& target = c.targets[t];
    if (target.stack_parameter != nullptr) {
      target.stack_parameter->set(stack.profile, values[t]);
    } else {
      r.cluster.accelerator_profile.*target.device_parameter->profile = values[t];
    }
  }
  return step_of(r, apply_settings(stack, r.settings)).time();
}

/// Which numbers change the prediction anywhere in their bounds, the others at the catalog's values.
std::vector<std::size_t> moving_targets(const Calibration& c, Observation& o) {
  std::vector<double> values = c.shipped();
  const Seconds now = predict(c, o, values);
  std::vector<std::size_t> moving;
  for (const std::size_t t : o.targets) {
    const FitParameter& p = c.targets[t].parameter;
    bool moves = false;
    for (const double x : {p.initial, inside(p.low, p.low, p.high), inside(p.high, p.low, p.high)}) {
      values[t] = x;
      moves = moves || (x != c.targets[t].shipped && predict(c, o, values) != now);
    }
    values[t] = c.targets[t].shipped;
    if (moves) moving.push_back(t);
  }
  return moving;
}

Calibration observe(const std::vector<MeasuredRun>& runs, const Catalog& catalog, const CalibrationOptions& options) {
  Calibration c;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Result<ResolvedRun> resolved = resolve_run(runs[i], catalog);
    if (!resolved) continue;
    const std::optional<Seconds> measured = measured_step_time(runs[i], catalog);
    if (!measured) continue;
    Observation o{.run = i, .resolved = std::move(*resolved), .measured = *measured};
    const ResolvedRun& r = o.resolved;
    o.traits = traits(r.workload, r.strategy, r.cluster);
    const double ratio = step_of(r, r.stack).time() / o.measured;
    if (!std::isfinite(ratio) || ratio <= 0) continue;
    o.fitted = std::find(options.not_fitted.begin(), options.not_fitted.end(), runs[i].id) == options.not_fitted.end();
    o.stack = stack_index(c, *catalog.find_stack(r.stack.id), options);
    if (options.scope == CalibrationScope::StacksAndDevices) {
      o.silicon = silicon_generation(r.cluster.accelerator);
      add_device(c, r.cluster.accelerator_profile, o.silicon, options.prior_scale);
    }
    c.observations.push_back(std::move(o));
  }
  for (Observation& o : c.observations) {
    for (std::size_t t = 0; t < c.targets.size(); ++t) {
      const Target& target = c.targets[t];
      const bool reads = target.device_parameter != nullptr ? target.owner == o.silicon
                                                            : target.of_profile(profile_owner(c.stacks[o.stack]));
      if (reads) o.targets.push_back(t);
    }
    if (!stopped(options.fit.monitor)) o.moved_by = moving_targets(c, o);
  }
  return c;
}

double log_error(const Calibration& c, Observation& o, std::span<const double> values) {
  return std::log(predict(c, o, values) / o.measured);
}

/// Residuals are log errors of about 0.1, so a run weighs 100. Runs of a source of n share the weight of
/// sqrt(n): tables count, but not by their length.
std::vector<double> run_weights(const std::vector<Observation*>& observations, const std::vector<MeasuredRun>& runs) {
  constexpr double kPrecision = 100;
  std::map<std::string, double> count;
  for (const Observation* o : observations) count[runs[o->run].source] += 1;
  std::vector<double> weights;
  for (const Observation* o : observations) weights.push_back(kPrecision / std::sqrt(count[runs[o->run].source]));
  return weights;
}

FitResult fit(const Calibration& c, const std::vector<Observation*>& observations, const std::vector<MeasuredRun>& runs,
              const CalibrationOptions& options) {
  FitProblem problem;
  for (const Target& t : c.targets) problem.parameters.push_back(t.parameter);
  problem.residual = [&](std::size_t i, std::span<const double> values) {
    return log_error(c, *observations[i], values);
  };
  problem.weights = run_weights(observations, runs);
  for (const Observation* o : observations) problem.depends_on.push_back(o->moved_by);
  FitResult fitted = fit_parameters(problem, options.fit);
  if (options.least_narrowing > 0) {
    for (std::vector<std::size_t>& on : problem.depends_on) {
      std::erase_if(on, [&](std::size_t t) { return fitted.narrowing[t] > 1 - options.least_narrowing; });
    }
    fitted = fit_parameters(problem, options.fit);
  }
  // What no run tells keeps the catalog's figure to the last digit, also where that is a bound.
  std::vector<double> values = c.shipped();
  for (const std::vector<std::size_t>& on : problem.depends_on) {
    for (const std::size_t t : on) values[t] = fitted.values[t];
  }
  fitted.values = std::move(values);
  return fitted;
}

std::vector<Observation*> all_fitted(Calibration& c) {
  std::vector<Observation*> all;
  for (Observation& o : c.observations) {
    if (o.fitted) all.push_back(&o);
  }
  return all;
}

double mean_error(Calibration& c, std::span<const double> values) {
  double sum = 0;
  for (Observation& o : c.observations) sum += std::abs(predict(c, o, values) / o.measured - 1);
  return sum / static_cast<double>(c.observations.size());
}

tl::unexpected<Diagnostics> no_runs() {
  return fail("no-runs", "calibrate", "no run can be predicted and has a measured speed",
              "'smplan validate' says of each row why");
}

/// What the runs behind a profile had, in order.
using TraitsByProfile = std::map<std::string, std::set<std::string>>;

TraitsByProfile traits_of(const Calibration& c, const std::vector<Observation*>& observations) {
  TraitsByProfile found;
  for (const Observation* o : observations) {
    found[profile_owner(c.stacks[o->stack])].insert(o->traits.begin(), o->traits.end());
  }
  return found;
}

const std::string& owner_of(const Calibration& c, const LeftOutError& error) {
  const auto of_run = [&](const Stack& stack) { return stack.id == error.stack; };
  return profile_owner(*std::find_if(c.stacks.begin(), c.stacks.end(), of_run));
}

/// Runs of a prior, and the most of a group: they share what the model does not know of it, so that many tell of a new
/// group no more than these.
constexpr double kPriorRuns = 10;

/// Log errors, and how many runs of each left-out group they are of; no groups where each run speaks for itself.
struct ErrorSample {
  std::vector<double> logs;
  std::map<std::string, double> groups;

  void add(const LeftOutError& error) {
    logs.push_back(std::log(error.ratio));
    ++groups[error.group];
  }
  [[nodiscard]] double sigma(double prior) const {
    double independent = groups.empty() ? static_cast<double>(logs.size()) : 0;
    for (const auto& [group, runs] : groups) independent += std::min(runs, kPriorRuns);
    return interval_sigma(logs, prior, independent);
  }
};
using ErrorsByProfile = std::map<std::string, ErrorSample>;

/// Whether each error lies in the interval that the errors of the other groups behind its profile would have given.
void mark_inside(const Calibration& c, std::vector<LeftOutError>& errors) {
  for (const Stack& stack : c.stacks) {
    std::map<std::string, std::vector<LeftOutError*>> groups;
    for (LeftOutError& e : errors) {
      if (e.stack == stack.id) groups[e.group].push_back(&e);
    }
    for (const auto& [name, own] : groups) {
      ErrorSample others;
      for (const LeftOutError& e : errors) {
        if (owner_of(c, e) == profile_owner(stack) && e.group != name && e.fitted) others.add(e);
      }
      Stack judged = stack;
      judged.profile.residual_sigma = others.sigma(stack.profile.residual_sigma);
      for (LeftOutError* e : own) {
        e->inside = std::abs(std::log(e->ratio)) <= kZ90 * total_sigma(judged, e->unmeasured);
      }
    }
  }
}

/// Errors of each group under a fit to all others.
std::vector<LeftOutError> leave_out(Calibration& c, const std::vector<MeasuredRun>& runs,
                                    const CalibrationOptions& options, const std::vector<std::string>& groups) {
  std::set<std::string> names;
  for (const Observation& o : c.observations) names.insert(groups[o.run]);
  std::vector<LeftOutError> errors;
  for (const std::string& name : names) {
    std::vector<Observation*> kept;
    for (Observation& o : c.observations) {
      if (o.fitted && groups[o.run] != name) kept.push_back(&o);
    }
    if (kept.empty() || stopped(options.fit.monitor)) continue;
    const FitResult without = fit(c, kept, runs, options);
    TraitsByProfile known = traits_of(c, kept);
    for (Observation& o : c.observations) {
      if (groups[o.run] != name) continue;
      const std::set<std::string>& had = known[profile_owner(c.stacks[o.stack])];
      const auto unmeasured =
          std::count_if(o.traits.begin(), o.traits.end(), [&](const std::string& t) { return !had.contains(t); });
      errors.push_back({.run = o.run,
                        .group = name,
                        .stack = c.stacks[o.stack].id,
                        .ratio = std::exp(log_error(c, o, without.values)),
                        .unmeasured = static_cast<std::size_t>(unmeasured),
                        .fitted = o.fitted});
    }
  }
  mark_inside(c, errors);
  return errors;
}

/// Log errors by profile: of left-out groups where they are named, else of the fit.
ErrorsByProfile errors_by_profile(Calibration& c, const std::vector<MeasuredRun>& runs,
                                  const CalibrationOptions& options, const std::vector<double>& fitted) {
  ErrorsByProfile errors;
  for (const Stack& stack : c.stacks) errors[profile_owner(stack)] = {};
  if (!options.interval_groups.empty()) {
    for (const LeftOutError& e : leave_out(c, runs, options, options.interval_groups)) {
      if (e.fitted) errors[owner_of(c, e)].add(e);
    }
    return errors;
  }
  for (Observation* o : all_fitted(c)) {
    errors[profile_owner(c.stacks[o->stack])].logs.push_back(log_error(c, *o, fitted));
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
    const Bytes peak = reported_peak(memory, r.stack, r.memory_kind) * r.devices_per_counted;
    const double ratio = peak / gib(*run.peak_mem_gib_per_gpu);
    if (ratio > 0) errors[profile_owner(r.stack)].logs.push_back(std::log(ratio));
  }
  return errors;
}

/// Puts the fitted numbers into the catalog.
void store(Calibration& c, const std::vector<MeasuredRun>& runs, std::span<const double> values,
           const ErrorsByProfile& errors, CalibrationResult& result) {
  const TraitsByProfile found = traits_of(c, all_fitted(c));
  const ErrorsByProfile memory = memory_errors_by_profile(runs, result.catalog);
  for (const auto& [owner, own_errors] : errors) {
    StackProfile profile = result.catalog.find_stack(owner)->profile;
    profile.stack = owner;
    for (std::size_t t = 0; t < c.targets.size(); ++t) {
      const Target& target = c.targets[t];
      if (target.of_profile(owner)) target.stack_parameter->set(profile, values[t]);
    }
    profile.residual_sigma = own_errors.sigma(profile.residual_sigma);
    if (memory.contains(owner)) profile.memory_sigma = memory.at(owner).sigma(profile.memory_sigma);
    if (found.contains(owner)) {
      std::set<std::string> all(profile.measured.begin(), profile.measured.end());
      all.insert(found.at(owner).begin(), found.at(owner).end());
      profile.measured.assign(all.begin(), all.end());
    }
    result.catalog.set_stack_profile(profile);
    result.stacks.push_back(owner);
  }
  for (const Device& device : c.devices) {
    const AcceleratorProfile& own = *result.catalog.find_accelerator_profile(device.accelerator);
    SustainedRate rate{.accelerator = device.accelerator};
    for (std::size_t t = 0; t < c.targets.size(); ++t) {
      const Target& target = c.targets[t];
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

CalibrationOptions calibration_options(CalibrationScope scope) {
  CalibrationOptions options{.scope = scope};
  if (scope == CalibrationScope::StacksAndDevices) {
    options.prior_scale = 1;
    options.least_narrowing = 0.12;
  }
  return options;
}

Result<CalibrationResult> calibrate(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                    const CalibrationOptions& options) {
  Calibration c = observe(runs, catalog, options);
  if (all_fitted(c).empty()) return no_runs();
  const FitResult fitted = fit(c, all_fitted(c), runs, options);
  CalibrationResult result;
  result.catalog = catalog;
  result.runs = all_fitted(c).size();
  std::vector<std::size_t> runs_on(c.targets.size());
  for (const Observation& o : c.observations) {
    if (!o.fitted) continue;
    for (const std::size_t t : o.moved_by) ++runs_on[t];
  }
  for (std::size_t t = 0; t < c.targets.size(); ++t) {
    const Target& target = c.targets[t];
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

Result<std::vector<LeftOutError>> cross_validate(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                                 const CalibrationOptions& options,
                                                 const std::vector<std::string>& groups) {
  Calibration c = observe(runs, catalog, options);
  if (all_fitted(c).empty()) return no_runs();
  std::set<std::string> names;
  for (const Observation* o : all_fitted(c)) names.insert(groups[o->run]);
  if (names.size() < 2) {
    return fail("one-group", "--cross-validate", "the runs fall into one group only",
                "something must be left to fit on when a group is left out");
  }
  // From the catalog's figures, not from the fit to all runs: what a fit that stops early keeps of its start must
  // not have seen the group.
  return leave_out(c, runs, options, groups);
}

double interval_sigma(std::vector<double> log_ratios, double prior, double independent) {
  constexpr double kRoughGuess = 0.085;  // of which four fifths of left-out runs lie in P10 to P90
  const double before = prior > 0 ? prior : kRoughGuess;
  if (log_ratios.empty()) return before;
  for (double& x : log_ratios) x = std::abs(x);
  const std::size_t at = std::min(log_ratios.size() - 1, log_ratios.size() * 4 / 5);
  std::nth_element(log_ratios.begin(), log_ratios.begin() + static_cast<std::ptrdiff_t>(at), log_ratios.end());
  const double measured = log_ratios[at] / kZ90;
  return std::sqrt((kPriorRuns * before * before + independent * measured * measured) / (kPriorRuns + independent));
}

std::string accelerator_family(const MeasuredRun& run, const Catalog& catalog) {
  Assumptions ignored;
  const Result<Cluster> cluster = resolve_cluster(run, catalog, ignored);
  return cluster ? silicon_generation(cluster->accelerator) : run.gpu;
}

std::string stack_of(const MeasuredRun& run, const Catalog& catalog) {
  Assumptions ignored;
  const Result<Stack> stack = resolve_stack(run, catalog, ignored);
  return stack ? stack->id : std::string();
}

}  // namespace smplan
