#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_writer.hpp"
#include "catalogs/sagemaker_limits.hpp"
#include "planner/export/tuning.hpp"
#include "planner/export/writers.hpp"

// Names of parameters: SageMaker Developer Guide, model parallelism library v2 reference and v1 (archived), read
// 2026-11-20.

namespace smplan {
namespace {
/// Types that the archived library ran on.
const std::vector<std::string>& v1_types() {
  static const std::vector<std::string> kTypes =
      SagemakerLimits::shipped().value_or(SagemakerLimits()).smp_v1_instances;
  return kTypes;
}

std::string number(std::int64_t n) { return fmt::format("{}", n); }

Settings v2_parameters(const TrainingPlan& plan) {
  const Strategy& s = plan.strategy;
  // 1 shards nothing; a full shard is said as the degree that it is, because 0 leaves it to the script.
  Settings out = {{"hybrid_shard_degree", number(s.sharding == Sharding::None ? 1 : s.shard_degree)},
                  {"tensor_parallel_degree", number(s.tensor_parallel)},
                  {"context_parallel_degree", number(s.context_parallel)},
                  {"expert_parallel_degree", number(s.expert_parallel)},
                  {"sm_activation_offloading", s.offload.activations ? "true" : "false"}};
  if (s.offload.activations) out.emplace_back("activation_loading_horizon", "2");
  return out;
}

Settings v1_parameters(const TrainingPlan& plan) {
  const Strategy& s = plan.strategy;
  Settings out = {{"partitions", number(s.pipeline_parallel)},
                  {"tensor_parallel_degree", number(s.tensor_parallel)},
                  {"ddp", "true"},
                  {"microbatches", number(s.pipeline_parallel > 1 ? plan.gradient_accumulation : 1)}};
  if (s.pipeline_parallel > 1) {
    out.emplace_back("pipeline", s.schedule == Schedule::GPipe ? "\"simple\"" : "\"interleaved\"");
    out.emplace_back("placement_strategy", "\"cluster\"");
  }
  if (s.sharding == Sharding::FsdpHybrid) out.emplace_back("sharded_data_parallel_degree", number(s.shard_degree));
  if (s.sharding == Sharding::Zero1) out.emplace_back("shard_optimizer_state", "true");
  if (s.offload.activations) {
    out.emplace_back("offload_activations", "true");
    out.emplace_back("activation_loading_horizon", "4");
  }
  if (plan.precision == Precision::Bf16) out.emplace_back("bf16", "true");
  if (plan.precision == Precision::Fp16) out.emplace_back("fp16", "true");
  return out;
}

void write_parameters(const ExportJob& job, std::string_view path, const Settings& settings, Export& out) {
  Json parameters = Json::object();
  for (const auto& setting : settings) parameters[setting.first] = Json::parse(setting.second);
  out.files.push_back({std::string(path), parameters.dump(2) + "\n"});
  if (job.plan.strategy.recompute == Recompute::Full) {
    out.notes.emplace_back("The plan recomputes activations: the script switches activation checkpointing on.");
  }
}

}  // namespace

Settings smp_parameters(const ExportJob& job) {
  return job.plan.stack->smp_version == 1 ? v1_parameters(job.plan) : v2_parameters(job.plan);
}

void write_smp_v2(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  if (!plan.instance->smp_v2) {
    refuse(faults, fmt::format("smp-v2 does not run on {}", plan.instance->name), "plan for ml.p4d, ml.p4de or ml.p5");
  }
  const Strategy& s = plan.strategy;
  const std::int64_t product = std::int64_t{s.shard_degree} * s.tensor_parallel * s.expert_parallel;
  if (plan.world_size() % product != 0) {
    refuse(faults,
           fmt::format("smp-v2 needs shard {} x tensor {} x expert {} to divide {} devices", s.shard_degree,
                       s.tensor_parallel, s.expert_parallel, plan.world_size()),
           "plan with a smaller --shard-degree");
  }
  if (s.context_parallel > 1 && s.shard_degree % s.context_parallel != 0) {
    refuse(faults,
           fmt::format("smp-v2 needs context {} to divide the sharding degree {}", s.context_parallel, s.shard_degree),
           "plan with a --shard-degree that is a multiple of it");
  }
  write_parameters(job, "smp_parameters.json", v2_parameters(plan), out);
  if (s.tensor_parallel > 1 || s.context_parallel > 1 || s.expert_parallel > 1) {
    out.notes.emplace_back(
        "Tensor, context and expert parallelism need torch.sagemaker.transform(model) in the script.");
  }
  out.notes.emplace_back(
      "The library ends at PyTorch 2.5.1; new work is better off with FSDP, TorchTitan or Megatron.");
}

void write_smp_v1(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  const Strategy& s = plan.strategy;
  if (!contains(v1_types(), plan.instance->name)) {
    refuse(faults, fmt::format("smp-v1 does not run on {}", plan.instance->name),
           fmt::format("plan for one of {}", fmt::join(v1_types(), ", ")));
  }
  if (s.sharding == Sharding::FsdpHybrid && s.pipeline_parallel > 1) {
    refuse(faults, "smp-v1 does not shard data parallelism in a pipeline", "plan with --pp 1");
  }
  if (s.offload.activations && s.recompute != Recompute::Full) {
    refuse(faults, "smp-v1 offloads activations only with recomputation", "plan with --recompute full");
  }
  write_parameters(job, "smp_parameters.json", v1_parameters(plan), out);
  if (s.pipeline_parallel > 1) {
    out.notes.push_back(fmt::format(
        "The library cuts the batch that the script feeds into its {0} microbatches: the script feeds {1} x "
        "{0} sequences (micro_batch x gradient_accumulation) and accumulates nothing itself.",
        plan.gradient_accumulation, s.micro_batch));
  }
  out.notes.emplace_back("The library is archived since 2023-12 and ends at PyTorch 2.0.0.");
}

}  // namespace smplan
