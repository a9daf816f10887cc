#include "models/layers/layer_costs.hpp"

#include <algorithm>

#include "base/enum_set.hpp"
#include "models/layers/adapter_shapes.hpp"
#include "models/layers/flops.hpp"
#include "models/layers/layer_collectives.hpp"
#include "models/layers/layer_inputs.hpp"
#include "models/layers/layer_kernels.hpp"
#include "models/layers/rank_parameters.hpp"
#include "models/machine/collectives.hpp"
#include "models/machine/kernel_clock.hpp"

namespace smplan {
namespace {

/// Masked language models predict 15 % of the tokens (Devlin et al. 2019); the head sees only those.
constexpr double kMaskedShare = 0.15;
/// An adapter launches two small products beside its linear layer: part of the layer's host time that each adds. On all
/// seven of a Llama layer they make it 1.66 (scripts/fit/host_time.py), and in fp32 under autocast, with the casts of
/// inputs and of adapters, about 2.3 (tests/measured/trainer_runs.csv, sequences of 512 and 2048 tokens).
constexpr double kAdapterHost = 0.094;
constexpr double kCastAdapterHost = 0.19;
/// 16-bit elements between the addresses that wide loads want.
constexpr std::int64_t kLineElements = 8;

/// Rows of the output projection on one rank, padding with them.
std::int64_t vocabulary_slice(std::int64_t vocab, std::int64_t tensor, std::int64_t multiple) {
  const std::int64_t step = tensor * multiple;
  return (vocab + step - 1) / step * multiple;
}

/// Softmax cross-entropy streams the logits: written, read for the maximum and the sum, gradient written. `counted` are
/// the bytes of a pass where the stack's operations were counted.
Seconds loss_time(double counted, double logits, const Stack& stack, const KernelClock& clock) {
  if (stack.execution.loss_kernel == LossKernel::Linear) return clock.stream(logits);
  return counted > 0 ? clock.copy(Bytes(counted * logits)) : clock.stream(Bytes(stack.logits_bytes * logits));
}

/// What the host takes to launch a layer. Of a dense one the mixer is half; experts come instead of the other.
Seconds host_time(const LayerSpec& spec, const StackProfile& profile) {
  constexpr double kMixerShare = 0.5;
  const Seconds mixer = kMixerShare * profile.host_time_dense_layer;
  const Seconds whole = spec.moe ? profile.host_time_moe_layer : profile.host_time_dense_layer;
  if (spec.mixer == Mixer::None) return std::max(Seconds(), whole - mixer);
  return spec.has_mlp() ? whole : mixer;
}

/// What the host adds for each expert of a layer that runs one after the other: 12 launches that pick its tokens,
/// multiply and add back (Transformers 4.5x, modeling_qwen3_moe.py).
constexpr Seconds kExpertLaunches = microseconds(200);

Seconds expert_loop(const LayerInputs& in) {
  if (!in.spec.moe || !in.stack.loops_over_experts) return {};
  return rank_experts(in.workload.architecture, in.strategy) * kExpertLaunches;
}

/// What launches of adapters are of the layer's; `launches` of one, over LoRA's.
double adapter_host(const LayerInputs& in, double launches) {
  std::int64_t adapters = 0;
  for_each_adapter(in.workload.architecture, in.spec, in.workload.lora, [&](const AdapterShape& adapter) {
    // Those of experts go with their own products.
    if (adapter.part != LinearPart::Expert) adapters += adapter.copies;
  });
  return launches * static_cast<double>(adapters) * (in.stack.adapter_copies ? kCastAdapterHost : kAdapterHost);
}

/// The backward pass launches twice the kernels, but from the autograd engine, without Python in between.
void add_host(LayerCosts& costs, const LayerInputs& in) {
  const StackProfile& profile = in.stack.profile;
  Seconds host = host_time(in.spec, profile);
  const double launches = in.workload.lora.work ? in.workload.lora.work->launches : 1;
  if (in.workload.finetune == FineTune::Lora) host *= 1 + adapter_host(in, launches);
  if (in.workload.finetune == FineTune::Qlora) {
    host *= profile.quantized_host * (1 + adapter_host(in, launches)) / (1 + adapter_host(in, 1));
  }
  const std::int64_t tensor = in.strategy.tensor_parallel;
  if (tensor > 1) {
    const Seconds collective = profile.host_collective + static_cast<double>(tensor) * profile.host_collective_rank;
    host += in.spec.parts() * collective;
  }
  const bool flash = in.stack.flash_attention;
  const bool scores = in.spec.mixer == Mixer::Attention && !flash;
  if (scores && in.stack.fused_kernels && !takes_fused_softmax(attention_shape(in))) host += profile.host_plain_softmax;
  costs.forward.host = costs.backward.host = (host + expert_loop(in)) / in.cluster.host_speed;
}

/// What adapters other than LoRA's move beside: of the tokens, and of weights that they read whole in every pass.
void add_adapter_work(LayerCosts& costs, const LayerInputs& in) {
  if (in.workload.finetune == FineTune::Full || !in.workload.lora.work) return;
  const AdapterWork& work = *in.workload.lora.work;
  const double dequantized =
      in.workload.finetune == FineTune::Qlora ? in.stack.profile.dequantized_bytes * work.read_weights : 0;
  const auto moved = [&](double token, double layer) {
    return in.clock.copy(Bytes((in.slice.tokens * token + layer) / static_cast<double>(in.slice.tensor)));
  };
  costs.forward.elementwise += moved(work.forward_token_bytes, work.forward_layer_bytes + dequantized);
  costs.backward.elementwise += moved(work.backward_token_bytes, work.backward_layer_bytes);
}

/// What one module costs forward.
PassCosts module_forward(LayerModule module, const LayerInputs& in) {
  const Architecture& a = in.workload.architecture;
  const MixtureOfExperts& moe = a.moe;
  LayerCosts only;
  switch (module) {
    case LayerModule::CoreAttention:
      if (in.spec.mixer == Mixer::Attention) add_attention_core(only, in, attention_shape(in));
      break;
    case LayerModule::LatentUpProjection:
      if (!a.has_latent_attention() || in.spec.mixer != Mixer::Attention) break;
      add_up_projections(only, in);
      add_adapters(only, in, set_of(LinearPart::LatentUp));
      add_rotary_embedding(only, in);
      break;
    case LayerModule::Norms:
      add_norms(only, in);
      break;
    case LayerModule::ExpertActivation:
      if (in.spec.moe) {
        const ExpertSlice e = make_expert_slice(in);
        add_activation(only, in, e.routed * static_cast<double>(e.width));
      }
      break;
    case LayerModule::DenseMlp:
      if (in.spec.ffn_hidden > 0) {
        const Seconds last = add_dense_mlp(only, in, in.spec.ffn_hidden);
        add_adapters(only, in, set_of(LinearPart::DenseMlp));
        if (in.stack.checkpoint_stops_early && ends_in_product(in.workload, in.spec)) only.forward.gemm -= last;
      }
      break;
    case LayerModule::SharedExperts:
      if (in.spec.moe && moe.n_shared_experts > 0) {
        add_dense_mlp(only, in, moe.n_shared_experts * moe.shared_expert_ffn_hidden);
        add_adapters(only, in, set_of(LinearPart::SharedExpert, LinearPart::SharedExpertGate));
      }
      break;
    case LayerModule::Experts:
      if (!in.spec.moe) break;
      add_moe_mlp(only, in);
      add_adapters(
          only, in,
          set_of(LinearPart::Router, LinearPart::Expert, LinearPart::SharedExpert, LinearPart::SharedExpertGate));
      add_expert_comm(only, in);
      break;
  }
  return only.forward;
}

void add_attention(LayerCosts& costs, const LayerInputs& in) {
  add_attention_projections(costs, in);
  add_attention_core(costs, in, attention_shape(in));
  if (in.spec.cross_attention) {
    add_attention_projections(costs, in);
    AttentionShape cross = attention_shape(in);
    cross.causal = false;
    add_attention_core(costs, in, cross);
  }
  add_rotary_embedding(costs, in);
}

/// The forward of what selective recomputation runs again. The host launches that and keeps the random state for it:
/// each of the modules of Moonlight-16B adds 0.3 to 0.9 ms a layer to a step that launches bound
/// (NVIDIA-NeMo/Megatron-Bridge, skills/nemo-mbridge-perf-activation-recompute, eight H100), an eighth of what a layer
/// of experts takes forward.
PassCosts selective_forward(const LayerInputs& in, Seconds layer_host) {
  constexpr double kHostShare = 0.12;
  PassCosts again;
  in.stack.execution.recompute_modules.for_each([&](LayerModule module) {
    PassCosts forward = module_forward(module, in);
    if (forward.compute() > Seconds()) forward.host = kHostShare * layer_host;
    again += forward;
  });
  return again;
}

}  // namespace

LayerCosts layer_costs(const Workload& workload, const LayerSpec& spec, const Strategy& strategy, const Groups& groups,
                       const Cluster& cluster, const Stack& stack) {
  const LayerInputs in{workload, spec, strategy, groups, cluster, stack};
  LayerCosts costs;
  if (spec.further_token && spec.mixer != Mixer::None) add_joined_embedding(costs, in);
  if (spec.mixer == Mixer::Attention) add_attention(costs, in);
  if (spec.mixer == Mixer::State) add_state_mixer(costs, in);
  add_layer_embedding(costs, in);
  add_norms(costs, in);
  add_residuals(costs, in);
  PassCosts last;
  if (spec.moe) {
    add_moe_mlp(costs, in);
    add_expert_comm(costs, in);
  } else if (spec.ffn_hidden > 0) {
    const double width = static_cast<double>(spec.ffn_hidden) / static_cast<double>(in.slice.tensor);
    add_activation(costs, in, in.slice.tokens * width);
    last.gemm = add_dense_mlp(costs, in, spec.ffn_hidden);
  }
  last.tensor_comm = add_tensor_comm(costs, in);
  add_context_comm(costs, in);
  add_adapters(costs, in, kAllLinearParts);
  add_adapter_work(costs, in);
  add_host(costs, in);
  if (ends_in_product(workload, spec)) costs.unread = last;
  costs.selective = selective_forward(in, costs.forward.host);
  return spec.has_backward() ? costs : LayerCosts{.forward = costs.forward};
}

PassCosts replayed(const LayerCosts& costs, const Stack& stack) {
  PassCosts again = costs.forward;
  if (!stack.checkpoint_stops_early) return again;
  again.gemm -= costs.unread.gemm;
  again.tensor_comm -= costs.unread.tensor_comm;
  return again;
}

EdgeCosts edge_costs(const Workload& workload, const Strategy& strategy, const Groups& groups, const Cluster& cluster,
                     const Stack& stack) {
  const Architecture& a = workload.architecture;
  const Slice slice = make_slice(workload, strategy);
  const KernelClock clock(workload, cluster, stack);
  const auto h = static_cast<double>(a.hidden);
  EdgeCosts edge;
  edge.embedding_forward.elementwise = clock.stream(2 * slice.norm_tokens * h);
  const bool below = workload.trains_below_head();
  if (!workload.trained_layers || workload.trains_embedding()) {
    edge.embedding_backward.elementwise = clock.stream(3 * slice.norm_tokens * h);
  }
  if (a.final_norm) {
    edge.head_forward.elementwise += clock.stream(2 * slice.norm_tokens * h);
    if (below) edge.head_backward.elementwise += clock.stream(4 * slice.norm_tokens * h);
  }
  if (a.vocab > 0 && workload.has_logits()) {
    const double predicted = a.kind == ModelKind::Encoder ? kMaskedShare * slice.tokens : slice.tokens;
    const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(predicted));
    const std::int64_t columns = vocabulary_slice(a.vocab, slice.tensor, stack.vocab_multiple);
    edge.head_forward.gemm += clock.wide_gemm(rows, columns, a.hidden);
    if (below) edge.head_backward.gemm += clock.wide_gemm(rows, a.hidden, columns);
    // The gradient of the weights loads the logits' gradient by its rows.
    const bool off_lines = columns % kLineElements != 0;
    // Both gradients are added to main gradients. The embedding's, almost all zero, is written whole before.
    const double weights = static_cast<double>(columns) * h;
    if (workload.trains_head()) {
      edge.head_backward.gemm +=
          clock.wide_gemm(a.hidden, columns, rows, off_lines) + clock.copy(clock.accumulation(weights));
    }
    if (workload.trains_embedding()) {
      const Bytes written_and_read(2 * tensor_bytes(workload.precision) * weights);
      edge.embedding_backward.elementwise += clock.copy(written_and_read + clock.accumulation(weights));
    }
    const double logits = predicted * static_cast<double>(columns);
    edge.head_forward.elementwise += loss_time(stack.loss_forward_bytes, logits, stack, clock);
    edge.head_backward.elementwise += loss_time(stack.loss_backward_bytes, logits, stack, clock);
    if (strategy.tensor_parallel > 1 && below) {
      const Bytes hidden_gradient(tensor_bytes(workload.precision) * slice.tokens * h);
      edge.head_backward.tensor_comm +=
          collective_time(CollectiveKind::AllReduce, hidden_gradient, groups.tensor, cluster, strategy.collectives)
              .time;
    }
  }
  edge.head_forward.host = stack.profile.host_time_dense_layer / cluster.host_speed;
  edge.head_backward.host = edge.head_forward.host;
  const auto predictions = static_cast<double>(a.predictions());
  edge.head_forward *= predictions;
  edge.head_backward *= predictions;
  return edge;
}

}  // namespace smplan
