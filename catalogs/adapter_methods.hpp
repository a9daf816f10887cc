#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smplan {

/// Bytes that the operations of a method move in a pass beyond those of LoRA, of each linear layer that it adapts.
struct AdapterTraffic {
  double input = 0;   ///< for each input value of a token
  double output = 0;  ///< for each output value of a token
  double weight = 0;  ///< for each weight, however many tokens there are
  double square = 0;  ///< for each pair of inputs likewise
  friend bool operator==(const AdapterTraffic&, const AdapterTraffic&) = default;
};

/// What a method trains that adds virtual tokens to a sequence and adapts no layer.
struct PromptParts {
  std::int64_t virtual_tokens = 0;  ///< as many as PEFT's comparison of methods has
  std::int64_t embeddings = 0;      ///< of each virtual token: it stands before the sequence as any other token
  std::int64_t layers = 0;  ///< of the encoder that makes the embeddings: square, as wide as the model, with biases
  std::int64_t keys = 0;    ///< of each virtual token and layer, as wide as its keys: attention alone reads them
  friend bool operator==(const PromptParts&, const PromptParts&) = default;
};

/// What a method of PEFT keeps for the backward pass beside what frozen layers keep: bytes per token of the inputs and
/// outputs of each linear layer that it adapts and of its rank; bytes of a weight, or of a pair of inputs, however many
/// tokens there are. And what it moves and launches beyond LoRA. Of bf16 weights under adapters in fp32, as
/// get_peft_model() makes them unless `autocast_adapter_dtype` is off (PEFT 0.12 and later).
/// Source: catalogs/data/finetuning/adapter_methods.json, which scripts/fit/adapter_costs.py counted.
struct AdapterMethod {
  std::string name;
  double input = 0;
  double output = 0;
  double rank = 0;
  double weight = 0;
  double square = 0;
  double shared_input = 0;  ///< instead of `input`: layers that read the same tensor keep it once
  double last_input = 0;    ///< instead of all others: of the layer that ends an MLP
  double hidden = 0;        ///< bytes per token of a hidden value, whatever is adapted
  PromptParts prompt;
  AdapterTraffic forward, backward;
  double launches = 1;                 ///< operations of the forward pass beside the frozen layer's, over LoRA's
  std::int64_t output_parameters = 0;  ///< trained for each output of an adapted layer, beside LoRA's two matrices
  bool needs_half = false;             ///< starts from the base's weights in 16 bits

  /// It trains virtual tokens, and adapts no layer.
  [[nodiscard]] bool is_prompt() const { return prompt != PromptParts{}; }
  /// It trains and moves what LoRA does: another scale, or another start.
  [[nodiscard]] bool is_lora() const {
    return output_parameters == 0 && forward == AdapterTraffic{} && backward == AdapterTraffic{} && !is_prompt();
  }
};

/// By its letters and digits: `prefix-tuning` is `prefixtuning`. Null for a method that is not known.
const AdapterMethod* adapter_method(std::string_view name);
/// All of them, in the order of the file.
const std::vector<AdapterMethod>& adapter_methods();

}  // namespace smplan
