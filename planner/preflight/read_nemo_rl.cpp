// NeMo-RL's YAML. Source: NVIDIA-NeMo/RL 7ea279a (2026-08-22), examples/configs.
#include <array>

#include "base/words.hpp"
#include "planner/preflight/nemo_rl_configuration.hpp"
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
namespace {

/// A method by the member of the root that has its settings. One with a loss learns from given answers.
struct Method {
  std::string_view name;
  std::string_view loss;
};
constexpr std::array<Method, 5> kMethods = {
    {{"grpo", ""}, {"ppo", ""}, {"dpo", "dpo"}, {"rm", "reward"}, {"sft", "sft"}}};

/// A reference is loaded where its KL term counts. Source: NVIDIA-NeMo/RL, nemo_rl/algorithms/grpo.py (setup).
void read_kl_penalty(const Node& node, Job& job) {
  if (const auto penalty = number_of(node)) job.reinforcement.reference = derived(*penalty > 0, node.where);
}

constexpr ToolRow kNemoRlRows[] = {
    {"policy.model_name", &Job::model},
    {"grpo.num_prompts_per_step", &JobReinforcement::prompts},
    {"ppo.num_prompts_per_step", &JobReinforcement::prompts},
    {"grpo.num_generations_per_prompt", &JobReinforcement::samples},
    {"ppo.num_generations_per_prompt", &JobReinforcement::samples},
    {"policy.generation.max_new_tokens", &JobReinforcement::response_tokens},
    {"data.max_input_seq_length", &JobReinforcement::prompt_tokens},
    {"policy.generation.backend", &JobReinforcement::rollout_engine},
    {"policy.generation.vllm_cfg.tensor_parallel_size", &JobReinforcement::rollout_tensor},
    {"policy.generation.vllm_cfg.gpu_memory_utilization", &JobReinforcement::memory_share},
    {"policy.generation.vllm_kwargs.max_num_seqs", &JobReinforcement::replica_sequences},
    {"loss_fn.reference_policy_kl_penalty", read_kl_penalty},
    {"policy.train_global_batch_size", &JobStrategy::global_batch},
    {"policy.train_micro_batch_size", &JobStrategy::micro_batch},
    {"policy.max_total_sequence_length", &JobStrategy::sequence_length},
    {"policy.sequence_packing.enabled", &JobStrategy::packing},
    {"policy.sequence_packing.enabled", read_filled_passes},
    {"policy.dynamic_batching.enabled", read_filled_passes},
    {"policy.optimizer.name", read_optimizer},
    {"grpo.max_num_steps", &JobStrategy::steps},
    {"ppo.max_num_steps", &JobStrategy::steps},
    {"sft.max_num_steps", &JobStrategy::steps},
    {"dpo.max_num_steps", &JobStrategy::steps},
    {"rm.max_num_steps", &JobStrategy::steps},
    {"grpo.max_num_epochs", &JobStrategy::epochs},
    {"ppo.max_num_epochs", &JobStrategy::epochs},
    {"sft.max_num_epochs", &JobStrategy::epochs},
    {"dpo.max_num_epochs", &JobStrategy::epochs},
    {"rm.max_num_epochs", &JobStrategy::epochs},
    {"cluster.gpus_per_node", &JobStrategy::devices_per_node},
    {"cluster.num_nodes", &JobStrategy::nodes},
};

constexpr UnmodelledRow kNemoRlUnmodelled[] = {
    {"eval", "", "this file evaluates a model and trains none"},
    {"distillation", "", kDistillation},
    {"on_policy_distillation", "", kDistillation},
};

/// Training by PyTorch's DTensor, or by Megatron.
constexpr ToolRow kTensorRows[] = {
    {"tensor_parallel_size", &JobStrategy::tensor},
    {"context_parallel_size", &JobStrategy::context},
    {"expert_parallel_size", &JobStrategy::expert},
    {"dp_replicate_size", &JobStrategy::data_replicate},
    {"sequence_parallel", &JobStrategy::sequence_parallel},
    {"activation_checkpointing", read_checkpointing},
    {"lora_cfg.dim", &JobStrategy::lora_rank},
    {"lora_cfg.target_modules", read_lora_targets},
};
constexpr ToolRow kMegatronRows[] = {
    {"tensor_model_parallel_size", &JobStrategy::tensor},
    {"pipeline_model_parallel_size", &JobStrategy::pipeline},
    {"num_layers_in_first_pipeline_stage", &JobStrategy::first_stage_layers},
    {"num_layers_in_last_pipeline_stage", &JobStrategy::last_stage_layers},
    {"context_parallel_size", &JobStrategy::context},
    {"expert_model_parallel_size", &JobStrategy::expert},
    {"expert_tensor_parallel_size", &JobStrategy::expert_tensor},
    {"sequence_parallel", &JobStrategy::sequence_parallel},
    {"activation_checkpointing", read_checkpointing},
    {"peft.dim", &JobStrategy::lora_rank},
    {"peft.target_modules", read_lora_targets},
};

/// One of the two is enabled.
void read_engine(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  const Node* megatron = node_by(root, "policy.megatron_cfg");
  const Node* tensors = node_by(root, "policy.dtensor_cfg");
  const bool by_megatron = megatron != nullptr && is_on(megatron->find("enabled"));
  const Node* engine = by_megatron ? megatron : tensors;
  if (engine == nullptr || !engine->is_object()) return;
  s.stack = derived(std::string(by_megatron ? "megatron" : "fsdp"), engine->where);
  if (by_megatron) {
    read_rows(*engine, kMegatronRows, job);
    if (const Node* sharded = node_by(*engine, "optimizer.use_distributed_optimizer")) {
      s.sharding = derived(std::string(is_on(sharded) ? "zero1" : "none"), sharded->where);
    }
  } else {
    read_rows(*engine, kTensorRows, job);
    if (const Node* offload = engine->find("cpu_offload"); is_on(offload)) {
      s.parameter_offload = derived(std::string("cpu"), offload->where);
      s.optimizer_offload = s.parameter_offload;
    }
  }
  const Node* adapters = by_megatron ? engine->find("peft") : engine->find("lora_cfg");
  const bool adapts = adapters != nullptr && is_on(adapters->find("enabled"));
  if (!adapts) {
    s.lora_rank = {};
    s.lora_targets = {};
    return state_full(root.where, job);
  }
  s.finetune = derived(std::string("lora"), adapters->where);
  otherwise(s.lora_targets, "linear", adapters->where);
}

/// The first place below the node that gives nodes to a group of its own: a teacher, a reward model, a gym.
const Node* nodes_of_others(const Node& node) {
  if (const Node* enabled = node.find("enabled"); enabled != nullptr && truth_of(*enabled) == false) return nullptr;
  for (const Node& item : node.items) {
    if (item.key == "colocated" || item.key == "cluster") continue;
    if ((item.key == "num_nodes" || item.key == "num_gpu_nodes") && !item.is_null()) return &item;
    if (const Node* found = nodes_of_others(item)) return found;
  }
  return nullptr;
}

/// Engines that are not colocated take nodes of the cluster, or devices of its only node. Source: NVIDIA-NeMo/RL
/// 7ea279a, nemo_rl/algorithms/grpo.py (setup).
void read_devices_of_others(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  Count& others = job.reinforcement.not_training;
  if (const Node* group = nodes_of_others(root)) {
    others.where = group->where;
    others.stated = true;
    return;
  }
  const Node* enabled = node_by(root, "policy.generation.colocated.enabled");
  if (enabled == nullptr || truth_of(*enabled) != false) return;
  Count nodes = count_field(node_by(root, "policy.generation.colocated.resources.num_nodes"));
  Count each = count_field(node_by(root, "policy.generation.colocated.resources.gpus_per_node"));
  if (s.nodes.is(1)) {
    otherwise(nodes, 1, enabled->where);
  } else if (!each.stated) {
    each = s.devices_per_node;
  }
  others.where = enabled->where;
  others.stated = true;
  if (nodes && each) others.value = times(*nodes, *each);
}

}  // namespace

void read_nemo_rl(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  read_rows(root, kNemoRlRows, job);
  for (const Method& method : kMethods) {
    const Node* node = root.find(method.name);
    if (node == nullptr || !node->is_object()) continue;
    if (method.loss.empty()) {
      job.reinforcement.algorithm = derived(std::string(method.name), node->where);
    } else {
      s.loss = derived(std::string(method.loss), node->where);
    }
    break;
  }
  read_unmodelled(root, kNemoRlUnmodelled, job);
  read_precision(node_by(root, "policy.precision"), s);
  read_engine(root, job);
  if (job.reinforcement.algorithm.stated) {
    job.reinforcement.mini_batch = s.global_batch;
    job.reinforcement.micro_batch = s.micro_batch;
  } else {
    job.reinforcement = {};
  }
  read_devices_of_others(root, job);
  if (nemo_rl_configuration(root).whole) otherwise(s.recompute, "none", root.where);
  finish_tool(root, job);
  if (const Node* base = root.find("defaults"); base != nullptr && !base->is_null()) state_unread_base(*base, job);
  if (root.plus < 0 || nemo_rl_configuration(root).whole) return;
  const Node* file = root.find("config");
  state_unread_base(file == nullptr ? root : *file, job);
}

}  // namespace smplan
