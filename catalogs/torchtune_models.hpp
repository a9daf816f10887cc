#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smplan {

/// A model that torchtune implements. Source: catalogs/data/finetuning/torchtune_models.json.
struct TorchtuneModel {
  std::string name;     ///< of the catalog
  std::string package;  ///< of `torchtune.models`
  std::string builder;  ///< function of the package; with adapters behind `lora_`
  std::string tokenizer;
  /// Arguments of the tokenizer that are files in the folder of the weights, and those files.
  std::vector<std::pair<std::string, std::string>> tokenizer_files;
  std::string checkpoint;  ///< the checkpointer's word for the model
};

const std::vector<TorchtuneModel>& torchtune_models();
/// By the catalog's name; nullptr where torchtune does not implement it.
const TorchtuneModel* torchtune_model(std::string_view name);

}  // namespace smplan
