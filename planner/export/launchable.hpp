#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/job/dimensions.hpp"
#include "planner/export/training_plan.hpp"

namespace smplan {

struct ExportTarget;

/// Why no exported job trains a piece of work with a stack.
struct LaunchRefusal {
  std::string reason;
  bool only_script = false;  ///< the job starts once somebody has written its training script
};

/// Who starts a plan's job, and with what.
struct Launching {
  std::string_view by;  ///< `export`, `script`: an export around a script of the user's own, `tool`, `hand`
  std::string how;
};
/// `target`: the one that is planned for; nullptr: whatever exports the stack.
Launching launching(const Workload& workload, const Stack& stack, const ExportTarget* target = nullptr);

/// Whatever the degrees: nobody starts the stack, its file or its program has no words for adapters, the framework
/// lacks the model or the optimizer. nullopt where an export brings all that trains.
/// `target`: the export that is asked for, a strategy target; nullptr: the one of the stack.
std::optional<LaunchRefusal> launch_refusal(const Workload& workload, const Stack& stack,
                                            const ExportTarget* target = nullptr);

/// Targets whose tool trains the work on that stack by its file alone, in the order of export_targets().
std::vector<const ExportTarget*> tools_for(const Workload& workload, const Stack& stack);

/// The stack with what of its abilities the file can say that an export of this work starts it with.
Stack as_started(const Workload& workload, const Stack& stack);

/// Those of a dimension's values that the target can say, where the rest is as plain as the stack has it; all of them
/// where that makes no difference.
std::vector<std::int32_t> sayable(const Workload& workload, const Stack& stack, const ExportTarget& target,
                                  const DimensionRow& row, const std::vector<std::int32_t>& values);

}  // namespace smplan
