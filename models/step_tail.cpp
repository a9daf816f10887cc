#include <algorithm>
#include <array>
#include <numeric>

#include "models/compute.hpp"
#include "models/memory.hpp"
#include "models/rank_parameters.hpp"
#include "models/stage.hpp"

namespace smplan {
namespace {

constexpr double kHalfBytes = 2;
/// Memory bandwidth that the vectorised CPU Adam of DeepSpeed reaches on a two-socket host, whole node.
/// Prior: half of eight DDR4-3200 channels a socket (2 x 204.8 GB/s).
constexpr BytesPerSecond kHostMemoryBandwidth = gb_per_s(200);
/// Bytes of host memory per parameter: the gradient arrives in fp32 (4) and is scaled in place (8), Adam reads it,
/// reads and writes weight and two moments (28), and the weight is cast to 16 bits (6). Source: DeepSpeed edaa722,
/// stage3.py,
/// `_offload_grad_partition_at_boundary`, `unscale_and_clip_grads`, `_reassign_or_swap_out_partitioned_parameters`.
constexpr double kHostAdamBytes = 46;
/// Over the host link: fp32 gradient out, 16-bit weight in.
constexpr double kHostLinkBytes = 6;

bool reduces_every_micro_batch(Sharding s) { return s == Sharding::Zero2; }
bool shards_optimizer(Sharding s) { return s != Sharding::None; }

struct TailInputs {
  const Workload& workload;
  const Strategy& strategy;
  const Cluster& cluster;
  const Stack& stack;
  const Groups& groups;
  RankParameters held;
  RankParameters trained;
  LongestPasses passes;
  double layers = 0;  ///< of this stage
  /// Gradients come out through the backward pass; of a zero-bubble schedule, as it catches up on those of the weights.
  [[nodiscard]] Seconds gradients_window() const {
    return rounds() * (strategy.schedule == Schedule::ZeroBubble ? passes.weight_gradient : passes.backward);
  }
  /// Weights come back through the forward pass.
  [[nodiscard]] Seconds weights_window() const { return rounds() * passes.forward; }
  /// Passes of a stage beside which its transfers run. Interleaved chunks take turns by groups of as many micro-batches
  /// as stages (Narayanan et al. 2021, section 2.2): those of all chunks but one run beside a whole group.
  [[nodiscard]] double rounds() const {
    if (strategy.schedule != Schedule::Interleaved) return 1;
    const double chunks = strategy.virtual_pipeline;
    const double group =
        static_cast<double>(std::min<std::int64_t>(strategy.pipeline_parallel, strategy.micro_batches(workload)));
    return (1 + group * (chunks - 1)) / chunks;
  }
};

Seconds group_collective(const TailInputs& in, CollectiveKind kind, double bytes_per_parameter, double parameters,
                         const GroupShape& group) {
  if (parameters <= 0) return {};
  return collective_time(kind, Bytes(parameters * bytes_per_parameter), group, in.cluster, in.strategy.collectives)
      .time;
}

Seconds over_replicas(const TailInputs& in, CollectiveKind kind, double bytes_per_parameter) {
  return group_collective(in, kind, bytes_per_parameter, in.trained.dense, in.groups.data) +
         group_collective(in, kind, bytes_per_parameter, in.trained.experts, in.groups.expert_data);
}

Seconds over_shards(const TailInputs& in, CollectiveKind kind, double bytes_per_parameter, RankParameters parameters) {
  return group_collective(in, kind, bytes_per_parameter, parameters.dense, in.groups.shard) +
         group_collective(in, kind, bytes_per_parameter, parameters.experts, in.groups.expert_shard);
}

Seconds shown_beside(const TailInputs& in, Seconds communication, Seconds window) {
  if (in.stack.synchronous_reduction) return communication;
  return beside_compute(communication, window, in.stack, in.cluster.accelerator);
}

/// Gradients of a hybrid shard, summed over its replicas.
Seconds replica_time(const TailInputs& in) {
  if (in.strategy.sharding != Sharding::FsdpHybrid) return {};
  const double bytes = in.stack.gradient_reduce_bytes;
  const double dense = in.trained.dense / static_cast<double>(in.groups.shard.ranks);
  const double experts = in.trained.experts / static_cast<double>(in.groups.expert_shard.ranks);
  return group_collective(in, CollectiveKind::AllReduce, bytes, dense, in.groups.replicate) +
         group_collective(in, CollectiveKind::AllReduce, bytes, experts, in.groups.expert_replicate);
}

/// FSDP shards a layer at a time, under its passes, and sums over replicas after every micro-batch unless a script
/// tells it otherwise (fully_shard, `set_requires_all_reduce`); in a pipeline it gathers the weights of a stage under
/// the first forward, keeps them, and scatters the gradients under the last backward.
Seconds sharded_parameter_time(const TailInputs& in) {
  if (in.strategy.pipeline_parallel == 1) {
    const auto micro_batches = static_cast<double>(in.strategy.micro_batches(in.workload));
    return micro_batches * shown_beside(in, replica_time(in), in.gradients_window());
  }
  const Seconds gather = over_shards(in, CollectiveKind::AllGather, gathered_parameter_bytes(in.workload), in.held);
  const Seconds scatter = over_shards(in, CollectiveKind::ReduceScatter, in.stack.gradient_reduce_bytes, in.trained);
  return shown_beside(in, gather, in.weights_window()) +
         shown_beside(in, scatter + replica_time(in), in.gradients_window());
}

/// nanotron flattens, gathers and copies back the slice that each rank has of each tensor, one by one from Python
/// (0.5, distributed.py, all_gather_coalesced): six tensors a layer, two slicings, two views and a copy each. At 2 to 3
/// microseconds an operation; its runs on 64 nodes would have 12 too.
Seconds slicing_time(const TailInputs& in) {
  constexpr double kLayerTensors = 6;
  constexpr Seconds kSlice = microseconds(12);
  return in.layers * kLayerTensors * in.strategy.data_parallel * kSlice / in.cluster.host_speed;
}

/// Gradient reduction after the last micro-batch, and the gathering of updated weights.
Seconds data_parallel_time(const TailInputs& in) {
  const double reduce_bytes = in.stack.gradient_reduce_bytes;
  const Sharding sharding = in.strategy.sharding;
  if (gathers_parameters(sharding)) return sharded_parameter_time(in);
  if (sharding == Sharding::None) {
    return shown_beside(in, over_replicas(in, CollectiveKind::AllReduce, reduce_bytes), in.gradients_window());
  }
  const Seconds gather = over_replicas(in, CollectiveKind::AllGather, kHalfBytes);
  if (in.stack.synchronous_zero) {
    return over_replicas(in, CollectiveKind::AllReduce, reduce_bytes) + gather + slicing_time(in);
  }
  const Seconds scatter = over_replicas(in, CollectiveKind::ReduceScatter, reduce_bytes);
  const double reductions =
      reduces_every_micro_batch(sharding) ? static_cast<double>(in.strategy.micro_batches(in.workload)) : 1;
  return reductions * shown_beside(in, scatter, in.gradients_window()) + shown_beside(in, gather, in.weights_window());
}

/// Optimizer on the device: gradients read for the norm and the update, master weights and moments
/// read and written, 16-bit weights written.
Seconds optimizer_time(const TailInputs& in, double parameters) {
  const double states = in.stack.master_bytes + moment_bytes(in.workload);
  const double bytes = 2 * in.stack.gradient_bytes + 2 * states + in.stack.weight_bytes;
  return streaming_time(Bytes(parameters * bytes), in.cluster.accelerator, in.cluster.accelerator_profile);
}

/// Optimizer on the host (ZeRO-Offload, Ren et al. 2021): gradients out and weights in over the host link, the update
/// at the speed of host memory, states through NVMe where they live there.
Seconds offloaded_optimizer_time(const TailInputs& in, double parameters) {
  Seconds time;
  if (in.cluster.host_link.value() > 0) time += Bytes(kHostLinkBytes * parameters) / in.cluster.host_link;
  const double per_node = parameters * in.cluster.gpus_per_node;
  time += Bytes(kHostAdamBytes * per_node) / kHostMemoryBandwidth;
  if (in.strategy.offload.to_nvme && in.cluster.local_nvme_read.value() > 0) {
    const Bytes states(per_node * (in.stack.master_bytes + moment_bytes(in.workload)));
    const BytesPerSecond write =
        in.cluster.local_nvme_write.value() > 0 ? in.cluster.local_nvme_write : in.cluster.local_nvme_read;
    time += states / in.cluster.local_nvme_read + states / write;
  }
  return time;
}

/// Weights that live on the host come in for every pass of every micro-batch: what shows of that beside a pass.
Seconds fetch_time(const TailInputs& in, double parameters, Seconds pass) {
  if (in.cluster.host_link.value() <= 0) return {};
  return std::max(Seconds(), Bytes(kHalfBytes * parameters) / in.cluster.host_link - pass);
}

RankParameters trained_parameters(const Workload& w, const Strategy& s, const RankParameters& held,
                                  std::int32_t stage) {
  if (w.finetune == FineTune::Full) return held;
  const auto adapters = static_cast<double>(lora_parameters(w.architecture, w.lora.rank, w.lora.targets));
  const double root = w.trains_embeddings() ? stage_root_parameters(w.architecture, s, stage) : 0;
  return {.dense = adapters / (static_cast<double>(s.tensor_parallel) * s.pipeline_parallel) + root, .experts = 0};
}

}  // namespace

StepTail StageModel::tail(std::int32_t index, const LongestPasses& longest) const {
  const RankParameters held = stage_rank_parameters(workload_.architecture, table_.stack, strategy_, index);
  const PerKind<double> layers = stage_layers(table_.stack, index, strategy_.pipeline_parallel);
  TailInputs in{.workload = workload_,
                .strategy = strategy_,
                .cluster = cluster_,
                .stack = stack_,
                .groups = groups_,
                .held = held,
                .trained = trained_parameters(workload_, strategy_, held, index),
                .passes = longest,
                .layers = std::accumulate(layers.begin(), layers.end(), 0.0)};
  const double dense_shards = shards_optimizer(strategy_.sharding) ? static_cast<double>(groups_.shard.ranks) : 1;
  const double expert_shards =
      shards_optimizer(strategy_.sharding) ? static_cast<double>(groups_.expert_data.ranks) : 1;
  const double updated = in.trained.dense / dense_shards + in.trained.experts / expert_shards;
  StepTail tail;
  if (strategy_.offload.parameters) {
    const double parameters = held.total() / dense_shards;
    const Seconds forward = fetch_time(in, parameters, longest.forward);
    const Seconds backward = fetch_time(in, parameters, longest.backward);
    tail.offload += static_cast<double>(strategy_.micro_batches(workload_)) * (forward + backward);
    // The network works while a pass waits for the host link.
    in.passes.forward += forward;
    in.passes.backward += backward;
  }
  tail.data_comm = data_parallel_time(in);
  if (strategy_.offload.optimizer) {
    tail.offload += offloaded_optimizer_time(in, updated);
  } else {
    tail.optimizer = optimizer_time(in, updated);
  }
  return tail;
}

}  // namespace smplan
