#pragma once

#include <string_view>

#include "planner/preflight/fields.hpp"

namespace smplan {

/// Each of them has weights and states of its own, and a part of the batch.
inline constexpr std::string_view kSeveralAdapters =
    "several adapters trained at once on one base are not modelled: predict a job of one adapter";

/// What a script's settings call a way of training that is not planned: methods of PEFT such as prompt tuning, and
/// several adapters at once. A prediction of all weights, or of one adapter, would be wrong.
void note_other_methods(const Node& hyperparameters, Job& job);

}  // namespace smplan
