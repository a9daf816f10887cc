#include "models/layers/adapters.hpp"

#include <algorithm>
#include <string>

#include "base/words.hpp"
#include "models/layers/layers.hpp"

namespace smplan {
namespace {

constexpr std::uint8_t kQueries = 1, kKeys = 2, kValues = 4, kGate = 16, kDown = 64;
constexpr LinearLayers kQueryValue{kQueries | kValues};
constexpr LinearLayers kAttention{15};
constexpr LinearLayers kAll{127};
constexpr double kReadWeightBytes = 2;

/// Widths of a linear layer, and what tensor it reads.
struct AdaptedLayer {
  std::int64_t inputs;
  std::int64_t outputs;
  std::string_view reads;
  bool ends_mlp = false;
};

/// In the order of kLinearLayers.
std::array<AdaptedLayer, kLinearLayers.size()> widths_of(const Architecture& a, const LayerSpec& spec) {
  const AttentionWidths heads = attention_widths(a, spec);
  const std::int64_t queries = heads.queries();
  const std::int64_t keys = heads.projections > 0 ? heads.keys() : 0;
  const std::int64_t values = heads.projections > 1 ? heads.keys() : 0;
  const std::int64_t mlp = spec.borrows_keys ? spec.ffn_hidden : a.ffn_hidden;
  return {{{a.hidden, queries, "attention"},
           {keys > 0 ? a.hidden : 0, keys, "attention"},
           {values > 0 ? a.hidden : 0, values, "attention"},
           {queries, a.hidden, "heads"},
           {a.hidden, mlp, "mlp"},
           {a.hidden, mlp, "mlp"},
           {mlp, a.hidden, "inner", true}}};
}

std::optional<std::uint8_t> layers_named(std::string_view word) {
  if (word == "all" || word == "all-linear" || word == "linear") return kAll.bits;
  if (word == "attention") return kAttention.bits;
  if (word == "query-value") return kQueryValue.bits;
  const auto* const at = std::find(kLinearLayers.begin(), kLinearLayers.end(), word);
  if (at == kLinearLayers.end()) return std::nullopt;
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(at - kLinearLayers.begin()));
}

/// Without `layers`: those that PEFT adapts in Llama.
LinearLayers adapted_layers(const AdapterMethod& method, const Architecture& a, std::optional<LinearLayers> layers) {
  const LinearLayers usual = method.last_input > 0 ? LinearLayers{kKeys | kValues | kDown} : kQueryValue;
  LinearLayers adapted = layers.value_or(usual);
  if (!a.gated_mlp) adapted.bits = static_cast<std::uint8_t>(adapted.bits & ~kGate);
  return adapted;
}

/// What the adapters of one layer keep.
AdapterKeeps layer_keeps(const AdapterMethod& method, const Architecture& a, const LayerSpec& spec,
                         LinearLayers adapted, std::int64_t rank) {
  const auto widths = widths_of(a, spec);
  AdapterKeeps out;
  out.token_bytes = method.hidden * static_cast<double>(a.hidden);
  std::string_view read;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!adapted.has(i)) continue;
    const AdaptedLayer& layer = widths[i];
    if (layer.inputs == 0 && layer.outputs == 0) continue;
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

LinearLayers linear_layers_of(LoraTargets targets) {
  if (targets == LoraTargets::QueryValue) return kQueryValue;
  return reaches_mlps(targets) ? kAll : kAttention;
}

AdapterKeeps adapter_keeps(const AdapterMethod& method, const Architecture& a, std::optional<LinearLayers> layers,
                           std::int64_t rank) {
  const LinearLayers adapted = adapted_layers(method, a, layers);
  if (a.global == GlobalAttention{} && a.shared_key_values.n_layers == 0) {
    return layer_keeps(method, a, {.window = a.sliding_window}, adapted, rank);
  }
  // Layers of several widths: their mean.
  AdapterKeeps mean;
  const LayerStack stack = layer_stack(a);
  for (const LayerRun& run : stack) {
    const AdapterKeeps one = layer_keeps(method, a, run.spec, adapted, rank);
    const double share = static_cast<double>(run.count) / static_cast<double>(a.n_layers);
    mean.token_bytes += share * one.token_bytes;
    mean.layer_bytes += share * one.layer_bytes;
  }
  return mean;
}

AdapterWork adapter_work(const AdapterMethod& method, const Architecture& a, std::optional<LinearLayers> layers) {
  const LinearLayers adapted = adapted_layers(method, a, layers);
  const auto widths = widths_of(a, {.window = a.sliding_window});
  AdapterWork out;
  const auto add = [](const AdapterTraffic& moved, const AdaptedLayer& layer, double& token, double& standing) {
    const auto inputs = static_cast<double>(layer.inputs);
    const auto outputs = static_cast<double>(layer.outputs);
    token += moved.input * inputs + moved.output * outputs;
    standing += moved.weight * inputs * outputs + moved.square * inputs * inputs;
  };
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!adapted.has(i)) continue;
    add(method.forward, widths[i], out.forward_token_bytes, out.forward_layer_bytes);
    add(method.backward, widths[i], out.backward_token_bytes, out.backward_layer_bytes);
    // Whoever moves that much of each weight reads it.
    if (method.forward.weight >= kReadWeightBytes) {
      out.read_weights += static_cast<double>(widths[i].inputs) * static_cast<double>(widths[i].outputs);
    }
  }
  for (double* bytes :
       {&out.forward_token_bytes, &out.forward_layer_bytes, &out.backward_token_bytes, &out.backward_layer_bytes}) {
    *bytes = std::max(0.0, *bytes);
  }
  out.launches = std::max(1.0, method.launches);
  return out;
}

AdaptedLayers adapted_layers_of(const Architecture& a, const Stack& stack) {
  if (stack.joins_adapters) return {.joins_attention = true, .joins_mlp = true, .joins_shared_experts = true};
  return stack.expert_parallel || stack.own_adapters ? AdaptedLayers{} : peft_adapted_layers(a);
}

void weigh_adapters_of(Workload& w) {
  const AdapterMethod* method = w.lora.method;
  if (method == nullptr || method->is_lora()) return;
  const LinearLayers layers = linear_layers_of(w.lora.targets);
  w.lora.keeps = adapter_keeps(*method, w.architecture, layers, w.lora.rank);
  w.lora.work = adapter_work(*method, w.architecture, layers);
}

}  // namespace smplan
