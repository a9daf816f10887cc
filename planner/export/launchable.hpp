#pragma once

#include <optional>
#include <string>

#include "planner/export/training_plan.hpp"

namespace smplan {

/// Why no export writes a job that trains this work with this stack, whatever the degrees: nobody starts the stack, its
/// file has no words for adapters, the framework lacks the model or the optimizer. nullopt where a job can be written.
std::optional<std::string> launch_refusal(const Workload& workload, const Stack& stack);

}  // namespace smplan
