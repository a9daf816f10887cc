#include "models/layers/layers.hpp"

#include "models/layers/adapter_shapes.hpp"
#include "models/layers/linears.hpp"

namespace smplan {
namespace {

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
      case LinearPart::Query:
      case LinearPart::Key:
      case LinearPart::Value:
      case LinearPart::AttentionOutput:
      case LinearPart::LatentDown:
      case LinearPart::LatentUp:
      case LinearPart::JoinedEmbedding:
        p.attention += weights;
        break;
      case LinearPart::StateInputs:
      case LinearPart::StateOutput:
        p.state_mixers += weights;
        break;
      case LinearPart::DenseMlp:
      case LinearPart::LayerEmbedding:
      case LinearPart::LayerGate:
        p.dense_mlp += weights;
        break;
      case LinearPart::SharedExpert:
      case LinearPart::SharedExpertGate:
        p.shared_experts += weights;
        break;
      case LinearPart::Router:
        p.router += weights;
        break;
      case LinearPart::Expert:
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

enum class Counted { All, Active, Experts };

/// What stands before the sequences.
std::int64_t prompt_values(const Architecture& a, const Lora& lora) {
  const PromptParts& parts = lora.method->prompt;
  std::int64_t keys = 0;
  for (const LayerRun& run : layer_stack(a)) keys += run.count / run.sharing * attention_widths(a, run.spec).keys();
  return lora.virtual_tokens * (parts.embeddings * a.hidden + parts.keys * keys);
}

/// With what makes it. A token of the data passes through none of it.
std::int64_t prompt_parameters(const Architecture& a, const Lora& lora) {
  return prompt_values(a, lora) + lora.method->prompt.layers * a.hidden * (a.hidden + 1);
}

/// Of one adapter.
std::int64_t adapter_parameters(const Architecture& a, const Lora& lora, Counted counted) {
  if (lora.trains_prompt()) return counted == Counted::All ? prompt_parameters(a, lora) : 0;
  const bool active_only = counted == Counted::Active;
  const std::int64_t per_output = lora.method != nullptr && !active_only ? lora.method->output_parameters : 0;
  std::int64_t sum = 0;
  for (const LayerRun& run : layer_stack(a)) {
    for_each_adapter(a, run.spec, lora, [&](const AdapterShape& adapter) {
      const bool of_experts = adapter.part == LinearPart::Expert;
      if (counted == Counted::Experts && !of_experts) return;
      const std::int64_t copies = active_only ? adapter.visited(a) : adapter.copies;
      // Shared weights have one adapter, which touches a token at every depth.
      const std::int64_t layers = active_only ? run.count : run.count / run.sharing;
      sum += layers * copies * (adapter.parameters() + per_output * adapter.outputs);
    });
  }
  // One matrix projects the embedding for all layers at once.
  const std::int64_t embedded = a.n_layers * a.layer_embeddings.width;
  const bool projects = embedded > 0 && reaches_mlps(lora.targets) && counted != Counted::Experts;
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
    if (linear.part == LinearPart::Expert) linear.copies = linear.copies / a.moe.n_experts * a.moe.top_k;
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
  return lora.count * adapter_parameters(a, lora, Counted::All);
}

std::int64_t active_lora_parameters(const Architecture& a, const Lora& lora) {
  return adapter_parameters(a, lora, Counted::Active);
}

std::int64_t expert_lora_parameters(const Architecture& a, const Lora& lora) {
  return lora.count * adapter_parameters(a, lora, Counted::Experts);
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

std::int64_t saved_lora_parameters(const Architecture& a, const Lora& lora) {
  return lora.trains_prompt() ? lora.count * prompt_values(a, lora) : trained_lora_parameters(a, lora);
}

std::int64_t trained_lora_parameters(const Architecture& a, const Lora& lora) {
  const EdgeParameters edge = edge_parameters(a);
  return lora_parameters(a, lora) + (lora.train_embeddings ? lora.count * (edge.embedding + edge.head) : 0);
}

}  // namespace smplan
