#include "planner/calibration/calibration_problem.hpp"

#include <algorithm>
#include <cmath>

#include "models/step/step.hpp"
#include "planner/answer/uncertainty.hpp"
#include "planner/calibration/fit_knobs.hpp"
#include "planner/validation/prediction.hpp"

namespace smplan {
namespace {

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

/// The logit scale needs values strictly inside the bounds.
double inside(double x, double low, double high) {
  const double margin = 0.005 * (high - low);
  return std::clamp(x, low + margin, high - margin);
}

CalibrationTarget stack_target(const Stack& stack, const StackParameter& p, const FitKnob& knob,
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

CalibrationTarget device_target(const AcceleratorProfile& device, const std::string& silicon, const DeviceParameter& p,
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
std::size_t stack_index(CalibrationProblem& c, const Stack& stack, const CalibrationOptions& options) {
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

void add_device(CalibrationProblem& c, const AcceleratorProfile& device, const std::string& silicon,
                double prior_scale) {
  bool known_silicon = false;
  for (const CalibratedDevice& d : c.devices) {
    if (d.accelerator == device.accelerator) return;
    known_silicon = known_silicon || d.silicon == silicon;
  }
  c.devices.push_back({device.accelerator, silicon});
  if (known_silicon) return;
  for (const DeviceParameter& p : device_parameters()) {
    c.targets.push_back(device_target(device, silicon, p, prior_scale));
  }
}

Seconds predict(const CalibrationProblem& c, Observation& o, std::span<const double> values) {
  Stack stack = c.stacks[o.stack];
  ResolvedRun& r = o.resolved;
  for (const std::size_t t : o.targets) {
    const CalibrationTarget& target = c.targets[t];
    if (target.stack_parameter != nullptr) {
      target.stack_parameter->set(stack.profile, values[t]);
    } else {
      r.cluster.accelerator_profile.*target.device_parameter->profile = values[t];
    }
  }
  return step_of(r, executed_by(r, stack)).time();
}

/// Which numbers change the prediction anywhere in their bounds, the others at the catalog's values.
std::vector<std::size_t> moving_targets(const CalibrationProblem& c, Observation& o) {
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

CalibrationProblem observe(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                           const CalibrationOptions& options) {
  CalibrationProblem c;
  for (std::size_t i = 0; i < runs.size() && !stopped(options.fit.monitor); ++i) {
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
      o.silicon = r.cluster.accelerator.silicon();
      add_device(c, r.cluster.accelerator_profile, o.silicon, options.prior_scale);
    }
    c.observations.push_back(std::move(o));
  }
  return c;
}

/// Which numbers each observation reads, and which of them move it.
void link_targets(CalibrationProblem& c, const CalibrationOptions& options) {
  for (Observation& o : c.observations) {
    for (std::size_t t = 0; t < c.targets.size(); ++t) {
      const CalibrationTarget& target = c.targets[t];
      const bool reads =
          target.device_parameter != nullptr ? target.owner == o.silicon : target.of_profile(c.profile_of(o));
      if (reads) o.targets.push_back(t);
    }
    if (!stopped(options.fit.monitor)) o.moved_by = moving_targets(c, o);
  }
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

/// Spread of log time of a user's program, as a whole, about what published ones of its stack take. Programs lie
/// further apart, but so do the errors of runs of one: this value predicts a program's other runs best from one of
/// them. It is this times the scale of priors, 0.15 by default.
constexpr double kProgramSpread = 0.5;

/// The targets of a profile whose program takes `factor` of the published ones' time.
std::vector<double> slower(const CalibrationProblem& c, const std::string& profile, double factor,
                           std::vector<double> values) {
  for (std::size_t t = 0; t < c.targets.size(); ++t) {
    const CalibrationTarget& target = c.targets[t];
    const bool own = target.stack_parameter != nullptr && target.owner == profile && is_of_program(target.key);
    if (own) values[t] = inside(factor * target.shipped, target.parameter.low, target.parameter.high);
  }
  return values;
}

/// A program is slower or faster as a whole, which one run tells: numbers of the profile start from the factor that
/// suits its runs best, held by how far users' programs lie apart. An error follows the factor nearly one to one, so
/// that few steps find it.
std::vector<double> centred_on_programs(const CalibrationProblem& c, const std::vector<Observation*>& observations,
                                        const std::vector<double>& weights, double prior_scale) {
  std::map<std::string, std::vector<std::size_t>> runs_of;
  for (std::size_t i = 0; i < observations.size(); ++i) runs_of[c.profile_of(*observations[i])].push_back(i);
  std::vector<double> centre = c.shipped();
  const double spread = prior_scale * kProgramSpread;
  const double prior = 1 / (spread * spread);
  for (const auto& [profile, runs] : runs_of) {
    double factor = 0;  // its logarithm
    constexpr int kSteps = 12;
    for (int step = 0; step < kSteps; ++step) {
      const std::vector<double> values = slower(c, profile, std::exp(factor), centre);
      double pull = prior * factor;
      double weight = prior;
      for (const std::size_t i : runs) {
        pull += weights[i] * log_error(c, *observations[i], values);
        weight += weights[i];
      }
      factor -= pull / weight;
    }
    centre = slower(c, profile, std::exp(factor), std::move(centre));
  }
  return centre;
}

}  // namespace

bool CalibrationTarget::of_profile(std::string_view stack) const {
  return stack_parameter != nullptr && (stack_parameter->shared || owner == stack);
}

std::vector<double> CalibrationProblem::shipped() const {
  std::vector<double> values;
  for (const CalibrationTarget& t : targets) values.push_back(t.shipped);
  return values;
}

std::vector<Observation*> CalibrationProblem::fitted() {
  std::vector<Observation*> all;
  for (Observation& o : observations) {
    if (o.fitted) all.push_back(&o);
  }
  return all;
}

const std::string& CalibrationProblem::profile_of(const Observation& o) const { return profile_owner(stacks[o.stack]); }

const std::string& CalibrationProblem::profile_of(std::string_view stack_id) const {
  return profile_owner(*std::find_if(stacks.begin(), stacks.end(), [&](const Stack& s) { return s.id == stack_id; }));
}

TraitsByProfile CalibrationProblem::traits_of(const std::vector<Observation*>& some) const {
  TraitsByProfile found;
  for (const Observation* o : some) found[profile_of(*o)].insert(o->traits.begin(), o->traits.end());
  return found;
}

Result<CalibrationProblem> calibration_problem(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                               const CalibrationOptions& options) {
  CalibrationProblem problem = observe(runs, catalog, options);
  if (problem.fitted().empty()) {
    return fail("no-runs", "calibrate", "no run can be predicted and has a measured speed",
                "'smplan validate' says of each row why");
  }
  link_targets(problem, options);
  return problem;
}

double log_error(const CalibrationProblem& problem, Observation& o, std::span<const double> values) {
  return std::log(predict(problem, o, values) / o.measured);
}

FitResult fit_to(const std::vector<Observation*>& observations, const CalibrationProblem& problem,
                 const std::vector<MeasuredRun>& runs, const CalibrationOptions& options) {
  FitProblem squares;
  for (const CalibrationTarget& t : problem.targets) squares.parameters.push_back(t.parameter);
  squares.residual = [&](std::size_t i, std::span<const double> values) {
    return log_error(problem, *observations[i], values);
  };
  squares.weights = run_weights(observations, runs);
  // Vendors' tables tell the published level itself.
  if (options.scope == CalibrationScope::Stacks) {
    const std::vector<double> centre = centred_on_programs(problem, observations, squares.weights, options.prior_scale);
    for (std::size_t t = 0; t < centre.size(); ++t) {
      FitParameter& parameter = squares.parameters[t];
      parameter.initial = inside(centre[t], parameter.low, parameter.high);
    }
  }
  for (const Observation* o : observations) squares.depends_on.push_back(o->moved_by);
  FitResult fitted = fit_parameters(squares, options.fit);
  if (options.least_narrowing > 0) {
    for (std::vector<std::size_t>& on : squares.depends_on) {
      std::erase_if(on, [&](std::size_t t) { return fitted.narrowing[t] > 1 - options.least_narrowing; });
    }
    fitted = fit_parameters(squares, options.fit);
  }
  // Also where that is a bound.
  std::vector<double> values = problem.shipped();
  for (const std::vector<std::size_t>& on : squares.depends_on) {
    for (const std::size_t t : on) values[t] = fitted.values[t];
  }
  fitted.values = std::move(values);
  return fitted;
}

const std::string& profile_owner(const Stack& stack) { return stack.runs_like.empty() ? stack.id : stack.runs_like; }

}  // namespace smplan
