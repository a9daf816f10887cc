// torchtune's recipes, whose components are names of Python classes and functions.
// Source: pytorch/torchtune bd2a0fc (2026-04-23), recipes and recipes/configs.
#include <algorithm>
#include <array>

#include "base/words.hpp"
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
namespace {

/// The last name of a component: `lora_llama3_1_8b` of `torchtune.models.llama3_1.lora_llama3_1_8b`.
std::string component_of(const Node& node) { return node.text.substr(node.text.rfind('.') + 1); }

/// A builder says the model, and that it has adapters: `qlora_llama3_8b`.
void read_builder(const Node& node, Job& job) {
  if (!node.is_string()) return note_unread(node, "is no name of a model", job);
  std::string name = component_of(node);
  for (const std::string_view kind : {"qlora_", "lora_"}) {
    if (!name.starts_with(kind)) continue;
    name.erase(0, kind.size());
    job.strategy.finetune = derived(std::string(kind.substr(0, kind.size() - 1)), node.where);
    break;
  }
  if (!job.strategy.finetune.stated) state_full(node.where, job);
  job.model = derived(name, node.where);
}

void read_quantized(const Node& node, Job& job) {
  if (truth_of(node) == true && job.strategy.finetune.is("lora")) {
    job.strategy.finetune = derived(std::string("qlora"), node.where);
  }
}

/// Layers of attention, then whether the MLP carries adapters too.
void read_targets(const Node& node, Job& job) {
  if (is_on(node_by(job.root(), "model.apply_lora_to_mlp"))) {
    otherwise(job.strategy.lora_targets, "linear", node.where);
  } else {
    read_lora_targets(node, job);
  }
}

constexpr std::array<ToolWord, 3> kDtypes = {{{"bf16", "bf16"}, {"fp32", "fp32"}, {"fp16", "fp16"}}};

void read_dtype(const Node& node, Job& job) {
  const std::string word = lower_case(node.text);
  const bool known =
      std::any_of(kDtypes.begin(), kDtypes.end(), [&](const ToolWord& dtype) { return dtype.word == word; });
  if (!known) {
    state_unmodelled("this dtype is not modelled", job);
    return note_unread(node, "is no dtype that is known", job);
  }
  read_precision(&node, job.strategy);
  // Weights, gradients and moments are of this type alone.
  if (word != "fp32") job.strategy.execution.pure_half = Toggle::On;
}

void read_loss(const Node& node, Job& job) {
  const std::string name = component_of(node);
  JobStrategy& s = job.strategy;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kLosses = {
      {{"LinearCrossEntropyLoss", "sft"},
       {"CEWithChunkedOutputLoss", "sft"},
       {"CrossEntropyLoss", "sft"},
       {"DPOLoss", "dpo"},
       {"IPOLoss", "dpo"},
       {"RSOLoss", "dpo"},
       {"SimPOLoss", "simpo"},
       {"PPOLoss", ""},
       {"GRPOSimpleLoss", ""},
       {"GRPOLoss", ""}}};
  const auto known = std::find_if(kLosses.begin(), kLosses.end(), [&](const auto& l) { return l.first == name; });
  if (known == kLosses.end()) {
    if (name.starts_with("GRPO")) return otherwise(job.reinforcement.algorithm, "grpo", node.where);
    state_unmodelled("this loss is not modelled", job);
    return note_unread(node, "is no loss that is known", job);
  }
  if (known->second.empty()) {
    otherwise(job.reinforcement.algorithm, lower_case(name.substr(0, name[0] == 'P' ? 3 : 4)), node.where);
    return;
  }
  otherwise(s.loss, known->second, node.where);
  if (name == "LinearCrossEntropyLoss") s.execution.loss_kernel = LossKernel::Linear;
}

void read_compiled(const Node& node, Job& job) {
  if (const auto on = truth_of(node)) job.strategy.execution.compile = *on ? Compile::LayersAndLoss : Compile::Off;
}

void offload(const Node& node, Job& job) {
  if (truth_of(node) != true) return;
  job.strategy.parameter_offload = derived(std::string("cpu"), node.where);
  job.strategy.optimizer_offload = job.strategy.parameter_offload;
}

constexpr ToolRow kTorchtuneRows[] = {
    {"model._component_", read_builder},
    {"policy_model._component_", read_builder},
    {"model.quantize_base", read_quantized},
    {"model.lora_rank", &JobStrategy::lora_rank},
    {"model.use_dora", [](const Node& n, Job& job) { read_adapter_kind(n, "dora", job); }},
    {"model.lora_attn_modules", read_targets},
    {"tokenizer.max_seq_len", &JobStrategy::sequence_length},
    {"dataset.packed", &JobStrategy::packing},
    {"batch_size", &JobStrategy::micro_batch},
    {"gradient_accumulation_steps", &JobStrategy::accumulation},
    {"epochs", &JobStrategy::epochs},
    {"max_steps_per_epoch", &JobStrategy::steps},
    {"optimizer._component_", read_optimizer},
    {"optimizer.fused", told<&Execution::fused_optimizer, Toggle::On>},
    {"optimizer.fused", told_off<&Execution::fused_optimizer, Toggle::Off>},
    {"optimizer_in_bwd", told<&Execution::update_in_backward, Toggle::On>},
    {"loss._component_", read_loss},
    {"dtype", read_dtype},
    {"enable_activation_checkpointing", read_checkpointing},
    {"enable_activation_offloading", &JobStrategy::activation_offload},
    {"compile", read_compiled},
    {"fsdp_cpu_offload", offload},
    {"fsdp.cpu_offload", offload},
    {"tensor_parallel_dim", &JobStrategy::tensor},
    {"context_parallel_dim", &JobStrategy::context},
    {"data_parallel_replicate_dim", &JobStrategy::data_replicate},
    {"data_parallel_shard_dim", &JobStrategy::data_shard},
    {"grpo_samples", &JobReinforcement::samples},
    {"max_generated_tokens", &JobReinforcement::response_tokens},
    {"ppo_batch_size", &JobReinforcement::mini_batch},
    {"forward_batch_size", &JobReinforcement::micro_batch},
};

constexpr UnmodelledRow kTorchtuneUnmodelled[] = {
    {"quantizer._component_", "QAT", kQuantizedTraining},
    {"model._component_", "qat", kQuantizedTraining},
    {"teacher_model", "", kDistillation},
    {"orchestration", "", kReinforcement},
    {"model.encoder_trainable", "", "models that see images are not modelled"},
    {"fusion_trainable", "", "models that see images are not modelled"},
    {"optimizer._component_", "CPUOffload", "torchao's optimizer on the host is not modelled"},
};

}  // namespace

void read_torchtune(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  read_unmodelled(root, kTorchtuneUnmodelled, job);
  if (!root.has("optimizer")) state_unmodelled("the recipe has no optimizer and trains no model", job);
  read_rows(root, kTorchtuneRows, job);
  if (s.steps && s.epochs) s.steps = derived(times(*s.steps, *s.epochs), s.steps.where);
  if (job.reinforcement.algorithm.stated) job.reinforcement.prompts = s.micro_batch;
  otherwise(s.accumulation, 1, root.where);
  otherwise(s.recompute, "none", root.where);
  s.stack = derived(std::string("torchtune"), root.where);
  finish_tool(root, job);
}

}  // namespace smplan
