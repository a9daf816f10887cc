#include "planner/analysis/explain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/figures.hpp"
#include "planner/analysis/whatif.hpp"
#include "planner/answer/advice.hpp"
#include "planner/search/constraints.hpp"
#include "planner/search/estimate.hpp"
#include "planner/search/objective.hpp"

namespace smplan {
namespace {

using Lines = std::vector<std::string>;

std::string where_and_how(const Plan& p) {
  return fmt::format("{} x {}, {}, {}", p.instance_count, p.instance->name, p.stack->name, to_string(p.strategy));
}

/// `12 % dearer`, `1.9 times as long`: how far `other` is from `mine`.
std::string change(double other, double mine, std::string_view more, std::string_view less) {
  if (mine <= 0) return {};
  const double ratio = other / mine;
  if (ratio > 2) return fmt::format("{:.1f} times as much", ratio);
  const double part = ratio - 1;
  if (std::abs(part) < 0.0005) return "the same";
  return fmt::format("{} {}", format_percent(std::abs(part)), part >= 0 ? more : less);
}

std::string against(const Plan& other, const Plan& mine) {
  const double time = other.cost.time_to_train().value();
  const double cost = other.cost.total().value();
  return fmt::format("{} ({}) and {} ({})", format_usd(other.cost.total()),
                     change(cost, mine.cost.total().value(), "dearer", "cheaper"),
                     format_duration(other.cost.time_to_train()),
                     change(time, mine.cost.time_to_train().value(), "longer", "shorter"));
}

/// ` that end within 28 d`, where the horizon leaves plans out of the comparison.
std::string within(const PlanRequest& r) {
  const bool compared = r.objective == Objective::Cost || r.objective == Objective::Balanced;
  return compared ? fmt::format(" that end within {}", format_duration(r.horizon)) : std::string();
}

std::string_view goal(const PlanSet& set) {
  const PlanRequest& r = set.request;
  if (nothing_ends_in_time(set)) return "the shortest time to train, as nothing ends within a year,";
  switch (r.objective) {
    case Objective::Cost:
      return "the lowest total cost";
    case Objective::Time:
      return "the shortest time to train";
    case Objective::Balanced:
      return "the least product of cost and time";
    case Objective::Pareto:
      return "a place on the time/cost frontier";
  }
  return "the objective";
}

/// Best plan of a narrower request, or the nearest miss.
PlanSet best_of(const PlanRequest& narrowed, const Catalog& catalog, const SearchOptions& options) {
  PlanRequest one = narrowed;
  one.top = 1;
  if (one.objective == Objective::Pareto) one.objective = Objective::Cost;
  return search(one, catalog, options);
}

/// The plan with the least score, whatever comes first for being simpler.
const Plan& least(const PlanSet& set) {
  const PlanRequest& r = set.request;
  if (r.objective == Objective::Pareto) return set.plans.front();
  const auto value = [&r](const Plan& plan) { return score(r, plan.cost.time_to_train(), plan.cost.total()); };
  return *std::min_element(set.plans.begin(), set.plans.end(),
                           [&](const Plan& a, const Plan& b) { return value(a) < value(b); });
}

/// Whether the winner is the best to the last percent, or comes first because it is simpler.
void explain_simplicity(const PlanSet& set, const Plan& p, Lines& out) {
  if (set.request.objective == Objective::Pareto) return;
  const Plan& best = least(set);
  const std::string rule = fmt::format(
      "Of plans within {} of the best the simplest comes first: one instance before several, then few dimensions and "
      "degrees that are powers of two, then few instances.",
      format_percent(kSimplerMayCost - 1));
  if (best.same_as(p)) {
    out.push_back(rule + " Here the best is the simplest.");
  } else {
    out.push_back(fmt::format("{} {} takes {} and is less simple.", rule, where_and_how(best), against(best, p)));
  }
}

void explain_winner(const PlanSet& set, const Plan& p, std::size_t rank, Lines& out) {
  out.push_back(fmt::format("Rank {}: {}. {} in {} at {}.", rank, where_and_how(p), format_usd(p.cost.total()),
                            format_duration(p.cost.time_to_train()), format_usd_per_hour(p.cost.hourly)));
  if (rank == 1) {
    out.push_back(fmt::format(
        "{} {} of {} candidates{}: {} priced in full, {} dismissed because a bound or a lighter "
        "variant was better.",
        least(set).same_as(p) ? "It has" : "But for what a simpler plan may cost it has", goal(set), set.search.space,
        nothing_ends_in_time(set) ? "" : within(set.request), set.search.evaluated, set.search.pruned));
    explain_simplicity(set, p, out);
    if (const Plan* longer = cheaper_later(set)) {
      out.push_back(fmt::format("Cheaper beyond {}: {} takes {}; --deadline {:.0f}d plans for it.",
                                format_duration(set.request.horizon), where_and_how(*longer), against(*longer, p),
                                days_for(*longer)));
    }
  } else {
    out.push_back(fmt::format("It ranks behind rank 1, which takes {}.", against(set.plans.front(), p)));
  }
}

void explain_bounds(const Plan& p, Lines& out) {
  const StepComponents& c = p.step.components;
  const std::vector<StepPart> parts = longest_parts(c);
  std::string shares;
  for (std::size_t i = 0; i < 4; ++i) {
    const Seconds time = c.*parts[i].time;
    if (time.value() <= 0) break;
    shares += fmt::format("{}{} {}", i > 0 ? ", " : "", format_percent(time / p.step.time()), parts[i].words);
  }
  out.push_back(fmt::format("A step takes {} at {} MFU: {}. Besides matrix products, {} bounds it.",
                            format_duration(p.step.time()), format_percent(p.step.mfu), shares, bottleneck(p.step)));
  const MemoryEstimate& m = p.memory;
  out.push_back(fmt::format("Memory: {} ({} to {}) of {} a device; {} chance to run out.", format_bytes(m.wanted),
                            format_bytes(p.peak_interval.p10), format_bytes(p.peak_interval.p90), format_bytes(m.limit),
                            format_chance(p.out_of_memory_probability)));
}

/// One changed dimension at a time, everything else as it is: slower by how much, or short by how much.
void explain_strategy(const PlanSet& set, const Catalog& catalog, const Plan& p, Lines& out) {
  struct Variant {
    std::string name;
    Strategy strategy;
  };
  std::vector<Variant> variants;
  const auto add = [&](std::string name, auto change_one) {
    Strategy s = p.strategy;
    change_one(s);
    if (s != p.strategy) variants.push_back({std::move(name), s});
  };
  for (const Recompute r : {Recompute::None, Recompute::Selective, Recompute::Full}) {
    add(fmt::format("{} recomputation", r == Recompute::None ? std::string_view("no") : to_string(r)),
        [r](Strategy& s) {
          s.recompute = r;
          s.recompute_layers = 0;
        });
  }
  add("twice the micro-batch", [](Strategy& s) { s.micro_batch *= 2; });
  if (p.strategy.micro_batch > 1) add("half the micro-batch", [](Strategy& s) { s.micro_batch /= 2; });
  if (p.strategy.offload.any()) add("no offload", [](Strategy& s) { s.offload = Offload{}; });
  const auto follow_data = [&p](Strategy& s) {
    if (p.strategy.shard_degree == p.strategy.data_parallel * p.strategy.context_parallel) {
      s.shard_degree = s.data_parallel * s.context_parallel;
    }
  };
  if (p.strategy.data_parallel % 2 == 0) {
    add("twice the tensor parallelism", [&](Strategy& s) {
      s.tensor_parallel *= 2;
      s.data_parallel /= 2;
      follow_data(s);
    });
    add("twice the pipeline", [&](Strategy& s) {
      s.pipeline_parallel *= 2;
      s.data_parallel /= 2;
      follow_data(s);
    });
  }
  if (p.strategy.tensor_parallel % 2 == 0) {
    add("half the tensor parallelism", [&](Strategy& s) {
      s.tensor_parallel /= 2;
      s.data_parallel *= 2;
      if (s.tensor_parallel == 1) s.sequence_parallel = false;
      follow_data(s);
    });
  }
  for (const DimensionRow& row : dimensions()) {
    if (!row.of_execution || !row.applies(p.strategy) || !set.request[row.dimension].any()) continue;
    add(fmt::format("{} as {} does by default", row.title, p.stack->id),
        [&](Strategy& s) { row.set(s, row.plain(s)); });
  }
  for (const Variant& v : variants) {
    const Result<Plan> other = evaluate(set.request, catalog, *p.instance, p.instance_count, *p.stack, v.strategy);
    if (!other) {
      out.push_back(fmt::format("With {}: not possible, {}.", v.name, other.error().front().message));
    } else if (!other->memory.fits_device()) {
      out.push_back(fmt::format("With {}: does not fit, needs {} of {} ({} too much).", v.name,
                                format_bytes(other->memory.wanted), format_bytes(other->memory.limit),
                                format_bytes(other->memory.wanted - other->memory.limit)));
    } else if (const std::string short_of = host_shortfall(other->memory); !short_of.empty()) {
      out.push_back(fmt::format("With {}: {}.", v.name, short_of));
    } else {
      out.push_back(fmt::format("With {}: a step takes {} ({}), {} a device.", v.name,
                                format_duration(other->step.time()),
                                change(other->step.time().value(), p.step.time().value(), "longer", "shorter"),
                                format_bytes(other->memory.wanted)));
    }
  }
}

/// The same plan at other batches: what the choice of the batch costs.
void explain_batch(const PlanSet& set, const Catalog& catalog, const Plan& p, Lines& out) {
  const Workload& w = set.request.workload;
  const std::string bound = batch_bound(w, p.step);
  if (!bound.empty()) out.push_back(fmt::format("Of the step, {}.", bound));
  for (const auto& [factor, words] : {std::pair(0.5, "half"), std::pair(2.0, "twice"), std::pair(4.0, "four times")}) {
    Scenario changed = set.request.scenario;
    changed.batch *= factor;
    const PlanRequest request = in_world(set.request, changed);
    const std::string batch =
        fmt::format("{} the batch ({} sequences, {} tokens)", words, request.workload.global_batch,
                    format_count(request.workload.tokens_per_step()));
    const Result<Plan> other = evaluate(request, catalog, *p.instance, p.instance_count, *p.stack, p.strategy);
    if (!other) {
      out.push_back(fmt::format("With {}: not possible, {}.", batch, other.error().front().message));
    } else if (!other->memory.fits()) {
      out.push_back(fmt::format("With {}: does not fit, needs {} of {}.", batch, format_bytes(other->memory.wanted),
                                format_bytes(other->memory.limit)));
    } else {
      out.push_back(fmt::format("With {}: the run takes {}; whether it learns as well is not modelled.", batch,
                                against(*other, p)));
    }
  }
}

void explain_alternative(std::string_view name, const PlanSet& other, const Plan& p, Lines& out) {
  if (!other.plans.empty()) {
    const Plan& best = other.plans.front();
    out.push_back(fmt::format("{}: {} takes {}.", name, where_and_how(best), against(best, p)));
  } else if (other.nearest_miss) {
    const NearestMiss& miss = *other.nearest_miss;
    out.push_back(fmt::format("{}: nothing fits; nearest is {}, which {}.", name, where_and_how(miss.plan),
                              shortfall(miss.rejection)));
  }
}

void explain_neighbours(const PlanSet& set, const Catalog& catalog, const Plan& p, const SearchOptions& options,
                        Lines& out) {
  PlanRequest same = set.request;
  same.instances = {p.instance};
  for (const std::int32_t count : {p.instance_count / 2, p.instance_count * 2}) {
    const auto& counts = set.request.counts;
    if (std::find(counts.begin(), counts.end(), count) == counts.end()) continue;
    same.counts = {count};
    explain_alternative(count < p.instance_count ? "Half the instances" : "Twice the instances",
                        best_of(same, catalog, options), p, out);
  }
  PlanRequest others = set.request;
  others.instances.erase(std::remove(others.instances.begin(), others.instances.end(), p.instance),
                         others.instances.end());
  if (!others.instances.empty()) {
    explain_alternative("Best on another instance type", best_of(others, catalog, options), p, out);
  }
  PlanRequest stacks = set.request;
  stacks.instances = {p.instance};
  stacks.counts = {p.instance_count};
  std::map<std::string_view, std::vector<const Stack*>> frameworks;
  for (const Stack* stack : set.request.stacks) frameworks[stack->id].push_back(stack);
  for (const Stack* stack : set.request.stacks) {
    const bool first = stack == frameworks[stack->id].front();
    if (!first || stack->id == p.stack->id) continue;
    stacks.stacks = frameworks[stack->id];
    explain_alternative(fmt::format("Same instances with {}", stack->name), best_of(stacks, catalog, options), p, out);
  }
}

void explain_nothing(const PlanSet& set, Lines& out) {
  out.push_back("No candidate is a plan.");
  for (int i = 0; i < kRejectionReasonCount; ++i) {
    const std::uint64_t n = set.rejected[static_cast<std::size_t>(i)];
    if (n > 0) out.push_back(fmt::format("{} candidates: {}.", n, to_string(static_cast<RejectionReason>(i))));
  }
  if (set.nearest_miss) {
    out.push_back(fmt::format("Nearest: {}, which {}.", where_and_how(set.nearest_miss->plan),
                              shortfall(set.nearest_miss->rejection)));
  }
}

}  // namespace

std::vector<std::string> explain(const PlanSet& set, const Catalog& catalog, std::size_t rank,
                                 const SearchOptions& options) {
  Lines out;
  if (set.plans.empty() || rank == 0 || rank > set.plans.size()) {
    if (set.plans.empty()) explain_nothing(set, out);
    return out;
  }
  const Plan& plan = set.plans[rank - 1];
  explain_winner(set, plan, rank, out);
  explain_bounds(plan, out);
  explain_strategy(set, catalog, plan, out);
  explain_batch(set, catalog, plan, out);
  explain_neighbours(set, catalog, plan, options, out);
  for (const std::string& warning : plan.warnings) out.push_back(fmt::format("Note: {}.", warning));
  return out;
}

}  // namespace smplan
