#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/embedded_file.hpp"
#include "catalogs/hf_families.hpp"
#include "catalogs/reading.hpp"

namespace smplan {

std::span<const EmbeddedFile> shipped_huggingface_files();

namespace {

constexpr std::array<std::pair<std::string_view, bool Architecture::*>, 11> kSwitches{
    {{"gated_mlp", &Architecture::gated_mlp},
     {"norm_bias", &Architecture::norm_bias},
     {"tied_embeddings", &Architecture::tied_embeddings},
     {"qkv_bias", &Architecture::qkv_bias},
     {"attention_output_bias", &Architecture::attention_output_bias},
     {"mlp_bias", &Architecture::mlp_bias},
     {"qk_norm", &Architecture::qk_norm},
     {"parallel_block", &Architecture::parallel_block},
     {"lm_head_bias", &Architecture::lm_head_bias},
     {"scaled_rotary", &Architecture::scaled_rotary},
     {"final_norm", &Architecture::final_norm}}};

/// `true`, or what a key of the file says: `{"key": "use_qk_norm", "otherwise": false}`.
bool switch_of(const JsonValue& value, HfConfig& c) {
  if (!value.is_object()) return value.as_bool(c.diagnostics());
  ObjectReader choice(value, c.diagnostics());
  return c.flag(choice.string("key"), choice.boolean("otherwise"));
}

/// `4`, or one of two numbers: `{"key": "use_post_norm", "otherwise": true, "yes": 4, "no": 2}`.
std::int64_t number_of(const JsonValue& value, HfConfig& c) {
  if (!value.is_object()) return value.as_integer(c.diagnostics());
  ObjectReader choice(value, c.diagnostics());
  return c.flag(choice.string("key"), choice.boolean("otherwise")) ? choice.integer("yes") : choice.integer("no");
}

HfVariant read_variant(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  HfVariant variant;
  variant.model_type = reader.string("model_type");
  variant.like = reader.string("like");
  variant.names = reader.optional_value("names");
  variant.defaults = reader.optional_value("defaults");
  variant.architecture = reader.optional_value("architecture");
  reader.ignore("note");
  reader.finish();
  return variant;
}

/// Every n-th layer attends to all: n, which some files write in letters (LLLG is 4). 0: not said.
std::int64_t pattern_length(HfConfig& c) {
  const auto pattern = c.find({"sliding_window_pattern", "_sliding_window_pattern"});
  if (!pattern) return 0;
  if (!pattern->is_string()) return c.integer({"sliding_window_pattern", "_sliding_window_pattern"});
  return static_cast<std::int64_t>(pattern->as_string(c.diagnostics()).size());
}

}  // namespace

std::vector<HfVariant> hf_variants(Diagnostics& out) {
  std::vector<HfVariant> variants;
  for (const EmbeddedFile& file : shipped_huggingface_files()) {
    const Result<JsonValue> json = parse_json(file.content, file.name);
    if (!json) {
      out.insert(out.end(), json.error().begin(), json.error().end());
      continue;
    }
    ObjectReader reader(*json, out);
    reader.string("schema");
    reader.string("source");
    reader.string("as_of");
    reader.ignore("note");
    for (const JsonValue& row : reader.array("families")) variants.push_back(read_variant(row, out));
    reader.finish();
  }
  return variants;
}

void apply_hf_variant(const HfVariant& variant, HfConfig& c, Architecture& a) {
  if (!variant.architecture) return;
  Diagnostics& out = c.diagnostics();
  const JsonValue& row = *variant.architecture;
  for (const std::string& key : row.keys(out)) {
    const JsonValue value = row.find(key).value();
    const auto known =
        std::find_if(kSwitches.begin(), kSwitches.end(), [&](const auto& entry) { return entry.first == key; });
    if (known != kSwitches.end()) {
      a.*known->second = switch_of(value, c);
    } else if (key == "norm") {
      a.norm = value.as_string(out) == "layernorm" ? NormKind::LayerNorm : NormKind::RmsNorm;
    } else if (key == "norms_per_layer") {
      a.norms_per_layer = number_of(value, c);
    } else if (key == "wide_qk_norm") {
      if (switch_of(value, c)) widen_qk_norm(a);
    } else if (key == "attention_sinks") {
      if (switch_of(value, c)) add_attention_sinks(a);
    } else if (key == "extra_parameters") {
      a.extra_parameters = number_of(value, c);
      a.extra_parameters_note.clear();
    } else {
      out.push_back({"unknown-key", value.location(), "a row of families.json cannot set this", "correct the row"});
    }
  }
}

void set_windows(HfConfig& c, Architecture& a, std::int64_t width, std::int64_t windowed, std::string_view key) {
  a.sliding_window = windowed > 0 ? width : 0;
  a.sliding_window_stride = 0;
  const std::int64_t whole = a.n_layers - windowed;
  if (windowed <= 0 || whole == 0) return;
  // Every n-th layer attends to all: of L layers L / n, rounded down.
  a.sliding_window_stride = whole > 0 ? a.n_layers / whole : 0;
  c.refuse_unless(a.sliding_window_stride > 1 && a.n_layers / a.sliding_window_stride == whole, key,
                  fmt::format("windows on {} of {} layers are not modelled: all, none, or all but every n-th", windowed,
                              a.n_layers));
}

void read_hf_layer_types(HfConfig& c, Architecture& a) {
  if (a.has_state_mixer() || !a.layer_pattern.empty()) return;
  Diagnostics& out = c.diagnostics();
  const auto types = c.find({"layer_types"});
  if (!types) {
    const std::int64_t pattern = a.sliding_window > 0 && a.sliding_window_stride == 0 ? pattern_length(c) : 0;
    if (pattern > 1) a.sliding_window_stride = pattern;
    return;
  }
  std::int64_t windowed = 0;
  const std::vector<JsonValue> layers = types->as_array(out);
  c.refuse_unless(static_cast<std::int64_t>(layers.size()) == a.n_layers, "layer_types",
                  fmt::format("lists {} layers of {}", layers.size(), a.n_layers));
  for (const JsonValue& layer : layers) {
    const std::string type = layer.as_string(out);
    const bool window = type == "sliding_attention" || type == "chunked_attention";
    c.refuse_unless(window || type == "full_attention", "layer_types",
                    fmt::format("layers of type {} are not modelled", type));
    if (!out.empty()) return;
    windowed += window ? 1 : 0;
  }
  const std::int64_t width = a.sliding_window > 0 ? a.sliding_window : c.window(0);
  set_windows(c, a, width, width > 0 ? windowed : 0, "layer_types");
}

}  // namespace smplan
