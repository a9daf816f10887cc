#include "planner/calibration/cross_validate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "planner/answer/uncertainty.hpp"
#include "planner/calibration/calibration_problem.hpp"
#include "planner/calibration/error_sample.hpp"

namespace smplan {
namespace {

/// Whether each error lies in the interval that the errors of the other groups behind its profile would have given.
void mark_inside(const CalibrationProblem& c, std::vector<LeftOutError>& errors) {
  for (const Stack& stack : c.stacks) {
    std::map<std::string, std::vector<LeftOutError*>> groups;
    for (LeftOutError& e : errors) {
      if (e.stack == stack.id) groups[e.group].push_back(&e);
    }
    for (const auto& [name, own] : groups) {
      ErrorSample others;
      for (const LeftOutError& e : errors) {
        if (c.profile_of(e.stack) == profile_owner(stack) && e.group != name && e.fitted) others.add(e.ratio, e.group);
      }
      Stack judged = stack;
      judged.profile.residual_sigma = others.sigma(stack.profile.residual_sigma);
      for (LeftOutError* e : own) {
        e->inside = std::abs(std::log(e->ratio)) <= kZ90 * total_sigma(judged, e->unmeasured, Program::Tuned);
      }
    }
  }
}

}  // namespace

std::vector<LeftOutError> leave_out(CalibrationProblem& problem, const std::vector<MeasuredRun>& runs,
                                    const CalibrationOptions& options, const std::vector<std::string>& groups) {
  std::set<std::string> names;
  for (const Observation& o : problem.observations) names.insert(groups[o.run]);
  std::vector<LeftOutError> errors;
  for (const std::string& name : names) {
    std::vector<Observation*> kept;
    for (Observation& o : problem.observations) {
      if (o.fitted && groups[o.run] != name) kept.push_back(&o);
    }
    if (kept.empty() || stopped(options.fit.monitor)) continue;
    const FitResult without = fit_to(kept, problem, runs, options);
    TraitsByProfile known = problem.traits_of(kept);
    for (Observation& o : problem.observations) {
      if (groups[o.run] != name) continue;
      const std::set<std::string>& had = known[problem.profile_of(o)];
      const auto unmeasured =
          std::count_if(o.traits.begin(), o.traits.end(), [&](const std::string& t) { return !had.contains(t); });
      errors.push_back({.run = o.run,
                        .group = name,
                        .stack = problem.stacks[o.stack].id,
                        .ratio = std::exp(log_error(problem, o, without.values)),
                        .unmeasured = static_cast<std::size_t>(unmeasured),
                        .fitted = o.fitted});
    }
  }
  mark_inside(problem, errors);
  return errors;
}

Result<std::vector<LeftOutError>> cross_validate(const std::vector<MeasuredRun>& runs, const Catalog& catalog,
                                                 const CalibrationOptions& options,
                                                 const std::vector<std::string>& groups) {
  Result<CalibrationProblem> problem = calibration_problem(runs, catalog, options);
  if (!problem) return tl::unexpected(problem.error());
  std::set<std::string> names;
  for (const Observation* o : problem->fitted()) names.insert(groups[o->run]);
  if (names.size() < 2) {
    return fail("one-group", "--cross-validate", "the runs fall into one group only",
                "something must be left to fit on when a group is left out");
  }
  // From the catalog's figures, not from the fit to all runs: what a fit that stops early keeps of its start must
  // not have seen the group.
  return leave_out(*problem, runs, options, groups);
}

}  // namespace smplan
