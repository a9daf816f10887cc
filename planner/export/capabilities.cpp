#include <algorithm>

#include <fmt/format.h>

#include "planner/export/launch.hpp"
#include "planner/export/program.hpp"
#include "planner/export/target.hpp"
#include "planner/export/text.hpp"

namespace smplan {
namespace {

/// One thing that a plan may need of a target. `needs` is the plan's value in words, or empty.
struct Need {
  std::string (*needs)(const TrainingPlan&);
  bool (*can)(const Capabilities&, const TrainingPlan&);
};

template <std::int32_t Strategy::*Degree>
std::string over_one(const TrainingPlan& plan, std::string_view what) {
  return plan.strategy.*Degree > 1 ? fmt::format("{} {}", what, plan.strategy.*Degree) : std::string();
}

std::string when(bool needed, std::string_view what) { return needed ? std::string(what) : std::string(); }

const Need kNeeds[] = {
    {[](const TrainingPlan& p) { return over_one<&Strategy::tensor_parallel>(p, "tensor parallelism"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.tensor; }},
    {[](const TrainingPlan& p) { return when(p.strategy.sequence_parallel, "sequence parallelism"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.sequence; }},
    {[](const TrainingPlan& p) { return over_one<&Strategy::pipeline_parallel>(p, "pipeline parallelism"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.pipeline; }},
    {[](const TrainingPlan& p) { return over_one<&Strategy::virtual_pipeline>(p, "virtual pipeline stages"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.interleaved; }},
    {[](const TrainingPlan& p) { return over_one<&Strategy::context_parallel>(p, "context parallelism"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.context; }},
    {[](const TrainingPlan& p) { return over_one<&Strategy::expert_parallel>(p, "expert parallelism"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.expert; }},
    {[](const TrainingPlan& p) {
       const bool asked = p.model.is_moe() && p.strategy.expert_tensor() != p.strategy.usual_expert_tensor();
       return when(asked, fmt::format("expert tensor parallelism over {}", p.strategy.expert_tensor()));
     },
     [](const Capabilities& c, const TrainingPlan&) { return c.expert_tensor; }},
    {[](const TrainingPlan& p) { return fmt::format("sharding {}", to_string(p.strategy.sharding)); },
     [](const Capabilities& c, const TrainingPlan& p) { return holds(c.shardings, p.strategy.sharding); }},
    {[](const TrainingPlan& p) {
       const bool partial = p.strategy.sharding != Sharding::None && p.strategy.shard_degree < p.replicas();
       return partial ? fmt::format("sharding over {} of {} ranks", p.strategy.shard_degree, p.replicas())
                      : std::string();
     },
     [](const Capabilities& c, const TrainingPlan&) { return c.partial_sharding; }},
    {[](const TrainingPlan& p) { return fmt::format("recomputation {}", to_string(p.strategy.recompute)); },
     [](const Capabilities& c, const TrainingPlan& p) { return holds(c.recomputes, p.strategy.recompute); }},
    {[](const TrainingPlan& p) {
       const std::int32_t layers = p.strategy.recompute_layers;
       return when(layers > 0, fmt::format("recomputation of {} layers a chunk", layers));
     },
     [](const Capabilities& c, const TrainingPlan&) { return c.partial_recompute; }},
    {[](const TrainingPlan& p) { return fmt::format("number format {}", to_string(p.precision)); },
     [](const Capabilities& c, const TrainingPlan& p) { return holds(c.precisions, p.precision); }},
    {[](const TrainingPlan& p) { return when(p.strategy.offload.optimizer, "offload of the optimizer"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.offload_optimizer; }},
    {[](const TrainingPlan& p) { return when(p.strategy.offload.parameters, "offload of the parameters"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.offload_parameters; }},
    {[](const TrainingPlan& p) { return when(p.strategy.offload.activations, "offload of the activations"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.offload_activations; }},
    {[](const TrainingPlan& p) { return when(p.strategy.offload.to_nvme, "offload to NVMe"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.offload_to_nvme; }},
    {[](const TrainingPlan& p) { return when(p.finetune == FineTune::Lora, "LoRA"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.adapters; }},
    {[](const TrainingPlan& p) { return when(p.finetune == FineTune::Qlora, "QLoRA"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.quantized_adapters; }},
    {[](const TrainingPlan& p) { return when(p.lora_embeddings, "embeddings trained beside adapters"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.trained_embeddings; }},
    {[](const TrainingPlan& p) {
       return when(p.lora_targets != LoraTargets::Linear, fmt::format("adapters on {}", adapted_layers(p)));
     },
     [](const Capabilities& c, const TrainingPlan&) { return c.chosen_layers; }},
    {[](const TrainingPlan& p) {
       return p.trained_layers ? "training of " + trained_words(*p.trained_layers) + " alone" : std::string();
     },
     [](const Capabilities& c, const TrainingPlan&) { return c.frozen_layers; }},
    {[](const TrainingPlan& p) { return p.adapters != nullptr ? "adapters of the kind " + p.adapters->name : ""; },
     [](const Capabilities& c, const TrainingPlan&) { return c.adapter_kinds; }},
    {[](const TrainingPlan& p) {
       return p.adapter_count > 1 ? fmt::format("{} adapters at once", p.adapter_count) : std::string();
     },
     [](const Capabilities& c, const TrainingPlan&) { return c.several_adapters; }},
    {[](const TrainingPlan& p) { return when(p.mean_seq_len > 0, "sequences of different lengths"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.lengths; }},
    {[](const TrainingPlan& p) { return p.loss != nullptr ? "the loss of " + p.loss->name : std::string(); },
     [](const Capabilities& c, const TrainingPlan&) { return c.losses; }},
    {[](const TrainingPlan& p) { return when(p.strategy.collectives == Collectives::Smddp, "SMDDP collectives"); },
     [](const Capabilities& c, const TrainingPlan&) { return c.smddp; }},
    {[](const TrainingPlan& p) {
       return when(p.recovery.mode == RecoveryMode::Checkpointless, "checkpointless recovery");
     },
     [](const Capabilities& c, const TrainingPlan&) { return c.checkpointless; }},
    {[](const TrainingPlan& p) { return fmt::format("the platform {}", to_string(p.recovery.platform)); },
     [](const Capabilities& c, const TrainingPlan& p) { return holds(c.platforms, p.recovery.platform); }},
    {[](const TrainingPlan& p) {
       return std::string(p.stack->is_built_for(Vendor::Aws) ? "Neuron devices" : "NVIDIA devices");
     },
     [](const Capabilities& c, const TrainingPlan& p) {
       return std::any_of(p.stack->vendors.begin(), p.stack->vendors.end(),
                          [&](Vendor vendor) { return holds(c.vendors, vendor); });
     }},
};

/// Every need that the target does not meet, in words.
std::vector<std::string> unmet(const TrainingPlan& plan, const Capabilities& can) {
  std::vector<std::string> out;
  for (const Need& need : kNeeds) {
    std::string words = need.needs(plan);
    if (!words.empty() && !need.can(can, plan)) out.push_back(std::move(words));
  }
  return out;
}

/// Targets of that side that write the whole plan, for the hint.
std::string able(const ExportJob& job, TargetSide side) {
  std::string names;
  for (const ExportTarget& target : export_targets()) {
    if (target.side != side || !unmet(job.plan, target.can).empty()) continue;
    Diagnostics faults;
    if (target.check != nullptr) target.check(job.plan, faults);
    if (brings_program(job, target.program)) check_program(job.plan, target.program, faults);
    // A target with several dialects may still refuse in the one that the plan needs.
    Export written;
    if (side == TargetSide::Strategy) target.write(job, written, faults);
    if (faults.empty()) names += (names.empty() ? "" : ", ") + std::string(target.name);
  }
  if (names.empty() && side == TargetSide::Launcher) return able(job, TargetSide::Strategy);
  std::string hint = names.empty() ? std::string("plan again with it fixed to 1 or off") : "these can: " + names;
  if (job.plan.finetune != FineTune::Full && job.plan.stack->id != "fsdp") hint += "; or plan with --stack fsdp";
  return hint;
}

/// Targets that start processes this way.
std::string starters(LaunchMethod launcher) {
  std::string names;
  for (const ExportTarget& target : export_targets()) {
    if (holds(target.launchers, launcher)) names += (names.empty() ? "" : " or ") + std::string(target.name);
  }
  return names;
}

}  // namespace

std::vector<std::string> inexpressible(const TrainingPlan& plan, const ExportTarget& target) {
  std::vector<std::string> out;
  for (const std::string& words : unmet(plan, target.can)) {
    out.push_back(fmt::format("{} has no words for {}", target.name, words));
  }
  Diagnostics faults;
  if (target.check != nullptr) target.check(plan, faults);
  check_program(plan, target.program, faults);
  for (const Diagnostic& fault : faults) out.push_back(fault.message);
  return out;
}

Diagnostics refusals(const ExportJob& job, const ExportTarget& target) {
  const TrainingPlan& plan = job.plan;
  Diagnostics out;
  for (const std::string& words : unmet(plan, target.can)) {
    out.push_back({"not-expressible", "--target", fmt::format("{} has no words for {}", target.name, words),
                   able(job, target.side)});
  }
  if (target.check != nullptr) target.check(plan, out);
  if (brings_program(job, target.program)) check_program(plan, target.program, out);
  if (!out.empty() || target.side == TargetSide::Strategy) return out;
  const StackExport* stack = stack_export(plan);
  if (stack == nullptr) {
    return {{"not-expressible", "--target",
             fmt::format("{} cannot start stack {}: {}", target.name, plan.stack->id, plan.stack->limitation),
             fmt::format("plan with one of these stacks: {}", startable_stacks())}};
  }
  const LaunchMethod launcher = launcher_of(plan, *stack);
  if (!holds(target.launchers, launcher)) {
    return {{"not-expressible", "--target",
             fmt::format("{} does not start processes by {}", target.name, to_string(launcher)),
             fmt::format("use {}", starters(launcher))}};
  }
  if (stack->strategy_target.empty()) {
    if (brings_program(job, stack->program)) check_program(plan, stack->program, out);
    return out;
  }
  const auto strategy = find_export_target(stack->strategy_target, "--target");
  return strategy ? refusals(job, **strategy) : strategy.error();
}

}  // namespace smplan
