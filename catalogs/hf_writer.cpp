#include "catalogs/hf_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json_writer.hpp"

namespace smplan {
namespace {

// Positions where the architecture does not know them.
constexpr std::int64_t kUsualPositions = 4096;

/// Writes some keys of a config. It writes those that the class in transformers obeys, and no others: what the class
/// cannot say is then missing, and the comparison with what was asked for finds it.
using Part = void (*)(const Architecture&, Json&);

/// How one model type is written.
struct Row {
  std::string_view model_type;
  ModelKind kind;
  std::string_view built_by;  ///< the class that trains it
  std::array<Part, 6> parts;
};

std::int64_t token(const Architecture& a, std::int64_t id) { return std::min(a.vocab - 1, id); }

std::int64_t positions_of(const Architecture& a) { return a.max_positions > 0 ? a.max_positions : kUsualPositions; }

/// Beside experts alone the dense width has no use, and may be 0.
std::int64_t mlp_width(const Architecture& a) { return a.ffn_hidden > 0 ? a.ffn_hidden : a.moe.expert_ffn_hidden; }

void widths(const Architecture& a, Json& c) {
  c["vocab_size"] = a.vocab;
  c["hidden_size"] = a.hidden;
  c["intermediate_size"] = mlp_width(a);
  c["num_hidden_layers"] = a.n_layers;
  c["num_attention_heads"] = a.n_heads;
  c["max_position_embeddings"] = positions_of(a);
  c["tie_word_embeddings"] = a.tied_embeddings;
}

void tokens(const Architecture& a, Json& c) {
  c["bos_token_id"] = token(a, 1);
  c["eos_token_id"] = token(a, 2);
  c["pad_token_id"] = nullptr;
}

void rotary(const Architecture& a, Json& c) {
  if (a.rotary_base > 0) c["rope_theta"] = a.rotary_base;
}

void grouped_heads(const Architecture& a, Json& c) { c["num_key_value_heads"] = a.n_kv_heads; }

/// What all classes since LLaMA share whose heads may have any width.
void decoder(const Architecture& a, Json& c) {
  widths(a, c);
  grouped_heads(a, c);
  c["head_dim"] = a.head_dim;
  rotary(a, c);
  tokens(a, c);
}

void attention_bias(const Architecture& a, Json& c) { c["attention_bias"] = a.qkv_bias; }
void mlp_bias(const Architecture& a, Json& c) { c["mlp_bias"] = a.mlp_bias; }
void use_bias(const Architecture& a, Json& c) { c["use_bias"] = a.qkv_bias; }
void lm_head_bias(const Architecture& a, Json& c) { c["lm_head_bias"] = a.lm_head_bias; }
void use_qk_norm(const Architecture& a, Json& c) { c["use_qk_norm"] = a.qk_norm; }

/// Classes that rotate one part of so many of each head: all of it where that part would have an odd width.
template <int kParts>
void partial_rotary(const Architecture& a, Json& c) {
  if (a.head_dim % (2 * kParts) != 0) c["partial_rotary_factor"] = 1.0;
}

/// Classes whose layers are all alike.
void window(const Architecture& a, Json& c) {
  c["sliding_window"] = a.sliding_window > 0 ? Json(a.sliding_window) : Json();
}

bool sees_all(const Architecture& a, std::int64_t layer) {
  return a.sliding_window == 0 || (a.sliding_window_stride > 0 && (layer + 1) % a.sliding_window_stride == 0);
}

void list_layers(const Architecture& a, Json& c, const char* windowed) {
  Json types = Json::array();
  for (std::int64_t layer = 0; layer < a.n_layers; ++layer) {
    types.push_back(sees_all(a, layer) ? "full_attention" : windowed);
  }
  c["layer_types"] = std::move(types);
}

void listed_windows(const Architecture& a, Json& c) {
  if (a.sliding_window > 0) c["sliding_window"] = a.sliding_window;
  list_layers(a, c, "sliding_attention");
}

void qwen2_windows(const Architecture& a, Json& c) {
  c["use_sliding_window"] = a.sliding_window > 0;
  if (a.sliding_window == 0) return;
  c["max_window_layers"] = a.n_layers;
  listed_windows(a, c);
}

void chunked_windows(const Architecture& a, Json& c) {
  if (a.sliding_window > 0) c["attention_chunk_size"] = a.sliding_window;
  list_layers(a, c, "chunked_attention");
}

/// The scale of the scores, which Gemma 2 and 3 take from a number of its own.
void gemma_scores(const Architecture& a, Json& c) { c["query_pre_attn_scalar"] = a.head_dim; }

/// Its layers without a window have heads of their own; the class reads the base of its rotation by kind of layer, of
/// which the architecture knows the one without a window.
void gemma4_block(const Architecture& a, Json& c) {
  constexpr double kWindowedBase = 10'000;
  constexpr double kGlobalBase = 1'000'000;
  c["head_dim"] = a.head_dim;
  c["global_head_dim"] = a.global.head_dim > 0 ? a.global.head_dim : a.head_dim;
  c["attention_k_eq_v"] = a.global.keys_are_values;
  if (a.global.n_kv_heads > 0) c["num_global_key_value_heads"] = a.global.n_kv_heads;
  c["hidden_size_per_layer_input"] = a.layer_embeddings.width;
  if (a.layer_embeddings.width > 0) c["vocab_size_per_layer_input"] = a.layer_embeddings.vocab;
  c["num_kv_shared_layers"] = a.shared_key_values.n_layers;
  c["use_double_wide_mlp"] = a.shared_key_values.ffn_hidden > 0;
  c["rope_parameters"] = {{"full_attention",
                           {{"rope_type", "proportional"},
                            {"partial_rotary_factor", 0.25},
                            {"rope_theta", a.rotary_base > 0 ? a.rotary_base : kGlobalBase}}},
                          {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", kWindowedBase}}}};
  c["enable_moe_block"] = a.is_moe();
  if (!a.is_moe()) return;
  c["intermediate_size"] = a.moe.n_shared_experts * a.moe.shared_expert_ffn_hidden;
  c["num_experts"] = a.moe.n_experts;
  c["top_k_experts"] = a.moe.top_k;
  c["moe_intermediate_size"] = a.moe.expert_ffn_hidden;
}

void top_k(const Architecture& a, Json& c) { c["num_experts_per_tok"] = a.moe.top_k; }

void mixtral_experts(const Architecture& a, Json& c) {
  c["intermediate_size"] = a.moe.expert_ffn_hidden;
  c["num_local_experts"] = a.moe.n_experts;
  top_k(a, c);
}

void olmoe_experts(const Architecture& a, Json& c) {
  c["intermediate_size"] = a.moe.expert_ffn_hidden;
  c["num_experts"] = a.moe.n_experts;
  top_k(a, c);
}

void shared_mlp(const Architecture& a, Json& c) {
  c["shared_intermediate_size"] = a.moe.n_shared_experts > 0 ? a.moe.shared_expert_ffn_hidden : 0;
}

void qwen_experts(const Architecture& a, Json& c) {
  c["num_experts"] = a.moe.n_experts;
  top_k(a, c);
  c["moe_intermediate_size"] = a.moe.expert_ffn_hidden;
  c["decoder_sparse_step"] = a.moe.layer_stride;
  c["mlp_only_layers"] = Json::array();
}

void qwen_shared_expert(const Architecture& a, Json& c) {
  c["shared_expert_intermediate_size"] = a.moe.shared_expert_ffn_hidden;
}

void qkv_bias(const Architecture& a, Json& c) { c["qkv_bias"] = a.qkv_bias; }

void routed_experts(const Architecture& a, Json& c) {
  c["n_routed_experts"] = a.moe.n_experts;
  top_k(a, c);
  c["moe_intermediate_size"] = a.moe.expert_ffn_hidden;
  c["n_shared_experts"] = a.moe.n_shared_experts;
  c["first_k_dense_replace"] = a.moe.n_leading_dense_layers;
  // One group of experts: which of them may be chosen together moves no width.
  c["n_group"] = 1;
  c["topk_group"] = 1;
}

void no_further_tokens(const Architecture&, Json& c) { c["num_nextn_predict_layers"] = 0; }

void llama4_experts(const Architecture& a, Json& c) {
  c["intermediate_size"] = a.moe.expert_ffn_hidden;
  c["intermediate_size_mlp"] = mlp_width(a);
  c["num_local_experts"] = a.moe.n_experts;
  top_k(a, c);
  c["interleave_moe_layer_step"] = a.moe.layer_stride;
}

void latent_decoder(const Architecture& a, Json& c) {
  widths(a, c);
  grouped_heads(a, c);
  c["q_lora_rank"] = a.latent.q_lora_rank > 0 ? Json(a.latent.q_lora_rank) : Json();
  c["kv_lora_rank"] = a.latent.kv_lora_rank;
  c["qk_nope_head_dim"] = a.latent.qk_nope_head_dim;
  c["qk_rope_head_dim"] = a.latent.qk_rope_head_dim;
  c["v_head_dim"] = a.latent.v_head_dim;
  rotary(a, c);
  tokens(a, c);
}

/// YaRN as gpt-oss has it (openai/gpt-oss-20b, config.json).
void gpt_oss_rotary(const Architecture&, Json& c) {
  c["rope_scaling"] = {{"rope_type", "yarn"}, {"factor", 32.0},    {"beta_fast", 32.0},
                       {"beta_slow", 1.0},    {"truncate", false}, {"original_max_position_embeddings", 4096}};
}

void delta_mixers(const Architecture& a, Json& c) {
  c["linear_num_value_heads"] = a.state.n_heads;
  c["linear_value_head_dim"] = a.state.head_dim;
  c["linear_num_key_heads"] = a.state.n_groups;
  c["linear_key_head_dim"] = a.state.state_dim;
  c["linear_conv_kernel_dim"] = a.state.conv_kernel;
  c["full_attention_interval"] = a.attention_stride;
  Json types = Json::array();
  for (std::int64_t layer = 1; layer <= a.n_layers; ++layer) {
    const bool attends = a.attention_stride == 0 || layer % a.attention_stride == 0;
    types.push_back(attends ? "full_attention" : "linear_attention");
  }
  c["layer_types"] = std::move(types);
}

/// The class never ties its head.
void hybrid_layers(const Architecture& a, Json& c) {
  c["tie_word_embeddings"] = false;
  Json words = Json::array();
  for (const char letter : a.layer_pattern) {
    words.push_back(letter == 'M'   ? "linear_attention"
                    : letter == '*' ? "full_attention"
                    : letter == '-' ? "mlp"
                                    : "moe");
  }
  c["layers_block_type"] = std::move(words);
  if (!a.has_state_mixer()) return;
  c["mamba_num_heads"] = a.state.n_heads;
  c["mamba_head_dim"] = a.state.head_dim;
  c["n_groups"] = a.state.n_groups;
  c["ssm_state_size"] = a.state.state_dim;
  c["conv_kernel"] = a.state.conv_kernel;
  c["chunk_size"] = a.state.chunk;
}

void hybrid_experts(const Architecture& a, Json& c) {
  if (!a.is_moe()) return;
  routed_experts(a, c);
  c.erase("first_k_dense_replace");
  c["moe_latent_size"] = a.moe.latent_hidden > 0 ? Json(a.moe.latent_hidden) : Json();
  c["moe_shared_expert_intermediate_size"] = a.moe.shared_expert_ffn_hidden;
}

void stablelm_block(const Architecture& a, Json& c) {
  c["use_qkv_bias"] = a.qkv_bias;
  c["qk_layernorm"] = a.qk_norm;
  c["use_parallel_residual"] = a.parallel_block;
}

void seed_oss_biases(const Architecture& a, Json& c) {
  attention_bias(a, c);
  c["attention_out_bias"] = a.attention_output_bias;
  mlp_bias(a, c);
}

/// `gelu_new` is the tanh form operation by operation, the other name its one kernel.
const char* gelu(const Architecture& a) { return a.plain_gelu ? "gelu_new" : "gelu_pytorch_tanh"; }

void hidden_gelu(const Architecture& a, Json& c) { c["hidden_act"] = gelu(a); }

void gpt2_widths(const Architecture& a, Json& c) {
  c["vocab_size"] = a.vocab;
  c["n_embd"] = a.hidden;
  c["n_inner"] = a.ffn_hidden;
  c["n_layer"] = a.n_layers;
  c["n_head"] = a.n_heads;
  c["n_positions"] = positions_of(a);
  c["activation_function"] = gelu(a);
  c["tie_word_embeddings"] = a.tied_embeddings;
  tokens(a, c);
}

void multi_query(const Architecture& a, Json& c) { c["multi_query"] = a.n_kv_heads == 1; }

/// GPT-J's base is a constant of its code.
void gptj_rotary(const Architecture& a, Json& c) {
  c["rotary_dim"] = std::min<std::int64_t>(a.head_dim, 64);
  c["rope_theta"] = 10000.0;
}

/// [[kinds, how often they come]]: windows up to every n-th layer, then what is left over.
void gpt_neo_layers(const Architecture& a, Json& c) {
  c["vocab_size"] = a.vocab;
  c["hidden_size"] = a.hidden;
  c["intermediate_size"] = a.ffn_hidden;
  c["num_layers"] = a.n_layers;
  c["num_heads"] = a.n_heads;
  c["max_position_embeddings"] = positions_of(a);
  c["activation_function"] = gelu(a);
  c["tie_word_embeddings"] = a.tied_embeddings;
  tokens(a, c);
  if (a.sliding_window > 0) c["window_size"] = a.sliding_window;
  const std::int64_t period =
      a.sliding_window > 0 ? std::clamp<std::int64_t>(a.sliding_window_stride, 1, a.n_layers) : 1;
  const auto layers = [&a](std::int64_t count, std::int64_t times) {
    Json kinds = Json::array();
    for (std::int64_t layer = 0; layer < count; ++layer) kinds.push_back(sees_all(a, layer) ? "global" : "local");
    return Json::array({std::move(kinds), times});
  };
  Json types = Json::array({layers(period, a.n_layers / period)});
  if (a.n_layers % period > 0) types.push_back(layers(a.n_layers % period, 1));
  c["attention_types"] = std::move(types);
}

/// With names of its own for what rotates, a quarter of each head or all.
void gpt_neox_block(const Architecture& a, Json& c) {
  if (a.rotary_base > 0) c["rotary_emb_base"] = a.rotary_base;
  if (a.head_dim % 8 != 0) c["rotary_pct"] = 1.0;
  attention_bias(a, c);
  c["use_parallel_residual"] = a.parallel_block;
}

/// The older decoder has one norm where attention and MLP stand side by side, and all heads or one for keys and values;
/// the newer has any.
void falcon_block(const Architecture& a, Json& c) {
  const bool newer = a.parallel_block && (a.norms_per_layer == 2 || (a.n_kv_heads != 1 && a.n_kv_heads != a.n_heads));
  c.erase("intermediate_size");
  c["ffn_hidden_size"] = a.ffn_hidden;
  c["new_decoder_architecture"] = newer;
  c["multi_query"] = a.n_kv_heads == 1;
  if (newer) {
    c["num_kv_heads"] = a.n_kv_heads;
    c["num_ln_in_parallel_attn"] = a.norms_per_layer;
  }
  c["parallel_attn"] = a.parallel_block;
  c["bias"] = a.qkv_bias;
  c["alibi"] = a.positions == PositionEncoding::Alibi;
}

void bloom_widths(const Architecture& a, Json& c) {
  c["vocab_size"] = a.vocab;
  c["hidden_size"] = a.hidden;
  c["n_layer"] = a.n_layers;
  c["n_head"] = a.n_heads;
  c["seq_length"] = positions_of(a);
  c["tie_word_embeddings"] = a.tied_embeddings;
  tokens(a, c);
}

void opt_block(const Architecture& a, Json& c) {
  c.erase("intermediate_size");
  c["ffn_dim"] = a.ffn_hidden;
  c["word_embed_proj_dim"] = a.hidden;
  c["enable_bias"] = a.qkv_bias;
}

/// The class has ALiBi, no biases and an MLP of four times the width, whatever its file says.
void mpt_widths(const Architecture& a, Json& c) {
  c["vocab_size"] = a.vocab;
  c["d_model"] = a.hidden;
  c["expansion_ratio"] = 4;
  c["n_layers"] = a.n_layers;
  c["n_heads"] = a.n_heads;
  c["max_seq_len"] = positions_of(a);
  c["no_bias"] = true;
  c["attn_config"] = Json::object({{"alibi", true}});
  c["tie_word_embeddings"] = a.tied_embeddings;
  tokens(a, c);
}

/// The class refuses to tie its head and fails without a limit of queries, keys and values, which is DBRX's here.
void dbrx_widths(const Architecture& a, Json& c) {
  c["vocab_size"] = a.vocab;
  c["d_model"] = a.hidden;
  c["n_layers"] = a.n_layers;
  c["n_heads"] = a.n_heads;
  c["max_seq_len"] = positions_of(a);
  c["attn_config"] = {
      {"clip_qkv", 8}, {"kv_n_heads", a.n_kv_heads}, {"rope_theta", a.rotary_base > 0 ? a.rotary_base : 10000.0}};
  c["ffn_config"] = {{"hidden_size", a.hidden},
                     {"ffn_hidden_size", a.moe.expert_ffn_hidden},
                     {"moe_num_experts", a.moe.n_experts},
                     {"moe_top_k", a.moe.top_k}};
  c["tie_word_embeddings"] = false;
  rotary(a, c);
  tokens(a, c);
}

/// Kinds of tokens: what is counted apart beside the pooler and `rows` further rows of the position table.
std::int64_t token_types(const Architecture& a, std::int64_t rows) {
  return (a.extra_parameters - a.hidden - rows * a.hidden) / a.hidden - a.hidden;
}

void bert_tokens(const Architecture& a, Json& c) {
  c["type_vocab_size"] = std::max<std::int64_t>(1, token_types(a, 0));
  c["pad_token_id"] = 0;
}

/// The table's first two rows stand for padding, up to the id of its token.
void roberta_tokens(const Architecture& a, Json& c) {
  c["max_position_embeddings"] = positions_of(a) + 2;
  c["type_vocab_size"] = std::max<std::int64_t>(1, token_types(a, 2));
  c["bos_token_id"] = 0;
  c["pad_token_id"] = token(a, 1);
  c["eos_token_id"] = token(a, 2);
}

/// The class always ties its head.
void distilbert_widths(const Architecture& a, Json& c) {
  c["vocab_size"] = a.vocab;
  c["dim"] = a.hidden;
  c["hidden_dim"] = a.ffn_hidden;
  c["n_layers"] = a.n_layers;
  c["n_heads"] = a.n_heads;
  c["max_position_embeddings"] = positions_of(a);
  c["tie_word_embeddings"] = true;
  c["pad_token_id"] = 0;
}

/// transformers 5 ties the head whatever the file says (models/t5/configuration_t5.py).
void t5_widths(const Architecture& a, Json& c) {
  c["vocab_size"] = a.vocab;
  c["d_model"] = a.hidden;
  c["d_kv"] = a.head_dim;
  c["d_ff"] = a.ffn_hidden;
  c["num_layers"] = a.n_encoder_layers;
  c["num_decoder_layers"] = a.n_layers;
  c["num_heads"] = a.n_heads;
  c["n_positions"] = positions_of(a);
  c["relative_attention_num_buckets"] = a.extra_parameters / (2 * a.n_heads);
  c["feed_forward_proj"] = a.gated_mlp ? "gated-gelu" : "relu";
  c["tie_word_embeddings"] = true;
  c["pad_token_id"] = 0;
  c["eos_token_id"] = token(a, 1);
  c["decoder_start_token_id"] = 0;
}

/// Patches and classes, of which the architecture keeps the sum of their parameters alone: the first usual patch that
/// leaves whole classes, of images in colour, then of those with one channel.
void vit_widths(const Architecture& a, Json& c) {
  constexpr std::array<std::int64_t, 8> kPatches{16, 14, 32, 8, 4, 7, 2, 1};
  constexpr std::int64_t kMostClasses = 100'000;
  c["hidden_size"] = a.hidden;
  c["intermediate_size"] = a.ffn_hidden;
  c["num_hidden_layers"] = a.n_layers;
  c["num_attention_heads"] = a.n_heads;
  c["qkv_bias"] = a.qkv_bias;
  std::int64_t side = 0;
  while ((side + 1) * (side + 1) < a.max_positions) ++side;
  if (side == 0) return;
  for (const std::int64_t channels : {3, 1}) {
    for (const std::int64_t patch : kPatches) {
      const std::int64_t rest = a.extra_parameters - (channels * patch * patch + 2) * a.hidden;
      const std::int64_t classes = rest / (a.hidden + 1);
      if (rest <= 0 || rest % (a.hidden + 1) != 0 || classes > kMostClasses) continue;
      c["image_size"] = side * patch;
      c["patch_size"] = patch;
      c["num_channels"] = channels;
      Json::Object labels;
      for (std::int64_t i = 0; i < classes; ++i) labels.emplace_back(std::to_string(i), fmt::format("LABEL_{}", i));
      c["id2label"] = Json::object(std::move(labels));
      return;
    }
  }
}

constexpr ModelKind kDecoder = ModelKind::Decoder;
constexpr ModelKind kEncoder = ModelKind::Encoder;
constexpr ModelKind kEncoderDecoder = ModelKind::EncoderDecoder;
constexpr ModelKind kVision = ModelKind::Vision;

/// The plainest come first. Each class was held against the parameters that are counted here (transformers 5.24.0).
constexpr std::array kRows = {
    Row{"llama", kDecoder, "LlamaForCausalLM", {decoder, attention_bias, mlp_bias}},
    Row{"mistral", kDecoder, "MistralForCausalLM", {decoder, window}},
    Row{"ministral", kDecoder, "MinistralForCausalLM", {decoder, listed_windows}},
    Row{"qwen2", kDecoder, "Qwen2ForCausalLM", {decoder, qwen2_windows}},
    Row{"qwen3", kDecoder, "Qwen3ForCausalLM", {decoder, attention_bias}},
    Row{"mixtral", kDecoder, "MixtralForCausalLM", {decoder, window, mixtral_experts}},
    Row{"qwen3_moe", kDecoder, "Qwen3MoeForCausalLM", {decoder, attention_bias, qwen_experts}},
    Row{"qwen2_moe", kDecoder, "Qwen2MoeForCausalLM", {decoder, qkv_bias, qwen_experts, qwen_shared_expert}},
    Row{"qwen3_next",
        kDecoder,
        "Qwen3NextForCausalLM",
        {decoder, delta_mixers, qwen_experts, qwen_shared_expert, partial_rotary<4>}},
    Row{"qwen3_5_text", kDecoder, "Qwen3_5ForCausalLM", {decoder, delta_mixers, partial_rotary<4>}},
    Row{"seed_oss", kDecoder, "SeedOssForCausalLM", {decoder, seed_oss_biases}},
    Row{"gemma", kDecoder, "GemmaForCausalLM", {decoder, attention_bias}},
    Row{"gemma2", kDecoder, "Gemma2ForCausalLM", {decoder, attention_bias, gemma_scores, listed_windows}},
    Row{"gemma3_text", kDecoder, "Gemma3ForCausalLM", {decoder, attention_bias, gemma_scores, listed_windows}},
    Row{"gemma4_text",
        kDecoder,
        "Gemma4ForCausalLM",
        {widths, grouped_heads, tokens, attention_bias, listed_windows, gemma4_block}},
    Row{"phi3", kDecoder, "Phi3ForCausalLM", {decoder, window}},
    Row{"olmo2", kDecoder, "Olmo2ForCausalLM", {decoder, attention_bias}},
    Row{"olmo3", kDecoder, "Olmo3ForCausalLM", {decoder, attention_bias, listed_windows}},
    Row{"smollm3", kDecoder, "SmolLM3ForCausalLM", {decoder, attention_bias, mlp_bias}},
    Row{"granite", kDecoder, "GraniteForCausalLM", {decoder, attention_bias, mlp_bias}},
    Row{"exaone4", kDecoder, "Exaone4ForCausalLM", {decoder, listed_windows}},
    Row{"glm4", kDecoder, "Glm4ForCausalLM", {decoder, attention_bias, partial_rotary<2>}},
    Row{"arcee", kDecoder, "ArceeForCausalLM", {decoder, attention_bias, mlp_bias}},
    Row{"nemotron", kDecoder, "NemotronForCausalLM", {decoder, attention_bias, mlp_bias, partial_rotary<2>}},
    Row{"stablelm",
        kDecoder,
        "StableLmForCausalLM",
        {widths, grouped_heads, rotary, tokens, stablelm_block, partial_rotary<4>}},
    Row{"cohere", kDecoder, "CohereForCausalLM", {decoder, attention_bias, use_qk_norm}},
    Row{"cohere2", kDecoder, "Cohere2ForCausalLM", {decoder, attention_bias, listed_windows}},
    Row{"starcoder2", kDecoder, "Starcoder2ForCausalLM", {decoder, use_bias, window}},
    Row{"olmoe", kDecoder, "OlmoeForCausalLM", {widths, grouped_heads, rotary, tokens, attention_bias, olmoe_experts}},
    Row{"granitemoeshared",
        kDecoder,
        "GraniteMoeSharedForCausalLM",
        {decoder, attention_bias, mixtral_experts, shared_mlp}},
    Row{"phimoe", kDecoder, "PhimoeForCausalLM", {decoder, attention_bias, lm_head_bias, window, mixtral_experts}},
    Row{"glm4_moe",
        kDecoder,
        "Glm4MoeForCausalLM",
        {decoder, attention_bias, use_qk_norm, routed_experts, no_further_tokens, partial_rotary<2>}},
    Row{"minimax_m2", kDecoder, "MiniMaxM2ForCausalLM", {decoder, mixtral_experts}},
    Row{"gpt_oss",
        kDecoder,
        "GptOssForCausalLM",
        {decoder, attention_bias, mixtral_experts, listed_windows, gpt_oss_rotary}},
    Row{"llama4_text", kDecoder, "Llama4ForCausalLM", {decoder, attention_bias, llama4_experts, chunked_windows}},
    Row{"dbrx", kDecoder, "DbrxForCausalLM", {dbrx_widths}},
    Row{"deepseek_v2", kDecoder, "DeepseekV2ForCausalLM", {latent_decoder, attention_bias, routed_experts}},
    Row{"deepseek_v3",
        kDecoder,
        "DeepseekV3ForCausalLM",
        {latent_decoder, attention_bias, routed_experts, no_further_tokens}},
    Row{"youtu", kDecoder, "YoutuForCausalLM", {latent_decoder, attention_bias}},
    Row{"nemotron_h", kDecoder, "NemotronHForCausalLM", {decoder, attention_bias, hybrid_layers, hybrid_experts}},
    Row{"gpt2", kDecoder, "GPT2LMHeadModel", {gpt2_widths}},
    Row{"gpt_bigcode", kDecoder, "GPTBigCodeForCausalLM", {gpt2_widths, multi_query}},
    Row{"gpt_neo", kDecoder, "GPTNeoForCausalLM", {gpt_neo_layers}},
    Row{"gptj", kDecoder, "GPTJForCausalLM", {gpt2_widths, gptj_rotary}},
    Row{"gpt_neox", kDecoder, "GPTNeoXForCausalLM", {widths, tokens, gpt_neox_block}},
    Row{"phi", kDecoder, "PhiForCausalLM", {decoder, hidden_gelu, partial_rotary<2>}},
    Row{"falcon", kDecoder, "FalconForCausalLM", {widths, rotary, tokens, falcon_block}},
    Row{"bloom", kDecoder, "BloomForCausalLM", {bloom_widths}},
    Row{"opt", kDecoder, "OPTForCausalLM", {widths, tokens, opt_block}},
    Row{"mpt", kDecoder, "MptForCausalLM", {mpt_widths}},
    Row{"bert", kEncoder, "BertForMaskedLM", {widths, bert_tokens}},
    Row{"roberta", kEncoder, "RobertaForMaskedLM", {widths, roberta_tokens}},
    Row{"xlm-roberta", kEncoder, "XLMRobertaForMaskedLM", {widths, roberta_tokens}},
    Row{"distilbert", kEncoder, "DistilBertForMaskedLM", {distilbert_widths}},
    Row{"t5", kEncoderDecoder, "T5ForConditionalGeneration", {t5_widths}},
    Row{"mt5", kEncoderDecoder, "MT5ForConditionalGeneration", {t5_widths}},
    Row{"vit", kVision, "ViTForImageClassification", {vit_widths}},
};

Json config_of(const Row& row, const Architecture& a) {
  Json c;
  c["architectures"] = Json::array({std::string(row.built_by)});
  c["model_type"] = std::string(row.model_type);
  for (const Part part : row.parts) {
    if (part != nullptr) part(a, c);
  }
  return c;
}

/// Without names and notes, and one value for all that come to the same.
Architecture essence(Architecture a) {
  a.name.clear();
  a.family.clear();
  a.transformers_type.clear();
  a.extra_parameters_note.clear();
  a.left_out.clear();
  a.plain_attention = false;  // of the class, whatever the widths
  if (!a.has_dense_mlp()) a.ffn_hidden = 0;
  if (a.norm == NormKind::RmsNorm) a.norm_bias = true;
  if (a.moe.n_shared_experts == 0) a.moe.shared_expert_ffn_hidden = 0;
  const std::int64_t whole = a.sliding_window_stride > 0 ? a.n_layers / a.sliding_window_stride : 0;
  a.sliding_window_stride = a.sliding_window > 0 && whole > 0 ? a.n_layers / whole : 0;
  if (a.sliding_window_stride == 1) a.sliding_window = a.sliding_window_stride = 0;
  return a;
}

bool same_model(const Architecture& asked, const Architecture& read) {
  Architecture a = essence(asked);
  const Architecture b = essence(read);
  if (a.max_positions == 0) a.max_positions = b.max_positions;
  if (a.rotary_base == 0) a.rotary_base = b.rotary_base;
  return a == b;
}

/// Rules of the classes that no file states: heads divide the model unless they have a width of their own, what rotates
/// is pairs, and classes of experts have some.
bool can_be_built(const Architecture& a, const Json& config) {
  const bool own_width = config.contains("head_dim") || config.contains("d_kv") || a.has_latent_attention();
  const std::int64_t rotates = a.has_latent_attention() ? a.latent.qk_rope_head_dim : a.head_dim;
  if (!a.is_moe() && config.contains("num_experts_per_tok")) return false;
  return (own_width || a.hidden % a.n_heads == 0) && (a.positions != PositionEncoding::Rope || rotates % 2 == 0);
}

}  // namespace

std::optional<std::string> hf_config_text(const Architecture& a) {
  if (!check(a, "").empty()) return std::nullopt;
  std::optional<std::string> plainest;
  for (const Row& row : kRows) {
    const bool of_type = row.model_type == a.model_type();
    if (row.kind != a.kind || (plainest && !of_type)) continue;
    const Json config = config_of(row, a);
    if (!can_be_built(a, config)) continue;
    std::string text = config.dump(2) + "\n";
    const Result<JsonValue> json = parse_json(text, "config.json");
    if (!json) continue;
    const Result<Architecture> read = read_hf_config(*json);
    if (!read || !same_model(a, *read)) continue;
    if (of_type) return text;
    plainest = std::move(text);
  }
  return plainest;
}

}  // namespace smplan
