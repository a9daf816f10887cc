#include "models/layers/layer_kernels.hpp"

#include <algorithm>

#include "base/enum_set.hpp"
#include "models/job/execution.hpp"
#include "models/layers/activations.hpp"
#include "models/layers/adapter_shapes.hpp"
#include "models/layers/state_mixer.hpp"

namespace smplan {
namespace {

constexpr double kTransposedBytes = 2;  // an 8-bit tensor read and written
/// NVFP4 quantises in kernels of its own: one pass for the largest element, one that reads again, transforms, rounds
/// and writes both layouts, half a byte and a scale for every 16 (NVFP4BlockScaling of Transformer Engine; 2509.25149).
constexpr double kFourBitBytes = 2 + 2 + 2 * (0.5 + 1.0 / 16);
/// Values read and written for each that is rotated, in one kernel or in Megatron Core's PyTorch operations: two
/// products, the turned half, their sum and a copy; backward the same and the gradients of two slices (d98e8a6 of
/// NVIDIA/Megatron-LM, rope_utils.py, counted operation by operation).
constexpr double kRotaryKernel = 2;
constexpr double kRotaryOperationsForward = 12;
constexpr double kRotaryOperationsBackward = 17;
/// Biases of experts join the output of a grouped product expert by expert, weighted in fp32, and the parts are put
/// together and cast back: values of 16 bits that this moves for each value of the output (d98e8a6 of
/// NVIDIA/Megatron-LM, TEGroupedMLP._apply_bias, counted operation by operation).
constexpr double kExpertBiasForward = 14;
constexpr double kExpertBiasBackward = 20;

/// GELU's tanh form operation by operation (transformers, NewGELUActivation): values read and written for each that it
/// activates, in one format; and bytes where autocast runs the cube, and with it what follows, in fp32.
constexpr double kPlainGeluForward = 17;
constexpr double kPlainGeluBackward = 27;
constexpr double kPlainGeluCastForward = 76;
constexpr double kPlainGeluCastBackward = 104;

/// Values that the low-rank path beside a frozen linear layer reads and writes for each of its inputs and outputs.
struct LowRankTraffic {
  double forward_outputs;
  double backward_outputs;
  double backward_inputs;
};
/// Forward the products read the input and write an output, which is scaled and added to the layer's. Backward the
/// gradient is scaled and read by two products, and the path's gradient of the input is added to the layer's
/// (huggingface/peft 0.21, tuners/lora/layer.py, counted operation by operation). Compiled, one kernel scales and adds.
constexpr LowRankTraffic kPlainAdapter{6, 4, 5};
constexpr LowRankTraffic kCompiledAdapter{4, 4, 5};
/// Inputs cast to the adapters' 32 bits and, by autocast, back; and so their gradients.
constexpr double kCastInputs = 6;
/// Inputs dropped out beside a mask of a byte each; and so their gradients.
constexpr double kDroppedInputs = 2.5;
/// Products that add to what is there, as Transformer Engine's fused operations can (TEFusedLoRALinear of
/// docs.nvidia.com/nemo/megatron-bridge, bridge.peft.lora_layers, read 2026-11-28).
constexpr LowRankTraffic kFusedAdapter{2, 2, 3};

const LowRankTraffic& low_rank_traffic(const Stack& stack) {
  if (stack.joins_adapters) return kFusedAdapter;
  return compiles_layers(stack.execution) ? kCompiledAdapter : kPlainAdapter;
}

/// A product beside the collective that brings its inputs or takes its sums: each rank's rows by themselves, as they
/// come (the ring exchange of NVIDIA/TransformerEngine, comm_gemm_overlap.cpp).
Seconds ring_gemm(const LayerInputs& in, std::int64_t m, std::int64_t n, std::int64_t k) {
  return static_cast<double>(in.ring) * in.clock.gemm(std::max<std::int64_t>(1, m / in.ring), n, k);
}

/// Bytes that a pass moves of each frozen weight before its product, to bring it into the format that products read.
double widened_bytes(const LayerInputs& in) {
  if (in.workload.finetune == FineTune::Qlora) return in.stack.profile.dequantized_bytes;
  const BaseFormat base = in.stack.execution.base_format;
  const bool as_it_is = base == BaseFormat::Fp8 && in.clock.eight_bit();
  if (in.workload.finetune == FineTune::Full || base == BaseFormat::Default || as_it_is) return 0;
  return base_format_bytes(base, in.workload.precision) + tensor_bytes(in.workload.precision);
}

/// Adds y = x W (m x k times k x n) in all passes: forward, gradient of x, gradient of W. The collectives beside a
/// column-cut layer's backward products, and beside gradients of weights, cut none of them (bulk overlap).
void add_linear(LayerCosts& costs, const LayerInputs& in, std::int64_t m, std::int64_t n, std::int64_t k,
                TensorCut cut = TensorCut::None, std::int64_t batch = 1) {
  const double weights = static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(batch);
  const double rows = static_cast<double>(m) * static_cast<double>(batch);
  costs.forward.gemm += cut == TensorCut::None ? in.clock.gemm(m, n, k, batch) : ring_gemm(in, m, n, k);
  costs.backward.gemm += cut == TensorCut::Rows ? ring_gemm(in, m, k, n) : in.clock.gemm(m, k, n, batch);
  const bool trains = trains_weights(in.workload, in.spec);
  if (trains) {
    const Seconds weight_gradient = in.clock.gemm(k, n, m, batch) + in.clock.copy(in.clock.accumulation(weights));
    costs.backward.gemm += weight_gradient;
    costs.weight_gradient += weight_gradient;
  }
  const double widened = widened_bytes(in);
  if (widened > 0) {
    costs.forward.gemm += in.clock.copy(Bytes(widened * weights));
    costs.backward.gemm += in.clock.copy(Bytes(widened * weights));
  }
  const bool four_bit = in.workload.precision == Precision::Fp4;
  if (in.clock.eight_bit() && (four_bit || batch == 1)) {
    // Inputs (and, backward, output gradients) are quantised by the kernel that makes them; their transposed copies,
    // which only gradients of weights read, are read and written once more. Experts' go with the permutation, but for
    // NVFP4's passes.
    const double transposed = trains ? kTransposedBytes : 0;
    const double bytes = four_bit ? kFourBitBytes : transposed;
    costs.forward.elementwise += in.clock.copy(Bytes(bytes * rows * static_cast<double>(k)));
    costs.backward.elementwise += in.clock.copy(Bytes(bytes * rows * static_cast<double>(n)));
  }
}

void add_elementwise(LayerCosts& costs, const LayerInputs& in, double forward_elements, double backward_elements) {
  costs.forward.elementwise += in.clock.stream(forward_elements);
  costs.backward.elementwise += in.clock.stream(backward_elements);
}

/// Router, permutation, routed experts.
LayerCosts routed_mlp(const LayerInputs& in) {
  const Architecture& a = in.workload.architecture;
  const MixtureOfExperts& moe = a.moe;
  const ExpertSlice e = make_expert_slice(in);
  const auto h = static_cast<double>(a.routed_hidden());
  LayerCosts costs;
  costs.forward.gemm += in.clock.wide_gemm(in.slice.m, moe.n_experts, a.hidden);
  costs.backward.gemm += in.clock.wide_gemm(in.slice.m, a.hidden, moe.n_experts);
  add_linear(costs, in, e.tokens_per_expert, (a.gated_mlp ? 2 : 1) * e.width, a.routed_hidden(), TensorCut::None,
             e.experts);
  add_linear(costs, in, e.tokens_per_expert, a.routed_hidden(), e.width, TensorCut::None, e.experts);
  // Permute before and un-permute after: each reads and writes the routed tokens.
  add_elementwise(costs, in, 4 * e.routed * h, 4 * e.routed * h);
  if (moe.expert_bias) {
    add_elementwise(costs, in, kExpertBiasForward * e.routed * h, kExpertBiasBackward * e.routed * h);
  }
  add_activation(costs, in, e.routed * static_cast<double>(e.width));
  return costs;
}

/// Uneven groups and padding cost less, the wider the expert: Mixtral's 14336 columns run like a dense layer's,
/// DeepSeek's 2048 do not.
double routing_slowdown(const StackProfile& p, std::int64_t expert_width) {
  return 1 + (p.moe_slowdown - 1) * p.narrow_expert / (p.narrow_expert + static_cast<double>(expert_width));
}

/// The low-rank path beside a frozen layer. Its products, twice as many backward, are hidden in what it moves where the
/// rank is low.
void add_adapter(LayerCosts& costs, const LayerInputs& in, const AdapterShape& adapter) {
  const bool routed = adapter.part == LinearPart::Expert;
  const ExpertSlice experts = routed ? make_expert_slice(in) : ExpertSlice{};
  const bool of_slice = adapter.part == LinearPart::LayerGate;
  const std::int64_t rows = of_slice ? static_cast<std::int64_t>(in.slice.norm_tokens) : in.slice.m;
  const std::int64_t m = std::max<std::int64_t>(1, routed ? experts.tokens_per_expert : rows);
  const std::int64_t batch =
      routed ? adapter.copies / in.workload.architecture.moe.n_experts * experts.experts : adapter.copies;
  const std::int64_t cut = routed ? in.strategy.expert_tensor() : in.slice.tensor;
  const auto sliced = [&](std::int64_t width, TensorCut by) {
    return std::max<std::int64_t>(1, adapter.cut == by ? width / cut : width);
  };
  const std::int64_t k = sliced(adapter.inputs, TensorCut::Rows);
  const std::int64_t n = sliced(adapter.outputs, TensorCut::Columns);
  const Seconds products = in.clock.gemm(m, adapter.rank, k, batch) + in.clock.gemm(m, n, adapter.rank, batch);
  const double inputs = static_cast<double>(m) * static_cast<double>(batch) * static_cast<double>(k);
  const double outputs = static_cast<double>(m) * static_cast<double>(batch) * static_cast<double>(n);
  const LowRankTraffic& traffic = low_rank_traffic(in.stack);
  const double copies = (in.stack.adapter_copies ? kCastInputs : 0) + (in.stack.adapter_dropout ? kDroppedInputs : 0);
  const double backward = (traffic.backward_inputs + copies) * inputs + traffic.backward_outputs * outputs;
  const auto moved = [&](double values) { return in.clock.copy(Bytes(values * tensor_bytes(in.workload.precision))); };
  const double slowdown =
      routed ? routing_slowdown(in.stack.profile, in.workload.architecture.moe.expert_ffn_hidden) : 1;
  costs.forward.elementwise +=
      slowdown * std::max(moved((1 + copies) * inputs + traffic.forward_outputs * outputs), products);
  costs.backward.elementwise += slowdown * std::max(moved(backward), 2 * products);
}

}  // namespace

void add_up_projections(LayerCosts& costs, const LayerInputs& in) {
  const LatentAttention& l = in.workload.architecture.latent;
  if (l.q_lora_rank > 0) {
    const std::int64_t qk_dim = l.qk_nope_head_dim + l.qk_rope_head_dim;
    add_linear(costs, in, in.slice.m, in.slice.heads * qk_dim, l.q_lora_rank);
  }
  add_linear(costs, in, in.slice.m, in.slice.heads * (l.qk_nope_head_dim + l.v_head_dim), l.kv_lora_rank);
}

void add_attention_projections(LayerCosts& costs, const LayerInputs& in) {
  const Architecture& a = in.workload.architecture;
  const std::int64_t m = in.slice.m;
  if (a.has_latent_attention()) {
    const LatentAttention& l = a.latent;
    const std::int64_t query =
        l.q_lora_rank > 0 ? l.q_lora_rank : in.slice.heads * (l.qk_nope_head_dim + l.qk_rope_head_dim);
    add_linear(costs, in, m, query, a.hidden);
    add_linear(costs, in, m, l.kv_lora_rank + l.qk_rope_head_dim, a.hidden);
    add_up_projections(costs, in);
    add_linear(costs, in, m, a.hidden, in.slice.heads * l.v_head_dim, TensorCut::Rows);
    return;
  }
  const AttentionWidths heads = rank_widths(in);
  const std::int64_t queries = (a.attention_output_gate ? 2 : 1) * heads.queries();
  add_linear(costs, in, m, queries + heads.projections * heads.keys(), a.hidden, TensorCut::Columns);
  add_linear(costs, in, m, a.hidden, heads.queries(), TensorCut::Rows);
  if (a.attention_output_gate) {
    // The sigmoid of a gate times the output: both read, one written; backward their gradients too.
    const double gated = in.slice.tokens * static_cast<double>(heads.queries());
    add_elementwise(costs, in, 3 * gated, 5 * gated);
  }
}

void add_layer_embedding(LayerCosts& costs, const LayerInputs& in) {
  const Architecture& a = in.workload.architecture;
  const std::int64_t width = a.layer_embeddings.width;
  if (width == 0) return;
  const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(in.slice.norm_tokens));
  const double values = in.slice.norm_tokens * static_cast<double>(width);
  const double hidden = in.slice.norm_tokens * static_cast<double>(a.hidden);
  // The embedding's projection with its norm and the sum with the table's row.
  add_linear(costs, in, rows, width, a.hidden);
  add_elementwise(costs, in, 5 * values, 7 * values);
  add_linear(costs, in, rows, width, a.hidden);
  add_activation(costs, in, values);
  add_linear(costs, in, rows, a.hidden, width);
  // Its norm and its residual.
  add_elementwise(costs, in, 5 * hidden, 5 * hidden);
}

void add_state_mixer(LayerCosts& costs, const LayerInputs& in) {
  const Architecture& a = in.workload.architecture;
  const StateMixer& m = a.state;
  const std::int64_t tensor = in.slice.tensor;
  add_linear(costs, in, in.slice.m, state_mixer_inputs(m) / tensor, a.hidden, TensorCut::Columns);
  const double tokens = in.slice.tokens / static_cast<double>(tensor);
  const StackProfile& profile = in.stack.profile;
  const BytesPerSecond rate = gb_per_s(m.delta_rule ? profile.delta_rule_gb_per_s : profile.state_mixer_gb_per_s);
  const auto scan = [&](Pass pass) {
    const Bytes traffic = tokens * state_mixer_traffic(m, pass);
    const Seconds streamed = in.clock.copy(traffic);
    const int multiprocessors = in.cluster.accelerator.sm_count;
    return multiprocessors > 0 ? std::max(streamed, traffic / (multiprocessors * rate)) : streamed;
  };
  costs.forward.elementwise += scan(Pass::Forward);
  costs.backward.elementwise += scan(Pass::Backward);
  if (in.stack.sequence_parallel && in.strategy.micro_batch > 1) {
    // Megatron lays sequences side by side and the kernels want them one after the other: all that goes in and comes
    // out is copied (Megatron Core, ssm/mamba_mixer.py).
    constexpr double kReadAndWritten = 2 * 2;
    const Seconds copies =
        in.clock.copy(Bytes(kReadAndWritten * tokens * static_cast<double>(state_mixer_inputs(m) + m.values())));
    costs.forward.elementwise += copies;
    costs.backward.elementwise += copies;
  }
  add_linear(costs, in, in.slice.m, a.hidden, m.values() / tensor, TensorCut::Rows);
}

void add_joined_embedding(LayerCosts& costs, const LayerInputs& in) {
  const std::int64_t h = in.workload.architecture.hidden;
  add_linear(costs, in, in.slice.m, std::max<std::int64_t>(1, h / in.slice.tensor), 2 * h);
  // A norm of each, and the two laid side by side.
  const double values = in.slice.norm_tokens * static_cast<double>(h);
  add_elementwise(costs, in, 8 * values, 12 * values);
}

AttentionShape attention_shape(const LayerInputs& in) {
  const Architecture& a = in.workload.architecture;
  const bool latent = a.has_latent_attention();
  const AttentionWidths heads = rank_widths(in);
  return {.batch = in.strategy.micro_batch,
          .heads = in.slice.heads,
          .kv_heads = latent ? in.slice.heads : heads.n_kv_heads,
          .query_len = std::max<std::int64_t>(1, in.workload.seq_len / in.strategy.context_parallel),
          .key_len = in.workload.seq_len,
          .head_dim = latent ? a.latent.qk_nope_head_dim + a.latent.qk_rope_head_dim : heads.head_dim,
          .value_dim = latent ? a.latent.v_head_dim : heads.head_dim,
          .causal = a.kind == ModelKind::Decoder || (a.kind == ModelKind::EncoderDecoder && !in.spec.encoder),
          .window = in.spec.window,
          .prefix = in.workload.keys_before_sequence()};
}

void add_attention_core(LayerCosts& costs, const LayerInputs& in, const AttentionShape& shape) {
  const bool ring =
      in.strategy.context_parallel > 1 && in.stack.execution.context_exchange != ContextExchange::AllToAll;
  costs.forward.attention += in.clock.attention(shape, Pass::Forward, ring);
  costs.backward.attention += in.clock.attention(shape, Pass::Backward, ring);
}

void add_norms(LayerCosts& costs, const LayerInputs& in) {
  const Architecture& a = in.workload.architecture;
  const double values = static_cast<double>(a.norms_per_layer) * in.slice.norm_tokens * static_cast<double>(a.hidden);
  add_elementwise(costs, in, 2 * values, 4 * values);
}

void add_residuals(LayerCosts& costs, const LayerInputs& in) {
  // Of each part: read two, write one.
  const double values = in.spec.parts() * in.slice.norm_tokens * static_cast<double>(in.workload.architecture.hidden);
  add_elementwise(costs, in, 3 * values, values);
}

/// Transformer Engine's kernel takes no factor beside the angles.
void add_rotary_embedding(LayerCosts& costs, const LayerInputs& in) {
  const Architecture& a = in.workload.architecture;
  if (a.positions != PositionEncoding::Rope) return;
  const AttentionWidths heads = rank_widths(in);
  const double rotated = in.slice.tokens * static_cast<double>(heads.queries() + (heads.made > 0 ? heads.keys() : 0));
  const bool operations = a.scaled_rotary && in.stack.fused_kernels && !in.stack.torch_parallelism;
  add_elementwise(costs, in, (operations ? kRotaryOperationsForward : kRotaryKernel) * rotated,
                  (operations ? kRotaryOperationsBackward : kRotaryKernel) * rotated);
}

void add_activation(LayerCosts& costs, const LayerInputs& in, double activated) {
  const Architecture& a = in.workload.architecture;
  if (computes_gelu_by_operations(in.workload, in.stack)) {
    const bool casts = runs_under_autocast(in.workload, in.stack);
    const double width = tensor_bytes(in.workload.precision);
    costs.forward.elementwise +=
        in.clock.copy(Bytes(activated * (casts ? kPlainGeluCastForward : kPlainGeluForward * width)));
    costs.backward.elementwise +=
        in.clock.copy(Bytes(activated * (casts ? kPlainGeluCastBackward : kPlainGeluBackward * width)));
    return;
  }
  add_elementwise(costs, in, (a.gated_mlp ? 3 : 2) * activated, (a.gated_mlp ? 5 : 3) * activated);
}

Seconds add_dense_mlp(LayerCosts& costs, const LayerInputs& in, std::int64_t ffn_hidden) {
  const Architecture& a = in.workload.architecture;
  const std::int64_t width = std::max<std::int64_t>(1, ffn_hidden / in.slice.tensor);
  add_linear(costs, in, in.slice.m, (a.gated_mlp ? 2 : 1) * width, a.hidden, TensorCut::Columns);
  const Seconds before = costs.forward.gemm;
  add_linear(costs, in, in.slice.m, a.hidden, width, TensorCut::Rows);
  return costs.forward.gemm - before;
}

void add_moe_mlp(LayerCosts& costs, const LayerInputs& in) {
  const MixtureOfExperts& moe = in.workload.architecture.moe;
  const LayerCosts routed = routed_mlp(in);
  const double slowdown = routing_slowdown(in.stack.profile, moe.expert_ffn_hidden);
  costs.forward.gemm += routed.forward.gemm * slowdown;
  costs.forward.elementwise += routed.forward.elementwise * slowdown;
  costs.backward.gemm += routed.backward.gemm * slowdown;
  costs.backward.elementwise += routed.backward.elementwise * slowdown;
  costs.weight_gradient += routed.weight_gradient * slowdown;
  if (moe.latent_hidden > 0) {
    const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(in.slice.norm_tokens));
    add_linear(costs, in, rows, moe.latent_hidden, in.workload.architecture.hidden);
    add_linear(costs, in, rows, in.workload.architecture.hidden, moe.latent_hidden);
  }
  if (moe.n_shared_experts > 0) {
    add_dense_mlp(costs, in, moe.n_shared_experts * moe.shared_expert_ffn_hidden);
  }
}

void add_adapters(LayerCosts& costs, const LayerInputs& in, std::uint32_t parts) {
  if (in.workload.finetune == FineTune::Full) return;
  const Architecture& a = in.workload.architecture;
  for_each_adapter(a, in.spec, in.workload.lora, [&](const AdapterShape& adapter) {
    if (holds(parts, adapter.part)) add_adapter(costs, in, adapter);
  });
}

}  // namespace smplan
