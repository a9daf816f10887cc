#include "planner/analysis/whatif.hpp"
#include "planner/search/estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/figures.hpp"
#include "planner/search/constraints.hpp"

namespace smplan {
namespace {

/// Down and up, mild and strong: a fifth is what estimates and prices err by, a factor of two what the
/// next generation of hardware brings.
constexpr std::array<double, 4> kFactors{0.8, 1.25, 0.5, 2.0};

std::optional<Plan> best_of(const PlanRequest& request, const Catalog& catalog, const SearchOptions& options) {
  PlanRequest one = request;
  one.top = 1;
  PlanSet set = search(one, catalog, options);
  if (set.plans.empty()) return std::nullopt;
  return std::move(set.plans.front());
}

/// The winner's strategy priced where facts differ.
std::optional<Plan> kept_plan(const PlanRequest& request, const Catalog& catalog, const Plan& winner) {
  PlanRequest sold_so = request;
  sold_so.markets = {winner.market};
  Result<Plan> plan =
      evaluate(sold_so, catalog, *winner.instance, winner.instance_count, *winner.stack, winner.strategy);
  if (!plan) return std::nullopt;
  const double safe_part =
      request.max_oom_probability ? safe_memory_part(*winner.stack, *request.max_oom_probability) : 1;
  if (memory_rejection(plan->memory, request.min_headroom, safe_part)) return std::nullopt;
  return std::move(*plan);
}

std::string name_of(const Plan& p) {
  return fmt::format("{} x {} {} {}", p.instance_count, p.instance->name, p.stack->id, to_string(p.strategy));
}

/// `$89,620 (+3.1%) in 14 d (-0.2%)`
std::string outcome(const Plan& plan, const Plan& reference) {
  return fmt::format("{} ({}) in {} ({})", format_usd(plan.cost.total()),
                     format_change(reference.cost.total().value(), plan.cost.total().value()),
                     format_duration(plan.cost.time_to_train()),
                     format_change(reference.cost.time_to_train().value(), plan.cost.time_to_train().value()));
}

std::string sentence(const Sensitivity& s, const Plan& reference) {
  const std::string what = fmt::format("{} x {:g}", s.knob->words, s.factor);
  if (!s.winner) return what + ": nothing fits";
  if (!s.changes_winner) return fmt::format("{}: the same plan wins, {}", what, outcome(*s.winner, reference));
  const std::string kept = s.kept ? ", the plan as it is " + outcome(*s.kept, reference) : ", the plan no longer fits";
  return fmt::format("{}: {} wins, {}{}", what, name_of(*s.winner), outcome(*s.winner, reference), kept);
}

/// More than a tenth of a percent of cost or time, or another winner.
bool matters(const Sensitivity& s, const Plan& reference) {
  constexpr double kNoticed = 1e-3;
  if (s.changes_winner) return true;
  const auto moved = [](double before, double after) { return std::abs(after - before) > kNoticed * before; };
  return moved(reference.cost.total().value(), s.winner->cost.total().value()) ||
         moved(reference.cost.time_to_train().value(), s.winner->cost.time_to_train().value());
}

std::string sentence(const Neighbour& n, const Plan& reference) {
  const std::int32_t more = n.count - reference.instance_count;
  const std::string what = fmt::format("one instance {} ({})", more > 0 ? "more" : "less", n.count);
  if (!n.plan) return what + ": nothing fits";
  return fmt::format("{}: {}, {}", what, to_string(n.plan->strategy), outcome(*n.plan, reference));
}

}  // namespace

PlanRequest in_world(const PlanRequest& request, const Scenario& scenario) {
  PlanRequest changed = request;
  scale_batch(changed.workload, scenario.batch / request.scenario.batch);
  changed.scenario = scenario;
  return changed;
}

std::vector<Sensitivity> sensitivities(const PlanSet& set, const Catalog& catalog, const SearchOptions& options) {
  const Plan& winner = set.plans.front();
  std::vector<Sensitivity> out;
  for (const ScenarioKnob& knob : scenario_knobs()) {
    std::array<bool, 2> moved{};  // down, up
    for (const double factor : kFactors) {
      bool& done = moved[factor > 1 ? 1 : 0];
      if (done || stopped(options.monitor)) continue;
      Scenario scenario = set.request.scenario;
      scenario.*knob.factor *= factor;
      const PlanRequest request = in_world(set.request, scenario);
      Sensitivity s{&knob, factor, kept_plan(request, catalog, winner), best_of(request, catalog, options), false};
      s.changes_winner = !s.winner || !s.winner->same_as(winner);
      done = s.changes_winner;
      out.push_back(std::move(s));
    }
  }
  return out;
}

std::vector<Neighbour> neighbours_of_count(const PlanSet& set, const Catalog& catalog, const SearchOptions& options) {
  const Plan& winner = set.plans.front();
  std::vector<Neighbour> out;
  for (const std::int32_t count : {winner.instance_count - 1, winner.instance_count + 1}) {
    if (count < 1) continue;
    PlanRequest request = set.request;
    request.instances = {winner.instance};
    request.counts = {count};
    out.push_back({count, best_of(request, catalog, options)});
  }
  return out;
}

std::vector<std::string> explain_sensitivity(const PlanSet& set, const Catalog& catalog, const SearchOptions& options) {
  const Plan& winner = set.plans.front();
  std::vector<std::string> sentences;
  for (const Neighbour& n : neighbours_of_count(set, catalog, options)) sentences.push_back(sentence(n, winner));
  const std::vector<Sensitivity> all = sensitivities(set, catalog, options);
  std::string idle;
  for (const ScenarioKnob& knob : scenario_knobs()) {
    const auto of_knob = [&](const Sensitivity& s) { return s.knob == &knob; };
    if (std::any_of(all.begin(), all.end(), [&](const Sensitivity& s) { return of_knob(s) && matters(s, winner); })) {
      for (const Sensitivity& s : all) {
        if (of_knob(s)) sentences.push_back(sentence(s, winner));
      }
    } else {
      idle += fmt::format("{}{}", idle.empty() ? "" : ", ", knob.words);
    }
  }
  if (!idle.empty()) {
    sentences.push_back(
        fmt::format("from {:g} to {:g} times what they are, these change nothing: {}", kFactors[2], kFactors[3], idle));
  }
  return sentences;
}

}  // namespace smplan
