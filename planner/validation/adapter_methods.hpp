#pragma once

#include <cstdint>
#include <string_view>

#include "catalogs/architecture.hpp"
#include "models/workload.hpp"

namespace smplan {

/// What a method of PEFT keeps for the backward pass beside what frozen layers keep, of each linear layer that it
/// adapts: bytes per token of a value that goes in or comes out, or of the method's rank; bytes of a weight, or of a
/// pair of inputs, however many tokens there are. Of bf16 weights under adapters in fp32, as get_peft_model() makes
/// them unless `autocast_adapter_dtype` is off (PEFT 0.12 and later). scripts/fit/adapter_memory.py counts them.
struct AdapterMethod {
  std::string_view name;
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

/// Of one dense layer. `targets` lists linear layers by Transformers' names (`q_proj+v_proj`) or says `all`; where it
/// names none they are PEFT's for Llama.
AdapterKeeps adapter_keeps(const AdapterMethod& method, const Architecture& architecture, std::string_view targets,
                           std::int64_t rank);

}  // namespace smplan
