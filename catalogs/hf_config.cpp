#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/printable.hpp"
#include "catalogs/hf_families.hpp"

namespace smplan {
namespace {

/// Names that transformers takes for one another (`attribute_map` of its configuration classes, 5.24.0): a file that it
/// loads and saves again has the second. Of experts each class has its own first.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"num_experts", "num_local_experts"},       {"num_experts", "n_routed_experts"},
    {"num_local_experts", "num_experts"},       {"num_local_experts", "n_routed_experts"},
    {"n_routed_experts", "num_local_experts"},  {"n_routed_experts", "num_experts"},
    {"n_shared_experts", "num_shared_experts"}, {"num_experts_per_tok", "num_experts_per_token"},
    {"num_experts_per_tok", "moe_topk"},        {"num_nextn_predict_layers", "num_mtp_layers"},
    {"layers_block_type", "layer_types"},       {"num_hidden_layers", "n_layer"},
    {"num_hidden_layers", "n_layers"},          {"num_hidden_layers", "num_layers"},
};

std::vector<HfFamily> families() {
  std::vector<HfFamily> all;
  for (const auto group : {hf_llama_families(), hf_hybrid_families(), hf_gpt_families()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  std::sort(all.begin(), all.end(), [](const HfFamily& x, const HfFamily& y) { return x.model_type < y.model_type; });
  return all;
}

/// How a model type is read: by a reader of its own, or by another's as its row says.
struct HfReader {
  void (*read)(HfConfig&, Architecture&) = nullptr;
  const HfVariant* variant = nullptr;
};

HfReader reader_of(std::string_view model_type, const std::vector<HfFamily>& known,
                   const std::vector<HfVariant>& variants) {
  const auto own = [&](std::string_view type) {
    const auto family = std::find_if(known.begin(), known.end(), [&](const auto& f) { return f.model_type == type; });
    return family == known.end() ? nullptr : family->read;
  };
  if (const auto read = own(model_type)) return {read, nullptr};
  for (const HfVariant& variant : variants) {
    if (variant.model_type == model_type) return {own(variant.like), &variant};
  }
  return {};
}

Diagnostic unknown_type(const JsonValue& where, std::string_view model_type, const std::vector<HfFamily>& known,
                        const std::vector<HfVariant>& variants) {
  std::vector<std::string_view> names;
  for (const HfFamily& family : known) names.push_back(family.model_type);
  for (const HfVariant& variant : variants) names.push_back(variant.model_type);
  std::sort(names.begin(), names.end());
  return {"unknown-model-type", where.location(),
          fmt::format("model_type '{}' is not one of those that can be read: {}", model_type, fmt::join(names, ", ")),
          "describe it in an architecture file and pass that with --arch; it needs n_layers, hidden, n_heads, "
          "ffn_hidden and vocab, and where they differ from a Llama's, n_kv_heads, head_dim, tied_embeddings, "
          "gated_mlp, norm, positions, latent, state, layer_pattern, attention_stride and moe"};
}

std::optional<JsonValue> part_on_text(const JsonValue& config) {
  auto part = config.find("text_config");
  return part && part->is_object() ? part : std::nullopt;
}

std::string text_type(const JsonValue& text) {
  Diagnostics none;
  const auto type = text.find("model_type");
  return type && type->is_string() ? type->as_text(none) : std::string();
}

/// Types whose classes say that they take no scaled dot product attention (_supports_sdpa): of scores with a bias, a
/// cap or sinks. Source: transformers 5.24.0, modeling_*.py.
bool computes_attention_by_operations(std::string_view model_type) {
  constexpr std::array<std::string_view, 5> kTypes{"bloom", "gemma2", "gpt_neo", "gpt_oss", "mpt"};
  return std::find(kTypes.begin(), kTypes.end(), model_type) != kTypes.end();
}

}  // namespace

std::optional<JsonValue> HfConfig::look_up(std::string_view name) const {
  if (auto found = value_.find(name)) return found;
  if (variant_ != nullptr && variant_->names) {
    Diagnostics none;
    const auto other = variant_->names->find(name);
    if (other) {
      if (auto found = value_.find(other->as_string(none))) return found;
    }
  }
  for (const auto& [key, other] : kOtherNames) {
    if (key != name) continue;
    if (auto found = value_.find(other)) return found;
  }
  return variant_ != nullptr && variant_->defaults ? variant_->defaults->find(name) : std::nullopt;
}

std::optional<JsonValue> HfConfig::find(Names names) const {
  for (const std::string_view name : names) {
    std::optional<JsonValue> found = look_up(name);
    if (found && !found->is_null()) return found;
  }
  return std::nullopt;
}

std::int64_t HfConfig::layers() {
  if (find({"num_hidden_layers"})) return integer({"num_hidden_layers"});
  const auto list = find({"layers_block_type", "layer_types", "hybrid_override_pattern"});
  if (!list) return integer({"num_hidden_layers"});
  if (list->is_string()) return static_cast<std::int64_t>(list->as_string(out_).size());
  return static_cast<std::int64_t>(list->as_array(out_).size());
}

bool HfConfig::tied(bool fallback) {
  constexpr std::string_view kKey = "tie_word_embeddings";
  const auto top = whole_ != nullptr ? whole_->find(kKey) : std::nullopt;
  return top && !top->is_null() ? top->as_bool(out_) : flag(kKey, fallback);
}

std::int64_t HfConfig::bounded(const JsonValue& value, std::int64_t max) {
  const std::size_t faults = out_.size();
  const std::int64_t number = value.as_integer(out_);
  if (out_.size() != faults) return 0;
  if (number >= 0 && number <= max) return number;
  out_.push_back(
      {"out-of-range", value.location(), fmt::format("{} is outside [0, {}]", number, max), "correct the file"});
  return 0;
}

std::int64_t HfConfig::integer(Names names, std::int64_t max) {
  if (const auto found = find(names)) return bounded(*found, max);
  out_.push_back({"missing-key", value_.location(),
                  fmt::format("key '{}' is missing, which model_type '{}' needs", *names.begin(), model_type_),
                  "add it to the file"});
  return 0;
}

std::int64_t HfConfig::integer_or(Names names, std::int64_t fallback, std::int64_t max) {
  const auto found = find(names);
  return found ? bounded(*found, max) : fallback;
}

bool HfConfig::flag(std::string_view name, bool fallback) {
  const auto found = find({name});
  return found ? found->as_bool(out_) : fallback;
}

double HfConfig::rotary_base() {
  auto found = find({"rope_theta", "rotary_emb_base"});
  // transformers 5 keeps it beside the scaling, and of layers of several kinds by kind.
  if (const auto all = find({"rope_parameters"}); !found && all && all->is_object()) {
    const auto whole = all->find("full_attention");
    found = (whole && whole->is_object() ? *whole : *all).find("rope_theta");
  }
  return found && !found->is_null() ? found->as_number(out_) : 0;
}

std::string HfConfig::text_or(std::string_view name, std::string_view fallback) {
  const auto found = find({name});
  return found ? found->as_string(out_) : std::string(fallback);
}

std::int64_t HfConfig::window(std::int64_t fallback) {
  const auto found = look_up("sliding_window");
  return found && found->is_null() ? 0 : integer_or({"sliding_window"}, fallback);
}

void HfConfig::refuse_unless(bool condition, std::string_view key, std::string message) {
  if (condition) return;
  const auto found = value_.find(key);
  out_.push_back({"unsupported-config", found ? found->location() : value_.location(), std::move(message),
                  "describe the model in an architecture file and pass it with --arch"});
}

void read_hf_attention(HfConfig& c, Architecture& a) {
  a.n_kv_heads = c.integer_or({"num_key_value_heads"}, a.n_heads);
  a.head_dim = c.integer_or({"head_dim"}, a.n_heads > 0 ? a.hidden / a.n_heads : 0);
}

void read_hf_common(HfConfig& c, Architecture& a, bool tied_by_default) {
  a.hidden = c.integer({"hidden_size"});
  a.n_layers = c.layers();
  a.n_heads = c.integer({"num_attention_heads"});
  a.vocab = c.integer({"vocab_size"});
  a.max_positions = c.integer_or({"max_position_embeddings"}, 0);
  a.tied_embeddings = c.tied(tied_by_default);
  read_hf_attention(c, a);
}

Result<Architecture> read_hf_config(const JsonValue& config) {
  Diagnostics out;
  if (!config.is_object()) {
    return fail("wrong-kind", config.location(), "a Hugging Face config is a JSON object", "pass the config.json");
  }
  const auto type = config.find("model_type");
  if (!type) {
    return fail("missing-key", config.location(), "key 'model_type' is missing",
                "pass the config.json of a Hugging Face model");
  }
  const std::string model_type = type->as_string(out);
  if (!out.empty()) return tl::unexpected(out);
  const std::vector<HfFamily> known = families();
  const std::vector<HfVariant> variants = hf_variants(out);
  const std::optional<JsonValue> text = part_on_text(config);
  HfReader reader = reader_of(model_type, known, variants);
  // A model of several parts that nobody here knows may have a part on text that is known.
  if (reader.read == nullptr && text) reader = reader_of(text_type(*text), known, variants);
  if (reader.read == nullptr) return tl::unexpected(Diagnostics{unknown_type(*type, model_type, known, variants)});

  HfConfig keys(text ? *text : config, model_type, out, reader.variant, text ? &config : nullptr);
  Architecture a;
  a.family = model_type;
  a.plain_attention = computes_attention_by_operations(model_type);
  reader.read(keys, a);
  if (reader.variant != nullptr) apply_hf_variant(*reader.variant, keys, a);
  if (a.family != model_type) a.transformers_type = model_type;
  if (out.empty()) read_hf_layer_types(keys, a);
  if (out.empty()) a.left_out = hf_left_out(config, keys, a);
  if (a.positions == PositionEncoding::Rope) a.rotary_base = keys.rotary_base();
  const auto name = config.find("_name_or_path");
  // A hub, a path or a stranger chose it.
  a.name = name && name->is_string() ? label_of(name->as_text(out)) : "";
  if (a.name.empty()) a.name = model_type + " config";
  if (out.empty()) out = check(a, config.location());
  if (!out.empty()) return tl::unexpected(out);
  return a;
}

}  // namespace smplan
