#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "planner/export/program.hpp"
#include "planner/export/tuning.hpp"
#include "planner/export/writers.hpp"

// Names of keys: microsoft/DeepSpeed v0.19.5, runtime/config.py and runtime/zero/config.py.

namespace smplan {
namespace {
std::int64_t stage_of(Sharding sharding) {
  switch (sharding) {
    case Sharding::Zero1:
      return 1;
    case Sharding::Zero2:
      return 2;
    case Sharding::Zero3:
      return 3;
    default:
      return 0;
  }
}

Json offload_to(const Offload& offload) {
  Json out;
  out["device"] = offload.to_nvme ? "nvme" : "cpu";
  // Instance stores are mounted under /tmp's file system in SageMaker containers.
  if (offload.to_nvme) out["nvme_path"] = "/tmp/deepspeed";
  out["pin_memory"] = true;
  return out;
}

Json zero(const TrainingPlan& plan) {
  const Strategy& s = plan.strategy;
  const std::int64_t stage = stage_of(s.sharding);
  Json out;
  out["stage"] = stage;
  if (stage == 0) return out;
  out["overlap_comm"] = true;
  out["contiguous_gradients"] = true;
  out["reduce_scatter"] = true;
  // The library's own default, written out: "auto" means something to Hugging Face's Trainer only.
  out["reduce_bucket_size"] = 500000000;
  if (stage == 3) {
    out["stage3_prefetch_bucket_size"] = 50000000;
    out["stage3_param_persistence_threshold"] = 100000;
    out["stage3_gather_16bit_weights_on_model_save"] = true;
  } else {
    out["allgather_bucket_size"] = 500000000;
  }
  if (s.offload.optimizer) out["offload_optimizer"] = offload_to(s.offload);
  if (s.offload.parameters) out["offload_param"] = offload_to(s.offload);
  return out;
}

}  // namespace

void write_deepspeed(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  const Strategy& s = plan.strategy;
  if (s.offload.parameters && s.sharding != Sharding::Zero3) {
    faults.push_back({"not-expressible", "--target", "deepspeed offloads parameters with stage 3 only",
                      "plan with --zero-stage 3, or without offload of the parameters"});
  }
  Json config;
  // A loader counts pairs as examples.
  config["train_batch_size"] = examples_of_a_step(plan);
  config["train_micro_batch_size_per_gpu"] = examples_of_a_pass(plan);
  config["gradient_accumulation_steps"] = plan.gradient_accumulation;
  config["gradient_clipping"] = 1.0;
  if (plan.precision == Precision::Bf16) config["bf16"]["enabled"] = true;
  if (plan.precision == Precision::Fp16) config["fp16"] = Json{{"enabled", true}, {"loss_scale", 0}};
  config["zero_optimization"] = zero(plan);
  if (s.recompute == Recompute::Full) {
    // Where the model calls deepspeed.checkpointing; Hugging Face models use gradient_checkpointing_enable().
    config["activation_checkpointing"] = Json{{"partition_activations", false}, {"cpu_checkpointing", false}};
  }
  config["steps_per_print"] = 10;
  out.files.push_back({std::string(kDeepSpeedFile), config.dump(2) + "\n"});
  add_requirement(out, pinned("deepspeed"));
  out.script_notes.emplace_back(
      "requirements.txt installs DeepSpeed, which the PyTorch container does not ship. torchrun starts it; the script "
      "calls deepspeed.initialize with ds_config.json.");
  if (s.offload.optimizer) {
    // runtime/engine.py raises on any other, PyTorch's AdamW included (zero_force_ds_cpu_optimizer).
    out.script_notes.emplace_back(
        "The optimizer runs on the host: the script builds deepspeed.ops.adam.DeepSpeedCPUAdam, because DeepSpeed "
        "refuses to offload PyTorch's own.");
  }
  if (s.recompute == Recompute::Full) {
    out.script_notes.emplace_back("The plan recomputes activations: the script switches activation checkpointing on.");
  }
}

}  // namespace smplan
