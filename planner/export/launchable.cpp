#include "planner/export/launchable.hpp"

#include "planner/export/launch.hpp"
#include "planner/export/program.hpp"
#include "planner/export/target.hpp"

namespace smplan {
namespace {

/// The work with the plainest strategy that the stack has: what is refused here is refused with any other.
TrainingPlan plainest_plan(const Workload& workload, const Stack& stack) {
  TrainingPlan plan;
  plan.stack = &stack;
  plan.model = workload.architecture;
  plan.tokens = workload.tokens;
  plan.seq_len = workload.seq_len;
  plan.global_batch = workload.global_batch;
  plan.precision = workload.precision;
  plan.optimizer = workload.optimizer;
  plan.finetune = workload.finetune;
  plan.fine_tunes = workload.fine_tunes;
  plan.lora_rank = workload.lora.rank;
  plan.lora_embeddings = workload.lora.train_embeddings;
  plan.strategy.sharding = stack.shardings.front();
  plan.strategy.recompute = stack.recomputes.front();
  plan.strategy.collectives = stack.collectives.front();
  plan.strategy.execution = stack.execution;
  return plan;
}

}  // namespace

std::optional<LaunchRefusal> launch_refusal(const Workload& workload, const Stack& stack) {
  const StackExport* start = stack_export(stack.id);
  if (start == nullptr) return LaunchRefusal{"no export starts " + stack.id};
  const TrainingPlan plan = plainest_plan(workload, stack);
  if (start->strategy_target.empty()) {
    Diagnostics faults;
    check_program(plan, start->program, faults);
    if (!faults.empty()) return LaunchRefusal{faults.front().message};
  } else {
    const auto target = find_export_target(start->strategy_target, "--stack");
    if (!target) return LaunchRefusal{target.error().front().message};
    const std::vector<std::string> unsaid = inexpressible(plan, **target);
    if (!unsaid.empty()) return LaunchRefusal{unsaid.front()};
  }
  if (start->needs_script()) return LaunchRefusal{stack.id + " needs a training script of your own", true};
  return std::nullopt;
}

}  // namespace smplan
