#include "planner/export/launchable.hpp"

#include "planner/export/launch.hpp"
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
  plan.lora_rank = workload.lora.rank;
  plan.lora_embeddings = workload.lora.train_embeddings;
  plan.strategy.sharding = stack.shardings.front();
  plan.strategy.recompute = stack.recomputes.front();
  plan.strategy.collectives = stack.collectives.front();
  plan.strategy.execution = stack.execution;
  return plan;
}

}  // namespace

std::optional<std::string> launch_refusal(const Workload& workload, const Stack& stack) {
  const StackExport* start = stack_export(stack.id);
  if (start == nullptr) return "no export starts " + stack.id;
  if (start->strategy_target.empty()) return std::nullopt;
  const auto target = find_export_target(start->strategy_target, "--stack");
  if (!target) return target.error().front().message;
  const std::vector<std::string> unsaid = inexpressible(plainest_plan(workload, stack), **target);
  return unsaid.empty() ? std::nullopt : std::optional(unsaid.front());
}

}  // namespace smplan
