#include "models/layers/layers.hpp"

namespace smplan {
namespace {

enum class Part {
  Query,
  Key,
  Value,
  Attention,
  StateInputs,
  StateMixer,
  DenseMlp,
  SharedExpert,
  SharedExpertGate,
  Router,
  Expert,
  LayerEmbedding,
  LayerGate
};

/// Weight matrices of one shape.
struct Linear {
  Part part;
  std::int64_t inputs;
  std::int64_t outputs;
  std::int64_t copies = 1;
  std::int64_t beside = 1;  ///< of the copies, those that read the same input

  [[nodiscard]] std::int64_t weights() const { return inputs * outputs * copies; }
};

/// Latent attention: queries through their own low rank (or full rank without one), keys and values
/// through a shared latent beside one rotary key. Source: DeepSeek-V2, arXiv 2405.04434, appendix C.
template <typename Visit>
void for_each_attention_linear(const Architecture& a, const LayerSpec& spec, Visit&& visit) {
  const std::int64_t h = a.hidden;
  if (a.has_latent_attention()) {
    const LatentAttention& l = a.latent;
    const std::int64_t queries = a.n_heads * (l.qk_nope_head_dim + l.qk_rope_head_dim);
    if (l.q_lora_rank > 0) visit(Linear{Part::Attention, h, l.q_lora_rank});
    visit(Linear{Part::Attention, l.q_lora_rank > 0 ? l.q_lora_rank : h, queries});
    visit(Linear{Part::Attention, h, l.kv_lora_rank + l.qk_rope_head_dim});
    visit(Linear{Part::Attention, l.kv_lora_rank, a.n_heads * (l.qk_nope_head_dim + l.v_head_dim)});
    visit(Linear{Part::Attention, a.n_heads * l.v_head_dim, h});
  } else {
    const AttentionWidths heads = attention_widths(a, spec);
    const std::int64_t blocks = spec.cross_attention ? 2 : 1;
    visit(Linear{Part::Query, h, (a.attention_output_gate ? 2 : 1) * heads.queries(), blocks});
    // Where one projection makes keys and values it is that of the keys.
    if (heads.projections > 1) visit(Linear{Part::Value, h, heads.keys(), blocks});
    if (heads.projections > 0) visit(Linear{Part::Key, h, heads.keys(), blocks});
    visit(Linear{Part::Attention, heads.queries(), h, blocks});
  }
}

/// Calls `visit(linear)` for every weight matrix of a layer. The one place that knows which matrices a layer has;
/// counts, FLOPs and adapters are sums over it.
template <typename Visit>
void for_each_linear(const Architecture& a, const LayerSpec& spec, Visit&& visit) {
  const std::int64_t h = a.hidden;
  // A block for a further token begins by joining its input with the embedding of the token before.
  if (spec.further_token && spec.mixer != Mixer::None) visit(Linear{Part::Attention, 2 * h, h});
  if (spec.mixer == Mixer::Attention) for_each_attention_linear(a, spec, visit);
  if (spec.mixer == Mixer::State) {
    visit(Linear{Part::StateInputs, h, state_mixer_inputs(a.state)});
    visit(Linear{Part::StateMixer, a.state.values(), h});
  }
  if (const std::int64_t width = a.layer_embeddings.width; width > 0) {
    visit(Linear{Part::LayerEmbedding, h, width});
    visit(Linear{Part::LayerGate, h, width});
    visit(Linear{Part::LayerGate, width, h});
  }
  const std::int64_t up_projections = a.gated_mlp ? 2 : 1;
  const auto mlp = [&](Part part, std::int64_t outside, std::int64_t width, std::int64_t copies) {
    if (width == 0 || copies == 0) return;
    visit(Linear{part, outside, width, up_projections * copies, up_projections});
    visit(Linear{part, width, outside, copies});
  };
  if (!spec.moe) return mlp(Part::DenseMlp, h, spec.ffn_hidden, 1);
  visit(Linear{Part::Router, h, a.moe.n_experts});
  if (a.moe.latent_hidden > 0) {
    visit(Linear{Part::Router, h, a.moe.latent_hidden});
    visit(Linear{Part::Router, a.moe.latent_hidden, h});
  }
  mlp(Part::Expert, a.routed_hidden(), a.moe.expert_ffn_hidden, a.moe.n_experts);
  mlp(Part::SharedExpert, h, a.moe.shared_expert_ffn_hidden, a.moe.n_shared_experts);
  if (a.moe.shared_expert_gate) visit(Linear{Part::SharedExpertGate, h, 1});
}

std::int64_t norm_parameters(const Architecture& a, std::int64_t width) {
  return a.norm == NormKind::LayerNorm && a.norm_bias ? 2 * width : width;
}

/// Weights and, in Mamba-2, biases of the convolution; decay and step of each head; Mamba's skip; the gated norm, of
/// all values or of one head's (mamba_ssm 2.2, modules/mamba2.py; transformers 4.57, Qwen3NextGatedDeltaNet).
std::int64_t state_mixer_vectors(const StateMixer& m) {
  const std::int64_t convolved = 2 * m.keys() + m.values();
  if (m.delta_rule) return convolved * m.conv_kernel + 2 * m.n_heads + m.head_dim;
  return convolved * (m.conv_kernel + 1) + 3 * m.n_heads + m.values();
}

/// Parameters of one layer, or of many, by part.
ParameterCount layer_parts(const Architecture& a, const LayerSpec& spec) {
  ParameterCount p;
  for_each_linear(a, spec, [&p](const Linear& linear) {
    const std::int64_t weights = linear.weights();
    switch (linear.part) {
      case Part::Query:
      case Part::Key:
      case Part::Value:
      case Part::Attention:
        p.attention += weights;
        break;
      case Part::StateInputs:
      case Part::StateMixer:
        p.state_mixers += weights;
        break;
      case Part::DenseMlp:
      case Part::LayerEmbedding:
      case Part::LayerGate:
        p.dense_mlp += weights;
        break;
      case Part::SharedExpert:
      case Part::SharedExpertGate:
        p.shared_experts += weights;
        break;
      case Part::Router:
        p.router += weights;
        break;
      case Part::Expert:
        p.experts += weights;
        break;
    }
  });
  if (spec.mixer == Mixer::State) p.state_mixers += state_mixer_vectors(a.state);
  const std::int64_t attention_blocks = spec.mixer != Mixer::Attention ? 0 : (spec.cross_attention ? 2 : 1);
  const AttentionWidths heads = attention_widths(a, spec);
  if (a.qkv_bias) p.attention += attention_blocks * (heads.queries() + heads.projections * heads.keys());
  if (a.attention_output_bias) p.attention += attention_blocks * a.hidden;
  const std::int64_t up_projections = a.gated_mlp ? 2 : 1;
  if (a.mlp_bias && spec.ffn_hidden > 0) p.dense_mlp += up_projections * spec.ffn_hidden + a.hidden;
  if (a.moe.expert_bias && spec.moe) {
    p.experts += a.moe.n_experts * (up_projections * a.moe.expert_ffn_hidden + a.routed_hidden());
  }
  if (a.moe.router_bias && spec.moe) p.router += a.moe.n_experts;
  p.norms = (a.norms_per_layer + (spec.cross_attention ? 1 : 0)) * norm_parameters(a, a.hidden);
  if (a.qk_norm) p.norms += attention_blocks * (heads.made > 0 ? 2 : 1) * heads.head_dim;
  if (a.layer_embeddings.width > 0) p.norms += norm_parameters(a, a.hidden);
  if (spec.mixer == Mixer::Attention) p.norms += a.latent.q_lora_rank + a.latent.kv_lora_rank;
  // Of the input, of the embedding that joins it, and of the output.
  if (spec.further_token && spec.mixer != Mixer::None) p.norms += 3 * norm_parameters(a, a.hidden);
  return p;
}

bool carries_adapter(const Architecture& a, Part part, const Lora& lora) {
  const bool linear = lora.targets == LoraTargets::Linear;
  switch (part) {
    case Part::Query:
    case Part::Value:
      return true;
    case Part::Key:
      return lora.targets != LoraTargets::QueryValue || lora.layers.joins_attention;
    case Part::Attention:
      return lora.targets != LoraTargets::QueryValue || a.has_latent_attention();
    case Part::DenseMlp:
    case Part::SharedExpert:
      return linear && lora.layers.experts != ExpertAdapters::Fused;
    case Part::Expert:
      return linear && lora.layers.experts != ExpertAdapters::None;
    case Part::Router:
      return linear && lora.layers.router;
    case Part::StateMixer:
      return linear && lora.layers.state_output;
    case Part::LayerEmbedding:
      return false;
    default:
      return linear;
  }
}

/// Inputs and outputs of all adapters of these matrices: LoRA has as many parameters for each rank.
std::int64_t adapter_widths(const Linear& linear, const AdaptedLayers& layers) {
  const std::int64_t inputs = linear.copies * linear.inputs;
  const std::int64_t outputs = linear.copies * linear.outputs;
  switch (linear.part) {
    case Part::Key:
    case Part::Value:
      return layers.joins_attention ? outputs : inputs + outputs;
    case Part::StateInputs:
      return layers.state_inputs * inputs + outputs;
    case Part::DenseMlp:
      return inputs / (layers.joins_mlp ? linear.beside : 1) + outputs;
    case Part::SharedExpert:
      return inputs / (layers.joins_shared_experts ? linear.beside : 1) + outputs;
    case Part::Expert:
      // Gate and up as one: each of its two halves has all of twice the rank.
      return inputs + (layers.experts == ExpertAdapters::Fused ? linear.beside : 1) * outputs;
    default:
      return inputs + outputs;
  }
}

enum class Counted { All, Active, Experts };

std::int64_t adapter_parameters(const Architecture& a, const Lora& lora, Counted counted) {
  const bool active_only = counted == Counted::Active;
  const std::int64_t per_output = lora.method != nullptr && !active_only ? lora.method->output_parameters : 0;
  std::int64_t sum = 0;
  for (const LayerRun& run : layer_stack(a)) {
    for_each_linear(a, run.spec, [&](Linear linear) {
      const bool of_experts = linear.part == Part::Expert;
      if (!carries_adapter(a, linear.part, lora) || (counted == Counted::Experts && !of_experts)) return;
      if (of_experts && active_only) linear.copies = linear.copies / a.moe.n_experts * a.moe.top_k;
      // Shared weights have one adapter, which touches a token at every depth.
      const std::int64_t layers = active_only ? run.count : run.count / run.sharing;
      sum += layers * (lora.rank * adapter_widths(linear, lora.layers) + per_output * linear.copies * linear.outputs);
    });
  }
  // One matrix projects the embedding for all layers at once.
  const std::int64_t embedded = a.n_layers * a.layer_embeddings.width;
  const bool projects = embedded > 0 && lora.targets == LoraTargets::Linear && counted != Counted::Experts;
  return sum + (projects ? lora.rank * (a.hidden + embedded) : 0);
}

}  // namespace

std::int64_t state_mixer_inputs(const StateMixer& m) {
  return 2 * m.values() + 2 * m.keys() + (m.delta_rule ? 2 : 1) * m.n_heads;
}

LayerParameters layer_parameters(const Architecture& a, const LayerSpec& spec) {
  const ParameterCount p = layer_parts(a, spec);
  return {.attention = p.attention + p.state_mixers,
          .mlp = p.dense_mlp + p.router + p.shared_experts,
          .experts = p.experts,
          .norms = p.norms};
}

std::int64_t active_matmul_parameters(const Architecture& a, const LayerSpec& spec) {
  std::int64_t sum = 0;
  for_each_linear(a, spec, [&](Linear linear) {
    if (linear.part == Part::Expert) linear.copies = linear.copies / a.moe.n_experts * a.moe.top_k;
    sum += linear.weights();
  });
  return sum;
}

EdgeParameters edge_parameters(const Architecture& a) {
  EdgeParameters p;
  p.embedding = a.vocab * a.hidden;
  if (a.positions == PositionEncoding::Learned) p.embedding += a.max_positions * a.hidden;
  if (a.embedding_norm) p.embedding += norm_parameters(a, a.hidden);
  if (const LayerEmbeddings& e = a.layer_embeddings; e.width > 0) {
    p.layer_embeddings = e.vocab * a.n_layers * e.width + norm_parameters(a, e.width);
  }
  if (!a.tied_embeddings) p.head = a.vocab * a.hidden;
  if (a.lm_head_bias) p.head += a.vocab;
  p.extra = a.extra_parameters;
  return p;
}

ParameterCount count_parameters(const Architecture& a) {
  ParameterCount total;
  for (const LayerRun& run : layer_stack(a)) {
    const ParameterCount p = layer_parts(a, run.spec);
    if (run.spec.further_token) {
      total.further_tokens += run.count / run.sharing * p.total();
      continue;
    }
    total.attention += run.count * p.attention;
    total.state_mixers += run.count * p.state_mixers;
    total.dense_mlp += run.count * p.dense_mlp;
    total.router += run.count * p.router;
    total.experts += run.count * p.experts;
    total.shared_experts += run.count * p.shared_experts;
    total.norms += run.count * p.norms;
  }
  const EdgeParameters edge = edge_parameters(a);
  total.embedding = edge.embedding + edge.layer_embeddings;
  total.head = edge.head;
  total.extra = edge.extra;
  const std::int64_t stacks = a.kind == ModelKind::EncoderDecoder ? 2 : 1;
  if (a.final_norm) total.norms += stacks * norm_parameters(a, a.hidden);
  return total;
}

std::int64_t active_parameters(const Architecture& a) {
  const ParameterCount count = count_parameters(a);
  if (!a.is_moe()) return count.total();
  return count.total() - count.experts + count.experts / a.moe.n_experts * a.moe.top_k;
}

std::int64_t lora_parameters(const Architecture& a, const Lora& lora) {
  return adapter_parameters(a, lora, Counted::All);
}

std::int64_t active_lora_parameters(const Architecture& a, const Lora& lora) {
  return adapter_parameters(a, lora, Counted::Active);
}

std::int64_t expert_lora_parameters(const Architecture& a, const Lora& lora) {
  return adapter_parameters(a, lora, Counted::Experts);
}

std::int64_t trained_parameters(const Workload& w) {
  if (w.finetune != FineTune::Full) return trained_lora_parameters(w.architecture, w.lora);
  if (!w.trained_layers) return count_parameters(w.architecture).total();
  std::int64_t sum = 0;
  for (const LayerRun& run : layer_stack(w)) {
    if (trains_weights(w, run.spec)) sum += run.count / run.sharing * run.parameters.total();
  }
  const EdgeParameters edge = edge_parameters(w.architecture);
  if (w.trains_embedding()) sum += edge.embedding + edge.layer_embeddings;
  return w.trains_head() ? sum + edge.head : sum;
}

std::int64_t trained_lora_parameters(const Architecture& a, const Lora& lora) {
  const EdgeParameters edge = edge_parameters(a);
  return lora_parameters(a, lora) + (lora.train_embeddings ? edge.embedding + edge.head : 0);
}

}  // namespace smplan
