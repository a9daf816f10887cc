#include "models/layers/adapters.hpp"

#include <algorithm>
#include <string>

#include "base/words.hpp"

namespace smplan {
namespace {

constexpr std::uint8_t kQueries = 1, kKeys = 2, kValues = 4, kDown = 64;
constexpr LinearLayers kQueryValue{kQueries | kValues};
constexpr LinearLayers kAttention{15};
constexpr LinearLayers kAll{127};

/// Widths of a linear layer, and what tensor it reads.
struct AdaptedLayer {
  std::int64_t inputs;
  std::int64_t outputs;
  std::string_view reads;
  bool ends_mlp = false;
};

/// In the order of kLinearLayers.
std::array<AdaptedLayer, kLinearLayers.size()> widths_of(const Architecture& a) {
  const std::int64_t queries = a.n_heads * a.head_dim;
  const std::int64_t keys = a.n_kv_heads * a.head_dim;
  return {{{a.hidden, queries, "attention"},
           {a.hidden, keys, "attention"},
           {a.hidden, keys, "attention"},
           {queries, a.hidden, "heads"},
           {a.hidden, a.ffn_hidden, "mlp"},
           {a.hidden, a.ffn_hidden, "mlp"},
           {a.ffn_hidden, a.hidden, "inner", true}}};
}

std::optional<std::uint8_t> layers_named(std::string_view word) {
  if (word == "all" || word == "all-linear" || word == "linear") return kAll.bits;
  if (word == "attention") return kAttention.bits;
  if (word == "query-value") return kQueryValue.bits;
  const auto* const at = std::find(kLinearLayers.begin(), kLinearLayers.end(), word);
  if (at == kLinearLayers.end()) return std::nullopt;
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(at - kLinearLayers.begin()));
}

}  // namespace

std::optional<LinearLayers> linear_layers_from(std::string_view text) {
  constexpr std::string_view kBetween = "+, ";
  const std::string words = lower_case(text);
  LinearLayers layers;
  for (std::size_t begin = words.find_first_not_of(kBetween); begin != std::string::npos;) {
    const std::size_t end = std::min(words.find_first_of(kBetween, begin), words.size());
    const auto named = layers_named(std::string_view(words).substr(begin, end - begin));
    if (!named) return std::nullopt;
    layers.bits = static_cast<std::uint8_t>(layers.bits | *named);
    begin = words.find_first_not_of(kBetween, end);
  }
  return layers.bits == 0 ? std::nullopt : std::optional(layers);
}

LoraTargets lora_targets_of(LinearLayers layers) {
  if ((layers.bits & ~kAttention.bits) != 0) return LoraTargets::Linear;
  return (layers.bits & ~kQueryValue.bits) != 0 ? LoraTargets::Attention : LoraTargets::QueryValue;
}

AdapterKeeps adapter_keeps(const AdapterMethod& method, const Architecture& a, std::optional<LinearLayers> layers,
                           std::int64_t rank) {
  const LinearLayers usual = method.last_input > 0 ? LinearLayers{kKeys | kValues | kDown} : kQueryValue;
  const LinearLayers adapted = layers.value_or(usual);
  const auto widths = widths_of(a);
  AdapterKeeps out;
  out.token_bytes = method.hidden * static_cast<double>(a.hidden);
  std::string_view read;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!adapted.has(i)) continue;
    const AdaptedLayer& layer = widths[i];
    const auto inputs = static_cast<double>(layer.inputs);
    const auto outputs = static_cast<double>(layer.outputs);
    out.layer_bytes += method.weight * inputs * outputs + method.square * inputs * inputs;
    if (layer.ends_mlp && method.last_input > 0) {
      out.token_bytes += method.last_input * inputs;
      continue;
    }
    if (layer.reads != read) out.token_bytes += method.shared_input * inputs;
    read = layer.reads;
    out.token_bytes += method.input * inputs + method.output * outputs + method.rank * static_cast<double>(rank);
  }
  return out;
}

}  // namespace smplan
