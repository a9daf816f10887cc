#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smplan {

/// What a method of PEFT keeps for the backward pass beside what frozen layers keep: bytes per token of the inputs and
/// outputs of each linear layer that it adapts and of its rank; bytes of a weight, or of a pair of inputs, however many
/// tokens there are. Of bf16 weights under adapters in fp32, as get_peft_model() makes them unless
/// `autocast_adapter_dtype` is off (PEFT 0.12 and later).
/// Source: catalogs/data/finetuning/adapter_methods.json, which scripts/fit/adapter_memory.py counted.
struct AdapterMethod {
  std::string name;
  double input = 0;
  double output = 0;
  double rank = 0;
  double weight = 0;
  double square = 0;
  double shared_input = 0;          ///< instead of `input`: layers that read the same tensor keep it once
  double last_input = 0;            ///< instead of all others: of the layer that ends an MLP
  double hidden = 0;                ///< bytes per token of a hidden value, whatever is adapted
  std::int64_t virtual_tokens = 0;  ///< before each sequence, as PEFT's comparison of methods has them
};

/// By its letters and digits: `prefix-tuning` is `prefixtuning`. Null for a method that is not known.
const AdapterMethod* adapter_method(std::string_view name);
/// All of them, in the order of the file.
const std::vector<AdapterMethod>& adapter_methods();

}  // namespace smplan
