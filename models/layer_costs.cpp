#include "models/layer_costs.hpp"

#include <algorithm>
#include <cmath>

#include "models/compute.hpp"
#include "models/flops.hpp"

namespace smplan {
namespace {

constexpr double kHalfBytes = 2;        // of activations, and of gathered weights on their way
constexpr double kTransposedBytes = 2;  // an 8-bit tensor read and written
/// NVFP4 quantises in kernels of its own: one pass for the largest element, one that reads again, transforms, rounds
/// and writes both layouts, half a byte and a scale for every 16 (NVFP4BlockScaling of Transformer Engine; 2509.25149).
constexpr double kFourBitBytes = 2 + 2 + 2 * (0.5 + 1.0 / 16);
/// NF4 blocks are unpacked by a table look-up kernel that moves far fewer weights a second than a
/// copy would: about 75e9 weights/s on an A100 (fine-tuning rows with and without a 4-bit base).
constexpr double kDequantBytesPerWeight = 27;
/// Masked language models predict 15 % of the tokens (Devlin et al. 2019); the head sees only those.
constexpr double kMaskedShare = 0.15;
/// Grouped products take each expert's rows in whole blocks: 32 values share a scale (OCP microscaling formats).
constexpr std::int64_t kGroupRows = 32;
/// Width at which an expert feels half of what routing slows (runs of 768 to 32768 columns).
constexpr double kNarrowExpert = 1000;
/// Low-rank adapters launch two small products beside every linear layer.
constexpr double kLoraHostFactor = 1.6;
/// Over a 4-bit base each of them unpacks its weights first. Runs of QwenLM/Qwen, launch-bound at 256 to 1,024
/// tokens: 1.4 s with such a base against 1.0 s without.
constexpr double kQloraHostFactor = 2.2;
/// What the host spends on issuing one collective through torch.distributed: the step of launch-bound layers from one
/// to two, four and eight tensor-parallel ranks (0.3, 0.4 and 0.9 ms in the runs of VIA-Research/vTrain), by the six
/// all-reduces of a recomputed layer.
Seconds host_collective(std::int64_t ranks) { return microseconds(40) + static_cast<double>(ranks) * microseconds(12); }
/// Megatron's fused softmax takes score matrices by fours; where a rank's share of heads and sequences is no whole
/// number of fours, five PyTorch operations do its work. Fit of the runs of VIA-Research/vTrain (MICRO 2024) with
/// two heads a rank: one sequence against two.
constexpr std::int64_t kFusedSoftmaxMatrices = 4;
constexpr Seconds kHostPlainSoftmax = microseconds(330);
/// 16-bit elements between the addresses that wide loads want.
constexpr std::int64_t kLineElements = 8;

/// Sizes that every term of one layer shares, per rank and micro-batch.
struct Slice {
  double tokens = 0;       ///< s * b / c
  double norm_tokens = 0;  ///< tokens that this rank normalises: / t with sequence parallel
  std::int64_t m = 0;      ///< tokens as a matrix dimension
  std::int64_t tensor = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
};

Slice make_slice(const Workload& w, const Strategy& s) {
  const Architecture& a = w.architecture;
  Slice slice;
  slice.m = std::max<std::int64_t>(1, w.seq_len * s.micro_batch / s.context_parallel);
  slice.tokens = static_cast<double>(slice.m);
  slice.tensor = s.tensor_parallel;
  slice.norm_tokens = s.sequence_parallel ? slice.tokens / static_cast<double>(slice.tensor) : slice.tokens;
  slice.heads = std::max<std::int64_t>(1, a.n_heads / slice.tensor);
  slice.kv_heads = std::max<std::int64_t>(1, a.n_kv_heads / slice.tensor);
  return slice;
}

/// Rows of the output projection on one rank, padding with them.
std::int64_t vocabulary_slice(std::int64_t vocab, std::int64_t tensor, std::int64_t multiple) {
  const std::int64_t step = tensor * multiple;
  return (vocab + step - 1) / step * multiple;
}

/// The device and the software on it, as one clock for kernels.
class KernelClock {
 public:
  KernelClock(const Workload& w, const Cluster& c, const Stack& s) : workload_(w), cluster_(c), stack_(s) {}

  [[nodiscard]] Seconds gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) const {
    return gemm_in(stack_.product_precision(workload_.precision), {.m = m, .n = n, .k = k, .batch = batch});
  }
  /// The output projection and router stay in 16 bits when the layers run in 8 or 4.
  [[nodiscard]] Seconds wide_gemm(std::int64_t m, std::int64_t n, std::int64_t k, bool misaligned = false) const {
    return gemm_in(attention_precision(), {.m = m, .n = n, .k = k, .misaligned = misaligned});
  }
  [[nodiscard]] Seconds stream(Bytes bytes) const {
    return streaming_time(bytes * stack_.profile.elementwise_traffic, cluster_.accelerator,
                          cluster_.accelerator_profile);
  }
  /// Elements read and written, in the format of the activations.
  [[nodiscard]] Seconds stream(double elements) const {
    return stream(Bytes((keeps_32_bits(workload_.precision) ? 4 : kHalfBytes) * elements));
  }
  /// Traffic that no fusion avoids.
  [[nodiscard]] Seconds copy(double bytes) const {
    return streaming_time(Bytes(bytes), cluster_.accelerator, cluster_.accelerator_profile);
  }
  [[nodiscard]] Seconds attention(const AttentionShape& shape, Pass pass) const {
    const bool flash = workload_.flash_attention.value_or(stack_.flash_attention);
    const Seconds time = flash ? flash_attention_time(shape, pass, attention_precision(), cluster_.accelerator,
                                                      cluster_.accelerator_profile, stack_.attention_kernel)
                               : unfused_attention_time(shape, pass, attention_precision(), cluster_.accelerator,
                                                        cluster_.accelerator_profile);
    const AcceleratorProfile& p = cluster_.accelerator_profile;
    // Vendors publish their kernels at the best sizes; the others' rates are means over many.
    const double sustained = flash && stack_.attention_kernel == AttentionKernel::Vendor ? p.sustained_attention : 1;
    const Seconds simt = flash ? Seconds() : misaligned_attention_time(shape, pass, cluster_.accelerator);
    return time * (stack_.profile.attention_slowdown / (p.sustained_fraction * sustained)) + simt;
  }
  [[nodiscard]] bool eight_bit() const {
    return workload_.precision == Precision::Fp8 || workload_.precision == Precision::Fp4;
  }

 private:
  [[nodiscard]] Precision attention_precision() const {
    if (!eight_bit()) return stack_.product_precision(workload_.precision);
    return cluster_.accelerator.supports(Precision::Bf16) ? Precision::Bf16 : Precision::Fp16;
  }
  [[nodiscard]] Seconds gemm_in(Precision p, const GemmShape& shape) const {
    const Seconds time = gemm_time(shape, p, cluster_.accelerator, cluster_.accelerator_profile) *
                         (stack_.profile.gemm_slowdown / cluster_.accelerator_profile.sustained_fraction);
    // Factors fitted on other formats must not add up to more than the device can do.
    return std::max(time, shape.flops() / cluster_.accelerator.peak_rate(p));
  }

  const Workload& workload_;
  const Cluster& cluster_;
  const Stack& stack_;
};

/// The low-rank path beside a frozen linear layer of `inputs` and `outputs` values: the input is read once more, the
/// path's output written and added, and backward the same of the gradients. Its products are small beside that.
void add_adapter(LayerCosts& costs, const KernelClock& clock, double inputs, double outputs) {
  costs.forward.elementwise += clock.stream(inputs + 2 * outputs);
  costs.backward.elementwise += clock.stream(2 * inputs + outputs);
}

/// Adds y = x W (m x k times k x n) in all passes: forward, gradient of x, gradient of W.
void add_linear(LayerCosts& costs, const KernelClock& clock, const Workload& w, const Stack& stack, std::int64_t m,
                std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
  const double weights = static_cast<double>(n) * static_cast<double>(k) * static_cast<double>(batch);
  const double rows = static_cast<double>(m) * static_cast<double>(batch);
  costs.forward.gemm += clock.gemm(m, n, k, batch);
  costs.backward.gemm += clock.gemm(m, k, n, batch);
  if (w.finetune == FineTune::Full) {
    Seconds weight_gradient = clock.gemm(k, n, m, batch);
    // The gradient is added to the main gradient: one read and one write of it.
    weight_gradient += clock.copy(2 * stack.gradient_bytes * weights);
    costs.backward.gemm += weight_gradient;
    costs.weight_gradient += weight_gradient;
  }
  if (w.finetune != FineTune::Full) {
    add_adapter(costs, clock, rows * static_cast<double>(k), rows * static_cast<double>(n));
  }
  if (w.finetune == FineTune::Qlora) {
    costs.forward.gemm += clock.copy(kDequantBytesPerWeight * weights);
    costs.backward.gemm += clock.copy(kDequantBytesPerWeight * weights);
  }
  if (clock.eight_bit() && batch == 1) {
    // Inputs (and, backward, output gradients) are quantised by the kernel that makes them; their transposed copies,
    // which only gradients of weights read, are read and written once more. Experts' go with the permutation.
    const double transposed = w.finetune == FineTune::Full ? kTransposedBytes : 0;
    const double bytes = w.precision == Precision::Fp4 ? kFourBitBytes : transposed;
    costs.forward.elementwise += clock.copy(bytes * rows * static_cast<double>(k));
    costs.backward.elementwise += clock.copy(bytes * rows * static_cast<double>(n));
  }
}

void add_elementwise(LayerCosts& costs, const KernelClock& clock, double forward_elements, double backward_elements) {
  costs.forward.elementwise += clock.stream(forward_elements);
  costs.backward.elementwise += clock.stream(backward_elements);
}

/// Queries, keys and values of latent attention from their compressed vectors.
void add_up_projections(LayerCosts& costs, const KernelClock& clock, const Workload& w, const Stack& stack,
                        const Slice& slice) {
  const LatentAttention& l = w.architecture.latent;
  if (l.q_lora_rank > 0) {
    const std::int64_t qk_dim = l.qk_nope_head_dim + l.qk_rope_head_dim;
    add_linear(costs, clock, w, stack, slice.m, slice.heads * qk_dim, l.q_lora_rank);
  }
  add_linear(costs, clock, w, stack, slice.m, slice.heads * (l.qk_nope_head_dim + l.v_head_dim), l.kv_lora_rank);
}

void add_attention_projections(LayerCosts& costs, const KernelClock& clock, const Workload& w, const Stack& stack,
                               const Slice& slice) {
  const Architecture& a = w.architecture;
  const std::int64_t m = slice.m;
  if (a.has_latent_attention()) {
    const LatentAttention& l = a.latent;
    const std::int64_t query =
        l.q_lora_rank > 0 ? l.q_lora_rank : slice.heads * (l.qk_nope_head_dim + l.qk_rope_head_dim);
    add_linear(costs, clock, w, stack, m, query, a.hidden);
    add_linear(costs, clock, w, stack, m, l.kv_lora_rank + l.qk_rope_head_dim, a.hidden);
    add_up_projections(costs, clock, w, stack, slice);
    add_linear(costs, clock, w, stack, m, a.hidden, slice.heads * l.v_head_dim);
    return;
  }
  add_linear(costs, clock, w, stack, m, (slice.heads + 2 * slice.kv_heads) * a.head_dim, a.hidden);
  add_linear(costs, clock, w, stack, m, a.hidden, slice.heads * a.head_dim);
}

AttentionShape attention_shape(const Workload& w, const LayerSpec& spec, const Strategy& s, const Slice& slice) {
  const Architecture& a = w.architecture;
  const bool latent = a.has_latent_attention();
  return {.batch = s.micro_batch,
          .heads = slice.heads,
          .kv_heads = latent ? slice.heads : slice.kv_heads,
          .query_len = std::max<std::int64_t>(1, w.seq_len / s.context_parallel),
          .key_len = w.seq_len,
          .head_dim = latent ? a.latent.qk_nope_head_dim + a.latent.qk_rope_head_dim : a.head_dim,
          .value_dim = latent ? a.latent.v_head_dim : a.head_dim,
          .causal = a.kind == ModelKind::Decoder || (a.kind == ModelKind::EncoderDecoder && !spec.encoder),
          .window = spec.window};
}

void add_attention_core(LayerCosts& costs, const KernelClock& clock, const AttentionShape& shape) {
  costs.forward.attention += clock.attention(shape, Pass::Forward);
  costs.backward.attention += clock.attention(shape, Pass::Backward);
}

void add_norms(LayerCosts& costs, const KernelClock& clock, const Architecture& a, const Slice& slice) {
  const double values = static_cast<double>(a.norms_per_layer) * slice.norm_tokens * static_cast<double>(a.hidden);
  add_elementwise(costs, clock, 2 * values, 4 * values);
}

/// Values read and written for each that is rotated, in one kernel or in Megatron Core's PyTorch operations: two
/// products, the turned half, their sum and a copy; backward the same and the gradients of two slices (d98e8a6 of
/// NVIDIA/Megatron-LM, rope_utils.py, counted operation by operation).
constexpr double kRotaryKernel = 2;
constexpr double kRotaryOperationsForward = 12;
constexpr double kRotaryOperationsBackward = 17;

/// Transformer Engine's kernel takes no factor beside the angles.
void add_rotary_embedding(LayerCosts& costs, const KernelClock& clock, const Architecture& a, const Stack& stack,
                          const Slice& slice) {
  if (a.positions != PositionEncoding::Rope) return;
  const double rotated = slice.tokens * static_cast<double>((slice.heads + slice.kv_heads) * a.head_dim);
  const bool operations = a.scaled_rotary && stack.fused_kernels && !stack.torch_parallelism;
  add_elementwise(costs, clock, (operations ? kRotaryOperationsForward : kRotaryKernel) * rotated,
                  (operations ? kRotaryOperationsBackward : kRotaryKernel) * rotated);
}

/// The activation function of an MLP, or gate and product.
void add_activation(LayerCosts& costs, const KernelClock& clock, const Architecture& a, double activated) {
  add_elementwise(costs, clock, (a.gated_mlp ? 3 : 2) * activated, (a.gated_mlp ? 5 : 3) * activated);
}

/// Norms, residuals, rotary embedding, activation function: read and write counts of fused kernels.
void add_memory_bound(LayerCosts& costs, const KernelClock& clock, const Workload& w, const LayerSpec& spec,
                      const Stack& stack, const Slice& slice) {
  const Architecture& a = w.architecture;
  const auto h = static_cast<double>(a.hidden);
  add_norms(costs, clock, a, slice);
  // Two residual additions: read two, write one.
  add_elementwise(costs, clock, 2 * 3 * slice.norm_tokens * h, 2 * slice.norm_tokens * h);
  add_rotary_embedding(costs, clock, a, stack, slice);
  const double width = static_cast<double>(spec.ffn_hidden) / static_cast<double>(slice.tensor);
  add_activation(costs, clock, a, slice.tokens * width);
}

/// Returns the forward time of the last product.
Seconds add_dense_mlp(LayerCosts& costs, const KernelClock& clock, const Workload& w, const Stack& stack,
                      std::int64_t ffn_hidden, const Slice& slice) {
  const Architecture& a = w.architecture;
  const std::int64_t width = std::max<std::int64_t>(1, ffn_hidden / slice.tensor);
  add_linear(costs, clock, w, stack, slice.m, (a.gated_mlp ? 2 : 1) * width, a.hidden);
  const Seconds before = costs.forward.gemm;
  add_linear(costs, clock, w, stack, slice.m, a.hidden, width);
  return costs.forward.gemm - before;
}

/// Routed tokens of this rank's experts under balanced routing, and the experts' share of width.
struct ExpertSlice {
  std::int64_t experts = 1;            ///< on this rank
  std::int64_t tokens_per_expert = 1;  ///< padded
  std::int64_t width = 1;
  double routed = 0;  ///< tokens * top_k that enter this rank's experts
};

/// The tensor-parallel ranks bring a slice of the tokens each; the ranks that cut one expert bring theirs together.
ExpertSlice make_expert_slice(const Workload& w, const Strategy& s, const Slice& slice) {
  const MixtureOfExperts& moe = w.architecture.moe;
  ExpertSlice e;
  const double cut = s.expert_tensor();
  const double local_tokens = slice.tokens * cut / static_cast<double>(slice.tensor);
  e.experts = std::max<std::int64_t>(1, moe.n_experts / s.expert_parallel);
  e.routed = local_tokens * static_cast<double>(moe.top_k);
  const auto tokens = static_cast<std::int64_t>(e.routed / static_cast<double>(e.experts));
  e.tokens_per_expert = std::max<std::int64_t>(1, (tokens + kGroupRows - 1) / kGroupRows) * kGroupRows;
  e.width = std::max<std::int64_t>(1, moe.expert_ffn_hidden / s.expert_tensor());
  return e;
}

/// Biases of experts join the output of a grouped product expert by expert, weighted in fp32, and the parts are put
/// together and cast back: values of 16 bits that this moves for each value of the output (d98e8a6 of
/// NVIDIA/Megatron-LM, TEGroupedMLP._apply_bias, counted operation by operation).
constexpr double kExpertBiasForward = 14;
constexpr double kExpertBiasBackward = 20;

/// Router, permutation, routed experts.
LayerCosts routed_mlp(const KernelClock& clock, const Workload& w, const Stack& stack, const Strategy& s,
                      const Slice& slice) {
  const Architecture& a = w.architecture;
  const MixtureOfExperts& moe = a.moe;
  const ExpertSlice e = make_expert_slice(w, s, slice);
  const auto h = static_cast<double>(a.hidden);
  LayerCosts costs;
  costs.forward.gemm += clock.wide_gemm(slice.m, moe.n_experts, a.hidden);
  costs.backward.gemm += clock.wide_gemm(slice.m, a.hidden, moe.n_experts);
  add_linear(costs, clock, w, stack, e.tokens_per_expert, (a.gated_mlp ? 2 : 1) * e.width, a.hidden, e.experts);
  add_linear(costs, clock, w, stack, e.tokens_per_expert, a.hidden, e.width, e.experts);
  // Permute before and un-permute after: each reads and writes the routed tokens.
  add_elementwise(costs, clock, 4 * e.routed * h, 4 * e.routed * h);
  if (moe.expert_bias) {
    add_elementwise(costs, clock, kExpertBiasForward * e.routed * h, kExpertBiasBackward * e.routed * h);
  }
  add_activation(costs, clock, a, e.routed * static_cast<double>(e.width));
  return costs;
}

/// Uneven groups and padding cost less, the wider the expert: Mixtral's 14336 columns run like a dense layer's,
/// DeepSeek's 2048 do not.
double routing_slowdown(double moe_slowdown, std::int64_t expert_width) {
  return 1 + (moe_slowdown - 1) * kNarrowExpert / (kNarrowExpert + static_cast<double>(expert_width));
}

void add_moe_mlp(LayerCosts& costs, const KernelClock& clock, const Workload& w, const Stack& stack, const Strategy& s,
                 const Slice& slice) {
  const MixtureOfExperts& moe = w.architecture.moe;
  const LayerCosts routed = routed_mlp(clock, w, stack, s, slice);
  const double slowdown = routing_slowdown(stack.profile.moe_slowdown, moe.expert_ffn_hidden);
  costs.forward.gemm += routed.forward.gemm * slowdown;
  costs.forward.elementwise += routed.forward.elementwise * slowdown;
  costs.backward.gemm += routed.backward.gemm * slowdown;
  costs.backward.elementwise += routed.backward.elementwise * slowdown;
  costs.weight_gradient += routed.weight_gradient * slowdown;
  if (moe.n_shared_experts > 0) {
    add_dense_mlp(costs, clock, w, stack, moe.n_shared_experts * moe.shared_expert_ffn_hidden, slice);
  }
}

/// Tensor parallelism: two all-reduces forward and two backward (Shoeybi et al. 2019); with sequence
/// parallelism each is a gather and a scatter, and the backward gathers the inputs again
/// (Korthikanti et al. 2022). Experts that are not cut by tensor parallelism need none. Returns the time of the
/// transfer that ends the forward pass.
Seconds add_tensor_comm(LayerCosts& costs, const Workload& w, const LayerSpec& spec, const Strategy& s,
                        const Groups& groups, const Cluster& cluster, const Slice& slice) {
  if (s.tensor_parallel == 1) return Seconds();
  const Bytes buffer(kHalfBytes * slice.tokens * static_cast<double>(w.architecture.hidden));
  const bool experts_are_cut = s.expert_parallel == 1 && s.expert_tensor() > 1;
  const bool mlp_is_cut = !spec.moe || experts_are_cut || w.architecture.moe.n_shared_experts > 0;
  const double blocks = mlp_is_cut ? 2 : 1;
  if (s.sequence_parallel) {
    const Seconds gather =
        collective_time(CollectiveKind::AllGather, buffer, groups.tensor, cluster, s.collectives).time;
    const Seconds scatter =
        collective_time(CollectiveKind::ReduceScatter, buffer, groups.tensor, cluster, s.collectives).time;
    costs.forward.tensor_comm += blocks * (gather + scatter);
    costs.backward.tensor_comm += blocks * (2 * gather + scatter);
    return scatter;
  }
  const Seconds reduce = collective_time(CollectiveKind::AllReduce, buffer, groups.tensor, cluster, s.collectives).time;
  costs.forward.tensor_comm += blocks * reduce;
  costs.backward.tensor_comm += blocks * reduce;
  return reduce;
}

/// Queries, keys, values and the output change hands one by one, and backward their gradients; each is laid out anew
/// before and after (TransformerEngine 2, attention/dot_product_attention/context_parallel.py).
void add_head_exchange(LayerCosts& costs, const Workload& w, const Strategy& s, const Groups& groups,
                       const Cluster& cluster, const Slice& slice) {
  for (const std::int64_t heads : {slice.heads, slice.kv_heads, slice.kv_heads, slice.heads}) {
    const Bytes tensor(kHalfBytes * slice.tokens * static_cast<double>(heads * w.architecture.head_dim));
    const Seconds exchange =
        collective_time(CollectiveKind::AllToAll, tensor, groups.context, cluster, s.collectives).time;
    constexpr double kReadAndWrittenTwice = 4;
    const Seconds copies =
        streaming_time(kReadAndWrittenTwice * tensor, cluster.accelerator, cluster.accelerator_profile);
    for (PassCosts* pass : {&costs.forward, &costs.backward}) {
      pass->context_comm += exchange;
      pass->elementwise += copies;
    }
  }
}

/// Ring attention: keys and values visit every rank; backward moves their gradients too.
void add_context_comm(LayerCosts& costs, const Workload& w, const Strategy& s, const Groups& groups,
                      const Cluster& cluster, const Stack& stack, const Slice& slice) {
  if (s.context_parallel == 1) return;
  const Architecture& a = w.architecture;
  if (stack.all_to_all_context && !a.has_latent_attention()) {
    add_head_exchange(costs, w, s, groups, cluster, slice);
    return;
  }
  const double kv_width = a.has_latent_attention()
                              ? static_cast<double>(slice.heads * (a.latent.qk_nope_head_dim +
                                                                   a.latent.qk_rope_head_dim + a.latent.v_head_dim))
                              : static_cast<double>(2 * slice.kv_heads * a.head_dim);
  const Bytes gathered(kHalfBytes * slice.tokens * s.context_parallel * kv_width);
  const Seconds around =
      collective_time(CollectiveKind::AllGather, gathered, groups.context, cluster, s.collectives).time;
  costs.forward.context_comm += around;
  costs.backward.context_comm += 2 * around;
}

/// Nodes or ranks other than its own that a token's experts lie on, of `n` equally likely ones.
double remote_copies(double n, double top_k) { return (n - 1) * (1 - std::pow(1 - 1 / n, top_k)); }

/// One exchange of the routed tokens between expert ranks. A plain all-to-all sends a token once for
/// each of its experts; a deduplicating dispatcher sends it once to each node and from there once to
/// each rank (DeepEP, HybridEP).
Seconds expert_exchange(const Workload& w, const Strategy& s, const Groups& groups, const Cluster& cluster,
                        const Stack& stack, const Slice& slice) {
  const ExpertSlice e = make_expert_slice(w, s, slice);
  // Of the tokens that the cut experts see, each rank brings its share.
  const Bytes sent(kHalfBytes * e.routed * static_cast<double>(w.architecture.hidden) / s.expert_tensor());
  const auto exchanged = [&](Bytes bytes, const GroupShape& group) {
    return collective_time(CollectiveKind::AllToAll, bytes, group, cluster, s.collectives).time;
  };
  if (!stack.deduplicated_dispatch) return exchanged(sent, groups.expert);
  const auto top_k = static_cast<double>(w.architecture.moe.top_k);
  const auto kept = [top_k](double n) { return remote_copies(n, top_k) / (top_k * (1 - 1 / n)); };
  const Bytes once_a_rank = sent * kept(static_cast<double>(groups.expert.ranks));
  const auto domains = static_cast<double>(groups.expert.domains());
  if (domains == 1) return exchanged(once_a_rank, groups.expert);
  GroupShape inside = groups.expert;
  inside.ranks = groups.expert.per_domain;
  return std::max(exchanged(sent * kept(domains), groups.expert), exchanged(once_a_rank, inside));
}

/// Ranks that cut one expert gather the tokens routed to it and scatter its output (Megatron Core's token dispatcher).
Seconds expert_tensor_exchange(const Workload& w, const Strategy& s, const Groups& groups, const Cluster& cluster,
                               const Slice& slice) {
  const ExpertSlice e = make_expert_slice(w, s, slice);
  const Bytes gathered(kHalfBytes * e.routed * static_cast<double>(w.architecture.hidden));
  const auto once = [&](CollectiveKind kind) {
    return collective_time(kind, gathered, groups.expert_tensor, cluster, s.collectives).time;
  };
  return once(CollectiveKind::AllGather) + once(CollectiveKind::ReduceScatter);
}

/// What staging, imbalance and the slowest card make of an exchange. Over more ranks of a rack than a node has, each
/// with few experts to sort for, a deduplicating dispatcher writes straight into the others' memory and keeps to the
/// speed of the links. Chosen among no such case, all of a rack and all of one NVLink domain by what is left out of the
/// fit: sources 13.2 %, 13.2 and 13.2, this 13.1; Megatron-Bridge 12.7 %, 12.2 and 13.2, this 11.2.
double exchange_slowdown(const GroupShape& group, const Stack& stack) {
  constexpr std::int64_t kNode = 8;
  const bool across_a_rack = group.domains() == 1 && group.ranks > kNode;
  return across_a_rack && stack.deduplicated_dispatch ? 1 : stack.profile.moe_slowdown;
}

/// Dispatch and combine, forward and backward.
void add_expert_comm(LayerCosts& costs, const Workload& w, const Strategy& s, const Groups& groups,
                     const Cluster& cluster, const Stack& stack, const Slice& slice) {
  if (s.expert_parallel == 1) return;
  const Seconds exchange =
      2 * expert_exchange(w, s, groups, cluster, stack, slice) * exchange_slowdown(groups.expert, stack) +
      expert_tensor_exchange(w, s, groups, cluster, slice);
  costs.forward.expert_comm += exchange;
  costs.backward.expert_comm += exchange;
}

/// The backward pass launches twice the kernels, but from the autograd engine, without Python in between.
void add_host(LayerCosts& costs, const Workload& w, const LayerSpec& spec, const Strategy& s, const Cluster& cluster,
              const Stack& stack, const Slice& slice) {
  Seconds host = spec.moe ? stack.profile.host_time_moe_layer : stack.profile.host_time_dense_layer;
  if (w.finetune == FineTune::Lora) host *= kLoraHostFactor;
  if (w.finetune == FineTune::Qlora) host *= kQloraHostFactor;
  if (s.tensor_parallel > 1) host += 2 * host_collective(s.tensor_parallel);
  const bool flash = w.flash_attention.value_or(stack.flash_attention);
  if (!flash && stack.fused_kernels && slice.heads * s.micro_batch % kFusedSoftmaxMatrices != 0) {
    host += kHostPlainSoftmax;
  }
  costs.forward.host = costs.backward.host = host / cluster.host_speed;
}

/// What one module costs forward.
PassCosts module_forward(LayerModule module, const KernelClock& clock, const Workload& w, const LayerSpec& spec,
                         const Strategy& s, const Groups& groups, const Cluster& cluster, const Stack& stack,
                         const Slice& slice) {
  const Architecture& a = w.architecture;
  const MixtureOfExperts& moe = a.moe;
  LayerCosts only;
  switch (module) {
    case LayerModule::CoreAttention:
      add_attention_core(only, clock, attention_shape(w, spec, s, slice));
      break;
    case LayerModule::LatentUpProjection:
      if (!a.has_latent_attention()) break;
      add_up_projections(only, clock, w, stack, slice);
      add_rotary_embedding(only, clock, a, stack, slice);
      break;
    case LayerModule::Norms:
      add_norms(only, clock, a, slice);
      break;
    case LayerModule::ExpertActivation:
      if (spec.moe) {
        const ExpertSlice e = make_expert_slice(w, s, slice);
        add_activation(only, clock, a, e.routed * static_cast<double>(e.width));
      }
      break;
    case LayerModule::DenseMlp:
      if (!spec.moe) add_dense_mlp(only, clock, w, stack, spec.ffn_hidden, slice);
      break;
    case LayerModule::SharedExperts:
      if (spec.moe && moe.n_shared_experts > 0) {
        add_dense_mlp(only, clock, w, stack, moe.n_shared_experts * moe.shared_expert_ffn_hidden, slice);
      }
      break;
    case LayerModule::Experts:
      if (!spec.moe) break;
      add_moe_mlp(only, clock, w, stack, s, slice);
      add_expert_comm(only, w, s, groups, cluster, stack, slice);
      break;
  }
  return only.forward;
}

/// The forward of what selective recomputation runs again. The host launches that and keeps the random state for it:
/// each of the modules of Moonlight-16B adds 0.3 to 0.9 ms a layer to a step that launches bound
/// (NVIDIA-NeMo/Megatron-Bridge, skills/nemo-mbridge-perf-activation-recompute, eight H100), an eighth of what a layer
/// of experts takes forward.
PassCosts selective_forward(const KernelClock& clock, const Workload& w, const LayerSpec& spec, const Strategy& s,
                            const Groups& groups, const Cluster& cluster, const Stack& stack, const Slice& slice,
                            Seconds layer_host) {
  constexpr double kHostShare = 0.12;
  PassCosts again;
  for (const LayerModule module : stack.selective_modules) {
    PassCosts forward = module_forward(module, clock, w, spec, s, groups, cluster, stack, slice);
    if (forward.compute() > Seconds()) forward.host = kHostShare * layer_host;
    again += forward;
  }
  return again;
}

}  // namespace

LayerCosts layer_costs(const Workload& workload, const LayerSpec& spec, const Strategy& strategy, const Groups& groups,
                       const Cluster& cluster, const Stack& stack) {
  const Slice slice = make_slice(workload, strategy);
  const KernelClock clock(workload, cluster, stack);
  LayerCosts costs;
  add_attention_projections(costs, clock, workload, stack, slice);
  add_attention_core(costs, clock, attention_shape(workload, spec, strategy, slice));
  if (spec.cross_attention) {
    add_attention_projections(costs, clock, workload, stack, slice);
    AttentionShape cross = attention_shape(workload, spec, strategy, slice);
    cross.causal = false;
    add_attention_core(costs, clock, cross);
  }
  add_memory_bound(costs, clock, workload, spec, stack, slice);
  PassCosts last;
  if (spec.moe) {
    add_moe_mlp(costs, clock, workload, stack, strategy, slice);
    add_expert_comm(costs, workload, strategy, groups, cluster, stack, slice);
  } else {
    last.gemm = add_dense_mlp(costs, clock, workload, stack, spec.ffn_hidden, slice);
  }
  last.tensor_comm = add_tensor_comm(costs, workload, spec, strategy, groups, cluster, slice);
  add_context_comm(costs, workload, strategy, groups, cluster, stack, slice);
  add_host(costs, workload, spec, strategy, cluster, stack, slice);
  if (ends_in_product(workload, spec)) costs.unread = last;
  costs.selective =
      selective_forward(clock, workload, spec, strategy, groups, cluster, stack, slice, costs.forward.host);
  return costs;
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
  edge.embedding_backward.elementwise = clock.stream(3 * slice.norm_tokens * h);
  if (a.final_norm) {
    edge.head_forward.elementwise += clock.stream(2 * slice.norm_tokens * h);
    edge.head_backward.elementwise += clock.stream(4 * slice.norm_tokens * h);
  }
  if (a.vocab > 0) {
    const double predicted = a.kind == ModelKind::Encoder ? kMaskedShare * slice.tokens : slice.tokens;
    const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(predicted));
    const std::int64_t columns = vocabulary_slice(a.vocab, slice.tensor, stack.vocab_multiple);
    edge.head_forward.gemm += clock.wide_gemm(rows, columns, a.hidden);
    edge.head_backward.gemm += clock.wide_gemm(rows, a.hidden, columns);
    // The gradient of the weights loads the logits' gradient by its rows.
    const bool off_lines = columns % kLineElements != 0;
    if (workload.trains_embeddings()) edge.head_backward.gemm += clock.wide_gemm(a.hidden, columns, rows, off_lines);
    // Softmax cross-entropy streams the logits: written, read for the maximum and the sum, gradient written.
    const double logits = predicted * static_cast<double>(columns);
    const Seconds streamed =
        workload.fused_loss ? clock.stream(logits) : clock.stream(Bytes(stack.logits_bytes * logits));
    edge.head_forward.elementwise += streamed;
    edge.head_backward.elementwise += streamed;
    if (strategy.tensor_parallel > 1) {
      const Bytes hidden_gradient(kHalfBytes * slice.tokens * h);
      edge.head_backward.tensor_comm +=
          collective_time(CollectiveKind::AllReduce, hidden_gradient, groups.tensor, cluster, strategy.collectives)
              .time;
    }
  }
  edge.head_forward.host = stack.profile.host_time_dense_layer / cluster.host_speed;
  edge.head_backward.host = edge.head_forward.host;
  return edge;
}

}  // namespace smplan
