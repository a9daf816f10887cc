#include "planner/search/search_space.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace smplan {
namespace {

std::vector<std::int32_t> divisors(std::int64_t n) {
  std::vector<std::int32_t> low;
  std::vector<std::int32_t> high;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(static_cast<std::int32_t>(d));
    if (d * d != n) high.push_back(static_cast<std::int32_t>(n / d));
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

/// Whether a degree is worth trying: allowed, and 1 where the stack lacks the dimension, unless the request
/// asks for it, to be refused by name.
bool tries(std::int32_t degree, const Choice& choice, bool offered) {
  return choice.any() ? degree == 1 || offered : choice.allows(degree);
}

bool lists(const std::vector<std::string>& values, std::string_view name) {
  return std::find(values.begin(), values.end(), name) != values.end();
}

bool subset(const Offload& a, const Offload& b) {
  return (!a.optimizer || b.optimizer) && (!a.parameters || b.parameters) && (!a.activations || b.activations) &&
         (!a.to_nvme || b.to_nvme);
}

/// Whatever recomputes less comes first; of selective recomputation and some layers neither does.
int recompute_level(const SavingOption& o) {
  return o.recompute == Recompute::Full ? (o.some_layers ? 2 : 3) : static_cast<int>(o.recompute);
}

bool recomputes_no_more(const SavingOption& a, const SavingOption& b) {
  return recompute_level(a) <= recompute_level(b) && !(a.recompute == Recompute::Selective && b.some_layers);
}

bool recomputes_alike(const SavingOption& a, const SavingOption& b) { return recompute_level(a) == recompute_level(b); }

int weight(const SavingOption& o) {
  return recompute_level(o) + o.offload.optimizer + o.offload.parameters + o.offload.activations + o.offload.to_nvme;
}

/// Numbers of layers that were asked for are tried under every stack, to be refused by name.
bool recomputes_some(const PlanRequest& request, const Stack& stack) {
  return request[Dimension::RecomputeLayers].any() ? stack.partial_recompute
                                                   : request[Dimension::RecomputeLayers].values.back() > 0;
}

std::vector<Offload> offload_options(const PlanRequest& request, const Stack& stack, const Cluster& cluster) {
  if (!request[Dimension::Offload].any()) return request[Dimension::Offload].as<Offload>();
  std::vector<Offload> options;
  for (int bits = 0; bits < 16; ++bits) {
    const Offload o{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
    if (o.optimizer && !lists(stack.offloads, "optimizer")) continue;
    if (o.parameters && !lists(stack.offloads, "params")) continue;
    if (o.activations && !lists(stack.offloads, "activations")) continue;
    if (o.to_nvme && !lists(stack.offloads, "nvme")) continue;
    if (o.to_nvme && ((!o.optimizer && !o.parameters) || cluster.local_nvme.value() <= 0)) continue;
    options.push_back(o);
  }
  return options;
}

}  // namespace

std::int32_t layers_to_recompute(const PlanRequest& request, std::int32_t index) {
  const std::vector<std::int32_t>& given = request[Dimension::RecomputeLayers].values;
  return given.empty() ? index + 1 : given[static_cast<std::size_t>(index)];
}

bool spends_no_more(const SavingOption& a, const SavingOption& b) {
  // Whatever else is offloaded may leave room for fewer layers.
  if (a.some_layers && b.some_layers) return false;
  // Transfers hide behind recomputation, and activations that are computed again are not transferred.
  if (a.offload.any() && !recomputes_alike(a, b)) return false;
  return recomputes_no_more(a, b) && subset(a.offload, b.offload);
}

std::vector<std::int32_t> micro_batch_choices(const PlanRequest& request, const Workload& workload) {
  std::vector<std::int32_t> out;
  for (const std::int32_t mb : divisors(workload.global_batch)) {
    if (mb % workload.sequences_of_example() != 0) continue;
    if (request[Dimension::MicroBatch].allows(mb)) out.push_back(mb);
  }
  return out;
}

CommonOptions common_options(const PlanRequest& request, const InstanceType& instance, const Cluster& cluster,
                             const Stack& stack) {
  CommonOptions o;
  for (const Recompute recompute : stack.recomputes) {
    if (!request[Dimension::Recompute].allows(recompute)) continue;
    const bool full = recompute == Recompute::Full;
    for (const Offload& offload : offload_options(request, stack, cluster)) {
      if (!full || request[Dimension::RecomputeLayers].allows(0)) o.savings.push_back({recompute, false, offload});
      if (full && recomputes_some(request, stack)) o.savings.push_back({recompute, true, offload});
    }
  }
  o.partial = static_cast<std::size_t>(
      std::count_if(o.savings.begin(), o.savings.end(), [](const SavingOption& s) { return s.some_layers; }));
  std::stable_sort(o.savings.begin(), o.savings.end(),
                   [](const SavingOption& a, const SavingOption& b) { return weight(a) < weight(b); });
  SMPLAN_ASSERT(o.savings.size() <= 64);
  o.lighter.assign(o.savings.size(), 0);
  for (std::size_t e = 0; e < o.savings.size(); ++e) {
    for (std::size_t l = 0; l < e; ++l) {
      if (spends_no_more(o.savings[l], o.savings[e])) o.lighter[e] |= std::uint64_t{1} << l;
    }
  }
  for (const Collectives c : stack.collectives) {
    if (request[Dimension::Collectives].allows(c) && (c != Collectives::Smddp || instance.smddp))
      o.collectives.push_back(c);
  }
  return o;
}

SearchSpace::SearchSpace(const PlanRequest& request, const Workload& workload, std::int64_t gpus, const Stack& stack,
                         std::span<const std::int32_t> micro_batches)
    : request_(request),
      workload_(workload),
      layers_(layer_stack(workload.architecture).total()),
      gpus_(gpus),
      stack_(stack),
      micro_batches_(micro_batches),
      divisors_(divisors(gpus)) {}

std::vector<Split> SearchSpace::splits() const {
  std::vector<Split> out;
  // Cutting experts that are spread already is seldom worth it: tried where the request asks for it.
  const std::vector<std::int32_t> expert_tensors =
      request_[Dimension::ExpertTensor].any() ? std::vector<std::int32_t>{0} : request_[Dimension::ExpertTensor].values;
  const std::vector<std::int32_t> experts = divisors(std::max<std::int64_t>(1, workload_.architecture.moe.n_experts));
  for (const std::int32_t tp : divisors_) {
    if (!tries(tp, request_[Dimension::Tensor], stack_.tensor_parallel)) continue;
    const std::int64_t without_tp = gpus_ / tp;
    for (const std::int32_t cp : divisors_) {
      if (cp > without_tp) break;
      if (without_tp % cp != 0 || !tries(cp, request_[Dimension::Context], stack_.context_parallel)) continue;
      const std::int64_t without_cp = without_tp / cp;
      for (const std::int32_t pp : divisors_) {
        if (pp > without_cp) break;
        if (without_cp % pp != 0 || !tries(pp, request_[Dimension::Pipeline], stack_.pipeline_parallel)) continue;
        const std::int64_t data = without_cp / pp;
        if (!request_[Dimension::Data].allows(static_cast<std::int32_t>(data))) continue;
        for (const std::int32_t ep : experts) {
          if (!tries(ep, request_[Dimension::Expert], stack_.expert_parallel) || (data * cp * tp) % ep != 0) continue;
          for (const std::int32_t etp : expert_tensors) {
            out.push_back({tp, cp, pp, ep, static_cast<std::int32_t>(data), etp});
          }
        }
      }
    }
  }
  return out;
}

Strategy strategy_of(const Split& split) {
  Strategy s;
  s.data_parallel = split.data;
  s.tensor_parallel = split.tensor;
  s.pipeline_parallel = split.pipeline;
  s.context_parallel = split.context;
  s.expert_parallel = split.expert;
  s.expert_tensor_parallel = split.expert_tensor;
  return s;
}

Strategy SearchSpace::plain_strategy(const Split& split) const {
  Strategy s = strategy_of(split);
  s.micro_batch = workload_.sequences_of_example();
  s.recompute = stack_.recomputes.front();
  s.collectives = stack_.collectives.front();
  s.sequence_parallel = split.tensor > 1 && stack_.always_sequence_parallel;
  return s;
}

std::optional<RejectionReason> SearchSpace::check(const Split& split) const {
  Strategy s = plain_strategy(split);
  if (!stack_.schedules.empty() && split.pipeline > 1) {
    const auto plain = std::find_if(stack_.schedules.begin(), stack_.schedules.end(),
                                    [](Schedule schedule) { return schedule != Schedule::Interleaved; });
    s.schedule = plain == stack_.schedules.end() ? Schedule::OneFOneB : *plain;
  }
  Validity best = Validity::Unsupported;
  // Most work allows the first recomputation, and the others need not be asked.
  for (const Recompute recompute : stack_.recomputes) {
    s.recompute = recompute;
    for (const Sharding sharding : stack_.shardings) {
      s.sharding = sharding;
      best = std::min(best, quick_check(s, workload_, stack_));
    }
    if (best != Validity::Unsupported) break;
  }
  if (best == Validity::Divisibility || best == Validity::OutOfRange) return RejectionReason::Divisibility;
  if (best == Validity::Unsupported) return RejectionReason::Unsupported;
  return std::nullopt;
}

SplitOptions SearchSpace::options(const Split& split) const {
  SplitOptions o;
  const bool cuts_sequence = split.tensor > 1 && stack_.sequence_parallel;
  for (const bool on : {false, true}) {
    const bool possible = on ? cuts_sequence : split.tensor == 1 || !stack_.always_sequence_parallel;
    if (possible && request_[Dimension::SequenceParallel].allows(on)) o.sequence_parallel.push_back(on);
  }
  const std::int32_t replicas = split.data * split.context;
  const bool unasked = request_.stacks_defaulted && request_[Dimension::Sharding].any();
  // A replica that hands its state on holds the same shards.
  const std::int32_t copies = request_.run.recovery.mode == RecoveryMode::Checkpointless ? 2 : 1;
  const auto add_sharding = [&](Sharding sharding, std::int32_t degree) {
    if (replicas % copies != 0 || replicas / copies < degree) return;
    // FSDP over one rank shards nothing, and nobody picks it unasked. ZeRO over one rank is how DeepSpeed offloads.
    if (unasked && is_fsdp(sharding) && replicas == 1) return;
    if (request_[Dimension::Sharding].allows(sharding) && request_[Dimension::ShardDegree].allows(degree)) {
      o.shardings.push_back({sharding, degree});
    }
  };
  for (const Sharding sharding : stack_.shardings) {
    if (sharding == Sharding::None) {
      add_sharding(sharding, 1);
    } else if (sharding != Sharding::FsdpHybrid) {
      add_sharding(sharding, replicas / copies);
    } else {
      for (const std::int32_t d : divisors(replicas)) {
        if (d > 1 && d < replicas) add_sharding(sharding, d);
      }
    }
  }
  o.schedules = schedules(split);
  const std::int64_t per_rank = workload_.global_batch / split.data;
  for (std::size_t i = 0; i < micro_batches_.size(); ++i) {
    if (per_rank % micro_batches_[i] == 0) o.micro_batches.push_back(i);
  }
  return o;
}

std::int32_t SearchSpace::layer_counts(const Split& split, std::int32_t chunks) const {
  const std::vector<std::int32_t>& given = request_[Dimension::RecomputeLayers].values;
  if (!given.empty()) return given.back() > 0 ? static_cast<std::int32_t>(given.size()) : 0;
  const std::int64_t all = std::int64_t{split.pipeline} * chunks;
  return static_cast<std::int32_t>((layers_ + all - 1) / all - 1);
}

std::vector<ScheduleOption> SearchSpace::schedules(const Split& split) const {
  if (split.pipeline == 1) {
    if (!request_[Dimension::VirtualPipeline].allows(1)) return {};
    return {{Schedule::OneFOneB, 1, layer_counts(split, 1)}};
  }
  std::vector<ScheduleOption> out;
  Strategy s = plain_strategy(split);
  s.sharding = stack_.shardings.front();
  for (const Schedule schedule : stack_.schedules) {
    if (!request_[Dimension::Schedule].allows(schedule)) continue;
    if (schedule != Schedule::Interleaved) {
      if (request_[Dimension::VirtualPipeline].allows(1)) out.push_back({schedule, 1, layer_counts(split, 1)});
      continue;
    }
    s.schedule = schedule;
    // A batch that the interleaved schedule takes, so that only the chunks can be refused.
    Workload probe = workload_;
    probe.global_batch = std::int64_t{split.data} * split.pipeline * workload_.sequences_of_example();
    for (std::int32_t chunks = 2; std::int64_t{chunks} * split.pipeline <= layers_; ++chunks) {
      s.virtual_pipeline = chunks;
      // Uneven chunks are valid where embedding and head stand for layers, but nobody picks them unasked.
      if (request_[Dimension::VirtualPipeline].any() && layers_ % (std::int64_t{split.pipeline} * chunks) != 0)
        continue;
      if (request_[Dimension::VirtualPipeline].allows(chunks) && quick_check(s, probe, stack_) == Validity::Ok) {
        out.push_back({schedule, chunks, layer_counts(split, chunks)});
      }
    }
  }
  return out;
}

}  // namespace smplan
