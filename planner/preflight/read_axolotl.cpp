// axolotl's YAML. Source: axolotl-ai-cloud/axolotl 067b021 (2026-07-24), src/axolotl/utils/schemas and the examples.
#include <algorithm>
#include <array>

#include "base/words.hpp"
#include "planner/preflight/freezing.hpp"

namespace smplan {
namespace {

constexpr std::array<ToolWord, 5> kLosses = {
    {{"dpo", "dpo"}, {"ipo", "dpo"}, {"orpo", "orpo"}, {"kto", "kto"}, {"simpo", "simpo"}}};

/// Learning from its own answers is no loss of given ones.
void read_rl(const Node& node, Job& job) {
  const std::string word = lower_case(node.text);
  if (word == "grpo" || word == "gdpo" || word == "ebft") {
    job.reinforcement.algorithm = text_field(&node);
    return;
  }
  constexpr ToolRow kRow{"rl", &JobStrategy::loss, kLosses, IfUnread::NotModelled};
  read_rows(job.root(), std::span(&kRow, 1), job);
}

void read_reward(const Node& node, Job& job) {
  if (truth_of(node) == true) otherwise(job.strategy.loss, "reward", node.where);
}

/// `batch_size`, which went before `gradient_accumulation_steps`: sequences of a device in a step.
void read_batch(const Node& node, Job& job) {
  const Count batch = count_field(&node);
  JobStrategy& s = job.strategy;
  if (s.accumulation.stated || !batch || !s.micro_batch || *s.micro_batch < 1) return;
  if (*batch % *s.micro_batch == 0 && *batch > 0) s.accumulation = derived(*batch / *s.micro_batch, node.where);
}

/// An integration, by the name of its class, and why what it does is not modelled; empty where it changes nothing, or
/// where settings of its own say what.
struct Plugin {
  std::string_view name;
  std::string_view why;
};
constexpr std::array<Plugin, 10> kPlugins = {{{"cutcrossentropyplugin", ""},
                                              {"ligerplugin", ""},
                                              {"kernelsplugin", ""},
                                              {"expertparallelplugin", ""},
                                              {"swanlabplugin", ""},
                                              {"spectrumplugin", kPartialTraining},
                                              {"kdplugin", kDistillation},
                                              {"nemogymplugin", kReinforcement},
                                              {"diffusionplugin", "diffusion is not modelled"},
                                              {"llmcompressorplugin", "sparse training is not modelled"}}};

void read_plugins(const Node& node, Job& job) {
  for (const Node& plugin : node.items) {
    const std::string name = lower_case(plugin.text.substr(plugin.text.rfind('.') + 1));
    const auto* known = std::find_if(kPlugins.begin(), kPlugins.end(), [&](const Plugin& p) { return p.name == name; });
    if (known == kPlugins.end()) {
      note_unread(plugin, "is not known", job);
    } else if (!known->why.empty()) {
      state_unmodelled(known->why, job);
    }
    if (name == "cutcrossentropyplugin") job.strategy.execution.loss_kernel = LossKernel::Linear;
  }
}

/// Activations that checkpoints keep go to the host; on disk is another thing.
void read_activation_offload(const Node& node, Job& job) {
  const std::string word = lower_case(node.text);
  const bool host = word == "legacy" || word == "hidden_states";
  if (const auto on = host ? std::optional(true) : truth_of(node)) {
    job.strategy.activation_offload = derived(*on, node.where);
    return;
  }
  note_unread(node, "is no place that is known", job);
  state_unmodelled("this offloading of activations is not modelled", job);
}

/// In the order in which attention was named over the releases.
template <std::size_t Name>
void read_attention_switch(const Node& node, Job& job) {
  constexpr std::array<std::string_view, 5> kNames = {"flash_attention_2", "sdpa", "eager", "flex_attention",
                                                      "xformers"};
  if (truth_of(node) != true || job.strategy.attention.stated) return;
  Node named = node;
  named.kind = Node::Kind::String;
  named.text = kNames[Name];
  read_attention(named, job);
}

/// Experts that are one tensor for all: their linear layers carry adapters.
void read_target_parameters(const Node& node, Job& job) {
  const std::vector<std::string> words = list_of(node);
  const bool experts = std::any_of(words.begin(), words.end(),
                                   [](const std::string& w) { return w.find("experts") != std::string::npos; });
  if (experts) otherwise(job.strategy.lora_targets, "linear", node.where);
}

constexpr ToolRow kAxolotlRows[] = {
    {"base_model", &Job::model},
    {"rl", read_rl},
    {"reward_model", read_reward},
    {"sequence_len", &JobStrategy::sequence_length},
    {"sample_packing", &JobStrategy::packing},
    {"micro_batch_size", &JobStrategy::micro_batch},
    {"gradient_accumulation_steps", &JobStrategy::accumulation},
    {"batch_size", read_batch},
    {"num_epochs", &JobStrategy::epochs},
    {"max_steps", &JobStrategy::steps},
    {"save_steps", &JobStrategy::save_interval},
    {"optimizer", read_optimizer},
    {"bf16", &JobStrategy::bf16},
    {"bfloat16", &JobStrategy::bf16},
    {"fp16", &JobStrategy::fp16},
    {"float16", &JobStrategy::fp16},
    {"fp8", &JobStrategy::fp8},
    {"gradient_checkpointing", read_checkpointing},
    {"gradient_checkpointing_kwargs.use_reentrant", told<&Execution::reentrant_checkpoint, Toggle::On>},
    {"activation_offloading", read_activation_offload},
    {"attn_implementation", read_attention},
    {"flash_attention", read_attention_switch<0>},
    {"sdp_attention", read_attention_switch<1>},
    {"eager_attention", read_attention_switch<2>},
    {"flex_attention", read_attention_switch<3>},
    {"xformers_attention", read_attention_switch<4>},
    {"torch_compile", read_compile},
    {"torch_empty_cache_steps",
     [](const Node& n, Job& job) {
       if (integer_of(n).value_or(0) > 0) job.strategy.execution.empty_cache = Toggle::On;
     }},
    {"plugins", read_plugins},
    {"liger_rms_norm", told<&Execution::liger_kernels, Toggle::On>},
    {"liger_glu_activation", told<&Execution::liger_kernels, Toggle::On>},
    {"liger_cross_entropy", told<&Execution::loss_kernel, LossKernel::Fused>},
    {"cut_cross_entropy", told<&Execution::loss_kernel, LossKernel::Linear>},
    {"liger_fused_linear_cross_entropy", told<&Execution::loss_kernel, LossKernel::Linear>},
    {"bnb_config_kwargs.bnb_4bit_use_double_quant", told_off<&Execution::double_quantization, Toggle::Off>},
    {"lora_r", &JobStrategy::lora_rank},
    {"lora_target_linear",
     [](const Node& n, Job& job) {
       if (truth_of(n) == true) otherwise(job.strategy.lora_targets, "linear", n.where);
     }},
    {"lora_target_parameters", read_target_parameters},
    {"lora_target_modules", read_lora_targets},
    {"peft_use_dora", [](const Node& n, Job& job) { read_adapter_kind(n, "dora", job); }},
    {"peft_use_rslora", [](const Node& n, Job& job) { read_adapter_kind(n, "rslora", job); }},
    {"peft.use_dora", [](const Node& n, Job& job) { read_adapter_kind(n, "dora", job); }},
    {"peft.use_rslora", [](const Node& n, Job& job) { read_adapter_kind(n, "rslora", job); }},
    {"peft_init_lora_weights", read_adapter_start},
    {"peft.init_lora_weights", read_adapter_start},
    {"lora_modules_to_save", read_whole_modules},
    {"deepspeed", read_deepspeed_setting},
    {"fsdp", read_fsdp_words},
    {"fsdp_config", read_fsdp_config},
    {"tensor_parallel_size", &JobStrategy::tensor},
    {"context_parallel_size", &JobStrategy::context},
    {"sequence_parallel_degree", &JobStrategy::context},
    {"expert_parallel_size", &JobStrategy::expert},
    {"dp_shard_size", &JobStrategy::data_shard},
    {"dp_replicate_size", &JobStrategy::data_replicate},
    {"trl.num_generations", &JobReinforcement::samples},
    {"trl.max_completion_length", &JobReinforcement::response_tokens},
    {"trl.use_vllm",
     [](const Node& n, Job& job) {
       if (truth_of(n) == true) job.reinforcement.rollout_engine = derived(std::string("vllm"), n.where);
     }},
    {"vllm.tensor_parallel_size", &JobReinforcement::rollout_tensor},
    {"vllm.gpu_memory_utilization", &JobReinforcement::memory_share},
};

constexpr UnmodelledRow kAxolotlUnmodelled[] = {
    {"gptq", "true", "a base quantized by GPTQ is not modelled"},
    {"process_reward_model", "true", kStepRewards},
    {"qat", "", kQuantizedTraining},
    {"peft_layers_to_transform", "", "adapters on some of the blocks are not modelled"},
    {"relora", "true", "ReLoRA is not modelled"},
    {"relora_steps", "", "ReLoRA is not modelled"},
    {"layer_offloading", "true", "offloading of frozen layers is not modelled"},
};

/// `adapter` names the kind; the base is loaded in the bits that the file says.
void read_adapter(const Node& root, Job& job) {
  const Node* adapter = root.find("adapter");
  const std::string kind = adapter == nullptr ? "" : lower_case(adapter->text);
  const Node* four = root.find("load_in_4bit");
  if (kind.empty()) {
    if (is_on(four) || is_on(root.find("load_in_8bit"))) {
      state_unmodelled("a quantized base without adapters is not modelled", job);
    }
    if (const Node* patterns = root.find("unfrozen_parameters")) read_unfrozen(*patterns, job);
    return state_full(root.where, job);
  }
  if (kind != "lora" && kind != "qlora") {
    return state_unmodelled("adapters of this kind are not modelled: " + adapter->text, job);
  }
  state_adapters({adapter, four, root.find("load_in_8bit")}, job);
  if (kind == "qlora") job.strategy.finetune = derived(kind, adapter->where);
}

}  // namespace

void read_axolotl(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  read_rows(root, kAxolotlRows, job);
  read_adapter(root, job);
  if (job.reinforcement.algorithm.stated) job.reinforcement.micro_batch = s.micro_batch;
  read_unmodelled(root, kAxolotlUnmodelled, job);
  // What its schema has where a file says nothing.
  if (!job.reinforcement.algorithm.stated) otherwise(s.loss, "sft", root.where);
  otherwise(s.sequence_length, 512, root.where);
  otherwise(s.accumulation, 1, root.where);
  otherwise(s.epochs, 1, root.where);
  otherwise(s.recompute, "none", root.where);
  otherwise(s.stack, "hf-trainer", root.where);
  // Weights are loaded in 16 bits; FSDP and DeepSpeed keep copies in 32, a process alone does not.
  const bool sixteen = !s.fp16.is(true) && !s.bf16.is(false);
  if (s.finetune.is("full") && s.stack.is("hf-trainer") && sixteen) s.execution.pure_half = Toggle::On;
  finish_tool(root, job);
}

}  // namespace smplan
