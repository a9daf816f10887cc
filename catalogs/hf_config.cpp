#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/printable.hpp"
#include "catalogs/hf_families.hpp"

namespace smplan {
namespace {

std::vector<HfFamily> families() {
  std::vector<HfFamily> all;
  for (const auto group : {hf_llama_families(), hf_hybrid_families(), hf_gpt_families()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  std::sort(all.begin(), all.end(), [](const HfFamily& x, const HfFamily& y) { return x.model_type < y.model_type; });
  return all;
}

Diagnostic unknown_type(const JsonValue& where, std::string_view model_type, const std::vector<HfFamily>& known) {
  std::vector<std::string_view> names;
  for (const HfFamily& family : known) names.push_back(family.model_type);
  return {"unknown-model-type", where.location(),
          fmt::format("model_type '{}' is not one of those that can be read: {}", model_type, fmt::join(names, ", ")),
          "describe it in an architecture file and pass that with --arch; it needs n_layers, hidden, n_heads, "
          "ffn_hidden and vocab, and where they differ from a Llama's, n_kv_heads, head_dim, tied_embeddings, "
          "gated_mlp, norm, positions, latent, state, layer_pattern, attention_stride and moe"};
}

}  // namespace

std::optional<JsonValue> HfConfig::find(Names names) const {
  for (const std::string_view name : names) {
    std::optional<JsonValue> found = value_.find(name);
    if (found && !found->is_null()) return found;
  }
  return std::nullopt;
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

std::string HfConfig::text_or(std::string_view name, std::string_view fallback) {
  const auto found = find({name});
  return found ? found->as_string(out_) : std::string(fallback);
}

std::int64_t HfConfig::window(std::int64_t fallback) {
  const auto found = value_.find("sliding_window");
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
  a.n_layers = c.integer({"num_hidden_layers"});
  a.n_heads = c.integer({"num_attention_heads"});
  a.vocab = c.integer({"vocab_size"});
  a.max_positions = c.integer_or({"max_position_embeddings"}, 0);
  a.tied_embeddings = c.flag("tie_word_embeddings", tied_by_default);
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
  const auto family =
      std::find_if(known.begin(), known.end(), [&](const HfFamily& entry) { return entry.model_type == model_type; });
  if (family == known.end()) return tl::unexpected(Diagnostics{unknown_type(*type, model_type, known)});

  const auto nested = config.find("text_config");
  HfConfig keys(nested && nested->is_object() ? *nested : config, model_type, out);
  Architecture a;
  a.family = model_type;
  family->read(keys, a);
  const auto name = config.find("_name_or_path");
  // A hub, a path or a stranger chose it.
  a.name = name && name->is_string() ? label_of(name->as_text(out)) : "";
  if (a.name.empty()) a.name = model_type + " config";
  if (out.empty()) out = check(a, config.location());
  if (!out.empty()) return tl::unexpected(out);
  return a;
}

}  // namespace smplan
