#include "planner/export/launchable.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/words.hpp"
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
  plan.seq_len = workload.data_lengths().longest;
  plan.global_batch = workload.global_batch;
  plan.precision = workload.precision;
  plan.optimizer = workload.optimizer;
  plan.finetune = workload.finetune;
  plan.fine_tunes = workload.fine_tunes;
  plan.lora_rank = workload.lora.trains_prompt() ? 0 : workload.lora.rank;
  plan.virtual_tokens = workload.lora.virtual_tokens;
  plan.adapter_count = workload.lora.count;
  plan.lora_embeddings = workload.lora.train_embeddings;
  plan.lora_targets = workload.lora.targets;
  plan.trained_layers = workload.trained_layers;
  plan.adapters = workload.lora.method;
  plan.mean_seq_len = workload.data_lengths().mean;
  plan.loss = workload.loss;
  plan.reference = workload.reference;
  plan.strategy.sharding = stack.shardings.front();
  plan.strategy.recompute = stack.recomputes.front();
  plan.strategy.collectives = stack.collectives.front();
  plan.strategy.execution = stack.execution;
  return plan;
}

/// The plan with one value of a dimension, in the company in which it means something: shards are of several ranks.
TrainingPlan with_value(TrainingPlan plan, const DimensionRow& row, std::int32_t value) {
  Strategy& s = plan.strategy;
  if (row.dimension == Dimension::RecomputeLayers && value > 0) s.recompute = Recompute::Full;
  if (row.dimension == Dimension::VirtualPipeline || row.dimension == Dimension::Schedule) s.pipeline_parallel = 2;
  if (row.dimension == Dimension::Sharding) s.data_parallel = s.shard_degree = 2;
  row.set(s, value);
  return plan;
}

/// What is told where the target cannot say the plain value.
TrainingPlan plainest_said(const Workload& workload, const Stack& stack, const ExportTarget& target) {
  TrainingPlan plan = plainest_plan(workload, stack);
  const auto choose = [&](Dimension dimension, const std::vector<std::int32_t>& values) {
    const DimensionRow& row = row_of(dimension);
    row.set(plan.strategy, sayable(workload, stack, target, row, values).front());
  };
  std::vector<std::int32_t> shardings, recomputes;
  for (const Sharding sharding : stack.shardings) shardings.push_back(dimension_value(sharding));
  for (const Recompute recompute : stack.recomputes) recomputes.push_back(dimension_value(recompute));
  choose(Dimension::Sharding, shardings);
  choose(Dimension::Recompute, recomputes);
  for (const DimensionRow& row : dimensions()) {
    if (!row.of_execution || row.words == nullptr) continue;
    std::vector<std::int32_t> values{row.get(plan.strategy)};
    values.insert(values.end(), row.words->values.begin(), row.words->values.end());
    choose(row.dimension, values);
  }
  return plan;
}

}  // namespace

std::vector<std::int32_t> sayable(const Workload& workload, const Stack& stack, const ExportTarget& target,
                                  const DimensionRow& row, const std::vector<std::int32_t>& values) {
  const TrainingPlan plain = plainest_plan(workload, stack);
  std::vector<std::size_t> faults;
  for (const std::int32_t value : values) {
    faults.push_back(inexpressible(with_value(plain, row, value), target).size());
  }
  std::vector<std::int32_t> out;
  const std::size_t least = faults.empty() ? 0 : *std::min_element(faults.begin(), faults.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (faults[i] == least) out.push_back(values[i]);
  }
  return out;
}

Stack as_started(const Workload& workload, const Stack& stack) {
  Stack out = stack;
  const StackExport* start = stack_export(plainest_plan(workload, stack));
  if (start == nullptr || start->strategy_target.empty()) return out;
  const Capabilities& can = (*find_export_target(start->strategy_target, "--stack"))->can;
  out.partial_recompute = out.partial_recompute && can.partial_recompute;
  std::erase_if(out.recomputes, [&](Recompute recompute) { return !holds(can.recomputes, recompute); });
  std::erase_if(out.offloads, [&](const std::string& what) {
    return (what == "activations" && !can.offload_activations) || (what == "nvme" && !can.offload_to_nvme);
  });
  return out;
}

std::vector<const ExportTarget*> tools_for(const Workload& workload, const Stack& stack) {
  std::vector<const ExportTarget*> tools;
  for (const ExportTarget& target : export_targets()) {
    if (target.can.trains && !launch_refusal(workload, stack, &target)) tools.push_back(&target);
  }
  return tools;
}

Launching launching(const Workload& workload, const Stack& stack, const ExportTarget* target) {
  if (target != nullptr) {
    return {
        target->can.trains ? "tool" : "script",
        fmt::format("smplan export --target {} writes its file, {}", target->name,
                    target->can.trains ? "which the tool trains by" : "the script that reads it is yours to write")};
  }
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

std::optional<LaunchRefusal> launch_refusal(const Workload& workload, const Stack& stack, const ExportTarget* target) {
  if (target != nullptr) {
    if (!runs_as(*target, stack.id))
      return LaunchRefusal{fmt::format("an export to {} runs on {}, not on {}", target->name,
                                       fmt::join(words_of(target->can.stacks), ", "), stack.id)};
    const std::vector<std::string> unsaid = inexpressible(plainest_said(workload, stack, *target), *target);
    return unsaid.empty() ? std::nullopt : std::optional(LaunchRefusal{unsaid.front()});
  }
  const TrainingPlan plan = plainest_plan(workload, stack);
  const StackExport* start = stack_export(plan);
  if (start == nullptr) return LaunchRefusal{"no export starts " + stack.id};
  if (start->strategy_target.empty()) {
    Diagnostics faults;
    check_program(plan, start->program, faults);
    if (!faults.empty()) return LaunchRefusal{faults.front().message};
  } else {
    const auto own = find_export_target(start->strategy_target, "--stack");
    if (!own) return LaunchRefusal{own.error().front().message};
    const std::vector<std::string> unsaid = inexpressible(plan, **own);
    if (!unsaid.empty()) return LaunchRefusal{unsaid.front()};
  }
  if (start->needs_script()) return LaunchRefusal{stack.id + " needs a training script of your own", true};
  return std::nullopt;
}

}  // namespace smplan
