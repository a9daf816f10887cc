// Arguments of TRL and of transformers' TrainingArguments: YAML, JSON, or a command line. TRL's own defaults count
// where its command, its scripts or its settings are there; another script decides by itself what it trains. Source:
// huggingface/trl f2cd577 (2026-07-24), trl/scripts, trl/trainer and trl/accelerate_configs; transformers 5.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/words.hpp"
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
namespace {

constexpr std::string_view kOnline = "online";

/// Commands and scripts of TRL. What is learnt from own answers has no loss here.
struct Method {
  std::string_view name;  ///< `trl NAME`, `NAME.py`
  std::string_view loss;
};
constexpr std::array<Method, 18> kMethods = {{{"sft", "sft"},
                                              {"sft_gpt_oss", "sft"},
                                              {"dpo", "dpo"},
                                              {"kto", "kto"},
                                              {"orpo", "orpo"},
                                              {"reward", "reward"},
                                              {"reward_modeling", "reward"},
                                              {"grpo", ""},
                                              {"async_grpo", ""},
                                              {"gspo", ""},
                                              {"rloo", ""},
                                              {"ppo", ""},
                                              {"online_dpo", ""},
                                              {"nash_md", ""},
                                              {"xpo", ""},
                                              {"sft_vlm", "sft"},
                                              {"dpo_vlm", "dpo"},
                                              {"grpo_vlm", ""}}};

/// A setting that only some trainers have, in the order in which they decide.
constexpr std::array<Method, 22> kTelling = {{{"num_generations", ""},
                                              {"max_completion_length", ""},
                                              {"use_vllm", ""},
                                              {"desirable_weight", "kto"},
                                              {"undesirable_weight", "kto"},
                                              {"simpo_gamma", "simpo"},
                                              {"center_rewards_coefficient", "reward"},
                                              {"precompute_ref_log_probs", "dpo"},
                                              {"f_divergence_type", "dpo"},
                                              {"ld_alpha", "dpo"},
                                              {"rpo_alpha", "dpo"},
                                              {"ref_model_sync_steps", "dpo"},
                                              {"max_prompt_length", "dpo"},
                                              {"beta", "dpo"},
                                              {"packing", "sft"},
                                              {"dataset_text_field", "sft"},
                                              {"assistant_only_loss", "sft"},
                                              {"completion_only_loss", "sft"},
                                              {"eval_packing", "sft"},
                                              {"max_seq_length", "sft"},
                                              {"dataset_num_proc", "sft"},
                                              {"chat_template_path", "sft"}}};

/// Settings of TRL's scripts that transformers does not have.
constexpr std::array<std::string_view, 6> kOfTrl = {"dataset_name", "use_peft",       "lora_r",
                                                    "max_length",   "dataset_config", "lora_target_modules"};

void state_method(const Method& method, const Where& where, Job& job) {
  if (method.loss.empty()) {
    const bool named =
        method.name != "num_generations" && method.name != "max_completion_length" && method.name != "use_vllm";
    job.reinforcement.algorithm = derived(std::string(named ? method.name : kOnline), where);
  } else {
    job.strategy.loss = derived(std::string(method.loss), where);
  }
}

/// The command of TRL (`trl sft`) or a script that is named like one of its own (`dpo.py`).
bool read_command(const Node& root, Job& job) {
  std::vector<std::string> names = {trl_command(job.started)};
  for (const StartedProgram& program : job.started.programs) {
    const std::string_view script = base_name(program.name);
    if (script.ends_with(".py")) names.emplace_back(script.substr(0, script.size() - 3));
  }
  for (const std::string& name : names) {
    const auto* known =
        std::find_if(kMethods.begin(), kMethods.end(), [&](const Method& method) { return method.name == name; });
    if (known == kMethods.end()) continue;
    state_method(*known, root.where, job);
    return true;
  }
  return false;
}

bool read_telling(const Node& root, Job& job) {
  for (const Method& method : kTelling) {
    const Node* node = root.find(method.name);
    if (node == nullptr || node->is_null()) continue;
    if (!job.strategy.loss.stated && !job.reinforcement.algorithm.stated) state_method(method, node->where, job);
    return true;
  }
  return std::any_of(kOfTrl.begin(), kOfTrl.end(), [&](std::string_view name) { return root.has(name); });
}

/// `--accelerate_config zero3`, one of TRL's own, or a file; of `accelerate launch` always a file.
void read_accelerate_config(const Node& node, Job& job) {
  JobStrategy& s = job.strategy;
  const Node& first = node.is_array() && !node.items.empty() ? node.items.front() : node;
  const std::string& word = first.text;
  if (word == "multi_gpu" || word == "single_gpu") return otherwise(s.stack, "hf-trainer", node.where);
  if (word == "fsdp1" || word == "fsdp2") return otherwise(s.stack, "fsdp", node.where);
  if (word == "zero1" || word == "zero2" || word == "zero3") {
    s.zero_stage = derived(static_cast<std::int64_t>(word.back() - '0'), node.where);
    return otherwise(s.stack, "deepspeed", node.where);
  }
  if (word.empty()) return note_unread(node, "is no file", job);
  s.split_file = text_field(&first);
  job.split_unknown = fmt::format(
      "who splits the states stands in {}, which is not beside the file: give --stack and "
      "--sharding or --zero-stage",
      printable(word, 60));
}

void read_other_file(const Node& node, Job& job) {
  const std::string file = printable(node.is_array() && !node.items.empty() ? node.items.front().text : node.text, 60);
  note_unread(node, "is another file, whose settings are not read", job);
  state_unmodelled(fmt::format("the settings stand in {}, which is to be checked instead", file), job);
}

void read_dtype(const Node& node, Job& job) {
  const std::string word = lower_case(node.text);
  if (word == "bfloat16" || word == "float16") job.strategy.execution.pure_half = Toggle::On;
  if (word == "auto") note_unread(node, "is the type that the weights have: taken as 32 bits", job);
}

constexpr ToolRow kTrlRows[] = {
    {"model_name_or_path", &Job::model},
    {"model_id", &Job::model},
    {"per_device_train_batch_size", &JobStrategy::micro_batch},
    {"gradient_accumulation_steps", &JobStrategy::accumulation},
    {"num_train_epochs", &JobStrategy::epochs},
    {"max_steps", &JobStrategy::steps},
    {"save_steps", &JobStrategy::save_interval},
    {"max_length", &JobStrategy::sequence_length},
    {"max_seq_length", &JobStrategy::sequence_length},
    {"packing", &JobStrategy::packing},
    {"optim", read_optimizer},
    {"bf16", &JobStrategy::bf16},
    {"fp16", &JobStrategy::fp16},
    {"activation_checkpointing", read_checkpointing},
    {"gradient_checkpointing", read_checkpointing},
    {"activation_offloading", &JobStrategy::activation_offload},
    {"dtype", read_dtype},
    {"torch_dtype", read_dtype},
    {"model_init_kwargs.dtype", read_dtype},
    {"model_init_kwargs.torch_dtype", read_dtype},
    {"attn_implementation", read_attention},
    {"lora_r", &JobStrategy::lora_rank},
    {"lora_target_modules", read_lora_targets},
    {"use_dora", [](const Node& n, Job& job) { read_adapter_kind(n, "dora", job); }},
    {"use_rslora", [](const Node& n, Job& job) { read_adapter_kind(n, "rslora", job); }},
    {"lora_modules_to_save", read_whole_modules},
    {"deepspeed", read_deepspeed_setting},
    {"fsdp", read_fsdp_words},
    {"fsdp_config", read_fsdp_config},
    {"accelerate_config", read_accelerate_config},
    {"config_file", read_accelerate_config},
    {"config", read_other_file},
    {"num_machines", &JobStrategy::nodes},
    {"num_generations", &JobReinforcement::samples},
    {"max_prompt_length", &JobReinforcement::prompt_tokens},
    {"max_completion_length", &JobReinforcement::response_tokens},
    {"vllm_tensor_parallel_size", &JobReinforcement::rollout_tensor},
    {"vllm_gpu_memory_utilization", &JobReinforcement::memory_share},
    {"use_vllm",
     [](const Node& n, Job& job) {
       if (truth_of(n) == true) job.reinforcement.rollout_engine = derived(std::string("vllm"), n.where);
     }},
};

constexpr UnmodelledRow kTrlUnmodelled[] = {
    {"teacher_model_name_or_path", "", kDistillation},
};

void read_adapters(const Node& root, bool of_trl, Job& job) {
  JobStrategy& s = job.strategy;
  const Node* peft = root.find("use_peft");
  if (!of_trl) {
    job.adapters_unknown = "the script decides whether it trains adapters: give --finetune";
    return;
  }
  const Node* four = root.find("load_in_4bit");
  if (!is_on(peft)) {
    if (is_on(four) || is_on(root.find("load_in_8bit"))) {
      state_unmodelled("a quantized base without adapters is not modelled", job);
    }
    return state_full(root.where, job);
  }
  state_adapters({peft, four, root.find("load_in_8bit")}, job);
  // TRL's default, and PEFT's for Llama and its kin.
  otherwise(s.lora_rank, 16, root.where);
  otherwise(s.lora_targets, "query-value", root.where);
  if (is_on(four) && !is_on(root.find("use_bnb_nested_quant"))) s.execution.double_quantization = Toggle::Off;
}

/// By underscores, as files write settings; the parser of command lines makes them hyphens. An option with words behind
/// it that are not its own keeps the first.
Node as_settings(const Node& root) {
  Node settings = root;
  constexpr std::array<std::string_view, 2> kLists = {"lora_target_modules", "lora_modules_to_save"};
  for (Node& option : settings.items) {
    std::replace(option.key.begin(), option.key.end(), '-', '_');
    const bool list = std::find(kLists.begin(), kLists.end(), option.key) != kLists.end() || option.key == "fsdp";
    if (!option.is_array() || list || option.items.empty()) continue;
    Node first = option.items.front();
    first.key = option.key;
    first.where = option.where;
    option = std::move(first);
  }
  // The older name counts where the newer one is not there (transformers 5.24, TrainingArguments).
  for (const std::string_view what : {"checkpointing", "checkpointing_kwargs"}) {
    if (!settings.has(fmt::format("activation_{}", what))) continue;
    std::erase_if(settings.items, [&](const Node& n) { return n.key == fmt::format("gradient_{}", what); });
  }
  return settings;
}

}  // namespace

void read_trl(const Node& root, Job& job) {
  JobStrategy& s = job.strategy;
  const bool of_command = read_command(root, job);
  const Node settings = as_settings(root);
  const bool of_trl = read_telling(settings, job) || of_command;
  read_rows(settings, kTrlRows, job);
  if (root.has("nproc-per-node")) read_processes(root, job);
  if (const Node* processes = settings.find("num_processes")) s.world = count_field(processes);
  s.execution.liger_kernels = is_on(settings.find("use_liger_kernel")) ? Toggle::On : Toggle::Default;
  if (s.execution.liger_kernels == Toggle::On) s.execution.loss_kernel = LossKernel::Linear;
  if (const Node* compile = settings.find("torch_compile")) read_compile(*compile, job);
  if (count_field(settings.find("torch_empty_cache_steps")).value_or(0) > 0) s.execution.empty_cache = Toggle::On;
  for (const std::string_view kwargs : {"activation_checkpointing_kwargs", "gradient_checkpointing_kwargs"}) {
    if (is_on(settings.at({kwargs, "use_reentrant"}))) s.execution.reentrant_checkpoint = Toggle::On;
  }
  read_adapters(settings, of_trl, job);
  read_unmodelled(settings, kTrlUnmodelled, job);
  // Defaults of TrainingArguments, and TRL's over them.
  otherwise(s.micro_batch, 8, root.where);
  otherwise(s.accumulation, 1, root.where);
  otherwise(s.epochs, 3, root.where);
  otherwise(s.recompute, of_trl ? "full" : "none", root.where);
  if (of_trl) {
    otherwise(s.sequence_length, 1024, root.where);
    if (!s.fp16.is(true)) otherwise(s.bf16, true, root.where);
  } else if (!s.bf16.is(true) && !s.fp16.is(true)) {
    otherwise(s.fp32, true, root.where);
  }
  // A file of accelerate may say another one.
  if (!s.split_file.stated) otherwise(s.stack, "hf-trainer", root.where);
  if (!s.stack.is("hf-trainer") || !s.finetune.is("full")) s.execution.pure_half = Toggle::Default;
  if (job.reinforcement.algorithm.stated) job.reinforcement.micro_batch = s.micro_batch;
  finish_tool(settings, job);
}

}  // namespace smplan
