#pragma once

#include "planner/preflight/tool_settings.hpp"

namespace smplan {

// Files that train part of a model and freeze the rest, without adapters.

/// axolotl's `unfrozen_parameters`: patterns of the names of what is trained.
void read_unfrozen(const Node& patterns, Job& job);

/// LLaMA-Factory's `finetuning_type: freeze`: the last or the first blocks, and modules outside of them.
void read_freeze(const Node& root, const Where& where, Job& job);

}  // namespace smplan
