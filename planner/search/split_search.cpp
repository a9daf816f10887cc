#include "planner/search/split_search.hpp"

#include <algorithm>

#include "planner/search/bounds.hpp"
#include "planner/search/constraints.hpp"

namespace smplan {
namespace {

std::size_t index(RejectionReason reason) { return static_cast<std::size_t>(reason); }

/// Weights, gradients and optimizer depend on sharding and on which of them leave the device.
std::uint32_t state_bit(const Offload& o) {
  return 1U << ((o.optimizer ? 1U : 0U) | (o.parameters ? 2U : 0U) | (o.to_nvme ? 4U : 0U));
}

void refuse(const Strategy& s, const Rejection& rejection, std::uint64_t candidates, StackOutcome& out) {
  out.rejected[index(rejection.reason)] += candidates;
  if (!out.nearest || nearer(rejection, out.nearest->rejection)) out.nearest = Miss{s, rejection};
}

}  // namespace

StackSearch::SplitSearch::SplitSearch(StackSearch& owner, const Group& group, const Cluster& cluster,
                                      const OpenSplit& open)
    : owner_(&owner),
      group_(&group),
      cluster_(&cluster),
      options_(&open.options),
      base_(strategy_of(open.split)),
      stretch_(straggler_stretch(cluster.gpus(), owner.stack_.profile)) {
  base_.execution = owner.stack_.execution;
  const Groups groups = group_shapes(base_, cluster);
  tables_ = &owner.tables_.row({base_.tensor_parallel, base_.context_parallel, base_.expert_parallel,
                                base_.expert_tensor(), groups.tensor, groups.context, groups.expert});
}

/// Tables lie in rows [sequence parallel][collectives][micro-batch] that all splits of a placement share.
const Table& StackSearch::SplitSearch::table(std::size_t sp, std::size_t c, std::size_t mb) const {
  const std::size_t row = (options_->sequence_parallel[sp] ? owner_->common_.collectives.size() : 0) + c;
  return tables_->get(row * owner_->micro_batches_.size() + options_->micro_batches[mb], [&] {
    Strategy s = base_;
    s.sequence_parallel = options_->sequence_parallel[sp];
    s.collectives = owner_->common_.collectives[c];
    s.micro_batch = micro_batch(mb);
    const StackProfile& profile = owner_->stack_.profile;
    Table made{layer_table(*group_->workload, s, *cluster_, owner_->stack_), Seconds(), Seconds()};
    made.forward_backward = table_floor(made.layers, profile);
    made.recompute = recompute_floor(made.layers, owner_->stack_);
    return made;
  });
}

Seconds StackSearch::SplitSearch::refine(std::optional<Seconds> threshold) {
  const StackProfile& profile = owner_->stack_.profile;
  const Split split{base_.tensor_parallel, base_.context_parallel, base_.pipeline_parallel,
                    base_.expert_parallel, base_.data_parallel,    base_.expert_tensor_parallel};
  const double bubble = least_bubble(split, *options_);
  const auto step = [&](Seconds model_time, std::size_t mb) {
    return step_floor(model_time, micro_batches_per_step(mb), base_.pipeline_parallel, bubble, stretch_, profile);
  };
  floors_.assign(options_->sequence_parallel.size() * options_->micro_batches.size(), Floor{});
  std::optional<Seconds> least;
  for (std::size_t mb = 0; mb < options_->micro_batches.size(); ++mb) {
    const Seconds work =
        micro_batch_work(owner_->token_work_, *group_->workload, split, micro_batch(mb)) / owner_->rate_;
    const bool hopeless = threshold && step(work, mb) > *threshold;
    for (std::size_t sp = 0; sp < options_->sequence_parallel.size(); ++sp) {
      Floor& floor = floors_[slot(sp, mb)];
      floor.forward_backward = work;
      for (std::size_t c = 0; !hopeless && c < owner_->common_.collectives.size(); ++c) {
        const Table& t = table(sp, c, mb);
        floor.forward_backward = c == 0 ? t.forward_backward : std::min(floor.forward_backward, t.forward_backward);
        floor.recompute = c == 0 ? t.recompute : std::min(floor.recompute, t.recompute);
      }
      const Seconds bound = step(floor.forward_backward, mb);
      if (!least || bound < *least) least = bound;
    }
  }
  return *least;
}

Seconds StackSearch::SplitSearch::floor_of(const Strategy& s, std::size_t sp, std::size_t mb) const {
  const Floor& floor = floors_[slot(sp, mb)];
  Seconds time = floor.forward_backward;
  if (s.recompute == Recompute::Full) {
    // The rank with the most layers recomputes the least part of its own.
    const std::int64_t most = owner_->layers_.most_on_a_stage(s.pipeline_parallel);
    time += s.recomputed_part(static_cast<double>(most)) * floor.recompute;
  }
  const double bubble = bubble_floor(s.schedule, s.pipeline_parallel, s.virtual_pipeline);
  return step_floor(time, micro_batches_per_step(mb), s.pipeline_parallel, bubble, stretch_, owner_->stack_.profile);
}

SimplicityFront<Candidate> StackSearch::SplitSearch::run(std::optional<Seconds> threshold, bool count_misses,
                                                         StackOutcome& out) const {
  Progress p{out, threshold, count_misses, {}, {}, {}, {}, 0};
  p.oversized.assign(options_->shardings.size(), 0);
  Strategy s = base_;
  for (std::size_t sp = 0; sp < options_->sequence_parallel.size(); ++sp) {
    s.sequence_parallel = options_->sequence_parallel[sp];
    for (const ScheduleOption& schedule : options_->schedules) {
      s.schedule = schedule.schedule;
      s.virtual_pipeline = schedule.chunks;
      p.layer_counts = schedule.layer_counts;
      for (std::size_t sharding = 0; sharding < options_->shardings.size(); ++sharding) {
        s.sharding = options_->shardings[sharding].sharding;
        s.shard_degree = options_->shardings[sharding].degree;
        find_valid(s, p);
        try_savings(s, sp, sharding, p);
      }
    }
  }
  return p.best;
}

/// Micro-batches that divide under this schedule and sharding; the others are counted.
void StackSearch::SplitSearch::find_valid(Strategy s, Progress& p) const {
  const CommonOptions& common = owner_->common_;
  s.recompute = common.savings.front().recompute;
  p.valid.clear();
  for (std::size_t mb = 0; mb < options_->micro_batches.size(); ++mb) {
    s.micro_batch = micro_batch(mb);
    const Validity validity = quick_check(s, *group_->workload, owner_->stack_);
    if (validity == Validity::Ok) {
      p.valid.push_back(mb);
      continue;
    }
    const bool unsupported = validity == Validity::Unsupported;
    const std::uint64_t partial = common.partial * static_cast<std::uint64_t>(p.layer_counts);
    p.out.rejected[index(unsupported ? RejectionReason::Unsupported : RejectionReason::Divisibility)] +=
        (common.savings.size() - common.partial + partial) * common.collectives.size();
  }
}

void StackSearch::SplitSearch::try_savings(Strategy s, std::size_t sp, std::size_t sharding, Progress& p) const {
  const CommonOptions& common = owner_->common_;
  p.fitting.assign(options_->micro_batches.size(), 0);
  for (std::size_t e = 0; e < common.savings.size(); ++e) {
    const SavingOption& saving = common.savings[e];
    const std::int32_t counts = saving.some_layers ? layer_counts_that_divide(s, p) : 1;
    if (counts == 0) continue;
    const std::uint64_t candidates = common.collectives.size() * static_cast<std::uint64_t>(counts);
    s.recompute = saving.recompute;
    s.recompute_layers = saving.some_layers ? layers_to_recompute(owner_->request_, 0) : 0;
    s.offload = saving.offload;
    bool checked = false;
    for (std::size_t i = 0; i < p.valid.size(); ++i) {
      const std::size_t mb = p.valid[i];
      s.micro_batch = micro_batch(mb);
      if ((p.fitting[mb] & common.lighter[e]) != 0 || p.behind(s, floor_of(s, sp, mb))) {
        p.out.stats.pruned += candidates;
        continue;
      }
      // Which savings a sharding allows does not depend on the micro-batch.
      if (!checked && quick_check(s, *group_->workload, owner_->stack_) != Validity::Ok) {
        p.out.rejected[index(RejectionReason::Unsupported)] += candidates * (p.valid.size() - i);
        break;
      }
      checked = true;
      const bool grows = memory_grows(s, p.valid.back());
      const std::uint64_t row_rest = candidates * (p.valid.size() - i);
      if (!try_memory(s, sp, mb, e, counts, p.oversized[sharding], row_rest, grows, p)) break;
    }
  }
}

/// Numbers of layers to recompute that a chunk has; the request's others are counted.
std::int32_t StackSearch::SplitSearch::layer_counts_that_divide(const Strategy& s, Progress& p) const {
  const std::int64_t chunks = std::int64_t{s.pipeline_parallel} * s.virtual_pipeline;
  const std::int64_t layers = (owner_->layers_.total() + chunks - 1) / chunks;
  std::int32_t counts = p.layer_counts;
  while (counts > 0 && layers_to_recompute(owner_->request_, counts - 1) > layers) --counts;
  p.out.rejected[index(RejectionReason::Divisibility)] +=
      owner_->common_.collectives.size() * p.valid.size() * static_cast<std::uint64_t>(p.layer_counts - counts);
  return counts;
}

bool StackSearch::SplitSearch::memory_grows(const Strategy& s, std::size_t last_mb) const {
  if (s.pipeline_parallel == 1) return !lighter_in_one_pass(s, owner_->stack_) || micro_batches_per_step(last_mb) > 1;
  const bool fixed_depth = s.schedule == Schedule::OneFOneB || s.schedule == Schedule::ZeroBubble;
  return fixed_depth && micro_batches_per_step(last_mb) >= s.pipeline_parallel;
}

/// Where memory grows with the micro-batch the first that does not fit ends its row; states that do not fit
/// alone end every row with the same states.
bool StackSearch::SplitSearch::try_memory(Strategy s, std::size_t sp, std::size_t mb, std::size_t saving,
                                          std::int32_t counts, std::uint32_t& oversized, std::uint64_t row_rest,
                                          bool grows, Progress& p) const {
  const std::uint32_t states = state_bit(s.offload);
  if (!p.count_misses && (oversized & states) != 0) {
    p.out.rejected[index(RejectionReason::Memory)] += row_rest;
    return false;
  }
  const bool some_layers = owner_->common_.savings[saving].some_layers;
  if (some_layers) s.recompute_layers = layers_to_recompute(owner_->request_, counts - 1);
  const MemoryEstimate memory = estimate_memory(owner_->layers_, *group_->workload, s, *cluster_, owner_->stack_);
  const auto rejection = memory_rejection(memory, owner_->request_.min_headroom, owner_->safe_part_);
  if (!rejection) {
    p.fitting[mb] |= std::uint64_t{1} << saving;
    if (some_layers) {
      try_layer_counts(s, sp, mb, counts, p);
    } else {
      try_collectives(s, memory, sp, mb, p);
    }
    return true;
  }
  const MemoryComponents& c = memory.components;
  const Bytes gradients = lighter_in_one_pass(s, owner_->stack_) ? Bytes() : c.gradients;
  const bool too_large = c.weights + gradients + c.optimizer > memory.limit;
  if (too_large) oversized |= states;
  const bool ends_row = too_large || grows;
  const std::uint64_t candidates = owner_->common_.collectives.size() * static_cast<std::uint64_t>(counts);
  refuse(s, *rejection, ends_row ? row_rest : candidates, p.out);
  return !ends_row;
}

/// Memory falls and time rises with every layer more, so that the least number that fits is the fastest.
void StackSearch::SplitSearch::try_layer_counts(Strategy s, std::size_t sp, std::size_t mb, std::int32_t counts,
                                                Progress& p) const {
  const std::uint64_t libraries = owner_->common_.collectives.size();
  RejectionReason reason = RejectionReason::Memory;
  std::int32_t first = 0;
  for (std::int32_t last = counts - 1; first < last;) {
    const std::int32_t middle = first + (last - first) / 2;
    s.recompute_layers = layers_to_recompute(owner_->request_, middle);
    const MemoryEstimate memory = estimate_memory(owner_->layers_, *group_->workload, s, *cluster_, owner_->stack_);
    const auto rejection = memory_rejection(memory, owner_->request_.min_headroom, owner_->safe_part_);
    if (!rejection) {
      last = middle;
    } else {
      reason = rejection->reason;
      first = middle + 1;
    }
  }
  p.out.rejected[index(reason)] += libraries * static_cast<std::uint64_t>(first);
  p.out.stats.pruned += libraries * static_cast<std::uint64_t>(counts - 1 - first);
  s.recompute_layers = layers_to_recompute(owner_->request_, first);
  if (p.behind(s, floor_of(s, sp, mb))) {
    p.out.stats.pruned += libraries;
    return;
  }
  const MemoryEstimate memory = estimate_memory(owner_->layers_, *group_->workload, s, *cluster_, owner_->stack_);
  try_collectives(s, memory, sp, mb, p);
}

void StackSearch::SplitSearch::try_collectives(Strategy s, const MemoryEstimate& memory, std::size_t sp, std::size_t mb,
                                               Progress& p) const {
  const CommonOptions& common = owner_->common_;
  const PlanRequest& request = owner_->request_;
  for (std::size_t c = 0; c < common.collectives.size(); ++c) {
    s.collectives = common.collectives[c];
    const StepEstimate step = combine_step(table(sp, c, mb).layers, *group_->workload, s, *cluster_, owner_->stack_);
    ++p.out.stats.evaluated;
    if (has_run_limits(request)) {
      // As plans are judged: with the interval that they show where a confidence is asked for.
      const Candidate candidate{s, memory, step};
      const StepEstimate judged = request.confidence ? judged_step(*group_, owner_->stack_, candidate) : step;
      const auto late = limit_rejection(request, group_cost(*group_, owner_->stack_, judged));
      if (late) refuse(s, *late, 1, p.out);
    }
    p.best.add({s, memory, step}, faster);
  }
}

}  // namespace smplan
