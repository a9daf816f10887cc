#include "planner/split_search.hpp"

#include <algorithm>

#include "planner/bounds.hpp"
#include "planner/constraints.hpp"

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
                                      const Split& split, SplitOptions options)
    : owner_(&owner),
      group_(&group),
      cluster_(&cluster),
      options_(std::move(options)),
      stretch_(straggler_stretch(cluster.gpus(), owner.stack_.profile)) {
  base_.data_parallel = split.data;
  base_.tensor_parallel = split.tensor;
  base_.pipeline_parallel = split.pipeline;
  base_.context_parallel = split.context;
  base_.expert_parallel = split.expert;
  prepare_tables();
}

void StackSearch::SplitSearch::prepare_tables() {
  const CommonOptions& common = *owner_->common_;
  Tables& tables = owner_->tables(*cluster_, base_);
  double bubble =
      bubble_floor(options_.schedules.front().schedule, base_.pipeline_parallel, options_.schedules.front().chunks);
  for (const ScheduleOption& o : options_.schedules) {
    bubble = std::min(bubble, bubble_floor(o.schedule, base_.pipeline_parallel, o.chunks));
  }
  Strategy s = base_;
  bool first = true;
  for (std::size_t sp = 0; sp < options_.sequence_parallel.size(); ++sp) {
    s.sequence_parallel = options_.sequence_parallel[sp];
    for (std::size_t c = 0; c < common.collectives.size(); ++c) {
      s.collectives = common.collectives[c];
      const std::size_t row =
          ((s.sequence_parallel ? 1 : 0) * common.collectives.size() + c) * common.micro_batches.size();
      for (std::size_t mb = 0; mb < options_.micro_batches.size(); ++mb) {
        auto& entry = tables[row + options_.micro_batches[mb]];
        if (entry == nullptr) {
          s.micro_batch = micro_batch(mb);
          entry = owner_->make_table(*group_, *cluster_, s);
        }
        tables_.push_back(entry.get());
        const Seconds bound = step_floor(entry->forward_backward, micro_batches_per_step(mb), base_.pipeline_parallel,
                                         bubble, stretch_, owner_->stack_.profile);
        if (first || bound < floor_) floor_ = bound;
        first = false;
      }
    }
  }
}

Seconds StackSearch::SplitSearch::floor_of(const Strategy& s, std::size_t sp, std::size_t mb) const {
  Seconds least;
  for (std::size_t c = 0; c < owner_->common_->collectives.size(); ++c) {
    const Table& t = table(sp, c, mb);
    Seconds time = t.forward_backward;
    if (s.recompute == Recompute::Full) time += t.recompute;
    if (c == 0 || time < least) least = time;
  }
  const double bubble = bubble_floor(s.schedule, s.pipeline_parallel, s.virtual_pipeline);
  return step_floor(least, micro_batches_per_step(mb), s.pipeline_parallel, bubble, stretch_, owner_->stack_.profile);
}

std::optional<Candidate> StackSearch::SplitSearch::run(std::optional<Seconds> threshold, bool count_misses,
                                                       StackOutcome& out) {
  Progress p{out, threshold, count_misses, std::nullopt, {}, {}, {}};
  p.oversized.assign(options_.shardings.size(), 0);
  Strategy s = base_;
  for (std::size_t sp = 0; sp < options_.sequence_parallel.size(); ++sp) {
    s.sequence_parallel = options_.sequence_parallel[sp];
    for (const ScheduleOption& schedule : options_.schedules) {
      s.schedule = schedule.schedule;
      s.virtual_pipeline = schedule.chunks;
      for (std::size_t sharding = 0; sharding < options_.shardings.size(); ++sharding) {
        s.sharding = options_.shardings[sharding].sharding;
        s.shard_degree = options_.shardings[sharding].degree;
        find_valid(s, p);
        try_savings(s, sp, sharding, p);
      }
    }
  }
  return p.best;
}

/// Micro-batches that divide under this schedule and sharding; the others are counted.
void StackSearch::SplitSearch::find_valid(Strategy s, Progress& p) const {
  const CommonOptions& common = *owner_->common_;
  s.recompute = common.savings.front().recompute;
  p.valid.clear();
  for (std::size_t mb = 0; mb < options_.micro_batches.size(); ++mb) {
    s.micro_batch = micro_batch(mb);
    const Validity validity = quick_check(s, *group_->workload, owner_->stack_);
    if (validity == Validity::Ok) {
      p.valid.push_back(mb);
      continue;
    }
    const bool unsupported = validity == Validity::Unsupported;
    p.out.rejected[index(unsupported ? RejectionReason::Unsupported : RejectionReason::Divisibility)] +=
        std::uint64_t{common.savings.size()} * common.collectives.size();
  }
}

void StackSearch::SplitSearch::try_savings(Strategy s, std::size_t sp, std::size_t sharding, Progress& p) const {
  const CommonOptions& common = *owner_->common_;
  const std::uint64_t libraries = common.collectives.size();
  p.fitting.assign(options_.micro_batches.size(), 0);
  for (std::size_t e = 0; e < common.savings.size(); ++e) {
    s.recompute = common.savings[e].recompute;
    s.offload = common.savings[e].offload;
    bool checked = false;
    for (std::size_t i = 0; i < p.valid.size(); ++i) {
      const std::size_t mb = p.valid[i];
      s.micro_batch = micro_batch(mb);
      if ((p.fitting[mb] & common.lighter[e]) != 0 || p.behind(floor_of(s, sp, mb))) {
        p.out.stats.pruned += libraries;
        continue;
      }
      // Which savings a sharding allows does not depend on the micro-batch.
      if (!checked && quick_check(s, *group_->workload, owner_->stack_) != Validity::Ok) {
        p.out.rejected[index(RejectionReason::Unsupported)] += libraries * (p.valid.size() - i);
        break;
      }
      checked = true;
      if (!try_memory(s, sp, mb, e, p.oversized[sharding], libraries * (p.valid.size() - i), p)) {
        break;
      }
    }
  }
}

/// Memory grows with the micro-batch, so the first that does not fit ends its row; states that do not
/// fit alone end every row with the same states.
bool StackSearch::SplitSearch::try_memory(const Strategy& s, std::size_t sp, std::size_t mb, std::size_t saving,
                                          std::uint32_t& oversized, std::uint64_t row_rest, Progress& p) const {
  const std::uint32_t states = state_bit(s.offload);
  if (!p.count_misses && (oversized & states) != 0) {
    p.out.rejected[index(RejectionReason::Memory)] += row_rest;
    return false;
  }
  const MemoryEstimate memory = estimate_memory(*group_->workload, s, *cluster_, owner_->stack_);
  const auto rejection = memory_rejection(memory, *cluster_, owner_->request_.min_headroom);
  if (!rejection) {
    p.fitting[mb] |= std::uint64_t{1} << saving;
    try_collectives(s, memory, sp, mb, p);
    return true;
  }
  const MemoryComponents& c = memory.components;
  if (c.weights + c.gradients + c.optimizer > memory.limit) oversized |= states;
  refuse(s, *rejection, row_rest, p.out);
  return false;
}

void StackSearch::SplitSearch::try_collectives(Strategy s, const MemoryEstimate& memory, std::size_t sp, std::size_t mb,
                                               Progress& p) const {
  const CommonOptions& common = *owner_->common_;
  const PlanRequest& request = owner_->request_;
  for (std::size_t c = 0; c < common.collectives.size(); ++c) {
    s.collectives = common.collectives[c];
    const StepEstimate step = combine_step(table(sp, c, mb).layers, *group_->workload, s, *cluster_, owner_->stack_);
    ++p.out.stats.evaluated;
    if (request.deadline || request.budget) {
      const RunCost cost = group_cost(*group_, step);
      const auto late = limit_rejection(request, cost.time_to_train(), cost.total());
      if (late) refuse(s, *late, 1, p.out);
    }
    const Candidate candidate{s, memory, step};
    if (!p.best || faster(candidate, *p.best)) p.best = candidate;
  }
}

}  // namespace smplan
