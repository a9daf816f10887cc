#include <array>

#include "catalogs/hf_families.hpp"

namespace smplan {
namespace {

void read_mistral(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.sliding_window = c.window(4096);
}

void read_mixtral(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.sliding_window = c.window(0);
  a.moe.n_experts = c.integer({"num_local_experts"});
  a.moe.top_k = c.integer({"num_experts_per_tok"});
  a.moe.expert_ffn_hidden = a.ffn_hidden;
}

void read_qwen2(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.qkv_bias = true;
  a.attention_output_bias = false;
  if (c.flag("use_sliding_window", false)) {
    c.refuse_unless(c.integer_or({"max_window_layers"}, 28) >= a.n_layers, "use_sliding_window",
                    "sliding windows on the last layers only are not modelled");
  }
}

void read_qwen2_moe(HfConfig& c, Architecture& a) {
  read_qwen2(c, a);
  a.qkv_bias = c.flag("qkv_bias", true);
  read_qwen_experts(c, a);
  read_qwen_shared_expert(c, a);
}

void read_qwen3(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.head_dim = c.integer_or({"head_dim"}, 128);
  a.qk_norm = true;
  c.refuse_unless(!c.flag("use_sliding_window", false), "use_sliding_window",
                  "sliding windows on the last layers only are not modelled");
}

void read_qwen3_moe(HfConfig& c, Architecture& a) {
  read_qwen3(c, a);
  read_hf_attention(c, a);  // without a head_dim the hidden size is divided
  read_qwen_experts(c, a);
}

void read_olmo2(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  widen_qk_norm(a);
}

void read_smollm3(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.tied_embeddings = c.tied(true);
}

void read_seed_oss(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.head_dim = c.integer_or({"head_dim"}, 128);
  a.qkv_bias = c.flag("attention_bias", true);
  a.attention_output_bias = c.flag("attention_out_bias", false);
}

/// Experts of Granite 3 and 4 with a plain MLP beside them, where its width is not zero.
void read_granite_moe(HfConfig& c, Architecture& a) {
  read_mixtral(c, a);
  a.moe.shared_expert_ffn_hidden = c.integer_or({"shared_intermediate_size"}, 0);
  a.moe.n_shared_experts = a.moe.shared_expert_ffn_hidden > 0 ? 1 : 0;
}

// Baichuan 2 in 13B has no positions in its file and takes ALiBi; the smaller one rotates.
void read_baichuan(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  if (a.max_positions > 0) return;
  a.positions = PositionEncoding::Alibi;
  a.max_positions = c.integer_or({"model_max_length"}, 0);
  a.transformers_type = "baichuan_13b";  // whose code is another
}

// ChatGLM's own code, which GLM-4 of 2024 shares.
void read_chatglm(HfConfig& c, Architecture& a) {
  a.hidden = c.integer({"hidden_size"});
  a.n_layers = c.layers();
  a.n_heads = c.integer({"num_attention_heads"});
  a.head_dim = c.integer_or({"kv_channels"}, 128);
  a.n_kv_heads = c.flag("multi_query_attention", false) ? c.integer({"multi_query_group_num"}) : a.n_heads;
  a.ffn_hidden = c.integer({"ffn_hidden_size"});
  a.vocab = c.integer({"padded_vocab_size", "vocab_size"});
  a.max_positions = c.integer_or({"seq_length"}, 0);
  a.tied_embeddings = c.tied(false);
  a.attention_output_bias = a.mlp_bias = c.flag("add_bias_linear", false);
  a.qkv_bias = a.mlp_bias || c.flag("add_qkv_bias", false);
  a.norm = c.flag("rmsnorm", true) ? NormKind::RmsNorm : NormKind::LayerNorm;
  c.refuse_unless(!c.flag("apply_residual_connection_post_layernorm", false),
                  "apply_residual_connection_post_layernorm", "residuals of normed inputs are not modelled");
}

void read_minimax_m2(HfConfig& c, Architecture& a) {
  read_mixtral(c, a);
  a.head_dim = c.integer_or({"head_dim"}, 128);
  a.moe.router_bias = c.flag("use_routing_bias", true);
  if (c.flag("use_qk_norm", true)) widen_qk_norm(a);
}

// Llama 4 attends in chunks of 8192 tokens on three layers of four; its query and key norms have no weights.
void read_llama4(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.moe.expert_ffn_hidden = a.ffn_hidden;
  a.ffn_hidden = c.integer({"intermediate_size_mlp"});
  a.moe.n_experts = c.integer({"num_local_experts"});
  a.moe.top_k = c.integer({"num_experts_per_tok"});
  a.moe.n_shared_experts = 1;
  a.moe.shared_expert_ffn_hidden = a.moe.expert_ffn_hidden;
  a.moe.layer_stride = c.integer_or({"interleave_moe_layer_step"}, 1);
  a.sliding_window = c.integer_or({"attention_chunk_size"}, 8192);
  a.sliding_window_stride = c.integer_or({"no_rope_layer_interval"}, 4);
}

void read_shared_and_routed_experts(HfConfig& c, Architecture& a) {
  read_hf_routed_experts(c, a);
  a.moe.n_shared_experts = c.integer_or({"n_shared_experts"}, 0);
  a.moe.shared_expert_ffn_hidden = a.moe.n_shared_experts > 0 ? a.moe.expert_ffn_hidden : 0;
  a.moe.n_leading_dense_layers = c.integer_or({"first_k_dense_replace"}, 0);
}

// The multi-token-prediction layer is left out, as in the published count.
void read_glm4_moe(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.attention_output_bias = false;
  a.qk_norm = c.flag("use_qk_norm", false);
  read_shared_and_routed_experts(c, a);
  a.moe.router_bias = true;
}

// The multi-token-prediction layers of V3 are left out, as in its published count.
void read_deepseek(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.latent.q_lora_rank = c.integer_or({"q_lora_rank"}, 0);
  a.latent.kv_lora_rank = c.integer({"kv_lora_rank"});
  a.latent.qk_nope_head_dim = c.integer({"qk_nope_head_dim"});
  a.latent.qk_rope_head_dim = c.integer({"qk_rope_head_dim"});
  a.latent.v_head_dim = c.integer({"v_head_dim"});
  a.head_dim = a.latent.qk_nope_head_dim + a.latent.qk_rope_head_dim;
  a.n_kv_heads = a.n_heads;
  if (!c.find({"n_routed_experts"})) return;
  c.refuse_unless(!a.mlp_bias, "mlp_bias", "biases of experts that every token passes are not modelled");
  read_shared_and_routed_experts(c, a);
  a.moe.layer_stride = c.integer_or({"moe_layer_freq"}, 1);
}

// The first of DeepSeek's models with experts: plain attention.
void read_deepseek_moe(HfConfig& c, Architecture& a) {
  a.family = "deepseek-moe";
  read_llama(c, a);
  if (!c.find({"n_routed_experts"})) return;
  read_shared_and_routed_experts(c, a);
  a.moe.layer_stride = c.integer_or({"moe_layer_freq"}, 1);
}

void read_deepseek_v3(HfConfig& c, Architecture& a) {
  read_deepseek(c, a);
  a.moe.router_bias = a.is_moe();  // the score correction of auxiliary-loss-free balancing
}

void read_gemma(HfConfig& c, Architecture& a) {
  read_hf_common(c, a, true);
  a.ffn_hidden = c.integer({"intermediate_size"});
  a.head_dim = c.integer_or({"head_dim"}, 256);
  a.qkv_bias = a.attention_output_bias = c.flag("attention_bias", false);
}

void read_gemma2(HfConfig& c, Architecture& a) {
  read_gemma(c, a);
  a.norms_per_layer = 4;
  a.sliding_window = c.window(4096);
  a.sliding_window_stride = 2;
}

// The text part of a multimodal Gemma 3 file leaves out what equals the defaults, which are the 4B model's.
void read_gemma3(HfConfig& c, Architecture& a) {
  a.hidden = c.integer({"hidden_size"});
  a.n_layers = c.layers();
  a.ffn_hidden = c.integer({"intermediate_size"});
  a.n_heads = c.integer_or({"num_attention_heads"}, 8);
  a.n_kv_heads = c.integer_or({"num_key_value_heads"}, 4);
  a.head_dim = c.integer_or({"head_dim"}, 256);
  a.vocab = c.integer_or({"vocab_size"}, 262208);
  a.max_positions = c.integer_or({"max_position_embeddings"}, 131072);
  a.tied_embeddings = c.tied(true);
  a.qkv_bias = a.attention_output_bias = c.flag("attention_bias", false);
  a.norms_per_layer = 4;
  a.qk_norm = true;
  a.sliding_window = c.window(4096);
  a.sliding_window_stride = c.integer_or({"sliding_window_pattern", "_sliding_window_pattern"}, 6);
}

/// Heads of the layers without a window: of their own keys, or as transformers 5.24 saves them of each such layer.
GlobalAttention gemma4_global(HfConfig& c, const Architecture& a) {
  GlobalAttention g{.head_dim = c.integer_or({"global_head_dim"}, 512),
                    .keys_are_values = c.flag("attention_k_eq_v", false)};
  if (g.keys_are_values) g.n_kv_heads = c.integer_or({"num_global_key_value_heads"}, 0);
  if (const auto layers = c.find({"per_layer_config"}); layers && layers->is_object()) {
    const auto first = layers->keys(c.diagnostics());
    for (const std::string& layer : first) {
      HfConfig one(*layers->find(layer), a.family, c.diagnostics());
      const GlobalAttention said{.head_dim = one.integer_or({"head_dim"}, a.head_dim),
                                 .n_kv_heads = one.integer_or({"num_key_value_heads"}, 0),
                                 .keys_are_values = g.keys_are_values};
      c.refuse_unless(layer == first.front() || said == g, "per_layer_config",
                      "layers of more than two widths are not modelled");
      g = said;
    }
  }
  if (g.head_dim == a.head_dim) g.head_dim = 0;
  if (g.n_kv_heads == a.n_kv_heads) g.n_kv_heads = 0;
  return g;
}

/// A dense MLP beside experts stands as one that every token visits. The router's norm has its weight apart, and so
/// have the norms after either and before the experts; each expert has a factor.
void read_gemma4_experts(HfConfig& c, Architecture& a) {
  if (!c.flag("enable_moe_block", false)) return;
  a.moe = {.n_experts = c.integer({"num_experts"}),
           .top_k = c.integer({"top_k_experts"}),
           .expert_ffn_hidden = c.integer({"moe_intermediate_size"}),
           .n_shared_experts = 1,
           .shared_expert_ffn_hidden = a.ffn_hidden,
           .router_bias = true};
  a.norms_per_layer += 4;
}

// Its files leave out what equals the defaults, as Gemma 3's do.
void read_gemma4(HfConfig& c, Architecture& a) {
  a.hidden = c.integer_or({"hidden_size"}, 2304);
  a.n_layers = c.find({"num_hidden_layers", "layer_types"}) ? c.layers() : 30;
  a.ffn_hidden = c.integer_or({"intermediate_size"}, 9216);
  a.n_heads = c.integer_or({"num_attention_heads"}, 8);
  a.n_kv_heads = c.integer_or({"num_key_value_heads"}, 4);
  a.head_dim = c.integer_or({"head_dim"}, 256);
  a.vocab = c.integer_or({"vocab_size"}, 262144);
  a.max_positions = c.integer_or({"max_position_embeddings"}, 131072);
  a.tied_embeddings = c.tied(true);
  a.qkv_bias = a.attention_output_bias = c.flag("attention_bias", false);
  a.norms_per_layer = 4;
  a.qk_norm = a.value_norm = true;
  c.refuse_unless(c.text_or("use_bidirectional_attention", "") != "all", "use_bidirectional_attention",
                  "a decoder whose tokens see those after them is not modelled");
  a.sliding_window = c.window(512);
  a.sliding_window_stride = 6;
  read_hf_layer_types(c, a);
  a.global = gemma4_global(c, a);
  if (a.sliding_window == 0) {
    // No layer has a window: the heads of those without are all there are.
    c.refuse_unless(!a.global.keys_are_values, "attention_k_eq_v",
                    "keys that are values in every layer are not modelled");
    if (a.global.head_dim > 0) a.head_dim = a.global.head_dim;
    if (a.global.n_kv_heads > 0) a.n_kv_heads = a.global.n_kv_heads;
    a.global = {};
  }
  a.layer_embeddings.width = c.integer_or({"hidden_size_per_layer_input"}, 256);
  if (a.layer_embeddings.width > 0) {
    a.layer_embeddings.vocab = c.integer_or({"vocab_size_per_layer_input"}, 262144);
  }
  a.shared_key_values.n_layers = c.integer_or({"num_kv_shared_layers"}, 0);
  if (a.shared_key_values.n_layers > 0 && c.flag("use_double_wide_mlp", false)) {
    a.shared_key_values.ffn_hidden = 2 * a.ffn_hidden;
  }
  read_gemma4_experts(c, a);
}

void read_gpt_oss(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.head_dim = c.integer_or({"head_dim"}, 64);
  a.qkv_bias = a.attention_output_bias = c.flag("attention_bias", true);
  a.sliding_window = c.window(128);
  a.sliding_window_stride = 2;
  a.moe.n_experts = c.integer({"num_local_experts"});
  a.moe.top_k = c.integer({"num_experts_per_tok", "experts_per_token"});
  a.moe.expert_ffn_hidden = a.ffn_hidden;
  a.moe.router_bias = a.moe.expert_bias = true;
  a.scaled_rotary = true;
  add_attention_sinks(a);
}

void read_phi3(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.qkv_bias = a.attention_output_bias = false;
  a.sliding_window = c.window(0);
}

void read_nemotron(HfConfig& c, Architecture& a) {
  read_llama(c, a);
  a.gated_mlp = false;
  a.norm = NormKind::LayerNorm;
}

constexpr std::array kFamilies = {
    HfFamily{"baichuan", read_baichuan},
    HfFamily{"chatglm", read_chatglm},
    HfFamily{"deepseek", read_deepseek_moe},
    HfFamily{"deepseek_v2", read_deepseek},
    HfFamily{"deepseek_v3", read_deepseek_v3},
    HfFamily{"gemma", read_gemma},
    HfFamily{"gemma2", read_gemma2},
    HfFamily{"gemma3", read_gemma3},
    HfFamily{"gemma3_text", read_gemma3},
    HfFamily{"gemma4", read_gemma4},
    HfFamily{"gemma4_text", read_gemma4},
    HfFamily{"glm4_moe", read_glm4_moe},
    HfFamily{"gpt_oss", read_gpt_oss},
    HfFamily{"granite", read_llama},
    HfFamily{"granitemoe", read_granite_moe},
    HfFamily{"kimi_k2", read_deepseek_v3},
    HfFamily{"llama", read_llama},
    HfFamily{"llama4", read_llama4},
    HfFamily{"llama4_text", read_llama4},
    HfFamily{"minimax_m2", read_minimax_m2},
    HfFamily{"mistral", read_mistral},
    HfFamily{"mixtral", read_mixtral},
    HfFamily{"nemotron", read_nemotron},
    HfFamily{"olmo2", read_olmo2},
    HfFamily{"phi3", read_phi3},
    HfFamily{"qwen2", read_qwen2},
    HfFamily{"qwen2_moe", read_qwen2_moe},
    HfFamily{"qwen3", read_qwen3},
    HfFamily{"qwen3_moe", read_qwen3_moe},
    HfFamily{"seed_oss", read_seed_oss},
    HfFamily{"smollm3", read_smollm3},
};

}  // namespace

void widen_qk_norm(Architecture& a) {
  a.qk_norm = true;
  a.extra_parameters = a.n_layers * (a.n_heads + a.n_kv_heads - 2) * a.head_dim;
  a.extra_parameters_note = "norms of queries and keys span all heads";
}

void add_attention_sinks(Architecture& a) {
  a.extra_parameters = a.n_layers * a.n_heads;
  a.extra_parameters_note = "attention sinks, one per head and layer";
}

void read_llama(HfConfig& c, Architecture& a) {
  read_hf_common(c, a, false);
  a.ffn_hidden = c.integer({"intermediate_size"});
  a.qkv_bias = a.attention_output_bias = c.flag("attention_bias", false);
  a.mlp_bias = c.flag("mlp_bias", false);
}

void read_qwen_experts(HfConfig& c, Architecture& a) {
  a.moe.n_experts = c.integer({"num_experts"});
  a.moe.top_k = c.integer({"num_experts_per_tok"});
  a.moe.expert_ffn_hidden = c.integer({"moe_intermediate_size"});
  a.moe.layer_stride = c.integer_or({"decoder_sparse_step"}, 1);
  if (const auto dense = c.find({"mlp_only_layers"})) {
    c.refuse_unless(dense->as_array(c.diagnostics()).empty(), "mlp_only_layers",
                    "dense layers at chosen depths are not modelled");
  }
}

void read_qwen_shared_expert(HfConfig& c, Architecture& a) {
  a.moe.n_shared_experts = 1;
  a.moe.shared_expert_ffn_hidden = c.integer({"shared_expert_intermediate_size"});
  a.moe.shared_expert_gate = true;
}

void read_hf_routed_experts(HfConfig& c, Architecture& a) {
  a.moe.n_experts = c.integer({"n_routed_experts"});
  a.moe.top_k = c.integer({"num_experts_per_tok"});
  a.moe.expert_ffn_hidden = c.integer({"moe_intermediate_size"});
}

std::span<const HfFamily> hf_llama_families() { return kFamilies; }

}  // namespace smplan
