#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalogs/architecture.hpp"

namespace smplan {

/// What LoRA on all linear layers trains of routed experts.
enum class ExpertAdapters {
  Separate,  ///< two matrices for each projection of each expert
  Fused,     ///< gate and up as one projection of twice the rank
  None,      ///< the experts are no linear layers, and are left out
};

/// What PEFT does with the experts of a type of transformers.
/// Source: catalogs/data/finetuning/expert_adapters.json, which scripts/fit/expert_adapters.py counted.
struct ExpertAdapterRow {
  std::string name;  ///< model type of transformers
  ExpertAdapters experts = ExpertAdapters::Separate;
  std::vector<std::string> names;  ///< beginnings of names of the catalog's models of that type
};
const std::vector<ExpertAdapterRow>& expert_adapter_rows();

/// Separate for a model whose type is not known.
ExpertAdapters peft_expert_adapters(const Architecture& architecture);

}  // namespace smplan
