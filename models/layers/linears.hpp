#pragma once

#include <cstdint>

#include "models/layers/layers.hpp"

namespace smplan {

/// What a weight matrix of a layer does.
enum class LinearPart : std::uint8_t {
  Query,
  Key,
  Value,
  AttentionOutput,
  LatentDown,  ///< of latent attention: from hidden states
  LatentUp,    ///< from its low ranks
  StateInputs,
  StateOutput,
  DenseMlp,
  SharedExpert,
  SharedExpertGate,
  Router,
  Expert,
  LayerEmbedding,
  LayerGate,
  JoinedEmbedding,
};

constexpr std::uint32_t kAllLinearParts = ~std::uint32_t{0};

/// How tensor ranks share the weights of a linear layer.
enum class TensorCut : std::uint8_t {
  None,
  Columns,  ///< inputs are gathered before
  Rows,     ///< partial sums are scattered after, and backward their gradients gathered before
};

/// Weight matrices of one shape.
struct Linear {
  LinearPart part;
  std::int64_t inputs;
  std::int64_t outputs;
  TensorCut cut = TensorCut::None;
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
    if (l.q_lora_rank > 0) visit(Linear{LinearPart::LatentDown, h, l.q_lora_rank});
    if (l.q_lora_rank > 0) {
      visit(Linear{LinearPart::LatentUp, l.q_lora_rank, queries, TensorCut::Columns});
    } else {
      visit(Linear{LinearPart::LatentDown, h, queries, TensorCut::Columns});
    }
    visit(Linear{LinearPart::LatentDown, h, l.kv_lora_rank + l.qk_rope_head_dim});
    visit(Linear{LinearPart::LatentUp, l.kv_lora_rank, a.n_heads * (l.qk_nope_head_dim + l.v_head_dim),
                 TensorCut::Columns});
    visit(Linear{LinearPart::AttentionOutput, a.n_heads * l.v_head_dim, h, TensorCut::Rows});
  } else {
    const AttentionWidths heads = attention_widths(a, spec);
    const std::int64_t blocks = spec.cross_attention ? 2 : 1;
    visit(
        Linear{LinearPart::Query, h, (a.attention_output_gate ? 2 : 1) * heads.queries(), TensorCut::Columns, blocks});
    // Where one projection makes keys and values it is that of the keys.
    if (heads.projections > 1) visit(Linear{LinearPart::Value, h, heads.keys(), TensorCut::Columns, blocks});
    if (heads.projections > 0) visit(Linear{LinearPart::Key, h, heads.keys(), TensorCut::Columns, blocks});
    visit(Linear{LinearPart::AttentionOutput, heads.queries(), h, TensorCut::Rows, blocks});
  }
}

/// Calls `visit(linear)` for every weight matrix of a layer. The one place that knows which matrices a layer has;
/// counts, FLOPs and adapters are sums over it.
template <typename Visit>
void for_each_linear(const Architecture& a, const LayerSpec& spec, Visit&& visit) {
  const std::int64_t h = a.hidden;
  // A block for a further token begins by joining its input with the embedding of the token before.
  if (spec.further_token && spec.mixer != Mixer::None)
    visit(Linear{LinearPart::JoinedEmbedding, 2 * h, h, TensorCut::Columns});
  if (spec.mixer == Mixer::Attention) for_each_attention_linear(a, spec, visit);
  if (spec.mixer == Mixer::State) {
    visit(Linear{LinearPart::StateInputs, h, state_mixer_inputs(a.state), TensorCut::Columns});
    visit(Linear{LinearPart::StateOutput, a.state.values(), h, TensorCut::Rows});
  }
  if (const std::int64_t width = a.layer_embeddings.width; width > 0) {
    visit(Linear{LinearPart::LayerEmbedding, h, width});
    visit(Linear{LinearPart::LayerGate, h, width});
    visit(Linear{LinearPart::LayerGate, width, h});
  }
  const std::int64_t up_projections = a.gated_mlp ? 2 : 1;
  const auto mlp = [&](LinearPart part, std::int64_t outside, std::int64_t width, std::int64_t copies) {
    if (width == 0 || copies == 0) return;
    visit(Linear{part, outside, width, TensorCut::Columns, up_projections * copies, up_projections});
    visit(Linear{part, width, outside, TensorCut::Rows, copies});
  };
  if (!spec.moe) return mlp(LinearPart::DenseMlp, h, spec.ffn_hidden, 1);
  visit(Linear{LinearPart::Router, h, a.moe.n_experts});
  if (a.moe.latent_hidden > 0) {
    visit(Linear{LinearPart::Router, h, a.moe.latent_hidden});
    visit(Linear{LinearPart::Router, a.moe.latent_hidden, h});
  }
  mlp(LinearPart::Expert, a.routed_hidden(), a.moe.expert_ffn_hidden, a.moe.n_experts);
  // One MLP, as wide as all of them.
  mlp(LinearPart::SharedExpert, h, a.moe.n_shared_experts * a.moe.shared_expert_ffn_hidden, 1);
  if (a.moe.shared_expert_gate) visit(Linear{LinearPart::SharedExpertGate, h, 1});
}

}  // namespace smplan
