#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/embedded_file.hpp"
#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "models/layers/layers.hpp"

namespace smplan {
namespace {

constexpr double kMinParameters = 1e6;
constexpr double kMaxParameters = 1e13;
/// Promised is 2 %; what is chosen stays within 1.5 %.
constexpr double kTolerance = 0.015;

/// Depth of published dense decoders, between which the depth of a made-up one is interpolated over the
/// logarithm of its size: the tiny models of llama2.c, GPT-2 124M, GPT-3 1.3B, Llama-2 7B, 13B and 70B,
/// GPT-3 175B, Llama-3.1 405B, GPT 1T (Narayanan et al. 2021). The 10T entry continues the trend of width.
struct Depth {
  double parameters;
  double layers;
};
constexpr std::array kDepths = {Depth{1e6, 6},     Depth{1.24e8, 12}, Depth{1.3e9, 24},   Depth{6.7e9, 32},
                                Depth{1.3e10, 40}, Depth{7e10, 80},   Depth{1.75e11, 96}, Depth{4.05e11, 126},
                                Depth{1e12, 128},  Depth{1e13, 192}};

double usual_depth(double parameters) {
  if (parameters <= kDepths.front().parameters) return kDepths.front().layers;
  for (std::size_t i = 1; i < kDepths.size(); ++i) {
    const Depth& low = kDepths[i - 1];
    const Depth& high = kDepths[i];
    if (parameters > high.parameters) continue;
    const double t = std::log(parameters / low.parameters) / std::log(high.parameters / low.parameters);
    return std::exp(std::log(low.layers) + t * std::log(high.layers / low.layers));
  }
  return kDepths.back().layers;
}

/// What models of a size have in common, as published: Llama-2 below 30B (32,000 tokens, as many KV heads as
/// heads, MLP 8/3 of the width), Llama-3 from there on (128,256 tokens, 8 KV heads, MLP 3.5 times the width);
/// small ones tie their embeddings (Llama-3.2, SmolLM2), tiny ones have tiny vocabularies (llama2.c).
struct Style {
  std::int64_t vocab = 32000;
  bool tied = false;
  bool grouped_queries = false;
  std::int64_t head_dim = 128;
  std::int64_t hidden_step = 1024;  ///< keeps the heads a multiple of 8
  std::int64_t ffn_step = 256;
  std::int64_t layer_step = 2;
  double ffn_ratio = 8.0 / 3;
};

Style style_of(double parameters) {
  Style s;
  if (parameters < 2e7) return {.vocab = 4096, .tied = true, .head_dim = 32, .hidden_step = 32, .ffn_step = 16};
  if (parameters < 1e8) return {.tied = true, .head_dim = 64, .hidden_step = 64, .ffn_step = 64};
  if (parameters < 1e9) return {.tied = true, .head_dim = 64, .hidden_step = 128, .ffn_step = 64};
  if (parameters < 4e9) return {.head_dim = 64, .hidden_step = 512};
  if (parameters >= 3e10) {
    s.vocab = 128256;
    s.grouped_queries = true;
    s.ffn_ratio = 3.5;
    s.layer_step = parameters < 1e11 ? 4 : 8;
    if (parameters >= 1e11) s.ffn_step = 1024;
  }
  if (parameters >= 1e11) s.hidden_step = 2048;
  return s;
}

Architecture shaped(const Style& style, std::int64_t layers, std::int64_t hidden, std::int64_t ffn) {
  Architecture a;
  a.family = "llama";
  a.n_layers = layers;
  a.hidden = hidden;
  a.head_dim = style.head_dim;
  a.n_heads = hidden / style.head_dim;
  a.n_kv_heads = style.grouped_queries ? std::min<std::int64_t>(8, a.n_heads) : a.n_heads;
  a.ffn_hidden = ffn;
  a.vocab = style.vocab;
  a.max_positions = 8192;
  a.rotary_base = 10000;  // Llama 2's, with whose vocabulary and layers it is drawn
  a.tied_embeddings = style.tied;
  return a;
}

/// MLP width that brings the total nearest to `parameters`; 0 if there is none.
std::int64_t fitting_ffn(const Style& style, std::int64_t layers, std::int64_t hidden, double parameters) {
  const auto rest = static_cast<double>(count_parameters(shaped(style, layers, hidden, 0)).total());
  const double per_unit = 3.0 * static_cast<double>(hidden) * static_cast<double>(layers);
  const double units = std::round((parameters - rest) / per_unit / static_cast<double>(style.ffn_step));
  return units < 1 ? 0 : static_cast<std::int64_t>(units) * style.ffn_step;
}

double relative_error(const Architecture& a, double parameters) {
  return std::abs(static_cast<double>(count_parameters(a).total()) - parameters) / parameters;
}

/// The shape whose depth and MLP ratio are the most usual, among those that hit the size.
Architecture interpolated(double parameters) {
  const Style style = style_of(parameters);
  const double depth = usual_depth(parameters);
  const auto multiple = [](double x, std::int64_t step) {
    return std::max<std::int64_t>(step, static_cast<std::int64_t>(std::llround(x / static_cast<double>(step))) * step);
  };
  Architecture best;
  double best_score = -1;
  for (std::int64_t layers = multiple(0.5 * depth, style.layer_step); layers <= multiple(1.6 * depth, style.layer_step);
       layers += style.layer_step) {
    // 4 h^2 of attention and 3 * ratio * h^2 of MLP a layer bound the width from above.
    const double widest = std::sqrt(parameters / (5.0 * static_cast<double>(layers)));
    for (std::int64_t hidden = style.hidden_step; static_cast<double>(hidden) <= widest; hidden += style.hidden_step) {
      const std::int64_t ffn = fitting_ffn(style, layers, hidden, parameters);
      const double ratio = static_cast<double>(ffn) / static_cast<double>(hidden);
      const Architecture a = shaped(style, layers, hidden, ffn);
      const double error = relative_error(a, parameters);
      if (error > kTolerance) continue;
      // Depths with many divisors split into more pipelines.
      const double awkward = layers % 16 == 0 ? 0.0 : layers % 8 == 0 ? 0.02 : layers % 4 == 0 ? 0.05 : 0.1;
      const double score = std::abs(std::log(static_cast<double>(layers) / depth)) +
                           1.5 * std::abs(std::log(ratio / style.ffn_ratio)) + awkward + 5 * error;
      if (best_score < 0 || score < best_score) {
        best_score = score;
        best = a;
      }
    }
  }
  return best;
}

/// Whether a preset can stand for "a model of this size": dense, Llama-shaped, heads and layers that split.
bool is_typical(const Architecture& a) {
  const bool shape = a.kind == ModelKind::Decoder && !a.is_moe() && !a.has_latent_attention() && a.gated_mlp &&
                     a.norm == NormKind::RmsNorm && a.positions == PositionEncoding::Rope && a.sliding_window == 0;
  return shape && a.n_heads % 8 == 0 && a.n_layers % 2 == 0;
}

/// Nearest preset, Llamas before others, the newest of equals.
const ModelPreset* matching_preset(double parameters, std::span<const ModelPreset> presets) {
  const ModelPreset* best = nullptr;
  double best_error = 0;
  const auto is_llama = [](const ModelPreset& p) { return p.architecture.family == "llama"; };
  for (const ModelPreset& preset : presets) {
    const Architecture& a = preset.architecture;
    if (!is_typical(a)) continue;
    const double error = relative_error(a, parameters);
    // Depths such as 126 divide badly: only who asks for that very size gets them.
    const bool splits = a.n_layers % 4 == 0;
    if (error > (splits ? kTolerance : kTolerance / 3)) continue;
    if (best != nullptr) {
      if (is_llama(preset) != is_llama(*best)) {
        if (is_llama(*best)) continue;
      } else if (error > best_error || (error == best_error && preset.provenance.as_of <= best->provenance.as_of)) {
        continue;
      }
    }
    best = &preset;
    best_error = error;
  }
  return best;
}

}  // namespace

Result<Architecture> architecture_of_size(double parameters, std::span<const ModelPreset> presets) {
  if (!(parameters >= kMinParameters && parameters <= kMaxParameters)) {
    return fail("bad-model-size", "--params", fmt::format("a model of {} parameters is out of range", parameters),
                "give a size between 1M and 10T");
  }
  if (const ModelPreset* preset = matching_preset(parameters, presets)) return preset->architecture;
  Architecture a = interpolated(parameters);
  a.name = "llama-like-" + format_count(parameters);
  return a;
}

Result<Architecture> architecture_of_size(double parameters) {
  std::vector<ModelPreset> presets;
  for (const EmbeddedFile& file : shipped_catalog_files()) {
    if (file.name != "models.json") continue;
    const auto json = parse_json(file.content, file.name);
    if (!json) return tl::unexpected(json.error());
    Diagnostics out;
    const auto models = json->find("models");
    if (!models) return fail("missing-key", json->location(), "key 'models' is missing");
    for (const JsonValue& model : models->as_array(out)) presets.push_back(read_model_preset(model, out));
    if (!out.empty()) return tl::unexpected(out);
  }
  return architecture_of_size(parameters, presets);
}

}  // namespace smplan
