#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "catalogs/architecture.hpp"
#include "catalogs/stack.hpp"

namespace smplan {

/// One kind of transformer layer, as widths.
struct LayerSpec {
  bool moe = false;
  bool encoder = false;          ///< full (not causal) self-attention
  bool cross_attention = false;  ///< decoder layer of an encoder-decoder
  std::int64_t ffn_hidden = 0;   ///< dense width; 0 in a MoE layer
  std::int64_t window = 0;       ///< tokens attended to; 0 is all
  friend bool operator==(const LayerSpec&, const LayerSpec&) = default;
};

/// Parameters of one layer of a kind. `experts` is what expert parallelism divides.
struct LayerParameters {
  std::int64_t attention = 0;
  std::int64_t mlp = 0;      ///< dense MLP, or shared experts and router of a MoE layer
  std::int64_t experts = 0;  ///< routed experts
  std::int64_t norms = 0;    ///< replicated over tensor-parallel ranks
  [[nodiscard]] std::int64_t total() const { return attention + mlp + experts + norms; }
};
LayerParameters layer_parameters(const Architecture& architecture, const LayerSpec& spec);

/// Layers of one kind, with what every estimate asks of them.
struct LayerRun {
  LayerSpec spec;
  std::int64_t count = 0;
  LayerParameters parameters;      ///< of one layer
  std::int64_t active_matmul = 0;  ///< active_matmul_parameters() of one layer
};

/// The layers of a model, grouped by kind, in depth order of first appearance.
struct LayerStack {
  std::array<LayerRun, 4> runs{};
  int n_runs = 0;
  /// True where kinds alternate through the depth (Llama 4, Gemma windows), so that every
  /// pipeline stage holds its share of each; false where they follow each other (DeepSeek, T5).
  bool interleaved = false;
  /// Layers that the output head counts for where pipeline stages are cut by weights; 0 where it does not count.
  double head_layers = 0;

  [[nodiscard]] std::int64_t total() const;
  [[nodiscard]] const LayerRun* begin() const { return runs.data(); }
  [[nodiscard]] const LayerRun* end() const { return runs.data() + n_runs; }
};

LayerStack layer_stack(const Architecture& architecture);
/// The same as `software` cuts it into pipeline stages.
LayerStack layer_stack(const Architecture& architecture, const Stack& software);

/// Parameters outside the layers.
struct EdgeParameters {
  std::int64_t embedding = 0;  ///< token (and learned position, token-type) embeddings, embedding norm
  std::int64_t head = 0;       ///< output projection if untied, its bias
  std::int64_t extra = 0;
};
EdgeParameters edge_parameters(const Architecture& architecture);

/// Parameters by part. Exact integers; sums equal the published count of every preset.
struct ParameterCount {
  std::int64_t embedding = 0;
  std::int64_t head = 0;
  std::int64_t attention = 0;  ///< all layers
  std::int64_t dense_mlp = 0;
  std::int64_t router = 0;
  std::int64_t experts = 0;  ///< routed experts only
  std::int64_t shared_experts = 0;
  std::int64_t norms = 0;
  std::int64_t extra = 0;
  [[nodiscard]] std::int64_t total() const {
    return embedding + head + attention + dense_mlp + router + experts + shared_experts + norms + extra;
  }
};

ParameterCount count_parameters(const Architecture& architecture);
/// Parameters that touch one token: routed experts counted top_k times.
std::int64_t active_parameters(const Architecture& architecture);

/// Weights that multiply one token in a layer (no biases, no norms; `top_k` of the routed experts).
std::int64_t active_matmul_parameters(const Architecture& architecture, const LayerSpec& spec);

/// Maps that carry adapters.
enum class LoraTargets {
  QueryValue,  ///< Hu et al. 2021, section 4.2; PEFT's default for Llama
  Attention,   ///< all its projections
  Linear,      ///< those and the MLPs (every expert's); never router, embedding or head
};

/// Trainable adapter parameters of a LoRA run: `rank * (in + out)` per linear map. With latent attention queries and
/// values are not told apart: all its projections count. Source: Hu et al. 2021.
std::int64_t lora_parameters(const Architecture& architecture, std::int64_t rank, LoraTargets targets);
/// Those that touch one token: `top_k` of the routed experts.
std::int64_t active_lora_parameters(const Architecture& architecture, std::int64_t rank, LoraTargets targets);

/// A realistic dense (Llama-shaped) architecture within 2 % of a parameter count: a preset where one
/// matches, else interpolated widths. Fails below 1M and above 10T parameters.
Result<Architecture> architecture_of_size(double parameters, std::span<const ModelPreset> presets);
/// The same with the shipped presets.
Result<Architecture> architecture_of_size(double parameters);

}  // namespace smplan
