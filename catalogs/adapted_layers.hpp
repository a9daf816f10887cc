#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalogs/architecture.hpp"

namespace smplan {

/// What LoRA on all linear layers trains of routed experts.
enum class ExpertAdapters {
  Separate,  ///< two matrices for each projection of each expert
  Fused,     ///< gate and up as one projection of twice the rank, and no other MLP of the model: PEFT takes their names
  None,      ///< the experts are no linear layers, and are left out
};

/// How a framework's code cuts the products of a block into layers, each of which gets adapters of its own. Products
/// of one layer share the first matrix of its adapters: rank x (inputs + all outputs).
struct AdaptedLayers {
  ExpertAdapters experts = ExpertAdapters::Separate;
  bool joins_attention = false;       ///< queries, keys and values are one layer
  bool joins_mlp = false;             ///< gate and up are one, outside of experts
  bool joins_shared_experts = false;  ///< gate and up of the experts that every token passes
  bool router = false;                ///< the router is a linear layer, which gets adapters too
  int state_inputs = 1;               ///< layers that make the inputs of a state mixer
  bool state_output = true;           ///< what a state mixer's output passes gets adapters
  friend bool operator==(const AdaptedLayers&, const AdaptedLayers&) = default;
};

/// Names of the modules that get adapters, where these are not on all linear layers.
struct AdapterTargets {
  std::vector<std::string> query_value;
  std::vector<std::string> attention;
  std::vector<std::string> linear;  ///< of all linear layers where PEFT refuses `all-linear`; else empty
};

/// What PEFT finds in a type of transformers.
/// Source: catalogs/data/finetuning/adapted_layers.json, held against PEFT's counts by tests/oracles/hf_configs.py.
struct AdaptedLayersRow {
  std::string name;  ///< model type of transformers
  AdaptedLayers layers;
  AdapterTargets targets;  ///< Llama's where the type's row says nothing
};
const std::vector<AdaptedLayersRow>& adapted_layers_rows();

/// Each product a layer of its own for a model whose type has no row.
AdaptedLayers peft_adapted_layers(const Architecture& architecture);
/// nullopt where nobody counted, for a block that is not Llama's.
std::optional<AdapterTargets> peft_targets_of(const Architecture& architecture);

}  // namespace smplan
