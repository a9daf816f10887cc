#include "planner/stack_search.hpp"

#include <algorithm>

#include "planner/bounds.hpp"
#include "planner/constraints.hpp"
#include "planner/split_search.hpp"

namespace smplan {

bool Incumbents::useless(const PlanRequest& request, Seconds time, Usd cost) const {
  // The frontier is the whole answer to the pareto objective; otherwise the ranked list is one too.
  const bool ranked = request.objective != Objective::Pareto;
  if (ranked && (!last_shown || score(request, time, cost) <= *last_shown)) return false;
  return is_dominated({time.value(), cost.value()}, frontier);
}

std::size_t StackSearch::PlacementHash::operator()(const Placement& key) const {
  std::size_t hash = 0;
  const auto mix = [&hash](std::int64_t value) {
    // Constant of Fibonacci hashing: 2^64 over the golden ratio.
    hash = (hash ^ static_cast<std::size_t>(value)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  };
  mix(key.tensor);
  mix(key.context);
  mix(key.expert);
  for (const GroupShape* g : {&key.tensor_group, &key.context_group, &key.expert_group}) {
    mix(g->ranks);
    mix(g->per_domain);
    mix(g->concurrent_per_node);
  }
  return hash;
}

StackSearch::Tables& StackSearch::tables(const Cluster& cluster, const Strategy& split) {
  const Groups groups = group_shapes(split, cluster);
  Tables& tables = tables_[Placement{split.tensor_parallel, split.context_parallel, split.expert_parallel,
                                     groups.tensor, groups.context, groups.expert}];
  if (tables.empty()) tables.resize(2 * common_->collectives.size() * common_->micro_batches.size());
  return tables;
}

std::unique_ptr<const StackSearch::Table> StackSearch::make_table(const Group& group, const Cluster& cluster,
                                                                  const Strategy& s) const {
  auto table = std::make_unique<Table>();
  table->layers = layer_table(*group.workload, s, cluster, stack_);
  table->forward_backward = table_floor(table->layers, stack_.profile);
  table->recompute = recompute_floor(table->layers, stack_.profile);
  return table;
}

/// Splits with at least one candidate; the others are counted.
std::vector<StackSearch::SplitSearch> StackSearch::open_splits(const Group& group, const Cluster& cluster,
                                                               StackOutcome& out) {
  const SearchSpace space(request_, *group.workload, cluster, stack_, *common_);
  std::vector<SplitSearch> open;
  for (const Split& split : space.splits()) {
    auto broken = space.check(split);
    SplitOptions options;
    if (!broken) {
      options = space.options(split);
      if (options.candidates(*common_) == 0) {
        const bool divides = !options.micro_batches.empty() && !options.shardings.empty() && !options.schedules.empty();
        broken = divides ? RejectionReason::Unsupported : RejectionReason::Divisibility;
      }
    }
    if (broken) {
      ++out.stats.space;
      ++out.rejected[static_cast<std::size_t>(*broken)];
      continue;
    }
    out.stats.space += options.candidates(*common_);
    open.emplace_back(*this, group, cluster, split, std::move(options));
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const SplitSearch& a, const SplitSearch& b) { return a.floor() < b.floor(); });
  return open;
}

StackOutcome StackSearch::search(const Group& group, const Incumbents& incumbents) {
  StackOutcome out;
  const Cluster cluster = group.cluster();
  if (!common_) common_ = common_options(request_, *group.workload, *group.instance, cluster, stack_);
  const auto variants = static_cast<std::size_t>(variants_);
  for (SplitSearch& split : open_splits(group, cluster, out)) {
    const bool full = out.best.size() == variants;
    if (full && split.floor() > out.best.back().step.time()) {
      out.stats.pruned += split.candidates();
      continue;
    }
    StepEstimate bound;
    bound.components.compute = split.floor();
    const RunCost cost = group_cost(group, bound);
    const bool late = limit_rejection(request_, cost.time_to_train(), cost.total()).has_value();
    if ((late && incumbents.has_plan) || incumbents.useless(request_, cost.time_to_train(), cost.total())) {
      out.stats.pruned += split.candidates();
      continue;
    }
    const auto threshold = full ? std::optional<Seconds>(out.best.back().step.time()) : std::nullopt;
    // What is short of memory matters only where nothing fits.
    const bool count_misses = !incumbents.has_plan && out.best.empty();
    const std::optional<Candidate> best = split.run(threshold, count_misses, out);
    if (!best) continue;
    out.best.insert(std::upper_bound(out.best.begin(), out.best.end(), *best, faster), *best);
    if (out.best.size() > variants) out.best.pop_back();
  }
  return out;
}

}  // namespace smplan
