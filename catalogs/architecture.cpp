#include "catalogs/architecture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<ModelKind, 4> kKinds = {{{ModelKind::Decoder, "decoder"},
                                             {ModelKind::Encoder, "encoder"},
                                             {ModelKind::EncoderDecoder, "encoder-decoder"},
                                             {ModelKind::Vision, "vision"}}};
constexpr EnumNames<PositionEncoding, 5> kPositions = {{{PositionEncoding::Rope, "rope"},
                                                        {PositionEncoding::Learned, "learned"},
                                                        {PositionEncoding::Alibi, "alibi"},
                                                        {PositionEncoding::RelativeBias, "relative-bias"},
                                                        {PositionEncoding::None, "none"}}};
constexpr EnumNames<NormKind, 2> kNorms = {{{NormKind::LayerNorm, "layernorm"}, {NormKind::RmsNorm, "rmsnorm"}}};

constexpr std::string_view kSchema = "smplan.architecture/1";
// Far above any published model; together they keep sums of products within 64 bits.
constexpr std::int64_t kMaxLayers = 10'000;
constexpr std::int64_t kMaxWidth = std::int64_t{1} << 24;
/// Above every published one: 1e11 of models for millions of tokens.
constexpr double kMaxRotaryBase = 1e12;
constexpr std::int64_t kMaxExperts = 100'000;
constexpr std::int64_t kMaxDepth = 64;
// Of mamba_ssm's Mamba2, of Qwen3-Next's convolution, and of the chunked delta rule of flash-linear-attention.
constexpr std::int64_t kUsualConvolution = 4;
constexpr std::int64_t kUsualStateChunk = 256;
constexpr std::int64_t kUsualDeltaChunk = 64;
constexpr std::string_view kLayerLetters = "M*-E";
constexpr double kMaxParameters = 1e16;

/// Collects faults of one architecture, each named by its field.
class Checker {
 public:
  explicit Checker(std::string_view where) : where_(where) {}

  void between(std::string_view field, std::int64_t value, std::int64_t min, std::int64_t max) {
    if (value >= min && value <= max) return;
    if (min == 1 && value < 1) return fault(fmt::format("{} must be positive, is {}", field, value));
    fault(fmt::format("{} must lie between {} and {}, is {}", field, min, max, value));
  }
  void require(bool condition, std::string message) {
    if (!condition) fault(std::move(message));
  }
  Diagnostics take() { return std::move(out_); }

 private:
  void fault(std::string message) {
    out_.push_back({"bad-architecture", std::string(where_), std::move(message), "correct the model's widths"});
  }
  std::string_view where_;
  Diagnostics out_;
};

void check_attention(const Architecture& a, Checker& c) {
  c.between("n_heads", a.n_heads, 1, kMaxWidth);
  c.between("n_kv_heads", a.n_kv_heads, 1, kMaxWidth);
  c.between("head_dim", a.head_dim, 1, kMaxWidth);
  if (a.n_heads > 0 && a.n_kv_heads > 0) {
    c.require(a.n_heads % a.n_kv_heads == 0,
              fmt::format("n_heads ({}) must be a multiple of n_kv_heads ({})", a.n_heads, a.n_kv_heads));
  }
  c.between("sliding_window", a.sliding_window, 0, std::int64_t{1} << 40);
  c.between("sliding_window_stride", a.sliding_window_stride, 0, kMaxLayers);
  const LatentAttention& l = a.latent;
  c.between("latent.kv_lora_rank", l.kv_lora_rank, 0, kMaxWidth);
  c.between("latent.q_lora_rank", l.q_lora_rank, 0, kMaxWidth);
  if (!a.has_latent_attention()) {
    c.require(l == LatentAttention{}, "latent widths are given, but latent.kv_lora_rank is 0");
    return;
  }
  c.between("latent.qk_nope_head_dim", l.qk_nope_head_dim, 1, kMaxWidth);
  c.between("latent.qk_rope_head_dim", l.qk_rope_head_dim, 1, kMaxWidth);
  c.between("latent.v_head_dim", l.v_head_dim, 1, kMaxWidth);
  c.require(a.n_kv_heads == a.n_heads, "latent attention has as many KV heads as heads");
  c.require(a.kind == ModelKind::Decoder, "latent attention is known for decoders only");
  c.require(!a.qkv_bias && !a.attention_output_bias && !a.qk_norm && !a.attention_output_gate,
            "latent attention with biases, an output gate or query and key norms is not modelled");
}

void check_global_attention(const Architecture& a, Checker& c) {
  const GlobalAttention& g = a.global;
  c.between("global_attention.head_dim", g.head_dim, 0, kMaxWidth);
  c.between("global_attention.n_kv_heads", g.n_kv_heads, 0, kMaxWidth);
  if (g == GlobalAttention{}) return;
  c.require(a.sliding_window > 0 && a.sliding_window_stride > 1,
            "global_attention is that of every n-th layer beside others with a window: sliding_window and "
            "sliding_window_stride above 1 are needed");
  c.require(
      g.n_kv_heads <= 0 || a.n_heads % g.n_kv_heads == 0,
      fmt::format("n_heads ({}) must be a multiple of global_attention.n_kv_heads ({})", a.n_heads, g.n_kv_heads));
  c.require(a.kind == ModelKind::Decoder && !a.has_latent_attention() && !a.has_state_mixer(),
            "global_attention is known for decoders without latent attention and state mixers only");
}

/// Layers that take keys and values from others need such others, of each kind that they have.
void check_shared_key_values(const Architecture& a, Checker& c) {
  const SharedKeyValues& s = a.shared_key_values;
  c.between("shared_key_values.n_layers", s.n_layers, 0, std::max<std::int64_t>(1, a.n_layers) - 1);
  c.between("shared_key_values.ffn_hidden", s.ffn_hidden, 0, s.n_layers > 0 ? kMaxWidth : 0);
  if (s.n_layers == 0) return;
  const std::int64_t own = a.n_layers - s.n_layers;
  c.require(a.sliding_window == 0 || a.sliding_window_stride == 0 || own >= a.sliding_window_stride,
            fmt::format("shared_key_values leaves {} layers with keys and values of their own, and the first without "
                        "a window is layer {}",
                        own, a.sliding_window_stride));
  c.require(a.kind == ModelKind::Decoder && !a.is_moe() && !a.has_latent_attention() && !a.has_state_mixer() &&
                a.layer_pattern.empty() && a.prediction.depth == 0,
            "shared_key_values is known for dense decoders only, without latent attention, state mixers, layer_pattern "
            "and multi_token_prediction");
}

void check_layer_embeddings(const Architecture& a, Checker& c) {
  const LayerEmbeddings& e = a.layer_embeddings;
  c.between("layer_embeddings.width", e.width, 0, kMaxWidth);
  c.between("layer_embeddings.vocab", e.vocab, e.width > 0 ? 1 : 0, e.width > 0 ? kMaxWidth : 0);
  if (e.width == 0) return;
  c.require(a.kind == ModelKind::Decoder && a.layer_pattern.empty() && a.prediction.depth == 0,
            "layer_embeddings is known for decoders only, without layer_pattern and multi_token_prediction");
}

void check_state_mixer(const Architecture& a, Checker& c) {
  const StateMixer& m = a.state;
  c.between("state.n_heads", m.n_heads, 0, kMaxWidth);
  c.between("attention_stride", a.attention_stride, 0, kMaxLayers);
  const bool used = a.attention_stride > 0 || a.layer_pattern.find('M') != std::string::npos;
  if (!a.has_state_mixer()) {
    c.require(m == StateMixer{}, "state widths are given, but state.n_heads is 0");
    c.require(!used, "attention_stride, or an M in layer_pattern, needs the widths of a state mixer (state)");
    return;
  }
  c.require(used, "a state mixer is described, but neither layer_pattern nor attention_stride puts it in a layer");
  c.between("state.head_dim", m.head_dim, 1, kMaxWidth);
  c.between("state.n_groups", m.n_groups, 1, kMaxWidth);
  c.between("state.state_dim", m.state_dim, 1, kMaxWidth);
  c.between("state.conv_kernel", m.conv_kernel, 1, kMaxWidth);
  c.between("state.chunk", m.chunk, 1, kMaxWidth);
  if (m.n_groups > 0) {
    c.require(m.n_heads % m.n_groups == 0,
              fmt::format("state.n_heads ({}) must be a multiple of state.n_groups ({})", m.n_heads, m.n_groups));
  }
  c.require(a.kind == ModelKind::Decoder, "state mixers are known for decoders only");
}

void check_pattern(const Architecture& a, Checker& c) {
  const std::string& pattern = a.layer_pattern;
  if (pattern.empty()) return;
  const auto has = [&pattern](char letter) { return pattern.find(letter) != std::string::npos; };
  const std::size_t unknown = pattern.find_first_not_of(kLayerLetters);
  c.require(unknown == std::string::npos,
            fmt::format("layer_pattern has other letters than M, *, - and E, first as layer {}", unknown + 1));
  c.require(static_cast<std::int64_t>(pattern.size()) == a.n_layers,
            fmt::format("layer_pattern has {} letters for {} layers", pattern.size(), a.n_layers));
  c.require(has('E') == a.is_moe(), "an E in layer_pattern and moe need each other");
  c.require(!a.parallel_block, "parts that are layers of their own are no parallel_block");
  c.require(a.prediction.depth == 0 || has('E') || has('-'),
            "a block for further tokens has an MLP, and layer_pattern has none");
  c.require(a.kind == ModelKind::Decoder, "layer_pattern is known for decoders only");
  c.require(a.attention_stride == 0 && a.sliding_window_stride == 0 && a.moe.layer_stride == 1 &&
                a.moe.n_leading_dense_layers == 0,
            "layer_pattern says what every layer is: attention_stride, sliding_window_stride, moe.layer_stride and "
            "moe.n_leading_dense_layers contradict it");
}

void check_experts(const Architecture& a, Checker& c) {
  const MixtureOfExperts& m = a.moe;
  c.between("moe.n_experts", m.n_experts, 0, kMaxExperts);
  if (!a.is_moe()) {
    c.require(m == MixtureOfExperts{}, "moe widths are given, but moe.n_experts is 0");
    return;
  }
  c.between("moe.top_k", m.top_k, 1, m.n_experts);
  c.between("moe.expert_ffn_hidden", m.expert_ffn_hidden, 1, kMaxWidth);
  c.between("moe.latent_hidden", m.latent_hidden, 0, kMaxWidth);
  c.between("moe.n_shared_experts", m.n_shared_experts, 0, kMaxExperts);
  c.between("moe.shared_expert_ffn_hidden", m.shared_expert_ffn_hidden, m.n_shared_experts > 0 ? 1 : 0, kMaxWidth);
  c.between("moe.n_leading_dense_layers", m.n_leading_dense_layers, 0, std::max<std::int64_t>(a.n_layers, 1) - 1);
  c.between("moe.layer_stride", m.layer_stride, 1, a.n_layers);
  c.require(a.kind == ModelKind::Decoder, "mixture of experts is known for decoders only");
}

/// Upper bound of the parameter count, so that the exact integer count cannot overflow.
double parameter_bound(const Architecture& a) {
  const auto d = [](std::int64_t n) { return static_cast<double>(n); };
  const double h = d(a.hidden);
  const double heads = d(a.n_heads) * (d(a.head_dim) + d(a.global.head_dim) + d(a.latent.qk_nope_head_dim) +
                                       d(a.latent.qk_rope_head_dim) + d(a.latent.v_head_dim) + 1);
  const double attention = 8 * (h + heads) * (h + d(a.latent.q_lora_rank) + d(a.latent.kv_lora_rank));
  const double states = h * (3 * d(a.state.values()) + 2 * d(a.state.keys()) + 2 * d(a.state.n_heads)) +
                        d(a.state.conv_kernel + 2) * (2 * d(a.state.keys()) + d(a.state.values() + 2));
  const double experts = d(a.moe.latent_hidden) + d(a.moe.n_experts) * d(a.moe.expert_ffn_hidden + 2) +
                         d(a.moe.n_shared_experts) * d(a.moe.shared_expert_ffn_hidden + 2) + d(a.ffn_hidden + 2) +
                         d(a.shared_key_values.ffn_hidden);
  const double embedded = d(a.n_layers) * d(a.layer_embeddings.width) * (d(a.layer_embeddings.vocab) + 3 * h + 1);
  return d(a.n_layers + a.n_encoder_layers + a.prediction.depth) *
             (attention + states + 2 * h * h + 4 * (h + d(a.moe.latent_hidden)) * experts +
              h * d(a.norms_per_layer + 4)) +
         2 * (d(a.vocab) + d(a.max_positions)) * (h + 1) + embedded + d(a.extra_parameters);
}

LatentAttention read_latent(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  LatentAttention l;
  l.q_lora_rank = reader.optional_integer("q_lora_rank").value_or(0);
  l.kv_lora_rank = reader.integer("kv_lora_rank");
  l.qk_nope_head_dim = reader.integer("qk_nope_head_dim");
  l.qk_rope_head_dim = reader.integer("qk_rope_head_dim");
  l.v_head_dim = reader.integer("v_head_dim");
  reader.finish();
  return l;
}

GlobalAttention read_global(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  GlobalAttention g;
  g.head_dim = reader.optional_integer("head_dim").value_or(0);
  g.n_kv_heads = reader.optional_integer("n_kv_heads").value_or(0);
  g.keys_are_values = reader.optional_bool("keys_are_values").value_or(false);
  reader.finish();
  return g;
}

SharedKeyValues read_shared_key_values(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  SharedKeyValues s;
  s.n_layers = reader.integer("n_layers");
  s.ffn_hidden = reader.optional_integer("ffn_hidden").value_or(0);
  reader.finish();
  return s;
}

LayerEmbeddings read_layer_embeddings(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  LayerEmbeddings e;
  e.width = reader.integer("width");
  e.vocab = reader.integer("vocab");
  reader.finish();
  return e;
}

StateMixer read_state_mixer(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  StateMixer m;
  m.n_heads = reader.integer("n_heads");
  m.head_dim = reader.integer("head_dim");
  m.n_groups = reader.integer("n_groups");
  m.state_dim = reader.integer("state_dim");
  m.delta_rule = reader.optional_bool("delta_rule").value_or(false);
  m.conv_kernel = reader.optional_integer("conv_kernel").value_or(kUsualConvolution);
  m.chunk = reader.optional_integer("chunk").value_or(m.delta_rule ? kUsualDeltaChunk : kUsualStateChunk);
  reader.finish();
  return m;
}

MultiTokenPrediction read_prediction(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  MultiTokenPrediction p;
  p.depth = reader.integer("depth");
  p.shared_block = reader.optional_bool("shared_block").value_or(false);
  reader.finish();
  return p;
}

MixtureOfExperts read_experts(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  MixtureOfExperts m;
  m.n_experts = reader.integer("n_experts");
  m.top_k = reader.integer("top_k");
  m.expert_ffn_hidden = reader.integer("expert_ffn_hidden");
  m.latent_hidden = reader.optional_integer("latent_hidden").value_or(0);
  m.n_shared_experts = reader.optional_integer("n_shared_experts").value_or(0);
  m.shared_expert_ffn_hidden = reader.optional_integer("shared_expert_ffn_hidden").value_or(0);
  m.shared_expert_gate = reader.optional_bool("shared_expert_gate").value_or(false);
  m.n_leading_dense_layers = reader.optional_integer("n_leading_dense_layers").value_or(0);
  m.layer_stride = reader.optional_integer("layer_stride").value_or(1);
  m.router_bias = reader.optional_bool("router_bias").value_or(false);
  m.expert_bias = reader.optional_bool("expert_bias").value_or(false);
  reader.finish();
  return m;
}

template <typename E, std::size_t N>
E read_choice(ObjectReader& reader, std::string_view key, const EnumNames<E, N>& names, E fallback) {
  return reader.has(key) ? read_enum(reader, key, names) : (reader.ignore(key), fallback);
}

void read_widths(ObjectReader& reader, Architecture& a) {
  a.n_layers = reader.integer("n_layers");
  a.n_encoder_layers = reader.optional_integer("n_encoder_layers").value_or(0);
  a.hidden = reader.integer("hidden");
  a.n_heads = reader.integer("n_heads");
  a.n_kv_heads = reader.optional_integer("n_kv_heads").value_or(a.n_heads);
  a.head_dim = reader.optional_integer("head_dim").value_or(a.n_heads > 0 ? a.hidden / a.n_heads : 0);
  a.ffn_hidden = reader.integer("ffn_hidden");
  a.vocab = reader.integer("vocab");
  a.max_positions = reader.optional_integer("max_positions").value_or(0);
  a.rotary_base = reader.optional_number("rotary_base").value_or(0);
  a.sliding_window = reader.optional_integer("sliding_window").value_or(0);
  a.sliding_window_stride = reader.optional_integer("sliding_window_stride").value_or(0);
  a.layer_pattern = reader.optional_string("layer_pattern").value_or("");
  const std::int64_t usual_norms = a.layer_pattern.empty() ? a.norms_per_layer : 1;
  a.norms_per_layer = reader.optional_integer("norms_per_layer").value_or(usual_norms);
  a.attention_stride = reader.optional_integer("attention_stride").value_or(0);
  a.extra_parameters = reader.optional_integer("extra_parameters").value_or(0);
  a.extra_parameters_note = reader.optional_string("extra_parameters_note").value_or("");
}

void read_switches(ObjectReader& reader, Architecture& a) {
  const auto flag = [&reader](std::string_view key, bool& field) { field = reader.optional_bool(key).value_or(field); };
  flag("gated_mlp", a.gated_mlp);
  flag("norm_bias", a.norm_bias);
  flag("tied_embeddings", a.tied_embeddings);
  flag("qkv_bias", a.qkv_bias);
  flag("attention_output_bias", a.attention_output_bias);
  flag("mlp_bias", a.mlp_bias);
  flag("qk_norm", a.qk_norm);
  flag("value_norm", a.value_norm);
  flag("attention_output_gate", a.attention_output_gate);
  flag("parallel_block", a.parallel_block);
  flag("scaled_rotary", a.scaled_rotary);
  flag("final_norm", a.final_norm);
  flag("embedding_norm", a.embedding_norm);
  flag("plain_gelu", a.plain_gelu);
  flag("plain_attention", a.plain_attention);
  flag("half_logits", a.half_logits);
  flag("lm_head_bias", a.lm_head_bias);
}

}  // namespace

std::string_view to_string(ModelKind kind) { return name_of(kKinds, kind); }
std::optional<ModelKind> model_kind_from(std::string_view name) { return value_of(kKinds, name); }
std::string_view to_string(PositionEncoding encoding) { return name_of(kPositions, encoding); }
std::string_view to_string(NormKind norm) { return name_of(kNorms, norm); }

bool Architecture::has_dense_mlp() const {
  if (!layer_pattern.empty()) return layer_pattern.find('-') != std::string::npos;
  return !is_moe() || moe.layer_stride > 1 || moe.n_leading_dense_layers > 0;
}

Diagnostics check(const Architecture& a, std::string_view where) {
  Checker c(where);
  c.between("n_layers", a.n_layers, 1, kMaxLayers);
  c.between("hidden", a.hidden, 1, kMaxWidth);
  c.between("vocab", a.vocab, a.kind == ModelKind::Vision ? 0 : 1, kMaxWidth);
  c.between("max_positions", a.max_positions, a.positions == PositionEncoding::Learned ? 1 : 0, std::int64_t{1} << 32);
  c.require(a.rotary_base == 0 || (a.rotary_base >= 1 && a.rotary_base <= kMaxRotaryBase),
            fmt::format("rotary_base must be between 1 and {:g}, is {:g}", kMaxRotaryBase, a.rotary_base));
  c.require(a.rotary_base == 0 || a.positions == PositionEncoding::Rope,
            "rotary_base belongs to rotary positions only");
  c.between("norms_per_layer", a.norms_per_layer, 0, 16);
  c.between("extra_parameters", a.extra_parameters, 0, std::int64_t{1} << 50);
  c.require(a.vocab > 0 || !a.lm_head_bias, "lm_head_bias needs a vocabulary");
  c.between("ffn_hidden", a.ffn_hidden, a.has_dense_mlp() ? 1 : 0, kMaxWidth);
  c.between("multi_token_prediction.depth", a.prediction.depth, 0, kMaxDepth);
  c.require(a.prediction.depth == 0 || a.kind == ModelKind::Decoder, "decoders alone predict further tokens");
  if (a.kind == ModelKind::EncoderDecoder) {
    c.between("n_encoder_layers", a.n_encoder_layers, 1, kMaxLayers);
    c.require(a.sliding_window == 0, "sliding windows in an encoder-decoder are not modelled");
  } else {
    c.require(a.n_encoder_layers == 0, "n_encoder_layers belongs to kind encoder-decoder only");
  }
  check_attention(a, c);
  check_global_attention(a, c);
  check_shared_key_values(a, c);
  check_layer_embeddings(a, c);
  check_state_mixer(a, c);
  check_pattern(a, c);
  check_experts(a, c);
  Diagnostics out = c.take();
  if (out.empty() && !(parameter_bound(a) <= kMaxParameters)) {
    out.push_back({"bad-architecture", std::string(where), "the widths multiply to more than 1e16 parameters",
                   "correct the model's widths"});
  }
  return out;
}

Architecture read_architecture(const JsonValue& value, Diagnostics& out) {
  const std::size_t faults = out.size();
  ObjectReader reader(value, out);
  Architecture a;
  const std::string schema = reader.optional_string("schema").value_or(std::string(kSchema));
  if (schema != kSchema) {
    out.push_back({"unknown-schema", reader.location("schema"), fmt::format("schema '{}' is not known", schema),
                   fmt::format(R"(write "schema": "{}")", kSchema)});
  }
  a.name = reader.has("name") ? read_label(reader, "name") : (reader.ignore("name"), std::string("custom"));
  a.family = reader.has("family") ? read_name(reader, "family") : (reader.ignore("family"), std::string("custom"));
  a.transformers_type = read_optional_name(reader, "transformers_type");
  a.kind = read_choice(reader, "kind", kKinds, a.kind);
  a.norm = read_choice(reader, "norm", kNorms, a.norm);
  a.positions = read_choice(reader, "positions", kPositions, a.positions);
  read_widths(reader, a);
  read_switches(reader, a);
  if (const auto latent = reader.optional_value("latent")) a.latent = read_latent(*latent, out);
  if (const auto global = reader.optional_value("global_attention")) a.global = read_global(*global, out);
  if (const auto shared = reader.optional_value("shared_key_values")) {
    a.shared_key_values = read_shared_key_values(*shared, out);
  }
  if (const auto embeddings = reader.optional_value("layer_embeddings")) {
    a.layer_embeddings = read_layer_embeddings(*embeddings, out);
  }
  if (const auto state = reader.optional_value("state")) a.state = read_state_mixer(*state, out);
  if (const auto moe = reader.optional_value("moe")) a.moe = read_experts(*moe, out);
  if (const auto further = reader.optional_value("multi_token_prediction")) {
    a.prediction = read_prediction(*further, out);
  }
  reader.finish();
  if (out.size() == faults) {
    for (Diagnostic& fault : check(a, value.location())) out.push_back(std::move(fault));
  }
  return a;
}

}  // namespace smplan
