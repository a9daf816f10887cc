#include "planner/stack_search.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/assert.hpp"
#include "models/stage.hpp"
#include "planner/constraints.hpp"

namespace smplan {
namespace {

/// Bounds and estimates add the same numbers in different order; this covers the rounding.
constexpr double kRounding = 1 - 1e-9;

Seconds pass_floor(const PassCosts& costs, const StackProfile& profile) {
  const Seconds device = costs.compute() + exposed(costs.tensor_comm, costs.gemm, profile.tensor_overlap) +
                         exposed(costs.context_comm, costs.attention, profile.context_overlap) +
                         exposed(costs.expert_comm, costs.compute(), profile.expert_overlap);
  return std::max(device, costs.host);
}

template <typename F>
Seconds over_layers(const LayerTable& table, F pass) {
  Seconds sum;
  for (int i = 0; i < table.stack.n_runs; ++i) {
    const auto run = static_cast<std::size_t>(i);
    sum += static_cast<double>(table.stack.runs[run].count) * pass(table.layers[run]);
  }
  return sum;
}

std::size_t reason_index(RejectionReason reason) { return static_cast<std::size_t>(reason); }

}  // namespace

bool Incumbents::useless(const PlanRequest& request, Seconds time, Usd cost) const {
  // The frontier is the whole answer to the pareto objective; otherwise the ranked list is one too.
  const bool ranked = request.objective != Objective::Pareto;
  if (ranked && (!last_shown || score(request, time, cost) <= *last_shown)) return false;
  return is_dominated({time.value(), cost.value()}, frontier);
}

Seconds table_floor(const LayerTable& table, const StackProfile& profile) {
  const EdgeCosts& e = table.edge;
  return over_layers(table,
                     [&](const LayerCosts& layer) {
                       return pass_floor(layer.forward, profile) + pass_floor(layer.backward, profile);
                     }) +
         pass_floor(e.embedding_forward, profile) + pass_floor(e.embedding_backward, profile) +
         pass_floor(e.head_forward, profile) + pass_floor(e.head_backward, profile);
}

Seconds recompute_floor(const LayerTable& table, const StackProfile& profile) {
  return over_layers(table, [&](const LayerCosts& layer) { return pass_floor(layer.forward, profile); });
}

Seconds step_floor(Seconds model_time, const Strategy& s, const Workload& workload, const Stack& stack) {
  const double m = static_cast<double>(s.micro_batches(workload));
  const double p = s.pipeline_parallel;
  const double bubble = s.schedule == Schedule::ZeroBubble ? 0 : (p - 1) / s.virtual_pipeline;
  const Seconds host = stack.profile.host_time_step + m * stack.profile.host_time_micro_batch;
  const double straggler = 1 + stack.profile.straggler * std::log2(static_cast<double>(s.gpus()));
  return (model_time * ((m + bubble) / p) + host) * (straggler * kRounding);
}

std::size_t StackSearch::TableKeyHash::operator()(const TableKey& key) const {
  std::size_t hash = 0;
  const auto mix = [&hash](std::int64_t value) {
    // Constant of Fibonacci hashing: 2^64 over the golden ratio.
    hash = (hash ^ static_cast<std::size_t>(value)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 29;
  };
  mix(key.tensor);
  mix(key.context);
  mix(key.expert);
  mix(key.micro_batch);
  mix(key.sequence_parallel ? 1 : 0);
  mix(static_cast<std::int64_t>(key.collectives));
  for (const GroupShape* g : {&key.tensor_group, &key.context_group, &key.expert_group}) {
    mix(g->ranks);
    mix(g->per_domain);
    mix(g->concurrent_per_node);
  }
  return hash;
}

const StackSearch::Table& StackSearch::table(const Group& group, const Cluster& cluster, const Strategy& s) {
  const Groups groups = group_shapes(s, cluster);
  const TableKey key{s.tensor_parallel, s.context_parallel, s.expert_parallel, s.micro_batch, s.sequence_parallel,
                     s.collectives,     groups.tensor,      groups.context,    groups.expert};
  const auto found = tables_.find(key);
  if (found != tables_.end()) return found->second;
  Table& entry = tables_[key];
  entry.layers = layer_table(*group.workload, s, cluster, stack_);
  entry.forward_backward = table_floor(entry.layers, stack_.profile);
  entry.recompute = recompute_floor(entry.layers, stack_.profile);
  return entry;
}

/// One split: all its sequence parallel, schedules, shardings, micro-batches, savings, collectives.
struct StackSearch::SplitSearch {
  StackSearch& search;
  const Group& group;
  const Cluster& cluster;
  StackOutcome& out;
  SplitOptions options;
  std::vector<std::uint64_t> lighter;  ///< by saving: the savings that never cost more, as bits
  std::vector<const Table*> tables;    ///< [sequence parallel][micro-batch][collectives]
  Strategy base;
  Seconds floor;  ///< of the whole split
  std::optional<Candidate> best;

  SplitSearch(StackSearch& owner, const Group& g, const Cluster& c, StackOutcome& o, const Split& split,
              SplitOptions split_options);

  /// Fastest candidate of the split that beats `threshold`, counting everything else.
  void run(std::optional<Seconds> threshold);

 private:
  void prepare_savings();
  void prepare_tables();
  [[nodiscard]] std::size_t table_index(std::size_t sp, std::size_t mb, std::size_t c) const {
    return (sp * options.micro_batches.size() + mb) * options.collectives.size() + c;
  }
  [[nodiscard]] Seconds floor_of(const Strategy& s, std::size_t sp, std::size_t mb) const;
  void try_savings(const Strategy& s, std::size_t sp, const std::vector<std::size_t>& micro_batches);
  void try_collectives(Strategy s, const MemoryEstimate& memory, std::size_t sp, std::size_t mb);
  void refuse(const Strategy& s, const Rejection& rejection, std::uint64_t candidates);
  [[nodiscard]] bool behind(Seconds bound) const {
    return (threshold_ && bound > *threshold_) || (best && bound > best->step.time());
  }

  std::optional<Seconds> threshold_;
};

StackSearch::SplitSearch::SplitSearch(StackSearch& owner, const Group& g, const Cluster& c, StackOutcome& o,
                                      const Split& split, SplitOptions split_options)
    : search(owner), group(g), cluster(c), out(o), options(std::move(split_options)) {
  base.data_parallel = split.data;
  base.tensor_parallel = split.tensor;
  base.pipeline_parallel = split.pipeline;
  base.context_parallel = split.context;
  base.expert_parallel = split.expert;
  prepare_savings();
  prepare_tables();
}

void StackSearch::SplitSearch::prepare_savings() {
  SMPLAN_ASSERT(options.savings.size() <= 64);
  lighter.assign(options.savings.size(), 0);
  for (std::size_t e = 0; e < options.savings.size(); ++e) {
    for (std::size_t l = 0; l < e; ++l) {
      if (spends_no_more(options.savings[l], options.savings[e])) lighter[e] |= std::uint64_t{1} << l;
    }
  }
}

void StackSearch::SplitSearch::prepare_tables() {
  Strategy s = base;
  bool first = true;
  for (std::size_t sp = 0; sp < options.sequence_parallel.size(); ++sp) {
    s.sequence_parallel = options.sequence_parallel[sp];
    for (const std::int32_t mb : options.micro_batches) {
      s.micro_batch = mb;
      for (const Collectives c : options.collectives) {
        s.collectives = c;
        tables.push_back(&search.table(group, cluster, s));
        for (const ScheduleOption& schedule : options.schedules) {
          s.schedule = schedule.schedule;
          s.virtual_pipeline = schedule.chunks;
          const Seconds bound = step_floor(tables.back()->forward_backward, s, *group.workload, search.stack_);
          if (first || bound < floor) floor = bound;
          first = false;
        }
      }
    }
  }
}

Seconds StackSearch::SplitSearch::floor_of(const Strategy& s, std::size_t sp, std::size_t mb) const {
  Seconds least;
  for (std::size_t c = 0; c < options.collectives.size(); ++c) {
    const Table& t = *tables[table_index(sp, mb, c)];
    Seconds time = t.forward_backward;
    if (s.recompute == Recompute::Full) time += t.recompute;
    if (c == 0 || time < least) least = time;
  }
  return step_floor(least, s, *group.workload, search.stack_);
}

void StackSearch::SplitSearch::run(std::optional<Seconds> threshold) {
  threshold_ = threshold;
  const std::uint64_t per_micro_batch = std::uint64_t{options.savings.size()} * options.collectives.size();
  std::vector<std::size_t> valid;
  Strategy s = base;
  s.recompute = options.savings.front().recompute;
  for (std::size_t sp = 0; sp < options.sequence_parallel.size(); ++sp) {
    s.sequence_parallel = options.sequence_parallel[sp];
    for (const ScheduleOption& schedule : options.schedules) {
      s.schedule = schedule.schedule;
      s.virtual_pipeline = schedule.chunks;
      for (const ShardingOption& sharding : options.shardings) {
        s.sharding = sharding.sharding;
        s.shard_degree = sharding.degree;
        valid.clear();
        for (std::size_t mb = 0; mb < options.micro_batches.size(); ++mb) {
          s.micro_batch = options.micro_batches[mb];
          const Validity validity = quick_check(s, *group.workload, search.stack_);
          if (validity == Validity::Ok) {
            valid.push_back(mb);
          } else {
            const bool unsupported = validity == Validity::Unsupported;
            out.rejected[reason_index(unsupported ? RejectionReason::Unsupported : RejectionReason::Divisibility)] +=
                per_micro_batch;
          }
        }
        try_savings(s, sp, valid);
      }
    }
  }
}

/// Memory grows with the micro-batch, so the first that does not fit ends the row of its saving.
void StackSearch::SplitSearch::try_savings(const Strategy& rest, std::size_t sp,
                                           const std::vector<std::size_t>& micro_batches) {
  const std::uint64_t collectives = options.collectives.size();
  std::vector<std::uint64_t> fitting(options.micro_batches.size(), 0);
  Strategy s = rest;
  for (std::size_t e = 0; e < options.savings.size(); ++e) {
    s.recompute = options.savings[e].recompute;
    s.offload = options.savings[e].offload;
    for (std::size_t i = 0; i < micro_batches.size(); ++i) {
      const std::size_t mb = micro_batches[i];
      s.micro_batch = options.micro_batches[mb];
      if ((fitting[mb] & lighter[e]) != 0 || behind(floor_of(s, sp, mb))) {
        out.stats.pruned += collectives;
        continue;
      }
      const MemoryEstimate memory = estimate_memory(*group.workload, s, cluster, search.stack_);
      const auto rejection = memory_rejection(memory, cluster, search.request_.min_headroom);
      if (rejection) {
        refuse(s, *rejection, collectives * (micro_batches.size() - i));
        break;
      }
      fitting[mb] |= std::uint64_t{1} << e;
      try_collectives(s, memory, sp, mb);
    }
  }
}

void StackSearch::SplitSearch::try_collectives(Strategy s, const MemoryEstimate& memory, std::size_t sp,
                                               std::size_t mb) {
  for (std::size_t c = 0; c < options.collectives.size(); ++c) {
    s.collectives = options.collectives[c];
    const Table& t = *tables[table_index(sp, mb, c)];
    const StepEstimate step = combine_step(t.layers, *group.workload, s, cluster, search.stack_);
    ++out.stats.evaluated;
    if (search.request_.deadline || search.request_.budget) {
      const RunCost cost = group_cost(group, step);
      if (const auto late = limit_rejection(search.request_, cost.time_to_train(), cost.total())) refuse(s, *late, 1);
    }
    const Candidate candidate{s, memory, step};
    if (!best || faster(candidate, *best)) best = candidate;
  }
}

void StackSearch::SplitSearch::refuse(const Strategy& s, const Rejection& rejection, std::uint64_t candidates) {
  out.rejected[reason_index(rejection.reason)] += candidates;
  if (!out.nearest || nearer(rejection, out.nearest->rejection)) out.nearest = Miss{s, rejection};
}

StackOutcome StackSearch::search(const Group& group, const Incumbents& incumbents) {
  StackOutcome out;
  const Cluster cluster = group.cluster();
  const SearchSpace space(request_, *group.workload, *group.instance, cluster, stack_);
  std::vector<SplitSearch> ideas;
  for (const Split& split : space.splits()) {
    auto broken = space.check(split);
    SplitOptions options;
    if (!broken) {
      options = space.options(split);
      if (options.candidates() == 0) {
        const bool divides = !options.micro_batches.empty() && !options.shardings.empty() && !options.schedules.empty();
        broken = divides ? RejectionReason::Unsupported : RejectionReason::Divisibility;
      }
    }
    if (broken) {
      ++out.stats.space;
      ++out.rejected[reason_index(*broken)];
      continue;
    }
    out.stats.space += options.candidates();
    ideas.emplace_back(*this, group, cluster, out, split, std::move(options));
  }
  std::vector<SplitSearch*> order;
  for (SplitSearch& idea : ideas) order.push_back(&idea);
  std::stable_sort(order.begin(), order.end(),
                   [](const SplitSearch* a, const SplitSearch* b) { return a->floor < b->floor; });
  const auto variants = static_cast<std::size_t>(variants_);
  for (SplitSearch* idea : order) {
    const bool full = out.best.size() == variants;
    if (full && idea->floor > out.best.back().step.time()) {
      out.stats.pruned += idea->options.candidates();
      continue;
    }
    StepEstimate bound;
    bound.components.compute = idea->floor;
    const RunCost cost = group_cost(group, bound);
    const bool late = limit_rejection(request_, cost.time_to_train(), cost.total()).has_value();
    if ((late && incumbents.has_plan) || incumbents.useless(request_, cost.time_to_train(), cost.total())) {
      out.stats.pruned += idea->options.candidates();
      continue;
    }
    idea->run(full ? std::optional<Seconds>(out.best.back().step.time()) : std::nullopt);
    if (!idea->best) continue;
    out.best.insert(std::upper_bound(out.best.begin(), out.best.end(), *idea->best, faster), *idea->best);
    if (out.best.size() > variants) out.best.pop_back();
  }
  return out;
}

}  // namespace smplan
