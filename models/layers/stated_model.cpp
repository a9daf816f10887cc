#include "models/layers/stated_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "catalogs/model_names.hpp"
#include "models/layers/layers.hpp"

namespace smplan {
namespace {

using Assumptions = std::vector<std::string>;

constexpr std::int64_t kGpt2Vocabulary = 50257;
constexpr std::int64_t kUsualHeadDim = 128;
constexpr std::int64_t kWidthMultiple = 256;

/// The widths of a preset do not describe a model with others.
bool contradicts(const StatedModel& m, const Architecture& a) {
  return (m.hidden && *m.hidden != a.hidden) || (m.n_heads && *m.n_heads != a.n_heads) ||
         (m.n_experts.value_or(0) > 1 && *m.n_experts != a.moe.n_experts);
}

void override_layers(const StatedModel& m, Architecture& a) {
  a.n_encoder_layers = m.n_encoder_layers.value_or(a.n_encoder_layers);
  if (!m.n_layers) return;
  if (*m.n_layers < a.n_layers) {
    // Cut for a benchmark: one layer stands for the leading dense ones.
    a.moe.n_leading_dense_layers = std::min<std::int64_t>(a.moe.n_leading_dense_layers, 1);
  }
  a.n_layers = *m.n_layers;
}

void override_widths(const StatedModel& m, Architecture& a) {
  if (!a.has_latent_attention()) {
    a.n_kv_heads = m.n_kv_heads.value_or(a.n_kv_heads);
    a.head_dim = m.head_dim.value_or(a.head_dim);
  }
  a.vocab = m.vocab.value_or(a.vocab);
  a.tied_embeddings = m.tied_embeddings.value_or(a.tied_embeddings);
  if (!a.is_moe() || a.moe.n_leading_dense_layers > 0 || a.moe.layer_stride > 1) {
    a.ffn_hidden = m.ffn_hidden.value_or(a.ffn_hidden);
  }
  if (!a.is_moe()) return;
  if (m.top_k.value_or(0) > 0) a.moe.top_k = *m.top_k;
  if (m.expert_ffn_hidden.value_or(0) > 0) a.moe.expert_ffn_hidden = *m.expert_ffn_hidden;
}

void fill_heads(const StatedModel& m, Architecture& a, Assumptions& assumptions) {
  a.head_dim = m.head_dim.value_or(0);
  if (m.n_heads) {
    a.n_heads = *m.n_heads;
  } else {
    if (a.head_dim == 0) a.head_dim = kUsualHeadDim;
    a.n_heads = std::max<std::int64_t>(1, a.hidden / a.head_dim);
    if (m.n_kv_heads && a.n_heads % *m.n_kv_heads != 0) {
      a.n_heads = *m.n_kv_heads;
      a.head_dim = m.head_dim.value_or(0);
    }
    assumptions.push_back("n_heads is " + std::to_string(a.n_heads));
  }
  if (a.head_dim == 0) a.head_dim = std::max<std::int64_t>(1, a.hidden / a.n_heads);
  a.n_kv_heads = m.n_kv_heads.value_or(a.n_heads);
}

void fill_mlp(const StatedModel& m, Architecture& a, Assumptions& assumptions) {
  a.gated_mlp = m.gated_mlp.value_or(m.ffn_hidden && *m.ffn_hidden != 4 * a.hidden);
  if (!m.gated_mlp) assumptions.emplace_back(a.gated_mlp ? "mlp is swiglu" : "mlp is gelu");
  if (m.ffn_hidden) {
    a.ffn_hidden = *m.ffn_hidden;
    return;
  }
  const std::int64_t gated = (8 * a.hidden / 3 + kWidthMultiple - 1) / kWidthMultiple * kWidthMultiple;
  a.ffn_hidden = a.gated_mlp ? gated : 4 * a.hidden;
  assumptions.push_back("ffn_hidden is " + std::to_string(a.ffn_hidden));
}

/// Models without gates are of GPT-2's time: layer norms, biases, learned positions, a tied head. T5's kin have RMS
/// norms, no biases and positions by distance.
void fill_block(const StatedModel& m, Architecture& a) {
  a.kind = m.kind.value_or(ModelKind::Decoder);
  const bool of_gpt2 = !a.gated_mlp && a.kind != ModelKind::EncoderDecoder;
  a.norm = of_gpt2 ? NormKind::LayerNorm : NormKind::RmsNorm;
  a.positions = of_gpt2 ? PositionEncoding::Learned : PositionEncoding::Rope;
  a.qkv_bias = a.attention_output_bias = a.mlp_bias = of_gpt2;
  if (a.kind == ModelKind::EncoderDecoder) {
    a.positions = PositionEncoding::RelativeBias;
    a.n_encoder_layers = m.n_encoder_layers.value_or(a.n_layers);
  }
  a.tied_embeddings = m.tied_embeddings.value_or(!a.gated_mlp);
}

Result<Architecture> from_widths(const StatedModel& m, Assumptions& assumptions) {
  if (!m.n_layers || !m.hidden) {
    return fail("unsupported", "model",
                "the model " + quote(m.name) + " is not in the catalog and n_layers and hidden are not both stated",
                "state the widths, or use a name that 'smplan models list' shows");
  }
  Architecture a;
  a.name = m.name;
  a.n_layers = *m.n_layers;
  a.hidden = *m.hidden;
  fill_heads(m, a, assumptions);
  fill_mlp(m, a, assumptions);
  fill_block(m, a);
  a.vocab = m.vocab.value_or(kGpt2Vocabulary);
  if (!m.vocab) assumptions.push_back("vocab is " + std::to_string(a.vocab) + " (GPT-2)");
  if (m.n_experts.value_or(0) <= 1) return a;
  if (m.top_k.value_or(0) < 1) {
    return fail("unsupported", "model", "n_experts is stated but top_k is not", "state top_k");
  }
  a.moe.n_experts = *m.n_experts;
  a.moe.top_k = *m.top_k;
  const std::int64_t expert_width = m.expert_ffn_hidden.value_or(0);
  a.moe.expert_ffn_hidden = expert_width > 0 ? expert_width : a.ffn_hidden;
  return a;
}

/// A size that neither all weights nor those of one token come near speaks of another model than the widths.
void compare_size(const StatedModel& m, const Architecture& a, Assumptions& assumptions) {
  constexpr double kNear = 0.2;
  if (m.params_b.value_or(0) <= 0) return;
  const double stated = 1e9 * *m.params_b;
  const auto total = static_cast<double>(count_parameters(a).total());
  const auto is_near = [&](double count) { return std::abs(stated / count - 1) <= kNear; };
  if (is_near(total) || is_near(static_cast<double>(active_parameters(a)))) return;
  assumptions.push_back("params_b says " + format_count(stated) + ", the widths make " + format_count(total));
}

}  // namespace

Result<Architecture> architecture_of(const StatedModel& m, const Catalog& catalog, Assumptions& assumptions) {
  const ModelPreset* preset = catalog.find_model(m.name);
  if (preset == nullptr && names_no_transformer(m.name)) {
    return fail("unsupported", "model", "the model " + quote(m.name) + " is no transformer of tokens",
                "language models, encoders such as BERT and vision transformers are modelled");
  }
  if (preset == nullptr || contradicts(m, preset->architecture)) {
    Result<Architecture> own = from_widths(m, assumptions);
    if (own) compare_size(m, *own, assumptions);
    return own;
  }
  Architecture a = preset->architecture;
  if (!a.layer_pattern.empty() && m.n_layers.value_or(a.n_layers) != a.n_layers) {
    return fail("unsupported", "model",
                "n_layers is " + std::to_string(*m.n_layers) + ", and the pattern of " + a.name + " has " +
                    std::to_string(a.n_layers) + " layers",
                "state no n_layers, or that of the pattern");
  }
  if (!m.hidden) assumptions.push_back("widths are those of " + a.name);
  override_layers(m, a);
  override_widths(m, a);
  compare_size(m, a, assumptions);
  return a;
}

}  // namespace smplan
