#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "catalogs/adapter_methods.hpp"
#include "catalogs/stack.hpp"
#include "models/job/workload.hpp"

namespace smplan {

/// The linear layers of a dense layer, by Transformers' names.
inline constexpr std::array<std::string_view, 7> kLinearLayers{"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                                               "gate_proj", "up_proj", "down_proj"};

/// A set of kLinearLayers: bit i is the i-th.
struct LinearLayers {
  std::uint8_t bits = 0;
  [[nodiscard]] bool has(std::size_t layer) const { return (bits >> layer & 1) != 0; }
  friend bool operator==(LinearLayers, LinearLayers) = default;
};
/// `q_proj+v_proj`, `attention` (four), `query-value`, `all` (`all-linear`); plus signs, commas and blanks separate.
/// nullopt where a word is none of these.
std::optional<LinearLayers> linear_layers_from(std::string_view text);
/// The least set of LoraTargets that holds them.
LoraTargets lora_targets_of(LinearLayers layers);

/// Those of a set of targets.
LinearLayers linear_layers_of(LoraTargets targets);

/// What the method keeps of one dense layer. Without `layers`: those that PEFT adapts in Llama.
AdapterKeeps adapter_keeps(const AdapterMethod& method, const Architecture& architecture,
                           std::optional<LinearLayers> layers, std::int64_t rank);
/// What the method does beyond LoRA in one dense layer; a method that does less is taken as LoRA.
AdapterWork adapter_work(const AdapterMethod& method, const Architecture& architecture,
                         std::optional<LinearLayers> layers);

/// What gets adapters of its own in the framework's code: that of transformers, which PEFT adapts, or the framework's.
/// Those that spread experts hold each of their matrices as a layer of its own.
AdaptedLayers adapted_layers_of(const Architecture& architecture, const Stack& stack);

/// Fills in what is kept and moved for the method of the workload's adapters, where it is not LoRA.
void weigh_adapters_of(Workload& workload);

}  // namespace smplan
