#include <algorithm>
#include <array>

#include "catalogs/hf_families.hpp"

namespace smplan {
namespace {

void set_biases(Architecture& a, bool on) { a.qkv_bias = a.attention_output_bias = a.mlp_bias = on; }

/// Layer norms with biases and a plain two-matrix MLP, as in every GPT-2 descendant.
void set_gpt_block(Architecture& a, bool biases) {
  a.gated_mlp = false;
  a.norm = NormKind::LayerNorm;
  set_biases(a, biases);
}

/// `gelu_new` runs as operations of its own; the other names of GELU are one kernel each (transformers,
/// activations.py).
void read_gelu(HfConfig& c, Architecture& a, std::string_view key, std::string_view usual) {
  a.plain_gelu = c.text_or(key, usual) == "gelu_new";
}

void read_starcoder2(HfConfig& c, Architecture& a) {
  read_hf_common(c, a, true);
  a.ffn_hidden = c.integer({"intermediate_size"});
  set_gpt_block(a, c.flag("use_bias", true));
  a.sliding_window = c.window(0);
}

void read_phi(HfConfig& c, Architecture& a) {
  read_hf_common(c, a, false);
  a.ffn_hidden = c.integer({"intermediate_size"});
  set_gpt_block(a, true);
  a.parallel_block = true;
  a.norms_per_layer = 1;
  a.lm_head_bias = true;
  read_gelu(c, a, "hidden_act", "gelu_new");
  c.refuse_unless(!c.flag("qk_layernorm", false), "qk_layernorm", "layer norms on queries and keys are not modelled");
}

void read_gpt2_names(HfConfig& c, Architecture& a) {
  a.hidden = c.integer({"n_embd", "hidden_size"});
  a.n_layers = c.integer({"n_layer", "num_hidden_layers"});
  a.n_heads = c.integer({"n_head", "num_attention_heads"});
  a.vocab = c.integer({"vocab_size"});
  a.max_positions = c.integer_or({"n_positions", "n_ctx"}, 1024);
  a.ffn_hidden = c.integer_or({"n_inner"}, 4 * a.hidden);
  read_hf_attention(c, a);
}

void read_gpt2(HfConfig& c, Architecture& a) {
  read_gpt2_names(c, a);
  set_gpt_block(a, true);
  a.positions = PositionEncoding::Learned;
  a.tied_embeddings = c.tied(true);
  read_gelu(c, a, "activation_function", "gelu_new");
}

// One head of keys and values for all queries, unless the file says otherwise.
void read_gpt_bigcode(HfConfig& c, Architecture& a) {
  read_gpt2(c, a);
  read_gelu(c, a, "activation_function", "gelu_pytorch_tanh");
  if (c.flag("multi_query", true)) a.n_kv_heads = 1;
}

constexpr std::int64_t kMostLayers = 10'000;

/// Layers of GPT-Neo that see a window, of `attention_layers` or of `attention_types`, [[[kind, ...], times], ...].
std::int64_t local_layers(HfConfig& c) {
  Diagnostics& out = c.diagnostics();
  const auto local = [&out](const JsonValue& kinds) {
    const std::vector<JsonValue> all = kinds.as_array(out);
    return std::count_if(all.begin(), all.end(), [&out](const auto& kind) { return kind.as_string(out) == "local"; });
  };
  if (const auto layers = c.find({"attention_layers"})) return local(*layers);
  const auto types = c.find({"attention_types"});
  if (!types) return 0;
  std::int64_t count = 0;
  for (const JsonValue& entry : types->as_array(out)) {
    const std::vector<JsonValue> pair = entry.as_array(out);
    const std::int64_t times = pair.size() == 2 ? pair[1].as_integer(out) : -1;
    c.refuse_unless(times >= 0 && times <= kMostLayers, "attention_types", "is no list of [[kind, ...], times]");
    if (!out.empty()) return 0;
    count += local(pair[0]) * times;
  }
  return count;
}

void read_gpt_neo(HfConfig& c, Architecture& a) {
  a.hidden = c.integer({"hidden_size"});
  a.n_layers = c.layers();
  a.n_heads = c.integer({"num_heads", "num_attention_heads"});
  a.vocab = c.integer({"vocab_size"});
  a.max_positions = c.integer_or({"max_position_embeddings"}, 2048);
  a.ffn_hidden = c.integer_or({"intermediate_size"}, 4 * a.hidden);
  read_hf_attention(c, a);
  set_gpt_block(a, true);
  read_gelu(c, a, "activation_function", "gelu_new");
  a.qkv_bias = false;
  a.positions = PositionEncoding::Learned;
  a.tied_embeddings = c.tied(true);
  const std::int64_t local = local_layers(c);
  if (local > 0) set_windows(c, a, c.integer_or({"window_size"}, 256), local, "attention_types");
}

void read_dbrx(HfConfig& c, Architecture& a) {
  a.hidden = c.integer({"d_model"});
  a.n_layers = c.layers();
  a.n_heads = c.integer({"n_heads"});
  a.vocab = c.integer({"vocab_size"});
  a.max_positions = c.integer_or({"max_seq_len"}, 2048);
  a.tied_embeddings = c.tied(false);
  read_hf_attention(c, a);
  a.norm = NormKind::LayerNorm;
  a.norm_bias = false;
  if (const auto attention = c.find({"attn_config"})) {
    a.n_kv_heads = HfConfig(*attention, "dbrx", c.diagnostics()).integer_or({"kv_n_heads"}, 1);
  }
  const auto experts = c.find({"ffn_config"});
  c.refuse_unless(experts.has_value(), "ffn_config", "the widths of the experts are not stated");
  if (!experts) return;
  HfConfig inner(*experts, "dbrx", c.diagnostics());
  a.ffn_hidden = a.moe.expert_ffn_hidden = inner.integer({"ffn_hidden_size"});
  a.moe.n_experts = inner.integer({"moe_num_experts"});
  a.moe.top_k = inner.integer({"moe_top_k"});
}

void read_gptj(HfConfig& c, Architecture& a) {
  read_gpt2_names(c, a);
  set_gpt_block(a, true);
  a.qkv_bias = a.attention_output_bias = false;
  a.parallel_block = true;
  a.norms_per_layer = 1;
  a.lm_head_bias = true;
  read_gelu(c, a, "activation_function", "gelu_new");
  a.tied_embeddings = c.tied(false);
}

void read_gpt_neox(HfConfig& c, Architecture& a) {
  read_hf_common(c, a, false);
  a.ffn_hidden = c.integer({"intermediate_size"});
  set_gpt_block(a, true);
  a.qkv_bias = a.attention_output_bias = c.flag("attention_bias", true);
  a.parallel_block = c.flag("use_parallel_residual", true);
}

void read_falcon(HfConfig& c, Architecture& a) {
  a.hidden = c.integer({"hidden_size", "n_embed"});
  a.n_layers = c.integer({"num_hidden_layers", "n_layer"});
  a.n_heads = c.integer({"num_attention_heads", "n_head"});
  a.vocab = c.integer({"vocab_size"});
  a.max_positions = c.integer_or({"max_position_embeddings"}, 2048);
  a.ffn_hidden = c.integer_or({"ffn_hidden_size"}, 4 * a.hidden);
  read_hf_attention(c, a);
  const bool new_block = c.flag("new_decoder_architecture", false);
  a.n_kv_heads = c.flag("multi_query", true) ? 1 : a.n_heads;
  if (new_block) a.n_kv_heads = c.integer_or({"num_kv_heads", "n_head_kv"}, a.n_heads);
  set_gpt_block(a, c.flag("bias", false));
  a.parallel_block = new_block || c.flag("parallel_attn", true);
  a.norms_per_layer = new_block ? c.integer_or({"num_ln_in_parallel_attn"}, 2) : a.parallel_block ? 1 : 2;
  if (c.flag("alibi", false)) a.positions = PositionEncoding::Alibi;
  a.tied_embeddings = c.tied(true);
}

void read_bloom(HfConfig& c, Architecture& a) {
  a.hidden = c.integer({"hidden_size", "n_embed"});
  a.n_layers = c.integer({"n_layer", "num_hidden_layers"});
  a.n_heads = c.integer({"n_head", "num_attention_heads"});
  a.vocab = c.integer({"vocab_size"});
  a.max_positions = c.integer_or({"seq_length"}, 2048);
  a.ffn_hidden = 4 * a.hidden;
  read_hf_attention(c, a);
  set_gpt_block(a, true);
  a.positions = PositionEncoding::Alibi;
  a.embedding_norm = true;
  a.tied_embeddings = c.tied(true);
}

void read_opt(HfConfig& c, Architecture& a) {
  read_hf_common(c, a, true);
  a.ffn_hidden = c.integer({"ffn_dim"});
  set_gpt_block(a, c.flag("enable_bias", true));
  a.positions = PositionEncoding::Learned;
  a.extra_parameters = 2 * a.hidden;
  a.extra_parameters_note = "two reserved rows of the position table";
  c.refuse_unless(c.integer_or({"word_embed_proj_dim"}, a.hidden) == a.hidden, "word_embed_proj_dim",
                  "embeddings narrower than the model are not modelled");
  c.refuse_unless(c.flag("do_layer_norm_before", true), "do_layer_norm_before",
                  "layer norms after the blocks are not modelled");
}

void read_mpt(HfConfig& c, Architecture& a) {
  a.hidden = c.integer({"d_model"});
  a.n_layers = c.integer({"n_layers"});
  a.n_heads = c.integer({"n_heads"});
  a.vocab = c.integer({"vocab_size"});
  a.max_positions = c.integer_or({"max_seq_len"}, 2048);
  a.ffn_hidden = c.integer_or({"expansion_ratio"}, 4) * a.hidden;
  read_hf_attention(c, a);
  const bool biases = !c.flag("no_bias", true);
  set_gpt_block(a, biases);
  a.norm_bias = biases;
  a.tied_embeddings = c.tied(true);
  a.positions = c.flag("learned_pos_emb", true) ? PositionEncoding::Learned : PositionEncoding::None;
  const auto attention = c.find({"attn_config"});
  if (!attention) return;
  HfConfig inner(*attention, "mpt", c.diagnostics());
  if (inner.flag("alibi", false)) a.positions = PositionEncoding::Alibi;
  a.n_kv_heads = inner.integer_or({"kv_n_heads"}, a.n_heads);
  inner.refuse_unless(!inner.flag("qk_ln", false), "qk_ln", "layer norms on queries and keys are not modelled");
}

void read_bert(HfConfig& c, Architecture& a) {
  a.kind = ModelKind::Encoder;
  read_hf_common(c, a, true);
  a.ffn_hidden = c.integer({"intermediate_size"});
  set_gpt_block(a, true);
  a.positions = PositionEncoding::Learned;
  a.embedding_norm = true;
  a.final_norm = false;
  if (a.max_positions == 0) a.max_positions = 512;
  a.extra_parameters = c.integer_or({"type_vocab_size"}, 2) * a.hidden + a.hidden * a.hidden + a.hidden;
  a.extra_parameters_note = "token-type embeddings, pooler";
}

void read_roberta(HfConfig& c, Architecture& a) {
  read_bert(c, a);
  a.max_positions -= 2;  // the table's first two rows stand for padding
  a.extra_parameters += 2 * a.hidden;
  a.extra_parameters_note = "two reserved rows of the position table, token-type embedding, pooler";
}

void read_t5(HfConfig& c, Architecture& a) {
  a.kind = ModelKind::EncoderDecoder;
  a.hidden = c.integer({"d_model"});
  a.n_encoder_layers = c.integer({"num_layers"});
  a.n_layers = c.integer_or({"num_decoder_layers"}, a.n_encoder_layers);
  a.n_heads = a.n_kv_heads = c.integer({"num_heads"});
  a.head_dim = c.integer({"d_kv"});
  a.ffn_hidden = c.integer({"d_ff"});
  a.vocab = c.integer({"vocab_size"});
  a.max_positions = c.integer_or({"n_positions"}, 512);
  a.gated_mlp = c.text_or("feed_forward_proj", "relu").starts_with("gated");
  a.positions = PositionEncoding::RelativeBias;
  a.tied_embeddings = c.tied(true);
  a.extra_parameters = 2 * c.integer_or({"relative_attention_num_buckets"}, 32) * a.n_heads;
  a.extra_parameters_note = "relative position biases of the first encoder and decoder layers";
}

// A file with labels is a classifier; one without is the bare model with its pooler.
void read_vit(HfConfig& c, Architecture& a) {
  a.kind = ModelKind::Vision;
  a.hidden = c.integer({"hidden_size"});
  a.n_layers = c.integer({"num_hidden_layers"});
  a.n_heads = c.integer({"num_attention_heads"});
  a.ffn_hidden = c.integer({"intermediate_size"});
  read_hf_attention(c, a);
  set_gpt_block(a, true);
  a.qkv_bias = c.flag("qkv_bias", true);
  a.positions = PositionEncoding::Learned;
  const std::int64_t patch = c.integer({"patch_size"}, 1 << 10);
  const std::int64_t side = patch > 0 ? c.integer({"image_size"}) / patch : 0;
  a.max_positions = side * side + 1;
  const std::int64_t channels = c.integer_or({"num_channels"}, 3, 1 << 8);
  a.extra_parameters = channels * patch * patch * a.hidden + a.hidden + a.hidden;
  a.extra_parameters_note = "patch projection, class token, classifier";
  std::int64_t outputs = a.hidden;
  if (const auto labels = c.find({"id2label"})) {
    outputs = static_cast<std::int64_t>(labels->keys(c.diagnostics()).size());
  } else {
    a.extra_parameters_note = "patch projection, class token, pooler";
  }
  a.extra_parameters += outputs * a.hidden + outputs;
}

constexpr std::array kFamilies = {
    HfFamily{"bert", read_bert},       HfFamily{"bloom", read_bloom},
    HfFamily{"dbrx", read_dbrx},       HfFamily{"falcon", read_falcon},
    HfFamily{"gpt2", read_gpt2},       HfFamily{"gpt_bigcode", read_gpt_bigcode},
    HfFamily{"gpt_neo", read_gpt_neo}, HfFamily{"gpt_neox", read_gpt_neox},
    HfFamily{"gptj", read_gptj},       HfFamily{"mpt", read_mpt},
    HfFamily{"opt", read_opt},         HfFamily{"phi", read_phi},
    HfFamily{"roberta", read_roberta}, HfFamily{"starcoder2", read_starcoder2},
    HfFamily{"t5", read_t5},           HfFamily{"vit", read_vit},
};

}  // namespace

std::span<const HfFamily> hf_gpt_families() { return kFamilies; }

}  // namespace smplan
