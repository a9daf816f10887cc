// verl's YAML, and the overrides of its command line as the same tree. Source: volcengine/verl b178a3c (2026-01-29),
// verl/trainer/config and the examples.
#include <array>

#include "base/words.hpp"
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
namespace {

constexpr std::array<ToolWord, 3> kStrategies = {{{"fsdp", "fsdp"}, {"fsdp2", "fsdp"}, {"megatron", "megatron"}}};

void read_offload(const Node& node, Job& job) {
  if (truth_of(node) == true) job.strategy.parameter_offload = derived(std::string("cpu"), node.where);
}

void read_optimizer_offload(const Node& node, Job& job) {
  if (truth_of(node) == true) job.strategy.optimizer_offload = derived(std::string("cpu"), node.where);
}

/// `actor_rollout_ref.model.lora_rank`: 0 trains all weights.
void read_rank(const Node& node, Job& job) {
  const auto rank = integer_of(node);
  if (!rank || *rank < 1) return;
  job.strategy.lora_rank = count_field(&node);
  job.strategy.finetune = derived(std::string("lora"), node.where);
}

/// -1: all ranks shard together.
void read_shards(const Node& node, Job& job) {
  const auto size = integer_of(node);
  if (size && *size > 0) job.strategy.shard_degree = count_field(&node);
}

constexpr ToolRow kRows[] = {
    {"actor_rollout_ref.model.path", &Job::model},
    {"model.partial_pretrain", &Job::model},
    {"algorithm.adv_estimator", &JobReinforcement::algorithm},
    {"data.train_batch_size", &JobReinforcement::prompts},
    {"actor_rollout_ref.rollout.n", &JobReinforcement::samples},
    {"data.max_prompt_length", &JobReinforcement::prompt_tokens},
    {"data.max_response_length", &JobReinforcement::response_tokens},
    {"actor_rollout_ref.rollout.name", &JobReinforcement::rollout_engine},
    {"actor_rollout_ref.rollout.tensor_model_parallel_size", &JobReinforcement::rollout_tensor},
    {"actor_rollout_ref.rollout.gpu_memory_utilization", &JobReinforcement::memory_share},
    {"actor_rollout_ref.actor.ppo_mini_batch_size", &JobReinforcement::mini_batch},
    {"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", &JobReinforcement::micro_batch},
    {"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", &JobStrategy::micro_batch},
    {"actor_rollout_ref.model.lora_rank", read_rank},
    {"actor_rollout_ref.model.lora.rank", read_rank},
    {"model.lora_rank", read_rank},
    {"actor_rollout_ref.model.target_modules", read_lora_targets},
    {"model.target_modules", read_lora_targets},
    {"actor_rollout_ref.model.enable_gradient_checkpointing", read_checkpointing},
    {"model.enable_gradient_checkpointing", read_checkpointing},
    {"actor_rollout_ref.model.use_liger", told<&Execution::liger_kernels, Toggle::On>},
    {"actor_rollout_ref.actor.strategy", &JobStrategy::stack, kStrategies, IfUnread::NotModelled},
    {"model.strategy", &JobStrategy::stack, kStrategies, IfUnread::NotModelled},
    {"actor_rollout_ref.actor.fsdp_config.param_offload", read_offload},
    {"actor_rollout_ref.actor.fsdp_config.optimizer_offload", read_optimizer_offload},
    {"actor_rollout_ref.actor.fsdp_config.fsdp_size", read_shards},
    {"actor_rollout_ref.actor.megatron.param_offload", read_offload},
    {"actor_rollout_ref.actor.megatron.optimizer_offload", read_optimizer_offload},
    {"actor_rollout_ref.actor.megatron.tensor_model_parallel_size", &JobStrategy::tensor},
    {"actor_rollout_ref.actor.megatron.pipeline_model_parallel_size", &JobStrategy::pipeline},
    {"actor_rollout_ref.actor.megatron.context_parallel_size", &JobStrategy::context},
    {"actor_rollout_ref.actor.megatron.expert_model_parallel_size", &JobStrategy::expert},
    {"actor_rollout_ref.actor.megatron.expert_tensor_parallel_size", &JobStrategy::expert_tensor},
    {"actor_rollout_ref.actor.ulysses_sequence_parallel_size", &JobStrategy::context},
    {"ulysses_sequence_parallel_size", &JobStrategy::context},
    {"trainer.n_gpus_per_node", &JobStrategy::devices_per_node},
    {"trainer.nnodes", &JobStrategy::nodes},
    {"trainer.total_epochs", &JobStrategy::epochs},
    {"trainer.total_training_steps", &JobStrategy::steps},
    {"trainer.save_freq", &JobStrategy::save_interval},
};

/// Of verl's supervised trainer, whose batch is one of sequences.
constexpr ToolRow kSupervisedRows[] = {
    {"data.train_batch_size", &JobStrategy::global_batch},
    {"data.micro_batch_size_per_gpu", &JobStrategy::micro_batch},
    {"data.max_length", &JobStrategy::sequence_length},
};

}  // namespace

void read_verl(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  const bool supervised = !root.has("actor_rollout_ref") && !root.has("algorithm") && root.has("model");
  read_rows(root, kRows, job);
  if (supervised) {
    job.reinforcement = {};
    read_rows(root, kSupervisedRows, job);
    otherwise(s.loss, "sft", root.where);
  } else {
    JobReinforcement& r = job.reinforcement;
    otherwise(r.algorithm, "gae", root.where);  // PPO's, where nothing else is said
    otherwise(r.samples, 1, root.where);
    if (r.prompt_tokens && r.response_tokens) {
      s.sequence_length = derived(plus(*r.prompt_tokens, *r.response_tokens), r.response_tokens.where);
    }
    // A step has all answers of its prompts.
    if (r.prompts && r.samples) s.global_batch = derived(times(*r.prompts, *r.samples), r.prompts.where);
  }
  if (!s.finetune.stated) state_full(root.where, job);
  if (s.lora_rank.stated) otherwise(s.lora_targets, "linear", root.where);
  otherwise(s.recompute, "full", root.where);
  otherwise(s.bf16, true, root.where);
  otherwise(s.stack, s.tensor.stated || s.pipeline.stated ? "megatron" : "fsdp", root.where);
  finish_tool(root, job);
}

}  // namespace smplan
