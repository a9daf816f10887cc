#include "models/layers/activations.hpp"

#include <algorithm>

#include "models/job/execution.hpp"
#include "models/layers/adapter_shapes.hpp"
#include "models/layers/state_mixer.hpp"

namespace smplan {
namespace {

/// Bytes of one token: `region` lies outside the tensor-parallel region (divided only by sequence
/// parallelism), `split` inside it.
struct Ledger {
  double region = 0;
  double split = 0;
};

/// Bytes of an element as computed, and as kept for the weight gradient of a product.
struct Widths {
  double element = 2;
  double product_input = 2;
};

Widths widths(const Workload& w, const ActivationOptions& o) {
  Widths b = keeps_32_bits(w.precision) ? Widths{4, 4} : Widths{2, o.fp8_inputs ? 1.0 : 2.0};
  if (o.frozen_layer) b.product_input = 0;  // its weights have no gradients
  return b;
}

/// Bytes of an element of what an adapter reads, where that is no tensor that others share: a copy, and where some of
/// it is dropped out its mask.
double adapter_copy(const Workload& w, const ActivationOptions& o, const Widths& b) {
  if (w.finetune == FineTune::Full || w.lora.keeps) return 0;
  if (o.adapter_dropout) return b.element + 1;
  return o.adapter_copies ? b.element : 0;
}

/// Bytes of an element of an input that `products` matrices read, kept for their gradients. Under autocast each of them
/// casts it. Of a frozen matrix none is needed; an adapter needs its own.
double product_inputs(const Workload& w, const ActivationOptions& o, const Widths& b, bool adapted, int products) {
  if (w.finetune == FineTune::Full) return (o.autocast ? products : 1) * b.product_input;
  const double frozen = o.frozen_inputs ? b.element : 0;
  if (!adapted || w.lora.keeps) return frozen;
  const double copy = adapter_copy(w, o, b);
  return copy > 0 ? frozen + products * copy : b.product_input;
}

bool adapts_mlp(const Workload& w) {
  const Architecture& a = w.architecture;
  const bool routed_alone = a.is_moe() && a.moe.n_shared_experts == 0 && !a.has_dense_mlp();
  const bool experts = w.lora.targets == LoraTargets::Linear && w.lora.layers.experts != ExpertAdapters::None;
  return reaches_mlps(w.lora.targets) && (experts || !routed_alone);
}

/// What stands between the two products of each adapter of a layer, for a token.
std::int64_t adapter_values(const Workload& w, const LayerSpec& spec) {
  const Architecture& a = w.architecture;
  std::int64_t values = 0;
  for_each_adapter(a, spec, w.lora, [&](const AdapterShape& adapter) { values += adapter.visited(a) * adapter.rank; });
  return values;
}

/// Input of a norm. Transformers' and torchtune's root-mean-square norms cast it to fp32, keep that, and what they
/// normalised too if it meets a trained weight (transformers 4.45, LlamaRMSNorm; torchtune 0.3, RMSNorm). Under
/// autocast hidden states are fp32, and so is what is normalised.
double norm_input_bytes(const Workload& w, const ActivationOptions& o, const Widths& b) {
  const double hidden = o.wide_hidden ? 4 : b.element;
  if (!o.plain_layers || w.architecture.norm != NormKind::RmsNorm) return hidden;
  return 4 + (w.finetune == FineTune::Full && !o.frozen_layer ? hidden : 0);
}

constexpr std::int64_t kNormsBefore = 2;

/// Inputs of all norms around attention: the one before, and where there are more the one after.
double block_norm_bytes(const Workload& w, const ActivationOptions& o, const Widths& b) {
  return norm_input_bytes(w, o, b) * (w.architecture.norms_per_layer > kNormsBefore ? 2 : 1);
}

/// The same around an MLP, which has the rest: those of a router and of experts beside a dense MLP among them.
double mlp_norm_bytes(const Workload& w, const ActivationOptions& o, const Widths& b) {
  const std::int64_t norms = w.architecture.norms_per_layer;
  return norm_input_bytes(w, o, b) *
         static_cast<double>(norms > kNormsBefore ? std::max<std::int64_t>(2, norms - 2) : 1);
}

/// Inputs of the norms of queries, keys and values. Those of latent attention count among what is compressed. Those of
/// values have no weight, whose gradient would need what was normalised.
double head_norm_inputs(const Workload& w, const LayerSpec& spec, const ActivationOptions& o, const Widths& b) {
  const Architecture& a = w.architecture;
  if (!a.qk_norm || a.has_latent_attention()) return 0;
  const AttentionWidths heads = attention_widths(a, spec);
  const auto keys = static_cast<double>(heads.made > 0 ? heads.keys() : 0);
  const double values = a.value_norm ? keys * (o.plain_layers ? 4 : b.element) : 0;
  return norm_input_bytes(w, o, b) * (static_cast<double>(heads.queries()) + keys) + values;
}

/// Queries, keys, values and their sources. With latent attention (DeepSeek-V2, 2405.04434, eq. 37-47) the
/// compressed and the expanded vectors are both kept, and queries and keys once more with their rotary part.
Ledger projected(const Architecture& a, const LayerSpec& spec, const Widths& b) {
  if (a.has_latent_attention()) {
    const LatentAttention& l = a.latent;
    const auto heads = static_cast<double>(a.n_heads);
    const auto query = static_cast<double>(l.qk_nope_head_dim + l.qk_rope_head_dim);
    const auto expanded = static_cast<double>(l.qk_nope_head_dim + l.v_head_dim);
    const double compressed = (b.element + b.product_input) * static_cast<double>(l.q_lora_rank + l.kv_lora_rank);
    return {.region = compressed + b.element * static_cast<double>(l.qk_rope_head_dim),
            .split = b.element * heads * (2 * query + expanded)};
  }
  const AttentionWidths heads = attention_widths(a, spec);
  const std::int64_t gates = a.attention_output_gate ? heads.queries() : 0;
  return {.split = b.element * static_cast<double>(gates + heads.made_values())};
}

/// Keys and values that stand before a sequence, for each of its tokens, and the mask that lets all queries see them:
/// torch's scaled dot product attention turns it into numbers in every layer (scripts/fit/adapter_costs.py counts
/// both).
double prefix_bytes(const Workload& w, const ActivationOptions& o, const Widths& b, std::int64_t width) {
  const auto prefix = static_cast<double>(w.keys_before_sequence());
  if (prefix == 0) return 0;
  const auto sequence = static_cast<double>(w.seq_len);
  const double mask = o.plain_layers && o.flash_attention ? b.element * (prefix + sequence) : 0;
  return 2 * b.element * static_cast<double>(width) * prefix / sequence + mask;
}

/// What plain layers keep of queries, keys and values beside those that attention reads: values are a view of one
/// product's output, which stays whole behind the rotated queries and keys, and scattered adapters keep theirs
/// (LitGPT of 2023-10 and 2024, lora.py; derivatives.yaml of PyTorch, index_copy). Repeated heads are copies instead.
double beside_projected(const Workload& w, const LayerSpec& spec, const ActivationOptions& o, const Widths& b) {
  const Architecture& a = w.architecture;
  if (a.has_latent_attention()) return 0;
  const AttentionWidths heads = attention_widths(a, spec);
  const double pair = b.element * static_cast<double>(heads.queries() + (heads.made > 0 ? heads.keys() : 0));
  const bool grouped = heads.n_kv_heads < heads.n_heads;
  double bytes = prefix_bytes(w, o, b, o.repeats_heads ? heads.queries() : heads.keys());
  if (o.repeats_heads && grouped) bytes += 2 * b.element * static_cast<double>(heads.queries() - heads.keys());
  if (o.fused_qkv && !grouped) bytes += pair;
  const bool scattered = w.finetune != FineTune::Full && w.lora.targets == LoraTargets::QueryValue;
  if (o.fused_qkv && scattered) bytes += pair;
  return bytes;
}

double attention_output(const Architecture& a, const LayerSpec& spec) {
  if (a.has_latent_attention()) return static_cast<double>(a.n_heads * a.latent.v_head_dim);
  return static_cast<double>(attention_widths(a, spec).queries());
}

/// Scores of one token's queries, of all heads.
double score_count(const Workload& w, const LayerSpec& spec) {
  if (spec.mixer != Mixer::Attention) return 0;
  const std::int64_t keys = spec.window > 0 ? std::min(spec.window, w.seq_len) : w.seq_len;
  return static_cast<double>(w.architecture.n_heads * (keys + w.keys_before_sequence()));
}

/// Stored scores of one token: softmax output; with dropout its mask and result too (5as of
/// Korthikanti et al. 2022, equation 1). Plain layers keep the softmax in fp32 and in the format that meets the values
/// (transformers 4.48 to 5, eager_attention_forward). Flash attention keeps one fp32 log-sum-exp a head instead.
double scores(const Workload& w, const LayerSpec& spec, const ActivationOptions& o, const Widths& b) {
  if (o.flash_attention) return spec.mixer == Mixer::Attention ? 4 * static_cast<double>(w.architecture.n_heads) : 0;
  const double cast = o.plain_layers && b.element < 4 ? 4 : 0;
  const double dropped = o.dropout ? 1 + (cast > 0 ? 0 : b.element) : 0;
  return score_count(w, spec) * (b.element + cast + dropped);
}

/// Kept of a hidden value for the products of queries, keys and values.
double attention_inputs(const Workload& w, const ActivationOptions& o, const Widths& b) {
  const bool whole = w.finetune == FineTune::Full ? !o.separate_qkv : o.fused_qkv;
  const bool two = w.finetune != FineTune::Full && w.lora.targets == LoraTargets::QueryValue;
  const int readers = whole ? 1 : (two ? 2 : 3);
  return product_inputs(w, o, b, true, readers);
}

/// Kept of a hidden value for the first products of an MLP.
double mlp_inputs(const Workload& w, const ActivationOptions& o, const Widths& b) {
  return product_inputs(w, o, b, adapts_mlp(w), w.architecture.gated_mlp ? 2 : 1);
}

Ledger attention(const Workload& w, const LayerSpec& spec, const ActivationOptions& o, const Widths& b) {
  const Architecture& a = w.architecture;
  const auto h = static_cast<double>(a.hidden);
  Ledger out = projected(a, spec, b);
  out.region += h * (block_norm_bytes(w, o, b) + attention_inputs(w, o, b) + (o.dropout ? 1 : 0));
  // The backward pass of attention needs its output too: without dropout one tensor serves both.
  const double own_copy = w.lora.targets != LoraTargets::QueryValue ? adapter_copy(w, o, b) : 0;
  const double output = o.frozen_layer && o.flash_attention ? b.element : b.product_input;
  out.split += (output + own_copy) * attention_output(a, spec) + beside_projected(w, spec, o, b) +
               head_norm_inputs(w, spec, o, b);
  return out;
}

/// What the first product made, what the kernels keep, and the input of the last.
Ledger state_mixer(const Workload& w, const ActivationOptions& o, const Widths& b) {
  const Architecture& a = w.architecture;
  const auto values = static_cast<double>(a.state.values());
  return {.region = static_cast<double>(a.hidden) * (norm_input_bytes(w, o, b) + product_inputs(w, o, b, true, 1)),
          .split = b.element * static_cast<double>(state_mixer_inputs(a.state)) + state_mixer_kept(a.state).value() +
                   product_inputs(w, o, b, true, 1) * values};
}

Ledger mixer(const Workload& w, const LayerSpec& spec, const ActivationOptions& o, const Widths& b) {
  switch (spec.mixer) {
    case Mixer::None:
      return {};
    case Mixer::State:
      return state_mixer(w, o, b);
    case Mixer::Attention:
      break;
  }
  Ledger whole = attention(w, spec, o, b);
  if (spec.cross_attention) {
    const Ledger cross = attention(w, spec, o, b);
    whole.region += cross.region;
    whole.split += cross.split;
  }
  return whole;
}

/// Kept by GELU's tanh form operation by operation (transformers, NewGELUActivation): the cube's input, the tanh and
/// the two factors of the last product. Autocast runs the cube in fp32, and so all that follows.
double plain_gelu_bytes(const ActivationOptions& o, const Widths& b) {
  const double operations = o.autocast ? 4 : b.element;
  return 3 * operations + b.element;
}

double mlp_width_factor(const Workload& w, const ActivationOptions& o, const Widths& b) {
  const double down_input = product_inputs(w, o, b, adapts_mlp(w), 1);
  if (!w.architecture.gated_mlp) return (o.plain_gelu ? plain_gelu_bytes(o, b) : b.element) + down_input;
  return 2 * b.element + down_input + (o.unfused ? b.element : 0);
}

/// Expert-parallel ranks share the tokens of a tensor group (sequence parallelism); else experts are cut by tensor.
double routed_cut(const Strategy& s) { return s.expert_parallel > 1 && !s.sequence_parallel ? s.tensor_parallel : 1; }

/// Of each token in fp32 its probabilities, and in the width of routed experts, where they have their own, what goes in
/// and what comes out.
double routing_bytes(const MixtureOfExperts& m, const Widths& b) {
  return 4 * static_cast<double>(m.n_experts) + (b.product_input + b.element) * static_cast<double>(m.latent_hidden);
}

/// Routed tokens arrive top_k times: their permuted input, the expert's inner tensors, their output
/// (weighted sum needs it), and fp32 router probabilities.
Ledger mlp(const Workload& w, const LayerSpec& spec, const Strategy& s, const ActivationOptions& o, const Widths& b) {
  if (!spec.has_mlp()) return {};
  const Architecture& a = w.architecture;
  const auto h = static_cast<double>(a.hidden);
  const double width = mlp_width_factor(w, o, b);
  const double inputs = mlp_inputs(w, o, b);
  // A parallel block reads the norm of its attention, which is kept there; only dropped-out copies are its own.
  const double copies = adapts_mlp(w) ? adapter_copy(w, o, b) : 0;
  const double own_inputs = a.parallel_block ? copies : mlp_norm_bytes(w, o, b) + inputs;
  Ledger out{.region = h * (own_inputs + (o.dropout ? 1 : 0))};
  if (!spec.moe) {
    out.split = width * static_cast<double>(spec.ffn_hidden);
    return out;
  }
  const MixtureOfExperts& m = a.moe;
  const auto routed = static_cast<double>(m.top_k);
  const auto expert = static_cast<double>(m.expert_ffn_hidden);
  out.split += width * static_cast<double>(m.n_shared_experts * m.shared_expert_ffn_hidden);
  out.region += routing_bytes(m, b);
  const double gathered = s.expert_tensor();  // by the ranks that cut one expert
  out.split += routed_cut(s) * routed * (width * expert + gathered * inputs * static_cast<double>(a.routed_hidden()));
  return out;
}

/// Of what a layer embeds: its part of the sum, the gate before and after its function, the input of the projection up
/// and those of its norm and of the gate's product.
double layer_embedding(const Workload& w, const ActivationOptions& o, const Widths& b) {
  const Architecture& a = w.architecture;
  if (a.layer_embeddings.width == 0) return 0;
  const double reads = product_inputs(w, o, b, adapts_mlp(w), 1);
  return static_cast<double>(a.layer_embeddings.width) * (3 * b.element + norm_input_bytes(w, o, b) + reads) +
         static_cast<double>(a.hidden) * (norm_input_bytes(w, o, b) + reads);
}

/// What the modules that selective recomputation runs again do not keep: all but their inputs.
Ledger discarded(const Workload& w, const LayerSpec& spec, const Strategy& s, const ActivationOptions& o,
                 const Widths& b) {
  const Architecture& a = w.architecture;
  const MixtureOfExperts& m = a.moe;
  const auto h = static_cast<double>(a.hidden);
  const auto has = [&](LayerModule module) { return o.recompute_modules.has(module); };
  const double width = mlp_width_factor(w, o, b);
  Ledger out;
  if (has(LayerModule::CoreAttention) && !o.flash_attention) out.split += scores(w, spec, o, b);
  const bool attends = spec.mixer == Mixer::Attention;
  if (has(LayerModule::LatentUpProjection) && a.has_latent_attention() && attends)
    out.split += projected(a, spec, b).split;
  if (has(LayerModule::Norms)) {
    if (spec.mixer != Mixer::None) out.region += h * attention_inputs(w, o, b);
    if (spec.has_mlp() && !a.parallel_block) out.region += h * mlp_inputs(w, o, b);
  }
  if (!spec.moe) {
    if (has(LayerModule::DenseMlp)) out.split += width * static_cast<double>(spec.ffn_hidden);
    return out;
  }
  if (has(LayerModule::Experts)) {
    const Ledger inside = mlp(w, spec, s, o, b);
    out.split += inside.split;
    out.region += routing_bytes(m, b);
    return out;
  }
  if (has(LayerModule::SharedExperts)) {
    out.split += width * static_cast<double>(m.n_shared_experts * m.shared_expert_ffn_hidden);
  }
  if (has(LayerModule::ExpertActivation)) {
    out.split +=
        routed_cut(s) * product_inputs(w, o, b, adapts_mlp(w), 1) * static_cast<double>(m.top_k * m.expert_ffn_hidden);
  }
  return out;
}

/// Per-operation selective checkpointing keeps the first, third ... product of a layer: query, value,
/// gate and down outputs, and the attention output. Source: torchtitan, `_apply_op_sac`, 2024-12. Of these no backward
/// pass reads what a part of the layer ends with; compiled layers keep one of them less.
Ledger per_operation(const Workload& w, const LayerSpec& spec, const ActivationOptions& o, const Widths& b) {
  const Architecture& a = w.architecture;
  const double hidden = static_cast<double>(a.hidden) * (spec.parts() - (o.compiled && spec.has_mlp() ? 1 : 0));
  const double mlp_products = spec.moe ? static_cast<double>(a.moe.top_k * a.moe.expert_ffn_hidden +
                                                             a.moe.n_shared_experts * a.moe.shared_expert_ffn_hidden)
                                       : static_cast<double>(spec.ffn_hidden);
  if (spec.mixer != Mixer::Attention) {
    const std::int64_t first = spec.mixer == Mixer::State ? state_mixer_inputs(a.state) : 0;
    return {.region = b.element * hidden, .split = b.element * (static_cast<double>(first) + mlp_products)};
  }
  const double heads = attention_output(a, spec);
  const AttentionWidths of_layer = attention_widths(a, spec);
  const auto values = static_cast<double>(of_layer.made > 0 ? of_layer.keys() : 0);
  return {.region = b.element * hidden,
          .split = b.element * (2 * heads + values + mlp_products) + 4 * static_cast<double>(a.n_heads)};
}

/// Gradients of the hidden states that stand at once, in their whole size. DTensor holds the partial sums of every
/// product of a gate, and the copy that its reduce-scatter over the sequence makes first; in slices only one of them.
double partial_sums(const Architecture& a, const ActivationOptions& o, double region_cut) {
  if (!o.whole_regions || region_cut <= 1) return 1 / region_cut;
  if (o.sliced_regions) return 1;
  return a.gated_mlp ? 3 : 2;
}

/// Inner elements of the MLP, of all the experts that a token visits.
double inner_width(const Architecture& a, const LayerSpec& spec) {
  return static_cast<double>(spec.moe ? a.moe.top_k * a.moe.expert_ffn_hidden : spec.ffn_hidden);
}

/// Backward of the widest operation: gradients of the MLP's inner tensors, or of queries, keys and values,
/// beside the gradient that flows through.
double transient(const Workload& w, const LayerSpec& spec, const ActivationOptions& o, double region_cut,
                 double split_cut, const Widths& b) {
  const Architecture& a = w.architecture;
  // One kernel makes both gradients of a gate, Liger's in place; kernels apart free what they have consumed.
  const double inner = a.gated_mlp && !o.unfused && !o.liger_kernels ? 2 * b.element : b.element;
  const double width = inner_width(a, spec);
  const double mixed = spec.mixer == Mixer::State
                           ? b.element * static_cast<double>(state_mixer_inputs(a.state) + a.state.values())
                           : projected(a, spec, b).split + b.element * attention_output(a, spec);
  const double routed = spec.moe ? static_cast<double>(a.moe.top_k * a.routed_hidden()) : 0;
  const double h = b.element * (static_cast<double>(a.hidden) + routed);
  return std::max(inner * width, spec.mixer == Mixer::None ? 0 : mixed) / split_cut +
         h * partial_sums(a, o, region_cut);
}

/// Forward of an MLP in kernels apart: its inner tensors up to the product that leaves, and four hidden states, two of
/// them whole where ranks share the tokens.
double forward_transient(const Workload& w, const LayerSpec& spec, double region_cut, double split_cut,
                         const Widths& b) {
  const Architecture& a = w.architecture;
  const double inner = a.gated_mlp ? 3 : 2;
  return b.element * (inner * inner_width(a, spec) / split_cut + static_cast<double>(a.hidden) * (2 + 2 / region_cut));
}

}  // namespace

bool computes_gelu_by_operations(const Workload& workload, const Stack& stack) {
  return workload.architecture.plain_gelu && stack.transformers_layers && stack.plain_layers;
}

ActivationOptions activation_options(const Workload& w, const Strategy& s, const Stack& stack) {
  const bool fsdp = is_fsdp(s.sharding);
  return {.flash_attention = stack.flash_attention,
          .dropout = w.drops_out(),
          // torchao, FSDP's fp8, keeps 16-bit inputs and casts again in the backward pass.
          .fp8_inputs = w.precision == Precision::Fp8 && !fsdp,
          .unfused = !stack.fused_kernels,
          .whole_regions = stack.torch_parallelism,
          .sliced_regions = stack.execution.tensor_overlap == TensorOverlap::Async,
          .liger_kernels = stack.liger_kernels,
          .plain_layers = stack.plain_layers,
          .repeats_heads = stack.plain_layers && (!stack.grouped_attention || w.padded ||
                                                  w.keys_before_sequence() > 0 || !stack.flash_attention),
          .plain_gelu = computes_gelu_by_operations(w, stack),
          .autocast = runs_under_autocast(w, stack),
          // The embedding's format goes on from layer to layer, and a frozen one has 16 bits.
          .wide_hidden = (runs_under_autocast(w, stack) && w.trains_embedding()) || holds_wide_root(w, stack),
          .fused_qkv = stack.fused_qkv,
          .separate_qkv = stack.transformers_layers,
          .adapter_dropout = stack.adapter_dropout,
          .adapter_copies = stack.adapter_copies,
          .frozen_inputs = w.finetune == FineTune::Qlora && stack.lightning_quantization,
          .per_operation_selective = selects_by_operation(s, stack),
          .compiled = compiles_layers(stack.execution),
          .recompute_modules = stack.execution.recompute_modules};
}

TokenActivations token_activations(const Workload& w, const LayerSpec& spec, const Strategy& s,
                                   const ActivationOptions& software) {
  const Architecture& a = w.architecture;
  ActivationOptions options = software;
  options.frozen_layer = spec.role != LayerRole::Trained;
  const Widths b = widths(w, options);
  Ledger whole = mixer(w, spec, options, b);
  const Ledger feed_forward = mlp(w, spec, s, options, b);
  whole.region += feed_forward.region + layer_embedding(w, options, b);
  whole.split += feed_forward.split;
  if (w.finetune != FineTune::Full) {
    whole.split += w.lora.keeps ? w.lora.keeps->token_bytes : b.element * static_cast<double>(adapter_values(w, spec));
  }
  const double tensor = s.tensor_parallel;
  const double region_cut = s.sequence_parallel ? tensor : 1;
  if ((options.unfused || options.whole_regions) && s.sequence_parallel) {
    // Inputs of the first products of attention and MLP, kept as gathered instead of as a slice.
    const int products = spec.parts() - (a.parallel_block ? 1 : 0) + (spec.cross_attention ? 1 : 0);
    whole.region += products * b.product_input * static_cast<double>(a.hidden) * (tensor - 1);
  }
  const double stored_scores = scores(w, spec, options, b) * (spec.cross_attention ? 2 : 1);
  TokenActivations out;
  out.saved = whole.region / region_cut + (whole.split + stored_scores) / tensor;
  out.selective = whole.region / region_cut + (whole.split + (options.flash_attention ? stored_scores : 0)) / tensor;
  if (options.per_operation_selective) {
    const Ledger products = per_operation(w, spec, options, b);
    out.selective = std::min(out.selective, products.region / region_cut + products.split / tensor);
  } else if (!options.recompute_modules.empty()) {
    const Ledger again = discarded(w, spec, s, options, b);
    out.selective = out.saved - again.region / region_cut - again.split / tensor;
  }
  out.input = (options.wide_hidden ? 4 : b.element) * static_cast<double>(a.hidden) / region_cut;
  out.transient = transient(w, spec, options, region_cut, tensor, b);
  out.forward = forward_transient(w, spec, region_cut, tensor, b);
  if (!spec.has_backward()) return {.forward = out.forward + out.input};
  if (!options.flash_attention) {
    // Dropout, or softmax, makes a gradient of the scores from another. By then what the MLP kept is gone.
    const double gradients = 2 * b.element * score_count(w, spec) / tensor;
    const double gone = a.parallel_block ? 0 : feed_forward.region / region_cut + feed_forward.split / tensor;
    out.transient = std::max(out.transient, gradients - gone);
  }
  return out;
}

double embedding_kept(const Workload& w, const Strategy& s, const ActivationOptions& options) {
  const Architecture& a = w.architecture;
  if (a.vocab <= 0 || !w.trains_embedding()) return 0;
  const double norm = a.embedding_norm ? norm_input_bytes(w, options, widths(w, options)) : 0;
  const double bytes = norm + (options.dropout ? 1 : 0);
  return bytes * static_cast<double>(a.hidden) / (s.sequence_parallel ? s.tensor_parallel : 1);
}

// A norm of kernels apart computes in fp32 what its input's gradient reads; fused ones keep the input itself, which the
// gradient of their weight reads too.
double unread_by_first(const Workload& w, const Strategy& s, const ActivationOptions& options) {
  const bool below_frozen = w.trained_layers && w.trained_layers->blocks > 0 && !w.trains_embedding();
  if (!below_frozen || !options.plain_layers || w.architecture.norm != NormKind::RmsNorm) return 0;
  return 4 * static_cast<double>(w.architecture.hidden) / (s.sequence_parallel ? s.tensor_parallel : 1);
}

double kept(const TokenActivations& activations, Recompute recompute) {
  switch (recompute) {
    case Recompute::None:
      return activations.saved;
    case Recompute::Selective:
      return activations.selective;
    case Recompute::Full:
      return activations.input;
  }
  return activations.saved;
}

Bytes layer_activation_bytes(const Workload& w, const LayerSpec& spec, const Strategy& s, const Stack& stack) {
  const TokenActivations per_token = token_activations(w, spec, s, activation_options(w, s, stack));
  const double tokens = static_cast<double>(w.seq_len) * s.micro_batch / s.context_parallel;
  return Bytes(tokens * kept(per_token, s.recompute));
}

}  // namespace smplan
