#include "planner/export/launchable.hpp"

#include <fmt/format.h>

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
  plan.lora_targets = workload.lora.targets;
  plan.trained_layers = workload.trained_layers;
  plan.adapters = workload.lora.method;
  plan.mean_seq_len = workload.mean_seq_len;
  plan.loss = workload.loss;
  plan.reference = workload.reference;
  plan.strategy.sharding = stack.shardings.front();
  plan.strategy.recompute = stack.recomputes.front();
  plan.strategy.collectives = stack.collectives.front();
  plan.strategy.execution = stack.execution;
  return plan;
}

}  // namespace

Launching launching(const Workload& workload, const Stack& stack) {
  const StackExport* start = stack_export(stack.id);
  const auto refusal = launch_refusal(workload, stack);
  if (!refusal) {
    return {"export", "smplan export writes the whole job, " + std::string(to_string(start->launcher)) + " starts it"};
  }
  if (refusal->only_script) {
    return {"script", fmt::format("smplan export writes the job, {} starts {}, which is yours to write",
                                  to_string(start->launcher), start->script)};
  }
  if (start == nullptr) return {"hand", "by your own launcher: " + refusal->reason};
  return {"hand", fmt::format("by hand, with {} under {}: no export writes it ({})", start->script,
                              to_string(start->launcher), refusal->reason)};
}

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
