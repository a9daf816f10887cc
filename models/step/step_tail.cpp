#include <algorithm>
#include <array>
#include <numeric>

#include "models/engines/engine.hpp"
#include "models/job/execution.hpp"
#include "models/layers/rank_parameters.hpp"
#include "models/machine/compute.hpp"
#include "models/memory/memory.hpp"
#include "models/step/stage.hpp"

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
/// Of the vectors that Adam reads a processor thread moves at most this: a core streams about 10 GB/s and has two.
constexpr BytesPerSecond kMemoryBandwidthPerVcpu = gb_per_s(5);
/// What one thread of a rank's process moves where it was told how many it has: copies, casts and checks of gradients
/// count too, which no core's bandwidth knows. Three runs of users under launchers that give one thread say 2 to 3 GB/s
/// (scripts/fit/chosen.json).
constexpr BytesPerSecond kHostRateOfThread = gb_per_s(3);
/// torch's Adam on the host, which FSDP runs, takes this much longer than DeepSpeed's: 1.39 and 0.22 s for 1 billion
/// parameters, 14.8 and 2.6 s for 10 (Ren et al. 2021, ZeRO-Offload, table 4).
constexpr double kTorchHostAdam = 6;
/// Over the host link: a gradient in fp32.
constexpr double kGradientOutBytes = 4;

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
  const double bytes = reduced_gradient_bytes(in.workload, in.stack);
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
  const Seconds gather =
      over_shards(in, CollectiveKind::AllGather, gathered_parameter_bytes(in.workload, in.stack), in.held);
  const Seconds scatter =
      over_shards(in, CollectiveKind::ReduceScatter, reduced_gradient_bytes(in.workload, in.stack), in.trained);
  return shown_beside(in, gather, in.weights_window()) +
         shown_beside(in, scatter + replica_time(in), in.gradients_window());
}

/// Each worker sends every server its part of the gradients and fetches the updated part of the weights. With a server
/// on each of n hosts a host sends and receives (n - 1) / n of the gradients, then of the weights (Li et al. 2014;
/// Jiang et al. 2020, BytePS, section 2). Servers are processes of the host: both pass its link to the device.
Seconds server_time(const TailInputs& in) {
  const double gradient = in.stack.gradient_reduce_bytes;
  const double weight = in.stack.weight_bytes;
  const Seconds up = over_replicas(in, CollectiveKind::AllToAll, gradient);
  const Seconds down = over_replicas(in, CollectiveKind::AllToAll, weight);
  const bool alone = in.groups.data.ranks <= 1 || in.cluster.host_link.value() <= 0;
  const Seconds host = alone ? Seconds() : Bytes(in.trained.total() * (gradient + weight)) / in.cluster.host_link;
  return up + down + host;
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
  const double reduce_bytes = reduced_gradient_bytes(in.workload, in.stack);
  const Sharding sharding = in.strategy.sharding;
  if (gathers_parameters(sharding)) return sharded_parameter_time(in);
  if (in.stack.parameter_server) return shown_beside(in, server_time(in), in.gradients_window());
  if (sharding == Sharding::None) {
    return shown_beside(in, over_replicas(in, CollectiveKind::AllReduce, reduce_bytes), in.gradients_window());
  }
  const Seconds gather = over_replicas(in, CollectiveKind::AllGather, tensor_bytes(in.workload.precision));
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
  const double states = in.stack.master_bytes + moment_bytes(in.workload, in.stack);
  const double bytes = 2 * in.stack.gradient_bytes + 2 * states + in.stack.weight_bytes;
  return streaming_time(Bytes(parameters * bytes), in.cluster.accelerator, in.cluster.accelerator_profile);
}

/// Muon orthogonalises each matrix of a layer by five Newton-Schulz steps of three products (Jordan et al. 2024), taken
/// as square. Ranks that share the states share the matrices (Moonlight, Liu et al. 2025).
Seconds orthogonalization_time(const TailInputs& in, const RankParameters& updated) {
  constexpr double kProducts = 5 * 3;
  const Architecture& a = in.workload.architecture;
  if (in.workload.optimizer != Optimizer::Muon || in.workload.finetune != FineTune::Full) return {};
  const Precision half = in.cluster.accelerator.supports(Precision::Bf16) ? Precision::Bf16 : Precision::Fp16;
  const auto matrices = [&](double parameters, std::int64_t side) {
    if (parameters <= 0 || side <= 0) return Seconds();
    const Seconds product =
        gemm_time({.m = side, .n = side, .k = side}, half, in.cluster.accelerator, in.cluster.accelerator_profile);
    return parameters / (static_cast<double>(side) * static_cast<double>(side)) * kProducts * product;
  };
  return matrices(updated.dense, a.hidden) + matrices(updated.experts, std::min(a.hidden, a.moe.expert_ffn_hidden));
}

double ranks_on_node(const TailInputs& in) {
  return static_cast<double>(std::min<std::int64_t>(in.cluster.gpus_per_node, in.strategy.gpus()));
}

/// What a host's Adam streams; an unknown number of processors limits nothing.
BytesPerSecond host_adam_rate(const TailInputs& in) {
  BytesPerSecond rate = kHostMemoryBandwidth;
  if (in.cluster.vcpus > 0) rate = std::min(rate, kMemoryBandwidthPerVcpu * static_cast<double>(in.cluster.vcpus));
  if (is_fsdp(in.strategy.sharding)) rate = rate / kTorchHostAdam;
  const std::int32_t threads = in.stack.execution.host_threads;
  return threads > 0 ? std::min(rate, kHostRateOfThread * (threads * ranks_on_node(in))) : rate;
}

/// Optimizer on the host (ZeRO-Offload, Ren et al. 2021): gradients out over the host link and 16-bit weights in, but
/// for FSDP's, which come with every pass; the update at the speed of host memory, states through NVMe where they live
/// there.
Seconds offloaded_optimizer_time(const TailInputs& in, double parameters) {
  Seconds time;
  const double link_bytes = kGradientOutBytes + (is_fsdp(in.strategy.sharding) ? 0 : kHalfBytes);
  if (in.cluster.host_link.value() > 0) time += Bytes(link_bytes * parameters) / in.cluster.host_link;
  const double per_node = parameters * ranks_on_node(in);
  time += Bytes(kHostAdamBytes * per_node) / host_adam_rate(in);
  if (in.strategy.offload.to_nvme && in.cluster.local_nvme_read.value() > 0) {
    const Bytes states(per_node * (in.stack.master_bytes + moment_bytes(in.workload, in.stack)));
    const BytesPerSecond write =
        in.cluster.local_nvme_write.value() > 0 ? in.cluster.local_nvme_write : in.cluster.local_nvme_read;
    time += states / in.cluster.local_nvme_read + states / write;
  }
  return time;
}

/// Of weights that live on the host, of which so many are trained: FSDP's stay in the format of their states and are
/// cast on the device.
Bytes fetched_bytes(const TailInputs& in, double parameters, double trained) {
  const double gathered = gathered_parameter_bytes(in.workload, in.stack);
  if (in.workload.finetune != FineTune::Full || !is_fsdp(in.strategy.sharding)) return Bytes(gathered * parameters);
  const double held = state_widths(in.workload, in.strategy, in.stack).weight;
  return Bytes(held * trained + gathered * (parameters - trained));
}

/// Moments of a paged optimizer that share the device with all else cross the host link both ways where they do not
/// fit: each step reads them from first to last, and the driver takes back first what was read longest ago.
Seconds paging_time(const TailInputs& in, const LayerStack& layers) {
  if (!is_on(in.stack.execution.paged_optimizer) || in.cluster.host_link.value() <= 0) return {};
  const MemoryEstimate memory = estimate_memory(layers, in.workload, in.strategy, in.cluster, in.stack);
  return memory.pages_out() ? 2.0 * memory.paged / in.cluster.host_link : Seconds();
}

/// Weights that live on the host or on NVMe come in for every pass of every micro-batch: what shows beside a pass.
Seconds fetch_time(const TailInputs& in, Bytes bytes, Seconds pass) {
  const Cluster& c = in.cluster;
  if (c.host_link.value() <= 0) return {};
  Seconds time = bytes / c.host_link;
  if (in.strategy.offload.to_nvme && c.local_nvme_read.value() > 0) {
    time = std::max(time, bytes * c.gpus_per_node / c.local_nvme_read);
  }
  return std::max(Seconds(), time - pass);
}

RankParameters trained_on_rank(const Workload& w, const LayerStack& layers, const Strategy& s,
                               const RankParameters& held, std::int32_t stage) {
  if (w.trained_layers) return stage_updated_parameters(w, layers, s, stage);
  if (w.finetune == FineTune::Full) return held;
  const RankParameters adapters = adapter_rank_parameters(w.architecture, w.lora, s);
  const double root = trained_root_parameters(w, s, stage);
  return {.dense = adapters.dense / s.pipeline_parallel + root, .experts = adapters.experts / s.pipeline_parallel};
}

/// Layers that no backward pass reaches.
double unreached_parameters(const LayerStack& stack, const Strategy& s, std::int32_t stage) {
  const PerKind<double> layers = stage_layers(stack, stage, s.pipeline_parallel);
  double sum = 0;
  for (int i = 0; i < stack.n_runs; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const LayerRun& run = stack.runs[index];
    if (!run.spec.has_backward()) sum += layers[index] * layer_rank_parameters(run, s).total();
  }
  return sum;
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
                .trained = trained_on_rank(workload_, table_.stack, strategy_, held, index),
                .passes = longest,
                .layers = std::accumulate(layers.begin(), layers.end(), 0.0)};
  const double dense_shards = shards_optimizer(strategy_.sharding) ? static_cast<double>(groups_.shard.ranks) : 1;
  const double expert_shards =
      shards_optimizer(strategy_.sharding) ? static_cast<double>(groups_.expert_shard.ranks) : 1;
  const RankParameters updated{.dense = in.trained.dense / dense_shards, .experts = in.trained.experts / expert_shards};
  StepTail tail;
  if (strategy_.offload.parameters) {
    const double trained = updated.total();
    const double parameters = held.total() / dense_shards;
    const double frozen = unreached_parameters(table_.stack, strategy_, index) / dense_shards;
    const Seconds forward = fetch_time(in, fetched_bytes(in, parameters, trained), longest.forward);
    const Seconds backward = fetch_time(in, fetched_bytes(in, parameters - frozen, trained), longest.backward);
    tail.offload += static_cast<double>(strategy_.micro_batches(workload_)) * (forward + backward);
    // The network works while a pass waits for the host link.
    in.passes.forward += forward;
    in.passes.backward += backward;
  }
  tail.data_comm = data_parallel_time(in);
  if (updates_on_host(strategy_)) {
    tail.offload += offloaded_optimizer_time(in, updated.total());
  } else {
    tail.optimizer = optimizer_time(in, updated.total());
    tail.offload += paging_time(in, table_.stack);
  }
  const double root = trained_root_parameters(workload_, strategy_, index) / dense_shards;
  tail.optimizer += orthogonalization_time(in, {.dense = updated.dense - root, .experts = updated.experts});
  return tail;
}

}  // namespace smplan
