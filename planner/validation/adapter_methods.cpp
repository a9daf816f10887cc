#include "planner/validation/adapter_methods.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/words.hpp"

namespace smplan {
namespace {

/// huggingface/peft 5d602fd (0.21), by scripts/fit/adapter_memory.py, with the ranks, block sizes and virtual tokens of
/// its method_comparison/MetaMathQA where they matter. Adaption prompts, of 100 tokens, keep 8.25 bytes a hidden value
/// and 6 for each head and token of theirs: here of heads of 128. Not counted but taken for their kin: poly and xlora
/// for LoRA, bone for miss, cpt and multitask prompts for prompts of no length.
constexpr std::array kMethods{
    AdapterMethod{.name = "lora", .input = 4, .rank = 4},
    AdapterMethod{.name = "qlora", .input = 4, .rank = 4},
    AdapterMethod{.name = "rslora", .input = 4, .rank = 4},
    AdapterMethod{.name = "pissa", .input = 4, .rank = 4},
    AdapterMethod{.name = "dora", .input = 4, .output = 6, .rank = 4, .square = 4.17},
    AdapterMethod{.name = "adalora", .input = 4, .output = 4, .rank = 8},
    AdapterMethod{.name = "adamss"},
    AdapterMethod{.name = "adaptionprompt", .hidden = 12.9},
    AdapterMethod{.name = "beft"},
    AdapterMethod{.name = "boft", .input = 2, .output = 2, .square = 6.07},
    AdapterMethod{.name = "bone", .rank = 4},
    AdapterMethod{.name = "c3a", .input = 4},
    AdapterMethod{.name = "cpt"},
    AdapterMethod{.name = "deft", .input = 4, .output = 4, .rank = 8},
    AdapterMethod{.name = "delora", .input = 4, .rank = 8},
    AdapterMethod{.name = "fourierft", .input = 4, .weight = 4},
    AdapterMethod{.name = "frod", .input = 2, .square = 2.04},
    AdapterMethod{.name = "glora", .input = 2, .weight = 2},
    AdapterMethod{.name = "gralora", .input = 4, .rank = 8},
    AdapterMethod{.name = "hira", .input = 4, .weight = 4},
    AdapterMethod{.name = "ia3", .output = 2, .last_input = 4},
    AdapterMethod{.name = "lily", .input = 4, .rank = 4},
    AdapterMethod{.name = "ln_tuning", .hidden = 4},
    AdapterMethod{.name = "loha", .input = 4, .weight = 4},
    AdapterMethod{.name = "lokr", .input = 4, .weight = 4.25},
    AdapterMethod{.name = "miss", .rank = 4},
    AdapterMethod{.name = "multitask_prompt_tuning"},
    AdapterMethod{.name = "oft", .input = 4, .square = 0.5},
    AdapterMethod{.name = "peanut", .input = 4, .weight = 8},
    AdapterMethod{.name = "poly", .input = 4, .rank = 4},
    AdapterMethod{.name = "prefixtuning"},
    AdapterMethod{.name = "prompt_tuning", .virtual_tokens = 200},
    AdapterMethod{.name = "psoft", .rank = 4},
    AdapterMethod{.name = "ptuning", .virtual_tokens = 20},
    AdapterMethod{.name = "pvera", .output = 4, .rank = 16},
    AdapterMethod{.name = "randlora", .output = 4, .weight = 4},
    AdapterMethod{.name = "road", .output = 8},
    AdapterMethod{.name = "shira", .weight = 2, .shared_input = 2},
    AdapterMethod{.name = "supertuning", .weight = 2, .shared_input = 2},
    AdapterMethod{.name = "tinylora", .rank = 4},
    AdapterMethod{.name = "trainable_tokens"},
    AdapterMethod{.name = "unilora", .input = 4, .rank = 4},
    AdapterMethod{.name = "vblora", .input = 4, .rank = 4},
    AdapterMethod{.name = "vera", .output = 4, .rank = 4},
    AdapterMethod{.name = "waveft", .input = 4, .weight = 8},
    AdapterMethod{.name = "xlora", .input = 4, .rank = 4},
};

struct AdaptedLayer {
  std::string_view name;
  std::int64_t inputs;
  std::int64_t outputs;
  std::string_view reads;  ///< one name for layers that read one tensor
  bool ends_mlp = false;
};

std::vector<AdaptedLayer> linear_layers(const Architecture& a) {
  const std::int64_t queries = a.n_heads * a.head_dim;
  const std::int64_t keys = a.n_kv_heads * a.head_dim;
  return {{"q_proj", a.hidden, queries, "attention"},
          {"k_proj", a.hidden, keys, "attention"},
          {"v_proj", a.hidden, keys, "attention"},
          {"o_proj", queries, a.hidden, "heads"},
          {"gate_proj", a.hidden, a.ffn_hidden, "mlp"},
          {"up_proj", a.hidden, a.ffn_hidden, "mlp"},
          {"down_proj", a.ffn_hidden, a.hidden, "inner", true}};
}

}  // namespace

const AdapterMethod* adapter_method(std::string_view name) {
  const std::string letters = letters_and_digits(name);
  const auto* found = std::find_if(kMethods.begin(), kMethods.end(),
                                   [&](const auto& m) { return letters_and_digits(m.name) == letters; });
  return found == kMethods.end() ? nullptr : &*found;
}

AdapterKeeps adapter_keeps(const AdapterMethod& method, const Architecture& a, std::string_view targets,
                           std::int64_t rank) {
  const std::vector<AdaptedLayer> layers = linear_layers(a);
  std::string stated = lower_case(targets);
  const auto named = [&](const AdaptedLayer& layer) { return stated.find(layer.name) != std::string::npos; };
  const bool all = stated.find("all") != std::string::npos;
  if (!all && std::none_of(layers.begin(), layers.end(), named)) {
    stated = method.last_input > 0 ? "k_proj+v_proj+down_proj" : "q_proj+v_proj";
  }
  AdapterKeeps out;
  out.token_bytes = method.hidden * static_cast<double>(a.hidden);
  std::string_view read;
  for (const AdaptedLayer& layer : layers) {
    if (!all && !named(layer)) continue;
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
