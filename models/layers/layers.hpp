#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/result.hpp"
#include "catalogs/architecture.hpp"
#include "catalogs/stack.hpp"
#include "models/job/workload.hpp"

namespace smplan {

/// What mixes the tokens of a layer.
enum class Mixer : std::uint8_t { Attention, State, None };

/// What training does with the weights of a layer.
enum class LayerRole : std::uint8_t {
  Trained,    ///< they are trained, or adapters beside them
  Crossed,    ///< frozen; gradients go through the layer to what is trained below
  Unreached,  ///< frozen, and so is all below: there is no backward pass
};

/// One kind of layer, as widths.
struct LayerSpec {
  Mixer mixer = Mixer::Attention;
  bool moe = false;
  bool encoder = false;          ///< full (not causal) self-attention
  bool cross_attention = false;  ///< decoder layer of an encoder-decoder
  bool further_token = false;    ///< of a block that predicts a token beyond the next
  bool borrows_keys = false;     ///< attends to the keys and values of an earlier layer
  std::int64_t ffn_hidden = 0;   ///< dense width; 0 in a MoE layer and in one without an MLP
  std::int64_t window = 0;       ///< tokens attended to; 0 is all
  LayerRole role = LayerRole::Trained;
  [[nodiscard]] bool has_backward() const { return role != LayerRole::Unreached; }
  [[nodiscard]] bool has_mlp() const { return moe || ffn_hidden > 0; }
  /// Mixers and MLPs, each of which stands beside a residual connection.
  [[nodiscard]] int parts() const { return (mixer == Mixer::None ? 0 : 1) + (has_mlp() ? 1 : 0); }
  friend bool operator==(const LayerSpec&, const LayerSpec&) = default;
};

/// Heads of one layer's attention, where that is no latent one.
struct AttentionWidths {
  std::int64_t n_heads = 0;
  std::int64_t n_kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t projections = 2;  ///< that make keys and values: none where the layer borrows both
  std::int64_t made = 2;         ///< keys and values that the layer makes: both or none
  [[nodiscard]] std::int64_t queries() const { return n_heads * head_dim; }
  [[nodiscard]] std::int64_t keys() const { return n_kv_heads * head_dim; }
  /// Values of the tensors that one token has in this layer: queries, keys and values, made here.
  [[nodiscard]] std::int64_t made_values() const { return queries() + made * keys(); }
};
AttentionWidths attention_widths(const Architecture& architecture, const LayerSpec& spec);

/// Parameters of one layer of a kind. `experts` is what expert parallelism divides.
struct LayerParameters {
  std::int64_t attention = 0;  ///< or state mixer
  std::int64_t mlp = 0;        ///< dense MLP, or all but the routed experts of a MoE layer
  std::int64_t experts = 0;    ///< routed experts
  std::int64_t norms = 0;      ///< replicated over tensor-parallel ranks
  [[nodiscard]] std::int64_t total() const { return attention + mlp + experts + norms; }
};
LayerParameters layer_parameters(const Architecture& architecture, const LayerSpec& spec);

/// Columns of the product that a state mixer begins with: gate, values, keys, queries and what steers each head's state
/// (a step; with the delta rule its strength too).
std::int64_t state_mixer_inputs(const StateMixer& mixer);

/// Layers of one kind, with what every estimate asks of them.
struct LayerRun {
  LayerSpec spec;
  std::int64_t count = 0;
  std::int64_t sharing = 1;        ///< layers to one set of weights
  LayerParameters parameters;      ///< of one layer
  std::int64_t active_matmul = 0;  ///< active_matmul_parameters() of one layer
  /// Part of the depth over which the run is spread where kinds alternate: that of its role, or all of it (`to` is 0).
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// Kinds of layers that a model may have: attention with a window and without, or a state mixer, each with experts or
/// without, and a block for further tokens; or both kinds of attention with keys of their own and borrowed ones. Where
/// part of the model is frozen each kind may have three roles.
inline constexpr std::size_t kMaxLayerKinds = 18;
/// One value for each kind of layer of a stack.
template <typename T>
using PerKind = std::array<T, kMaxLayerKinds>;

/// The layers of a model, grouped by kind, in depth order of first appearance; those that predict further tokens last.
struct LayerStack {
  PerKind<LayerRun> runs{};
  int n_runs = 0;
  /// True where kinds alternate through the depth (Llama 4, Gemma windows, hybrids), so that every
  /// pipeline stage holds its share of each; false where they follow each other (DeepSeek, T5).
  bool interleaved = false;
  /// Layers that the output head counts for where pipeline stages are cut by weights; 0 where it does not count.
  double head_layers = 0;

  /// Layers through which a token passes on its way to the next one's logits.
  [[nodiscard]] std::int64_t total() const;
  /// The most layers of a pipeline stage, those that predict further tokens among them.
  [[nodiscard]] std::int64_t most_on_a_stage(std::int64_t stages) const;
  [[nodiscard]] const LayerRun* begin() const { return runs.data(); }
  [[nodiscard]] const LayerRun* end() const { return runs.data() + n_runs; }
};

LayerStack layer_stack(const Architecture& architecture);
/// The same as `software` cuts it into pipeline stages.
LayerStack layer_stack(const Architecture& architecture, const Stack& software);
/// The same by what the workload does with each layer.
LayerStack layer_stack(const Workload& workload);
LayerStack layer_stack(const Workload& workload, const Stack& software);

/// Whether the weights of such layers are updated themselves.
inline bool trains_weights(const Workload& workload, const LayerSpec& spec) {
  return workload.finetune == FineTune::Full && spec.role == LayerRole::Trained;
}

/// Layers of each run on one pipeline rank. Fractions appear where kinds alternate through the depth. What predicts
/// further tokens is on the last.
PerKind<double> stage_layers(const LayerStack& stack, std::int32_t stage, std::int32_t stages);

/// Parameters outside the layers.
struct EdgeParameters {
  std::int64_t embedding = 0;         ///< token (and learned position, token-type) embeddings, embedding norm
  std::int64_t layer_embeddings = 0;  ///< tables of what every layer embeds, and the norm behind them
  std::int64_t head = 0;              ///< output projection if untied, its bias
  std::int64_t extra = 0;
};
EdgeParameters edge_parameters(const Architecture& architecture);

/// Parameters by part. Exact integers; sums equal the published count of every preset.
struct ParameterCount {
  std::int64_t embedding = 0;
  std::int64_t head = 0;
  std::int64_t attention = 0;  ///< all layers; queries, keys, values and output
  std::int64_t state_mixers = 0;
  std::int64_t dense_mlp = 0;
  std::int64_t router = 0;   ///< and the projections to and from the width of routed experts, where they have their own
  std::int64_t experts = 0;  ///< routed experts only
  std::int64_t shared_experts = 0;
  std::int64_t norms = 0;
  std::int64_t extra = 0;
  /// Blocks that predict them: trained, but in no published count, and not in total().
  std::int64_t further_tokens = 0;
  [[nodiscard]] std::int64_t total() const {
    return embedding + head + attention + state_mixers + dense_mlp + router + experts + shared_experts + norms + extra;
  }
};

ParameterCount count_parameters(const Architecture& architecture);
/// Parameters that touch one token: routed experts counted top_k times.
std::int64_t active_parameters(const Architecture& architecture);

/// Weights that multiply one token in a layer (no biases, no norms; `top_k` of the routed experts).
std::int64_t active_matmul_parameters(const Architecture& architecture, const LayerSpec& spec);

/// Trainable adapter parameters of a LoRA run: `rank * (in + out)` per linear map. With latent attention queries and
/// values are not told apart: all its projections count. Source: Hu et al. 2021.
/// With what their method trains for each output beside it. Of a prompt its virtual tokens and what makes them. Of all
/// adapters that are trained at once.
std::int64_t lora_parameters(const Architecture& architecture, const Lora& lora);
/// Those that touch one token, of one adapter: `top_k` of the routed experts.
std::int64_t active_lora_parameters(const Architecture& architecture, const Lora& lora);
/// Those of routed experts, all of them.
std::int64_t expert_lora_parameters(const Architecture& architecture, const Lora& lora);
/// What a run trains in all.
std::int64_t trained_parameters(const Workload& workload);
/// What a LoRA run trains in all: the adapters and, where they are trained too, embedding and head.
std::int64_t trained_lora_parameters(const Architecture& architecture, const Lora& lora);
/// Of these what PEFT writes: not the encoder of a prompt, but what it makes.
std::int64_t saved_lora_parameters(const Architecture& architecture, const Lora& lora);

/// A realistic dense (Llama-shaped) architecture within 2 % of a parameter count: a preset where one
/// matches, else interpolated widths. Fails below 1M and above 10T parameters.
Result<Architecture> architecture_of_size(double parameters, std::span<const ModelPreset> presets);
/// The same with the shipped presets.
Result<Architecture> architecture_of_size(double parameters);

}  // namespace smplan
