#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_reader.hpp"
#include "catalogs/provenance.hpp"

namespace smplan {

enum class ModelKind {
  Decoder,         ///< causal language model
  Encoder,         ///< BERT-like, full attention
  EncoderDecoder,  ///< T5-like: `n_layers` decoder layers with cross-attention, `n_encoder_layers` encoder layers
  Vision,          ///< ViT: patches in, class token, no vocabulary
};
std::string_view to_string(ModelKind kind);
std::optional<ModelKind> model_kind_from(std::string_view name);

enum class PositionEncoding { Rope, Learned, Alibi, RelativeBias, None };
std::string_view to_string(PositionEncoding encoding);

enum class NormKind { LayerNorm, RmsNorm };
std::string_view to_string(NormKind norm);

/// Widths of multi-head latent attention (DeepSeek V2/V3); all zero for ordinary attention.
struct LatentAttention {
  std::int64_t q_lora_rank = 0;   ///< 0: full-rank query projection
  std::int64_t kv_lora_rank = 0;  ///< > 0 switches latent attention on
  std::int64_t qk_nope_head_dim = 0;
  std::int64_t qk_rope_head_dim = 0;
  std::int64_t v_head_dim = 0;
  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// Attention of the layers without a window, where others have one and its widths are not theirs (Gemma 4).
struct GlobalAttention {
  std::int64_t head_dim = 0;     ///< 0: that of the others
  std::int64_t n_kv_heads = 0;   ///< 0: as many as the others
  bool keys_are_values = false;  ///< one projection makes both
  friend bool operator==(const GlobalAttention&, const GlobalAttention&) = default;
};

/// The last layers of a model, where they have no keys and values of their own: they attend to those of the last layer
/// before them that has a window, or none, as they have (Gemma 3n, Gemma 4).
struct SharedKeyValues {
  std::int64_t n_layers = 0;
  std::int64_t ffn_hidden = 0;  ///< of their MLP; 0: the model's
  friend bool operator==(const SharedKeyValues&, const SharedKeyValues&) = default;
};

/// A further embedding of each token for every layer: its sum with a projection of the usual embedding is multiplied
/// into what a layer ends with, between a projection down to this width and one up again (Gemma 3n, Gemma 4).
struct LayerEmbeddings {
  std::int64_t width = 0;  ///< > 0 switches it on
  std::int64_t vocab = 0;  ///< rows of the table
  friend bool operator==(const LayerEmbeddings&, const LayerEmbeddings&) = default;
};

/// Mixing of tokens through a running state, in time linear in the sequence: Mamba-2 (Dao & Gu 2024, 2405.21060), whose
/// C, B and x are queries, keys and values here, or the gated delta rule (Yang et al. 2024, 2412.06464). All zero for a
/// model without.
struct StateMixer {
  std::int64_t n_heads = 0;  ///< of values; > 0 switches it on
  std::int64_t head_dim = 0;
  std::int64_t n_groups = 0;     ///< heads of keys and queries
  std::int64_t state_dim = 0;    ///< of a key
  std::int64_t conv_kernel = 0;  ///< tokens under the causal convolution of queries, keys and values
  std::int64_t chunk = 0;        ///< tokens between two states that the kernels write
  bool delta_rule = false;
  [[nodiscard]] std::int64_t values() const { return n_heads * head_dim; }
  [[nodiscard]] std::int64_t keys() const { return n_groups * state_dim; }
  friend bool operator==(const StateMixer&, const StateMixer&) = default;
};

/// Blocks of one attention and one MLP that predict tokens beyond the next (DeepSeek-V3, 2412.19437, section 2.2).
struct MultiTokenPrediction {
  std::int64_t depth = 0;     ///< tokens beyond the next
  bool shared_block = false;  ///< one block serves all depths
  friend bool operator==(const MultiTokenPrediction&, const MultiTokenPrediction&) = default;
};

/// Mixture of experts; `n_experts` = 0 for a dense model.
struct MixtureOfExperts {
  std::int64_t n_experts = 0;
  std::int64_t top_k = 0;
  std::int64_t expert_ffn_hidden = 0;
  std::int64_t latent_hidden = 0;             ///< routed experts read and write this width (LatentMoE); 0: the model's
  std::int64_t n_shared_experts = 0;          ///< always-on experts
  std::int64_t shared_expert_ffn_hidden = 0;  ///< width of each shared expert
  bool shared_expert_gate = false;            ///< Qwen2-MoE: one sigmoid gate of width hidden
  std::int64_t n_leading_dense_layers = 0;    ///< DeepSeek: first layers dense, of width `ffn_hidden`
  std::int64_t layer_stride = 1;              ///< every stride-th layer is MoE (Llama 4 Maverick: 2)
  bool router_bias = false;                   ///< one bias per expert
  bool expert_bias = false;                   ///< gpt-oss: biases on the expert projections
  friend bool operator==(const MixtureOfExperts&, const MixtureOfExperts&) = default;
};

/// The widths that decide parameters, FLOPs and bytes of a transformer. Plain facts; the formulas
/// over them live in models/.
struct Architecture {
  std::string name;
  std::string family;
  std::string transformers_type;  ///< where it is not the family; see model_type()
  ModelKind kind = ModelKind::Decoder;
  std::int64_t n_layers = 0;          ///< decoder (or only) stack
  std::int64_t n_encoder_layers = 0;  ///< EncoderDecoder only
  std::int64_t hidden = 0;
  std::int64_t n_heads = 0;
  std::int64_t n_kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn_hidden = 0;     ///< of the dense MLP; with a gate, of each of the two up projections
  std::int64_t vocab = 0;          ///< as trained, padding included where the checkpoint has it
  std::int64_t max_positions = 0;  ///< longest sequence; rows of the position table where positions are learned
  bool gated_mlp = true;           ///< SwiGLU/GeGLU: three matrices; else two
  NormKind norm = NormKind::RmsNorm;
  bool norm_bias = true;  ///< LayerNorm carries a bias; MPT's does not
  PositionEncoding positions = PositionEncoding::Rope;
  double rotary_base = 0;  ///< rope_theta, of which the angles of rotary positions are powers; 0: not known
  bool tied_embeddings = false;
  bool qkv_bias = false;
  bool attention_output_bias = false;
  bool mlp_bias = false;
  bool qk_norm = false;                ///< norms of width head_dim on queries and keys
  bool value_norm = false;             ///< norms without weights on values (Gemma 4)
  bool attention_output_gate = false;  ///< queries come with as many gates of the attention's output (Qwen3-Next)
  bool scaled_rotary = false;   ///< rotary embedding times a factor other than 1 (YaRN's, Peng et al. 2023: gpt-oss)
  bool parallel_block = false;  ///< attention and MLP read the same norm (GPT-NeoX, Falcon)
  std::int64_t norms_per_layer = 2;
  bool final_norm = true;
  bool embedding_norm = false;  ///< BLOOM, BERT
  bool lm_head_bias = false;
  bool plain_gelu = false;  ///< its public code computes GELU's tanh form operation by operation (gelu_new)
  /// Its public code computes attention operation by operation and stores the scores: no scaled dot product attention.
  bool plain_attention = false;
  bool half_logits = false;  ///< its public code leaves logits and loss in 16 bits where nothing casts them
  /// Tokens that a layer attends to; 0 is all. `sliding_window_stride` n: every n-th layer is global,
  /// the others windowed; 0: every layer windowed.
  std::int64_t sliding_window = 0;
  std::int64_t sliding_window_stride = 0;
  /// One letter a layer, each of which is one part alone, as Megatron Core's hybrid_layer_pattern has them: `M` state
  /// mixer, `*` attention, `-` MLP, `E` experts. Empty: every layer has a mixer and an MLP.
  std::string layer_pattern;
  std::int64_t attention_stride = 0;  ///< every n-th layer attends, the others have the state mixer; 0: all attend
  /// Parameters outside the formulas above (token-type embeddings, poolers, relative biases,
  /// attention sinks, patch projection), whole model; named in `extra_parameters_note`.
  std::int64_t extra_parameters = 0;
  std::string extra_parameters_note;
  /// What the file that it was read from describes beside it, in words: a tower for images. Neither its parameters nor
  /// its time are counted; every answer says so.
  std::string left_out;
  LatentAttention latent;
  GlobalAttention global;
  SharedKeyValues shared_key_values;
  LayerEmbeddings layer_embeddings;
  StateMixer state;
  MixtureOfExperts moe;
  MultiTokenPrediction prediction;

  /// Transformers' name of the type, as the model's config.json has it. Those that only code beside their weights
  /// builds have that code's name.
  [[nodiscard]] std::string_view model_type() const { return transformers_type.empty() ? family : transformers_type; }
  [[nodiscard]] bool is_moe() const { return moe.n_experts > 0; }
  /// Whether some layer has an MLP of width ffn_hidden.
  [[nodiscard]] bool has_dense_mlp() const;
  [[nodiscard]] bool has_state_mixer() const { return state.n_heads > 0; }
  [[nodiscard]] std::int64_t routed_hidden() const { return moe.latent_hidden > 0 ? moe.latent_hidden : hidden; }
  /// Tokens that are predicted from each, the next one among them.
  [[nodiscard]] std::int64_t predictions() const { return 1 + prediction.depth; }
  [[nodiscard]] bool has_latent_attention() const { return latent.kv_lora_rank > 0; }
  friend bool operator==(const Architecture&, const Architecture&) = default;
};

/// Impossible or inconsistent widths, each with its field (`hidden must be positive, is 0`). Also bounds every
/// width so that parameter counts fit in 64 bits.
Diagnostics check(const Architecture& architecture, std::string_view where);

/// Reads the `smplan.architecture/1` object (also what `--arch` takes) and checks it. `n_kv_heads` defaults to
/// `n_heads`, `head_dim` to `hidden / n_heads`; other keys to the defaults of Architecture.
Architecture read_architecture(const JsonValue& value, Diagnostics& out);

/// A named public model.
struct ModelPreset {
  Architecture architecture;
  std::vector<std::string> aliases;
  std::int64_t published_parameters = 0;  ///< count of the released checkpoint
  /// Half of the last digit where only a rounded count was published (GPT-3: 175 B); 0 where it is exact.
  std::int64_t published_rounding = 0;
  std::int64_t default_seq_len = 0;  ///< of its pre-training; a usual length where that is unpublished
  double trained_tokens = 0;         ///< 0 where unpublished
  double batch_tokens =
      0;  ///< tokens of an optimizer step of its pre-training, the last of a ramp; 0 where unpublished
  std::string batch_source;
  std::string note;  ///< what the published count leaves out, or which figure was corrected
  Provenance provenance;
  friend bool operator==(const ModelPreset&, const ModelPreset&) = default;
};

ModelPreset read_model_preset(const JsonValue& value, Diagnostics& out);

/// Reads a Hugging Face config.json of a known `model_type` (of its `text_config` where the model is multimodal, whose
/// other parts `left_out` names), with transformers' defaults for keys that such files omit; refuses others by naming
/// the keys needed. parse_hf_config() (catalogs/hf_config.hpp) takes what Python writes.
Result<Architecture> read_hf_config(const JsonValue& config);

}  // namespace smplan
