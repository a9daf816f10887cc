#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smplan {

/// A way to fine-tune, as people name it. Source: catalogs/data/finetuning/methods.json.
struct FineTuningMethod {
  std::string name;        ///< `rslora`
  std::string title;       ///< in sentences
  std::string trains;      ///< what of it decides memory and time: `full`, `lora`, `qlora`
  double last_layers = 0;  ///< part of the blocks that is trained, the last ones; 0: all
  std::string adapters;    ///< kind of its adapters (adapter_methods.hpp); empty: LoRA's, or none
  std::string quality;     ///< what `paper` measured of the model that comes out
  std::string paper;
};

/// By its letters and digits; null for one that is not known.
const FineTuningMethod* fine_tuning_method(std::string_view name);
/// All of them, in the order of the file.
const std::vector<FineTuningMethod>& fine_tuning_methods();
/// Kinds of adapters that they train, LoRA's first.
std::vector<std::string> planned_adapters();

}  // namespace smplan
