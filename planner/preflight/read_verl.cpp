// verl's YAML, and the overrides of its command line as the same tree. Source: volcengine/verl b178a3c (2026-01-29),
// verl/trainer/config and the examples.
#include <algorithm>
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

/// -1: all ranks shard together.
void read_shards(const Node& node, Job& job) {
  const auto size = integer_of(node);
  if (size && *size > 0) job.strategy.shard_degree = count_field(&node);
}

void read_distributed_optimizer(const Node& node, Job& job) {
  if (const auto on = truth_of(node)) job.strategy.sharding = derived(std::string(*on ? "zero1" : "none"), node.where);
}

/// FSDP keeps weights, gradients and moments in the type that the model is loaded with.
void read_model_type(const Node& node, Job& job) {
  const std::string type = letters_and_digits(node.text);
  if (type == "bf16" || type == "bfloat16" || type == "fp16" || type == "float16") {
    job.strategy.execution.pure_half = Toggle::On;
  }
}

/// The engine frees the cache of FSDP2 while it trains, optimizer included.
void read_offload_policy(const Node& node, Job& job) {
  read_offload(node, job);
  read_optimizer_offload(node, job);
}

/// These two switches move states to the host when training pauses, and back before it goes on: the peak stays.
/// Source: verl 0.9.1, verl/workers/engine/base.py (BaseEngineCtx).
void read_moves(const Node& node, Job& job) {
  if (truth_of(node) != true) return;
  note_unread(node, "moves states to the host between steps: memory while training stays, that time is not counted",
              job);
}

/// The stages' layers are given one by one, or the embedding and the loss count as layers.
void read_layout(const Node& node, Job& job) {
  if (truth_of(node) != false) job.strategy.pipeline_layout = presence(&node);
}

/// DAPO's filter: groups without a difference are dropped.
void read_group_filter(const Node& node, Job& job) { job.reinforcement.drops_groups = truth_of(node) == true; }

void read_rollout_format(const Node& node, Job& job) { job.reinforcement.rollout_fp8 = node.text == "fp8"; }

/// Where responses are generated. Its other modes generate ahead on the devices that train, which is not modelled.
constexpr std::array<ToolWord, 2> kModes = {{{"sync", "colocated"}, {"separate_async", "split"}}};

constexpr ToolRow kVerlRows[] = {
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
    {"actor_rollout_ref.actor.use_dynamic_bsz", read_filled_passes},
    {"actor_rollout_ref.actor.ppo_epochs", &JobReinforcement::passes},
    {"actor_rollout_ref.rollout.quantization", read_rollout_format},
    {"actor_rollout_ref.rollout.max_num_seqs", &JobReinforcement::replica_sequences},
    {"algorithm.filter_groups.enable", read_group_filter},
    {"trainer.v1.trainer_mode", &JobReinforcement::placement, kModes},
    {"actor_rollout_ref.model.lora_rank", read_rank},
    {"actor_rollout_ref.model.lora.rank", read_rank},
    {"model.lora_rank", read_rank},
    {"model.lora.rank", read_rank},
    {"actor_rollout_ref.model.target_modules", read_lora_targets},
    {"model.target_modules", read_lora_targets},
    {"actor_rollout_ref.model.enable_gradient_checkpointing", read_checkpointing},
    {"model.enable_gradient_checkpointing", read_checkpointing},
    {"actor_rollout_ref.model.override_config.attn_implementation", read_attention},
    {"model.override_config.attn_implementation", read_attention},
    {"actor_rollout_ref.model.use_liger", told<&Execution::liger_kernels, Toggle::On>},
    {"actor_rollout_ref.actor.strategy", &JobStrategy::stack, kStrategies, IfUnread::NotModelled},
    {"model.strategy", &JobStrategy::stack, kStrategies, IfUnread::NotModelled},
    {"actor_rollout_ref.actor.fsdp_config.param_offload", read_offload},
    {"actor_rollout_ref.actor.fsdp_config.optimizer_offload", read_optimizer_offload},
    {"actor_rollout_ref.actor.fsdp_config.offload_policy", read_offload_policy},
    {"actor_rollout_ref.actor.fsdp_config.fsdp_size", read_shards},
    {"actor_rollout_ref.actor.fsdp_config.model_dtype", read_model_type},
    {"actor_rollout_ref.actor.megatron.param_offload", read_offload},
    {"actor_rollout_ref.actor.megatron.optimizer_offload", read_optimizer_offload},
    {"actor_rollout_ref.actor.megatron.tensor_model_parallel_size", &JobStrategy::tensor},
    {"actor_rollout_ref.actor.megatron.pipeline_model_parallel_size", &JobStrategy::pipeline},
    {"actor_rollout_ref.actor.megatron.override_transformer_config.num_layers_in_first_pipeline_stage",
     &JobStrategy::first_stage_layers},
    {"actor_rollout_ref.actor.megatron.override_transformer_config.num_layers_in_last_pipeline_stage",
     &JobStrategy::last_stage_layers},
    {"actor_rollout_ref.actor.megatron.override_transformer_config.pipeline_model_parallel_layout", read_layout},
    {"actor_rollout_ref.actor.megatron.override_transformer_config.account_for_embedding_in_pipeline_split",
     read_layout},
    {"actor_rollout_ref.actor.megatron.override_transformer_config.account_for_loss_in_pipeline_split", read_layout},
    {"actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size", &JobStrategy::virtual_pipeline},
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
    {"data.use_dynamic_bsz", read_filled_passes},
    {"data.max_length", &JobStrategy::sequence_length},
    {"model.path", &Job::model},
    {"model.use_liger", told<&Execution::liger_kernels, Toggle::On>},
    {"model.fsdp_config.model_dtype", read_model_type},
    {"model.fsdp_config.cpu_offload", read_offload},
    {"model.fsdp_config.cpu_offload", read_optimizer_offload},
    {"engine.strategy", &JobStrategy::stack, kStrategies, IfUnread::NotModelled},
    {"engine.model_dtype", read_model_type},
    {"engine.fsdp_size", read_shards},
    {"engine.param_offload", read_moves},
    {"engine.optimizer_offload", read_moves},
    {"engine.offload_policy", read_offload_policy},
    {"engine.ulysses_sequence_parallel_size", &JobStrategy::context},
    {"engine.use_torch_compile", read_compile},
    {"engine.tensor_model_parallel_size", &JobStrategy::tensor},
    {"engine.pipeline_model_parallel_size", &JobStrategy::pipeline},
    {"engine.virtual_pipeline_model_parallel_size", &JobStrategy::virtual_pipeline},
    {"engine.context_parallel_size", &JobStrategy::context},
    {"engine.expert_model_parallel_size", &JobStrategy::expert},
    {"engine.expert_tensor_parallel_size", &JobStrategy::expert_tensor},
    {"engine.sequence_parallel", &JobStrategy::sequence_parallel},
    {"engine.use_distributed_optimizer", read_distributed_optimizer},
};

/// A rank's pass takes as many tokens as the file says, whatever number of sequences that is.
void read_dynamic_batch(const Node& data, JobStrategy& s) {
  if (!is_on(data.find("use_dynamic_bsz")) || !s.sequence_length) return;
  const Node* most = data.find("max_token_len_per_gpu");
  const Count tokens = count_field(most);
  if (!tokens || *s.sequence_length < 1) return;
  // The file counts the tokens of both answers of a pair, its batch counts pairs.
  const std::int64_t of_example = times(*s.sequence_length, s.loss.is("dpo") ? 2 : 1);
  constexpr std::int64_t kMostSequences = 1 << 16;  // of a pass: it is divided down one by one below
  std::int64_t sequences = std::clamp<std::int64_t>(*tokens / of_example, 1, kMostSequences);
  // A rank has its part of the batch and no more.
  const std::int64_t ranks = times(s.nodes.value_or(1), s.devices_per_node.value_or(1));
  const std::int64_t own = s.global_batch && ranks > 0 ? *s.global_batch / ranks : sequences;
  sequences = std::min(sequences, std::max<std::int64_t>(1, own));
  while (own > 0 && own % sequences != 0) --sequences;
  s.micro_batch = derived(sequences, most->where);
}

/// verl's own loss writes gradients over the logits, unless the entropy is trained too, which reads them. Source:
/// volcengine/verl 035682e, verl/workers/actor/dp_actor.py and verl/utils/torch_functional.py.
void read_loss_kernel(const Node& root, JobStrategy& s) {
  // Its first supervised trainer (fsdp_sft_trainer.py) takes PyTorch's loss of whole logits.
  if (root.at({"model", "partial_pretrain"}) != nullptr) return;
  const Node* fused = root.at({"actor_rollout_ref", "model", "use_fused_kernels"});
  if (fused == nullptr) fused = root.at({"model", "use_fused_kernels"});
  const Node* entropy = root.at({"actor_rollout_ref", "actor", "entropy_coeff"});
  const bool trains_entropy = entropy != nullptr && number_of(*entropy).value_or(0) != 0;
  // Its fused kernel gives log-probabilities too; of pairs the models know no kernel without logits.
  if (is_on(fused) && !s.loss.is("dpo")) {
    s.execution.loss_kernel = LossKernel::Linear;
  } else if (!trains_entropy) {
    s.execution.loss_kernel = LossKernel::InPlace;
  }
}

/// Models beside the policy, where the file switches them on; a critic is on for PPO unless it is switched off.
void read_models(const Node& root, JobReinforcement& r) {
  const Node* critic = root.at({"critic", "enable"});
  const bool has_critic = critic == nullptr || truth_of(*critic) != false;
  if (has_critic && root.at({"critic", "model", "path"}) != nullptr) {
    r.critic_model = text_field(root.at({"critic", "model", "path"}));
  }
  const Node* reward = root.at({"reward", "reward_model"});
  if (reward != nullptr && is_on(reward->find("enable"))) r.reward_model = text_field(reward->find("model_path"));
}

/// A reference is loaded where one of the two switches is on. Source: volcengine/verl b178a3c, trainer/ppo/utils.py
/// (need_reference_policy), and trainer/config, where both are off.
void read_reference(const Node& root, JobReinforcement& r) {
  const Node* in_loss = root.at({"actor_rollout_ref", "actor", "use_kl_loss"});
  const Node* in_reward = root.at({"algorithm", "use_kl_in_reward"});
  const auto truth = [](const Node* node) { return node == nullptr ? std::optional(false) : truth_of(*node); };
  const std::optional<bool> loss = truth(in_loss);
  const std::optional<bool> reward = truth(in_reward);
  const Where& where = in_loss != nullptr ? in_loss->where : root.where;
  if (loss == true || reward == true) r.reference = derived(true, where);
  if (loss == false && reward == false) r.reference = derived(false, where);
}

/// What takes time beside a step, and how engines are run that are slower than those that are counted.
void read_left_open(const Node& root, JobReinforcement& r) {
  if (is_on(root.at({"actor_rollout_ref", "rollout", "enforce_eager"}))) {
    r.left_open.emplace_back("engines without graphs (enforce_eager) are counted as those with them, which are faster");
  }
  const Node* every = root.at({"trainer", "test_freq"});
  if (every != nullptr && integer_of(*every).value_or(0) > 0) {
    r.left_open.emplace_back("validation (test_freq) is not counted");
  }
  if (const Node* judge = root.at({"reward_model", "reward_kwargs", "kwargs", "model_id"}); judge != nullptr) {
    r.left_open.emplace_back("what the judge takes that scores responses is not said: --reward-seconds");
  }
}

/// Engines on instances of their own generate a batch ahead, or wait where no batch is.
void read_rollout_nodes(const Node& root, JobReinforcement& r) {
  if (!r.placement.is("split")) return;
  r.rollout_nodes = count_field(root.at({"actor_rollout_ref", "rollout", "nnodes"}));
  const Node* ahead = root.at({"trainer", "v1", "separate_async", "num_warmup_batches"});
  if (ahead != nullptr && number_of(*ahead) == 0) r.placement = derived(std::string("split-sync"), ahead->where);
}

/// Hydra's list of files has those of verl's package alone, whose values the reader takes where the file says nothing.
bool names_own_files(const Node& files) {
  constexpr std::array<std::string_view, 4> kOwn{"_self_", "ppo_trainer", "ppo_megatron_trainer", "sft_trainer_engine"};
  const auto is_own = [&](const Node& file) {
    // `override model_engine: megatron` chooses among files of the package.
    if (file.is_object()) return true;
    return std::find(kOwn.begin(), kOwn.end(), file.text) != kOwn.end();
  };
  return files.is_array() && std::all_of(files.items.begin(), files.items.end(), is_own);
}

/// What verl's supervised trainers take where nothing is said. Source: verl 0.9.1, sft_trainer_engine.yaml.
void take_supervised_defaults(const Where& where, JobStrategy& s) {
  otherwise(s.global_batch, 256, where);
  otherwise(s.micro_batch, 4, where);
  otherwise(s.sequence_length, 1024, where);
}

}  // namespace

void read_verl(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  const bool states_data = root.has("model") || root.has("engine") || root.at({"data", "_target_"}) != nullptr;
  const bool supervised = !root.has("actor_rollout_ref") && !root.has("algorithm") && states_data;
  read_rows(root, kVerlRows, job);
  if (supervised) {
    job.reinforcement = {};
    read_rows(root, kSupervisedRows, job);
    if (const Node* kind = root.at({"data", "_target_"});
        kind != nullptr && kind->text.find("DPO") != std::string::npos) {
      s.loss = derived(std::string("dpo"), kind->where);
    }
    if (const Node* data = root.find("data"); data != nullptr && data->is_object()) read_dynamic_batch(*data, s);
    // The second supervised trainer fills its passes unless the file says no (sft_trainer_engine.yaml).
    const bool first_trainer = root.at({"model", "partial_pretrain"}) != nullptr;
    if (!first_trainer && root.at({"data", "use_dynamic_bsz"}) == nullptr) otherwise(s.by_tokens, true, root.where);
    otherwise(s.loss, "sft", root.where);
    take_supervised_defaults(root.where, s);
  } else {
    JobReinforcement& r = job.reinforcement;
    otherwise(r.algorithm, "gae", root.where);  // PPO's, where nothing else is said
    otherwise(r.samples, 1, root.where);
    read_models(root, r);
    read_reference(root, r);
    read_left_open(root, r);
    read_rollout_nodes(root, r);
    r.stated = root.find("smplan");
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
  if (s.stack.is("fsdp")) read_loss_kernel(root, s);
  finish_tool(root, job);
  const Node* base = root.find("defaults");
  if (base != nullptr && !base->is_null() && !names_own_files(*base)) state_unread_base(*base, job);
}

}  // namespace smplan
