#pragma once

#include <string>

#include "planner/export/target.hpp"

namespace smplan {

/// What Megatron-LM refuses at start, or would train as another model.
void check_megatron(const TrainingPlan& plan, Diagnostics& faults);

/// `E,t*7|t*8|...|t*7,L` without the commas: the layers of each pipeline chunk, where they do not divide; else empty.
std::string megatron_layout(const TrainingPlan& plan);

/// `MEM*|EMEM/*E`: letters of the layers, a bar before each pipeline chunk, a slash before each further token's block;
/// empty for a model without a pattern.
std::string megatron_pattern(const TrainingPlan& plan);

}  // namespace smplan
