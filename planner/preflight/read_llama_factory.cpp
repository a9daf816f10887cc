// LLaMA-Factory's YAML and JSON, of its arguments and of its trainer v1 (`model`, `peft_config`, `dist_config`).
// Source: hiyouga/LLaMA-Factory ff6d4d1 (2026-08-18), src/llamafactory/hparams, src/llamafactory/v1 and the examples.
#include <array>

#include <fmt/format.h>

#include "base/words.hpp"
#include "planner/preflight/freezing.hpp"

namespace smplan {
namespace {

constexpr std::array<ToolWord, 5> kStages = {
    {{"pt", "sft"}, {"sft", "sft"}, {"rm", "reward"}, {"dpo", "dpo"}, {"kto", "kto"}}};
constexpr std::array<ToolWord, 6> kPreferenceLosses = {
    {{"sigmoid", "dpo"}, {"hinge", "dpo"}, {"ipo", "dpo"}, {"kto_pair", "dpo"}, {"orpo", "orpo"}, {"simpo", "simpo"}}};

void read_stage(const Node& node, Job& job) {
  if (lower_case(node.text) == "ppo") {
    job.reinforcement.algorithm = text_field(&node);
    return;
  }
  constexpr ToolRow kRow{"stage", &JobStrategy::loss, kStages, IfUnread::NotModelled};
  constexpr ToolRow kLossRow{"pref_loss", &JobStrategy::loss, kPreferenceLosses, IfUnread::NotModelled};
  // Of stage dpo another setting names the loss.
  if (lower_case(node.text) == "dpo") read_rows(job.root(), std::span(&kLossRow, 1), job);
  read_rows(job.root(), std::span(&kRow, 1), job);
}

/// The switch is the other way round.
void read_no_checkpointing(const Node& node, Job& job) {
  if (const auto off = truth_of(node)) {
    job.strategy.recompute = derived(std::string(*off ? "none" : "full"), node.where);
  }
}

void read_pure_bf16(const Node& node, Job& job) {
  if (truth_of(node) != true) return;
  job.strategy.execution.pure_half = Toggle::On;
  otherwise(job.strategy.bf16, true, node.where);
}

/// Trainer v1: how processes divide the work.
void read_distribution(const Node& node, Job& job) {
  const std::string word = lower_case(node.text);
  if (word == "fsdp2" || word == "fsdp") return otherwise(job.strategy.stack, "fsdp", node.where);
  if (word == "deepspeed") return otherwise(job.strategy.stack, "deepspeed", node.where);
  state_unmodelled(fmt::format("the distribution `{}` is not modelled", word), job);
  note_unread(node, "is no distribution that is known", job);
}

void read_v1_kernels(const Node& node, Job& job) {
  if (node.text.find("liger") == std::string::npos) return;
  job.strategy.execution.liger_kernels = Toggle::On;
}

constexpr ToolRow kLlamaFactoryRows[] = {
    {"model_name_or_path", &Job::model},
    {"model", &Job::model},
    {"stage", read_stage},
    {"lora_rank", &JobStrategy::lora_rank},
    {"peft_config.r", &JobStrategy::lora_rank},
    {"lora_target", read_lora_targets},
    {"use_dora", [](const Node& n, Job& job) { read_adapter_kind(n, "dora", job); }},
    {"use_rslora", [](const Node& n, Job& job) { read_adapter_kind(n, "rslora", job); }},
    {"pissa_init", [](const Node& n, Job& job) { read_adapter_kind(n, "pissa", job); }},
    {"peft_config.target_modules", read_lora_targets},
    {"additional_target", read_whole_modules},
    {"double_quantization", told_off<&Execution::double_quantization, Toggle::Off>},
    {"cutoff_len", &JobStrategy::sequence_length},
    {"packing", &JobStrategy::packing},
    {"neat_packing", &JobStrategy::packing},
    {"per_device_train_batch_size", &JobStrategy::micro_batch},
    {"micro_batch_size", &JobStrategy::micro_batch},
    {"gradient_accumulation_steps", &JobStrategy::accumulation},
    {"global_batch_size", &JobStrategy::global_batch},
    {"num_train_epochs", &JobStrategy::epochs},
    {"max_steps", &JobStrategy::steps},
    {"save_steps", &JobStrategy::save_interval},
    {"optim", read_optimizer},
    {"bf16", &JobStrategy::bf16},
    {"fp16", &JobStrategy::fp16},
    {"fp8", &JobStrategy::fp8},
    {"pure_bf16", read_pure_bf16},
    {"disable_gradient_checkpointing", read_no_checkpointing},
    {"gradient_checkpointing", read_checkpointing},
    {"enable_activation_checkpointing", read_checkpointing},
    {"use_unsloth_gc",
     [](const Node& n, Job& job) {
       if (truth_of(n) == true) job.strategy.activation_offload = derived(true, n.where);
     }},
    {"flash_attn", read_attention},
    {"enable_liger_kernel", told<&Execution::liger_kernels, Toggle::On>},
    {"kernel_config.name", read_v1_kernels},
    {"torch_compile", read_compile},
    {"deepspeed", read_deepspeed_setting},
    {"dist_config.config_file", read_deepspeed_setting},
    {"dist_config.name", read_distribution},
    {"dist_config.cp_size", &JobStrategy::context},
    {"cp_size", &JobStrategy::context},
    {"fsdp", read_fsdp_words},
    {"fsdp_config", read_fsdp_config},
    {"tensor_model_parallel_size", &JobStrategy::tensor},
    {"pipeline_model_parallel_size", &JobStrategy::pipeline},
    {"expert_model_parallel_size", &JobStrategy::expert},
    {"context_parallel_size", &JobStrategy::context},
};

constexpr UnmodelledRow kLlamaFactoryUnmodelled[] = {
    {"export_dir", "", "this file exports a model and trains none"},
    {"infer_backend", "", "this file asks a model and trains none"},
    {"use_llama_pro", "true", kPartialTraining},
    {"use_galore", "true", "GaLore is not modelled"},
    {"use_apollo", "true", "APOLLO is not modelled"},
    {"use_badam", "true", "BAdam is not modelled"},
    {"use_adam_mini", "true", "the optimizer `adam_mini` is not modelled"},
    {"use_muon", "true", "muon of LLaMA-Factory is not modelled"},
    {"use_kt", "true", "KTransformers' experts on the host are not modelled"},
    {"mixture_of_depths", "", "mixtures of depths are not modelled"},
    {"use_unsloth", "true", "unsloth's kernels are not modelled"},
    {"shift_attn", "true", "shifted short attention is not modelled"},
    {"optim_config.name", "muon", "muon of LLaMA-Factory is not modelled"},
    {"quantization_method", "hqq", "a base quantized by HQQ is not modelled"},
    {"quantization_method", "eetq", "a base quantized by EETQ is not modelled"},
};

/// A file of trainer v1.
bool is_v1(const Node& root) { return root.has("model_class") || root.has("dist_config") || root.has("peft_config"); }

/// LoRA is the default. Bits stand beside it, or in the schema of trainer v1.
void read_adapter(const Node& root, Job& job) {
  const bool v1 = is_v1(root);
  const Node* type = v1 ? node_by(root, "peft_config.name") : root.find("finetuning_type");
  const std::string kind = type != nullptr && type->is_string() ? lower_case(type->text) : v1 ? "full" : "lora";
  const Node* bits = root.find("quantization_bit");
  if (bits == nullptr) bits = node_by(root, "quant_config.quantization_bit");
  const std::int64_t wide = bits == nullptr ? 0 : integer_of(*bits).value_or(0);
  const Where& where = type == nullptr ? root.where : type->where;
  if (wide != 0 && wide != 4 && wide != 8) {
    note_unread(*bits, "is neither 4 nor 8", job);
    state_unmodelled(fmt::format("a base of {} bits is not modelled", wide), job);
  }
  if (kind == "full") {
    if (wide != 0) state_unmodelled("a quantized base without adapters is not modelled", job);
    return state_full(where, job);
  }
  if (kind == "freeze") return read_freeze(root, where, job);
  if (kind != "lora") return state_unmodelled("adapters of this kind are not modelled: " + type->text, job);
  job.strategy.finetune = derived(std::string(wide == 4 ? "qlora" : "lora"), where);
  if (wide == 8) job.strategy.execution.base_format = BaseFormat::Int8;
}

}  // namespace

void read_llama_factory(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  read_rows(root, kLlamaFactoryRows, job);
  read_adapter(root, job);
  read_unmodelled(root, kLlamaFactoryUnmodelled, job);
  // What its arguments have where a file says nothing.
  if (!job.reinforcement.algorithm.stated) otherwise(s.loss, "sft", root.where);
  const Node* stage = root.find("stage");
  if (stage != nullptr && stage->text == "pt") otherwise(s.packing, true, stage->where);
  otherwise(s.sequence_length, 2048, root.where);
  const bool v1 = is_v1(root);
  otherwise(s.micro_batch, v1 ? 1 : 8, root.where);
  if (!s.global_batch.stated) otherwise(s.accumulation, 1, root.where);
  otherwise(s.epochs, 3, root.where);
  otherwise(s.recompute, "full", root.where);
  if (v1) otherwise(s.bf16, true, root.where);
  if (s.finetune && *s.finetune != "full") {
    otherwise(s.lora_rank, 8, root.where);
    otherwise(s.lora_targets, "linear", root.where);
  }
  const Node* reentrant = root.find("use_reentrant_gc");
  const bool megatron = s.tensor.stated || s.pipeline.stated || s.expert.stated;
  if (!v1 && !megatron && s.recompute.is("full") && (reentrant == nullptr || truth_of(*reentrant) != false)) {
    s.execution.reentrant_checkpoint = Toggle::On;
  }
  otherwise(s.stack, megatron ? "megatron" : "hf-trainer", root.where);
  finish_tool(root, job);
}

}  // namespace smplan
