#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/units.hpp"
#include "catalogs/hf_families.hpp"

namespace smplan {
namespace {

/// Widths of a tower for images, as its class names them; 0 where it has none of the kind.
struct Tower {
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t mlp = 0;
  std::int64_t patch_values = 0;  ///< numbers in a patch
  std::int64_t positions = 0;     ///< rows of the position table
};

// Above every published tower, and small enough that no sum of products overflows.
constexpr std::int64_t kMostLayers = 10'000;
constexpr std::int64_t kMostWidth = std::int64_t{1} << 16;
constexpr std::int64_t kMostPatch = std::int64_t{1} << 10;
constexpr std::int64_t kMostChannels = std::int64_t{1} << 8;
constexpr std::int64_t kMostMerge = std::int64_t{1} << 4;

/// With biases everywhere and two layer norms a layer, as of ViT.
std::int64_t layers_of(const Tower& t) {
  const std::int64_t attention = 4 * (t.hidden * t.hidden + t.hidden);
  const std::int64_t mlp = 2 * t.hidden * t.mlp + t.mlp + t.hidden;
  return t.layers * (attention + mlp + 4 * t.hidden);
}

std::int64_t patches_of(HfConfig& c, std::int64_t patch) {
  const std::int64_t side = patch > 0 ? c.integer({"image_size"}, kMostWidth) / patch : 0;
  return side * side;
}

/// Qwen3-VL's, which Qwen3.5 shares: a patch is two images deep, mergers join four patches. Those after chosen layers
/// norm what they have joined. Source: transformers 5.24.0 models/qwen3_vl/modeling_qwen3_vl.py.
std::int64_t qwen3_tower(HfConfig& c, std::int64_t) {
  const std::int64_t patch = c.integer_or({"patch_size"}, 16, kMostPatch);
  const std::int64_t merge = c.integer_or({"spatial_merge_size"}, 2, kMostMerge);
  Tower t{.hidden = c.integer({"hidden_size"}, kMostWidth), .layers = c.integer({"depth"}, kMostLayers)};
  t.mlp = c.integer({"intermediate_size"}, kMostWidth);
  t.patch_values = c.integer_or({"in_channels"}, 3, kMostChannels) *
                   c.integer_or({"temporal_patch_size"}, 2, kMostMerge) * patch * patch;
  t.positions = c.integer_or({"num_position_embeddings"}, 2304);
  const std::int64_t joined = merge * merge * t.hidden;
  const std::int64_t merger = joined * joined + joined + (joined + 1) * c.integer({"out_hidden_size"}, kMostWidth);
  std::int64_t deep = 0;
  if (const auto at = c.find({"deepstack_visual_indexes"})) {
    deep = std::min(t.layers, static_cast<std::int64_t>(at->as_array(c.diagnostics()).size()));
  }
  return (t.patch_values + 1 + t.positions) * t.hidden + layers_of(t) + merger + 2 * t.hidden +
         deep * (merger + 2 * joined);
}

/// SigLIP's with the projection of Gemma 3. Source: models/siglip/modeling_siglip.py, models/gemma3/modeling_gemma3.py.
std::int64_t siglip_tower(HfConfig& c, std::int64_t text_hidden) {
  const std::int64_t patch = c.integer({"patch_size"}, kMostPatch);
  Tower t{.hidden = c.integer({"hidden_size"}, kMostWidth), .layers = c.integer({"num_hidden_layers"}, kMostLayers)};
  t.mlp = c.integer({"intermediate_size"}, kMostWidth);
  t.patch_values = c.integer_or({"num_channels"}, 3, kMostChannels) * patch * patch;
  t.positions = patches_of(c, patch);
  // A head of attention to one learned query, which Gemma's published files switch off.
  const Tower head{.hidden = t.hidden, .layers = c.flag("vision_use_head", true) ? 1 : 0, .mlp = t.mlp};
  const std::int64_t pooling = layers_of(head) - head.layers * head.hidden;
  return (t.patch_values + 1 + t.positions + 2) * t.hidden + layers_of(t) + pooling + t.hidden * text_hidden + t.hidden;
}

/// Llama 4's, with its adapter and projector. Source: models/llama4/modeling_llama4.py.
std::int64_t llama4_tower(HfConfig& c, std::int64_t text_hidden) {
  const std::int64_t patch = c.integer({"patch_size"}, kMostPatch);
  Tower t{.hidden = c.integer({"hidden_size"}, kMostWidth), .layers = c.integer({"num_hidden_layers"}, kMostLayers)};
  t.mlp = c.integer({"intermediate_size"}, kMostWidth);
  t.patch_values = c.integer_or({"num_channels"}, 3, kMostChannels) * patch * patch;
  t.positions = patches_of(c, patch) + 1;
  const std::int64_t narrow = c.integer({"projector_input_dim"}, kMostWidth);
  const std::int64_t out = c.integer({"projector_output_dim"}, kMostWidth);
  return (t.patch_values + 1 + t.positions + 4) * t.hidden + layers_of(t) + t.mlp * narrow + out * out +
         c.integer({"vision_output_dim"}, kMostWidth) * text_hidden;
}

struct TowerKind {
  std::string_view model_type;
  std::int64_t (*parameters)(HfConfig&, std::int64_t text_hidden);
};
constexpr std::array kTowers = {
    TowerKind{"llama4_vision_model", llama4_tower}, TowerKind{"qwen3_5", qwen3_tower},
    TowerKind{"qwen3_5_moe", qwen3_tower},          TowerKind{"qwen3_5_moe_vision", qwen3_tower},
    TowerKind{"qwen3_5_vision", qwen3_tower},       TowerKind{"qwen3_vl", qwen3_tower},
    TowerKind{"qwen3_vl_moe", qwen3_tower},         TowerKind{"qwen3_vl_moe_vision", qwen3_tower},
    TowerKind{"qwen3_vl_vision", qwen3_tower},      TowerKind{"siglip_vision_model", siglip_tower},
};

/// Parameters of a tower; 0 where its class is not counted or a width is missing.
std::int64_t tower_parameters(const JsonValue& part, std::int64_t text_hidden) {
  Diagnostics faults;
  const auto type = part.find("model_type");
  if (!type || !type->is_string()) return 0;
  const std::string name = type->as_text(faults);
  const auto* kind = std::find_if(kTowers.begin(), kTowers.end(), [&](const auto& k) { return k.model_type == name; });
  if (kind == kTowers.end()) return 0;
  HfConfig c(part, name, faults);
  const std::int64_t parameters = kind->parameters(c, text_hidden);
  return faults.empty() ? parameters : 0;
}

std::string tower_words(std::string_view key, const JsonValue& part, std::int64_t text_hidden) {
  const std::string what = key == "vision_config"  ? "its vision tower"
                           : key == "audio_config" ? "its audio tower"
                                                   : fmt::format("its part {}", label_of(key));
  const std::int64_t parameters = key == "vision_config" ? tower_parameters(part, text_hidden) : 0;
  if (parameters == 0) return what + ", whose parameters are not counted";
  return fmt::format("{} of {} parameters", what, format_count(static_cast<double>(parameters)));
}

bool is_part(std::string_view key) {
  constexpr std::array<std::string_view, 4> kOthers{"text_config", "quantization_config", "compression_config",
                                                    "generation_config"};
  return key.ends_with("_config") && std::find(kOthers.begin(), kOthers.end(), key) == kOthers.end();
}

}  // namespace

std::string hf_left_out(const JsonValue& whole, HfConfig& text, const Architecture& a) {
  Diagnostics faults;
  std::string out;
  const auto add = [&out](std::string words) { out += (out.empty() ? "" : "; ") + std::move(words); };
  const bool several_parts = whole.find("text_config").has_value();
  for (const std::string& key : whole.keys(faults)) {
    const bool tower = key == "vision_config" || key == "audio_config";
    if (!is_part(key) || (!several_parts && !tower)) continue;
    const auto part = whole.find(key);
    if (part->is_object()) add(tower_words(key, *part, a.hidden));
  }
  if (several_parts && out.empty()) add("its parts beside the one on text, which the file does not describe");
  const std::int64_t further = text.integer_or({"num_nextn_predict_layers", "mtp_num_hidden_layers"}, 0);
  if (further > 0) {
    add(fmt::format("{} block{} that predict{} further tokens", further, further > 1 ? "s" : "",
                    further > 1 ? "" : "s"));
  }
  return out;
}

}  // namespace smplan
