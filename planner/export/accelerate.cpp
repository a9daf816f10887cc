#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "catalogs/model_modules.hpp"
#include "planner/export/program.hpp"
#include "planner/export/text.hpp"
#include "planner/export/writers.hpp"

// Names of keys: huggingface/accelerate v1.14.0, commands/config and parallelism_config.py.

namespace smplan {
namespace {
Json fsdp(const TrainingPlan& plan, Export& out) {
  const Strategy& s = plan.strategy;
  Json config;
  config["fsdp_version"] = 2;
  config["fsdp_reshard_after_forward"] = s.sharding != Sharding::FsdpGradOp;
  const std::string_view layer = block_class_of(plan.model.model_type());
  config["fsdp_auto_wrap_policy"] = "TRANSFORMER_BASED_WRAP";
  config["fsdp_transformer_layer_cls_to_wrap"] = layer.empty() ? "REPLACE-ME-layer-class" : std::string(layer);
  if (layer.empty()) out.placeholders.push_back({"REPLACE-ME-layer-class", "class of the model's layers"});
  config["fsdp_offload_params"] = s.offload.parameters;
  config["fsdp_activation_checkpointing"] = s.recompute == Recompute::Full;
  config["fsdp_cpu_ram_efficient_loading"] = true;
  config["fsdp_state_dict_type"] = "SHARDED_STATE_DICT";
  return config;
}

std::string_view precision_name(Precision p) {
  switch (p) {
    case Precision::Bf16:
      return "bf16";
    case Precision::Fp16:
      return "fp16";
    case Precision::Fp8:
      return "fp8";
    default:
      return "no";
  }
}

void check(const TrainingPlan& plan, Diagnostics& faults) {
  const Strategy& s = plan.strategy;
  if (is_fsdp(s.sharding) && s.offload.optimizer && !s.offload.parameters) {
    faults.push_back({"not-expressible", "--target", "accelerate with FSDP does not offload the optimizer alone",
                      "plan with --offload optimizer+params, or with --stack deepspeed"});
  }
  if (s.sharding == Sharding::None && s.offload.any()) {
    faults.push_back({"not-expressible", "--target", "accelerate offloads nothing without sharding",
                      "plan with --stack fsdp or deepspeed"});
  }
  if (!is_fsdp(s.sharding) && s.sharding != Sharding::None && s.shard_degree < plan.replicas()) {
    faults.push_back({"not-expressible", "--target", "accelerate shards DeepSpeed's states over all ranks",
                      "plan with --shard-degree equal to the ranks"});
  }
}

/// How the script accumulates. Accelerate does it without synchronising, so that under FSDP every rank holds whole
/// gradients; a plan counts sharded ones unless it was told otherwise.
std::string accumulation(const TrainingPlan& plan) {
  const bool sharded = is_fsdp(plan.strategy.sharding) && plan.gradient_accumulation > 1 &&
                       plan.strategy.execution.unsharded_gradients != Toggle::On;
  if (!sharded) return fmt::format("gradient_accumulation_steps={}", plan.gradient_accumulation);
  return fmt::format("gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps={}, sync_each_batch=True)",
                     plan.gradient_accumulation);
}

}  // namespace

void write_accelerate(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  const Strategy& s = plan.strategy;
  check(plan, faults);
  const bool zero = s.sharding == Sharding::Zero1 || s.sharding == Sharding::Zero2 || s.sharding == Sharding::Zero3;
  Json config;
  config["compute_environment"] = "LOCAL_MACHINE";
  config["debug"] = false;
  config["distributed_type"] = zero ? "DEEPSPEED" : is_fsdp(s.sharding) ? "FSDP" : "MULTI_GPU";
  if (zero) {
    write_deepspeed(job, out, faults);
    config["deepspeed_config"] = Json{{"deepspeed_config_file", std::string(kDeepSpeedFile)},
                                      {"zero3_init_flag", s.sharding == Sharding::Zero3}};
    // accelerate's own choice, pdsh, wants a host file and passwordless ssh; the launcher here is torchrun on each
    // host.
    if (plan.instance_count > 1) config["deepspeed_config"]["deepspeed_multinode_launcher"] = "standard";
  } else {
    config["mixed_precision"] = precision_name(plan.precision);
  }
  if (is_fsdp(s.sharding)) {
    config["fsdp_config"] = fsdp(plan, out);
    config["parallelism_config"] = Json{{"parallelism_config_dp_replicate_size", plan.replicas() / s.shard_degree},
                                        {"parallelism_config_dp_shard_size", s.shard_degree},
                                        {"parallelism_config_tp_size", 1},
                                        {"parallelism_config_cp_size", 1}};
  }
  config["num_machines"] = plan.instance_count;
  config["num_processes"] = plan.world_size();
  config["machine_rank"] = 0;
  config["main_training_function"] = "main";
  config["rdzv_backend"] = "static";
  config["same_network"] = true;
  config["use_cpu"] = false;
  add_requirement(out, pinned("accelerate"));
  out.files.insert(out.files.begin(),
                   {"accelerate_config.yaml", commented(provenance_lines(job)) + yaml_block(config)});
  out.script_notes.push_back(
      fmt::format("Give each instance its own machine_rank and the first one's main_process_ip, or start the "
                  "script with torchrun: Accelerator({}), micro-batch {}.",
                  accumulation(plan), s.micro_batch));
}

}  // namespace smplan
