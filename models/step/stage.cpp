#include "models/step/stage.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/engines/engine.hpp"
#include "models/layers/activations.hpp"
#include "models/layers/layer_inputs.hpp"
#include "models/layers/rank_parameters.hpp"
#include "models/machine/compute.hpp"
#include "models/memory/memory.hpp"

namespace smplan {
namespace {

/// What ZeRO's third stage takes to fetch an expert that runs by itself: hooks and small all-gathers of its three
/// matrices, one after the other (scripts/fit/chosen.json).
constexpr Seconds kExpertFetch = microseconds(4000);

/// What the host adds to a pass of the device. Within a pass now the one and now the other is behind, so that where
/// both take about as long neither hides the other whole: the pass takes the 4-norm of the two. Exponents of 4 to 6
/// leave about the same error on sources left out of the fit, 3 and the maximum more.
Seconds host_beside(Seconds host, Seconds device) {
  const double h = host.value() * host.value();
  const double d = device.value() * device.value();
  return std::max(Seconds(), Seconds(std::sqrt(std::sqrt(h * h + d * d))) - device);
}

/// Books the compute of `again`, a forward done again within the backward pass, as recomputation.
void book_recomputation(PassParts& backward, const PassCosts& again) {
  backward.gemm -= again.gemm;
  backward.attention -= again.attention;
  backward.elementwise -= again.elementwise;
  backward.recompute += again.compute();
}

}  // namespace

double contention(const Stack& stack, const Accelerator& accelerator) {
  constexpr double kTwoWaves = 0.5;
  const bool deals_out_beforehand = accelerator.architecture.rfind("Hopper", 0) == 0;
  return std::max(stack.profile.overlap_contention, deals_out_beforehand ? kTwoWaves : 0);
}

Seconds beside_compute(Seconds communication, Seconds window, const Stack& stack, const Accelerator& accelerator) {
  const Seconds shown = exposed(communication, window, stack.profile.data_overlap);
  return shown + (communication - shown) * contention(stack, accelerator);
}

StageModel::StageModel(const LayerTable& table, const Workload& workload, const Strategy& strategy,
                       const Groups& groups, const Cluster& cluster, const Stack& stack)
    : table_(table),
      workload_(workload),
      strategy_(strategy),
      cluster_(cluster),
      stack_(stack),
      groups_(groups),
      crossing_(strategy.virtual_pipeline * shown_crossing(boundary_transfer())) {
  if (strategy.recompute_layers > 0) kept_.emplace();
  for (int i = 0; i < table.stack.n_runs; ++i) {
    layers_[static_cast<std::size_t>(i)] = layer_time(i, strategy.recompute);
    if (kept_) (*kept_)[static_cast<std::size_t>(i)] = layer_time(i, Recompute::None);
  }
}

/// Host time of a pass. ZeRO-3 hangs hooks that gather weights on every module; the other stages launch plain layers.
Seconds StageModel::launch_time(const PassCosts& costs) const {
  return costs.host * (strategy_.sharding == Sharding::Zero3 ? stack_.profile.gathered_host : 1);
}

/// One pass over a layer: compute as it is, communication as far as it shows, the host where it is slower.
PassParts StageModel::shown(const PassCosts& costs) const {
  const StackProfile& profile = stack_.profile;
  PassParts parts;
  parts.gemm = costs.gemm;
  parts.attention = costs.attention;
  parts.elementwise = costs.elementwise;
  parts.tensor_comm =
      exposed(costs.tensor_comm, costs.gemm, tensor_overlap(workload_, strategy_, groups_, cluster_, stack_));
  parts.context_comm = exposed(costs.context_comm, costs.attention, profile.context_overlap);
  Seconds hidden = costs.tensor_comm - parts.tensor_comm + (costs.context_comm - parts.context_comm);
  // Compute that hides one transfer hides no other.
  parts.expert_comm = exposed(costs.expert_comm, costs.compute() - hidden, profile.expert_overlap);
  hidden += costs.expert_comm - parts.expert_comm;
  parts.gemm += hidden * profile.overlap_contention;
  const Seconds host = launch_time(costs);
  // Where launches are waited for the host learns late of each kernel's end, and without a queue between them tensor
  // ranks wait for the slowest host at every all-reduce.
  parts.host = cluster_.blocking_launches ? profile.waited_launch * host : host_beside(host, parts.total());
  return parts;
}

StageModel::LayerTime StageModel::layer_time(int run, Recompute recompute) const {
  const LayerCosts& costs = table_.layers[static_cast<std::size_t>(run)];
  LayerTime time;
  time.forward = shown(costs.forward);
  time.weight_gradient = costs.weight_gradient;
  if (!table_.stack.runs[static_cast<std::size_t>(run)].spec.has_backward()) {
    add_sharded_parameter_traffic(run, recompute, time);
    return time;
  }
  if (recompute == Recompute::Full) {
    // One pass: launches queue up a thousand deep, so that the host, behind in the forward part, catches up in the
    // rest.
    const PassCosts again = replayed(costs, stack_);
    PassCosts both = costs.backward;
    both += again;
    time.backward = backward_shown(both, costs.weight_gradient);
    book_recomputation(time.backward, again);
  } else {
    time.backward = backward_shown(costs.backward, costs.weight_gradient);
    if (recompute == Recompute::Selective) time.backward.recompute += selective_recompute(costs, time.backward);
  }
  add_sharded_parameter_traffic(run, recompute, time);
  if (strategy_.offload.activations) add_activation_offload(run, time);
  return time;
}

/// A zero-bubble schedule runs the weight gradients at another time: nothing of the backward pass hides beside them.
PassParts StageModel::backward_shown(PassCosts backward, Seconds weight_gradient) const {
  if (strategy_.schedule != Schedule::ZeroBubble) return shown(backward);
  backward.gemm -= weight_gradient;
  PassParts parts = shown(backward);
  parts.gemm += weight_gradient;
  return parts;
}

/// FSDP's per-operation policy recomputes memory-bound kernels and every second product. Megatron recomputes the
/// modules that it is told, under the same backward pass; else the attention core, that of flash attention too
/// (megatron/core/transformer/attention.py, `checkpoint_core_attention`).
Seconds StageModel::selective_recompute(const LayerCosts& costs, const PassParts& backward) const {
  const PassCosts& forward = costs.forward;
  if (selects_by_operation(strategy_, stack_)) return forward.elementwise + 0.5 * forward.gemm;
  if (!stack_.execution.recompute_modules.empty()) {
    PassCosts both = costs.backward;
    both += costs.selective;
    return backward_shown(both, costs.weight_gradient).total() - backward.total();
  }
  return forward.attention + forward.context_comm;
}

/// ZeRO-3 and FSDP: the parameters of a layer are gathered while its predecessor computes, forward
/// and backward, and its gradients scattered under the backward of the next
/// (Zhao et al. 2023, PyTorch FSDP; Rajbhandari et al. 2020, ZeRO).
void StageModel::add_sharded_parameter_traffic(int run, Recompute recompute, LayerTime& time) const {
  // A pipeline keeps its parameters gathered for the whole step: see tail().
  if (!gathers_parameters(strategy_.sharding) || strategy_.pipeline_parallel > 1) return;
  const LayerRun& layers = table_.stack.runs[static_cast<std::size_t>(run)];
  const RankParameters p = layer_rank_parameters(layers, strategy_);
  const Collectives library = strategy_.collectives;
  const bool copies = state_engine(strategy_, stack_).copies_collectives();
  const auto collective = [&](CollectiveKind kind, double bytes_per_parameter) {
    const Bytes dense(p.dense * bytes_per_parameter);
    Seconds t = collective_time(kind, dense, groups_.shard, cluster_, library).time;
    if (copies) {
      constexpr double kReadAndWritten = 2;
      t += streaming_time(Bytes(kReadAndWritten * p.total() * bytes_per_parameter), cluster_.accelerator,
                          cluster_.accelerator_profile);
    }
    if (p.experts > 0) {
      const double units = stack_.expert_units ? rank_experts(workload_.architecture, strategy_) : 1;
      const Bytes unit(p.experts / units * bytes_per_parameter);
      t += units * collective_time(kind, unit, groups_.expert_shard, cluster_, library).time;
    }
    return t;
  };
  const Seconds gather = collective(CollectiveKind::AllGather, gathered_parameter_bytes(workload_, stack_));
  const bool again = layers.spec.has_backward();
  Seconds backward = again && strategy_.sharding != Sharding::FsdpGradOp ? gather : Seconds();
  if (trains_weights(workload_, layers.spec)) {
    backward += collective(CollectiveKind::ReduceScatter, reduced_gradient_bytes(workload_, stack_));
  }
  time.forward.data_comm = beside_compute(gather, time.forward.total(), stack_, cluster_.accelerator);
  time.backward.data_comm = beside_compute(backward, time.backward.total(), stack_, cluster_.accelerator);
  if (p.experts > 0 && stack_.loops_over_experts && strategy_.sharding == Sharding::Zero3) {
    const Seconds fetch = rank_experts(workload_.architecture, strategy_) * kExpertFetch / cluster_.host_speed;
    time.forward.host += fetch;
    if (again) time.backward.host += (recompute == Recompute::Full ? 2 : 1) * fetch;
  }
}

/// Embedding and head lie outside of the layers, in FSDP's root unit: nothing computes yet when it is gathered, nor
/// still when its gradients are scattered. torchtitan gives the head a unit of its own and DeepSpeed fetches by module,
/// so that the layers hide the head's.
void StageModel::add_root_traffic(std::int32_t index, StageCosts& costs) const {
  if (!gathers_parameters(strategy_.sharding) || strategy_.pipeline_parallel > 1) return;
  const bool by_module = state_engine(strategy_, stack_).fetches_head_apart(stack_);
  const EdgeParameters whole = edge_parameters(workload_.architecture);
  const double parameters =
      by_module ? static_cast<double>(whole.embedding + whole.layer_embeddings) / strategy_.tensor_parallel
                : stage_root_parameters(workload_.architecture, strategy_, index);
  const auto time = [&](CollectiveKind kind, double of, double bytes) {
    return collective_time(kind, Bytes(of * bytes), groups_.shard, cluster_, strategy_.collectives).time;
  };
  costs.forward.data_comm += time(CollectiveKind::AllGather, parameters, tensor_bytes(workload_.precision));
  const double all_trained = trained_root_parameters(workload_, strategy_, index);
  const double trained = by_module ? (workload_.trains_embedding() ? parameters : 0) : all_trained;
  if (trained > 0) {
    costs.backward.data_comm += time(CollectiveKind::ReduceScatter, trained, reduced_gradient_bytes(workload_, stack_));
  }
}

/// Saved activations leave over the host link under the forward and return under the backward, or while both wait.
void StageModel::add_activation_offload(int run, LayerTime& time) const {
  if (cluster_.host_link.value() <= 0) return;
  const Bytes saved =
      layer_activation_bytes(workload_, table_.stack.runs[static_cast<std::size_t>(run)].spec, strategy_, stack_);
  const Seconds transfer = saved / cluster_.host_link;
  // Tensor ranks without links of their own speak over the same PCIe lanes meanwhile.
  const bool shared = cluster_.fabric.kind == FabricKind::Pcie;
  const auto window = [&](const PassParts& pass) {
    return stack_.offload_waits ? Seconds() : pass.total() - (shared ? pass.tensor_comm : Seconds());
  };
  time.forward.offload += std::max(Seconds(), transfer - window(time.forward));
  time.backward.offload += std::max(Seconds(), transfer - window(time.backward));
}

/// Sends and receives run beside the passes of other chunks, and slow them.
Seconds StageModel::shown_crossing(Seconds transfer) const {
  const double overlap = stack_.profile.pipeline_overlap;
  return transfer * (1 - overlap + overlap * contention(stack_, cluster_.accelerator));
}

/// One crossing of a stage boundary by a micro-batch's activations.
Seconds StageModel::boundary_transfer() const {
  if (strategy_.pipeline_parallel == 1) return {};
  const double bytes = tensor_bytes(workload_.precision) * static_cast<double>(workload_.seq_len) *
                       strategy_.micro_batch / strategy_.context_parallel *
                       static_cast<double>(workload_.architecture.hidden);
  const auto send = [&](double message) {
    return collective_time(CollectiveKind::PointToPoint, Bytes(message), groups_.pipeline, cluster_,
                           strategy_.collectives)
        .time;
  };
  if (strategy_.sequence_parallel) return send(bytes / strategy_.tensor_parallel);
  if (!stack_.scattered_sends) return send(bytes);
  return send(bytes / strategy_.tensor_parallel) +
         collective_time(CollectiveKind::AllGather, Bytes(bytes), groups_.tensor, cluster_, strategy_.collectives).time;
}

StageTime stage_time(const StageCosts& costs) {
  const Seconds weight = costs.weight_gradient;
  return {
      .forward = costs.forward.total(), .backward_input = costs.backward.total() - weight, .backward_weight = weight};
}

StageCosts StageModel::stage(std::int32_t index) const {
  const PerKind<double> layers = stage_layers(table_.stack, index, strategy_.pipeline_parallel);
  const double part = kept_ ? strategy_.recomputed_part(std::accumulate(layers.begin(), layers.end(), 0.0)) : 1;
  StageCosts costs;
  for (int i = 0; i < table_.stack.n_runs; ++i) {
    const auto run = static_cast<std::size_t>(i);
    if (layers[run] == 0) continue;
    costs.forward += (part * layers[run]) * layers_[run].forward;
    costs.backward += (part * layers[run]) * layers_[run].backward;
    costs.weight_gradient += layers[run] * layers_[run].weight_gradient;
    if (part == 1) continue;
    costs.forward += ((1 - part) * layers[run]) * (*kept_)[run].forward;
    costs.backward += ((1 - part) * layers[run]) * (*kept_)[run].backward;
  }
  if (index == 0) {
    costs.forward += shown(table_.edge.embedding_forward);
    costs.backward += shown(table_.edge.embedding_backward);
  }
  if (index == strategy_.pipeline_parallel - 1) {
    costs.forward += shown(table_.edge.head_forward);
    costs.backward += shown(table_.edge.head_backward);
  }
  add_root_traffic(index, costs);
  costs.forward.pipeline_comm += crossing_;
  costs.backward.pipeline_comm += crossing_;
  return costs;
}

}  // namespace smplan
