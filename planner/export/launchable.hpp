#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "planner/export/training_plan.hpp"

namespace smplan {

/// Why no exported job trains a piece of work with a stack.
struct LaunchRefusal {
  std::string reason;
  bool only_script = false;  ///< the job starts once somebody has written its training script
};

/// Who starts a plan's job, and with what.
struct Launching {
  std::string_view by;  ///< `export`, `script`: an export around a script of the user's own, `hand`
  std::string how;
};
Launching launching(const Workload& workload, const Stack& stack);

/// Whatever the degrees: nobody starts the stack, its file or its program has no words for adapters, the framework
/// lacks the model or the optimizer. nullopt where an export brings all that trains.
std::optional<LaunchRefusal> launch_refusal(const Workload& workload, const Stack& stack);

}  // namespace smplan
