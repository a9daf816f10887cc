#pragma once

#include "planner/preflight/fields.hpp"

namespace smplan {

/// What a script's settings call a method of PEFT: `peft_type: PROMPT_TUNING`, `adapters: dora`. A kind that is not
/// planned makes the job one that is not modelled: a prediction of all weights, or of LoRA, would be wrong.
void read_methods(const Node& hyperparameters, Job& job);

}  // namespace smplan
