// Files of tools that fine-tune, each with its own command. Names of settings: huggingface/trl 1.16 (SFTConfig,
// DPOConfig, ModelConfig) and transformers 5.24 (TrainingArguments); axolotl-ai-cloud/axolotl 0.13 (utils/schemas);
// hiyouga/LLaMA-Factory 0.9 (hparams).
#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "catalogs/adapted_layers.hpp"
#include "catalogs/model_modules.hpp"
#include "planner/export/program.hpp"
#include "planner/export/text.hpp"
#include "planner/export/tuning.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {

/// A tool's word for a loss; empty where it does not train by it.
struct LossWord {
  std::string_view loss;
  std::string_view trl, axolotl, factory;
};
constexpr std::array<LossWord, 6> kLosses{{{"dpo", "dpo", "dpo", "sigmoid"},
                                           {"orpo", "", "orpo", "orpo"},
                                           {"simpo", "", "simpo", "simpo"},
                                           {"kto", "kto", "kto", "kto"},
                                           {"reward", "reward", "", "rm"},
                                           {"cpo", "", "", ""}}};

std::string_view word_of(const TrainingLoss& loss, std::string_view LossWord::*tool) {
  const auto* const row =
      std::find_if(kLosses.begin(), kLosses.end(), [&](const LossWord& w) { return w.loss == loss.name; });
  return row == kLosses.end() ? std::string_view() : (*row).*tool;
}

/// The switch of a kind of adapters, or a setting with its value; empty: the tool has none.
struct KindWord {
  std::string_view kind, trl, axolotl, factory;
};
constexpr KindWord kKinds[] = {{"rslora", "use_rslora", "peft_use_rslora", "use_rslora"},
                               {"dora", "use_dora", "peft_use_dora", "use_dora"},
                               {"pissa", "", "peft_init_lora_weights=pissa", "pissa_init"}};

std::string_view word_of_kind(const AdapterMethod* kind, std::string_view KindWord::*tool) {
  if (kind == nullptr) return "";
  const auto* const row =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindWord& w) { return w.kind == kind->name; });
  return row == std::end(kKinds) ? std::string_view() : (*row).*tool;
}

void say_kind(const AdapterMethod* kind, std::string_view KindWord::*tool, Json& settings) {
  const std::string_view word = word_of_kind(kind, tool);
  if (word.empty()) return;
  const std::size_t equals = word.find('=');
  const bool has_value = equals != std::string_view::npos;
  settings[std::string(word.substr(0, equals))] = has_value ? Json(std::string(word.substr(equals + 1))) : Json(true);
}

/// TrainingArguments' names, which all three take; empty where they have none.
std::string_view optimizer_name(const TrainingPlan& plan) {
  const bool paged = plan.strategy.execution.paged_optimizer == Toggle::On;
  switch (plan.optimizer) {
    case Optimizer::AdamW:
      return paged ? "paged_adamw_32bit" : "adamw_torch_fused";
    case Optimizer::Adam8bit:
      return paged ? "paged_adamw_8bit" : "adamw_bnb_8bit";
    case Optimizer::SgdMomentum:
      return "sgd";
    case Optimizer::Lion:
      return paged ? "paged_lion_32bit" : "lion_32bit";
    case Optimizer::Adafactor:
      return "adafactor";
    case Optimizer::Muon:
    case Optimizer::Lamb:
      break;
  }
  return "";
}

void check_tool(const TrainingPlan& plan, std::string_view LossWord::*tool, std::string_view name, Diagnostics& out) {
  const Strategy& s = plan.strategy;
  check_tunes(plan, name, out);
  const Compile compile = s.execution.compile;
  if (compile != Compile::Default && compile != Compile::Off) {
    refuse(out, fmt::format("the file of {} does not compile layers one by one", name), "plan with --compile off");
  }
  if (plan.loss != nullptr && word_of(*plan.loss, tool).empty()) {
    refuse(out, fmt::format("this writer has no words of {} for the loss {}", name, plan.loss->name),
           "plan with --loss dpo");
  }
  if (plan.finetune == FineTune::Qlora && plan.model.is_moe() && tool != &LossWord::axolotl) {
    refuse(out, fmt::format("{} leaves experts, which transformers 5 holds in one tensor a layer, in 16 bits", name),
           "export to axolotl, or plan with --finetune lora");
  }
  const bool trl = tool == &LossWord::trl;
  if (plan.adapters != nullptr && plan.virtual_tokens == 0 && trl &&
      word_of_kind(plan.adapters, &KindWord::trl).empty()) {
    refuse(out, fmt::format("TRL's file has no words for adapters of the kind {}", plan.adapters->name),
           "plan with --adapters lora, or export to axolotl or llama-factory");
  }
  if (plan.virtual_tokens > 0) {
    refuse(out, fmt::format("the file of {} has no words for virtual tokens", name),
           "plan with --adapters lora, or with --stack hf-trainer or ddp for smplan's training program");
  }
  if (optimizer_name(plan).empty()) {
    refuse(out, fmt::format("{} has no optimizer {}", name, to_string(plan.optimizer)), "plan with --optimizer adamw");
  }
  check_fsdp_offload(plan, out);
  if (s.sharding == Sharding::None && s.offload.any()) {
    refuse(out, fmt::format("{} offloads nothing without sharding", name), "plan with --stack fsdp or deepspeed");
  }
  if (s.sharding != Sharding::None && s.shard_degree < plan.replicas()) {
    refuse(out, fmt::format("{} shards over all ranks", name), "plan with --shard-degree equal to the ranks");
  }
}

bool by_deepspeed(const TrainingPlan& plan) {
  const Sharding s = plan.strategy.sharding;
  return s == Sharding::Zero1 || s == Sharding::Zero2 || s == Sharding::Zero3;
}

/// TrainingArguments' FSDP 2.
Json fsdp_config(const TrainingPlan& plan) {
  Json config;
  config["version"] = 2;
  config["reshard_after_forward"] = plan.strategy.sharding != Sharding::FsdpGradOp;
  config["transformer_layer_cls_to_wrap"] = block_class_of(plan.model.model_type());
  config["activation_checkpointing"] = plan.strategy.recompute == Recompute::Full;
  config["state_dict_type"] = "SHARDED_STATE_DICT";
  return config;
}

std::string fsdp_words(const TrainingPlan& plan) {
  std::string words =
      plan.strategy.sharding == Sharding::FsdpGradOp ? "shard_grad_op auto_wrap" : "full_shard auto_wrap";
  return plan.strategy.offload.parameters ? words + " offload" : words;
}

/// FSDP recomputes by itself; both at once would run each layer three times.
bool recomputes_in_trainer(const TrainingPlan& plan) {
  return plan.strategy.recompute == Recompute::Full && !is_fsdp(plan.strategy.sharding);
}

/// What all three take under the same names.
void add_common(const ExportJob& job, Json& c) {
  const TrainingPlan& plan = job.plan;
  c["gradient_accumulation_steps"] = plan.gradient_accumulation;
  c["max_steps"] = plan.steps();
  c["learning_rate"] = learning_rate(plan);
  c["bf16"] = plan.precision == Precision::Bf16;
  c["fp16"] = plan.precision == Precision::Fp16;
  c["gradient_checkpointing"] = recomputes_in_trainer(plan);
  c["save_steps"] = plan.save_steps();
  c["logging_steps"] = 10;
}

/// The loss without logits in memory, which Liger's kernels have for next tokens.
bool keeps_no_logits(const TrainingPlan& plan) {
  return plan.loss == nullptr && plan.strategy.execution.loss_kernel == LossKernel::Linear;
}

/// axolotl's patterns of what is trained. A point stands for itself, so that no name of an expert matches.
Json unfrozen_names(const TrainingPlan& plan) {
  const TrainedLayers& t = *plan.trained_layers;
  Json names = Json::array();
  if (t.blocks > 0) {
    std::vector<std::int64_t> depths(static_cast<std::size_t>(t.blocks));
    std::iota(depths.begin(), depths.end(), t.begin(plan.model.n_layers));
    names.push_back(fmt::format("^[a-z_.]+layers.({}).", fmt::join(depths, "|")));
  }
  const bool tied = plan.model.tied_embeddings;
  if (t.embedding || (t.head && tied)) names.push_back("^[a-z_.]+embed_tokens.weight$");
  if (t.head && !tied) names.push_back("^[a-z_.]*lm_head.weight$");
  return names;
}

/// LLaMA-Factory trains blocks of one end, which it finds by their number between points in a weight's name.
void check_factory_freezing(const TrainingPlan& plan, Diagnostics& faults) {
  const TrainedLayers& t = *plan.trained_layers;
  if (t.blocks == 0 || t.from.value_or(0) > 0) {
    refuse(faults, "LLaMA-Factory trains the first blocks or the last ones, one at least",
           "plan with --trained-layers last:N or first:N, or export to axolotl");
  }
  if (plan.model.is_moe() && plan.model.moe.n_experts > t.begin(plan.model.n_layers)) {
    refuse(faults, "LLaMA-Factory finds blocks by numbers that experts of all blocks have too, and would train those",
           "export to axolotl");
  }
}

/// The file, what it needs beside it, and how it is started.
void add_file(const ExportJob& job, std::string path, const Json& config, std::string_view package,
              const std::string& command, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  if (by_deepspeed(plan)) {
    write_deepspeed(job, out, faults);
    // Trainers start DeepSpeed themselves.
    out.script_notes.clear();
  }
  out.files.insert(out.files.begin(), {std::move(path), commented(provenance_lines(job)) + yaml_block(config)});
  out.names_adapters = true;
  out.said.push_back(Dimension::PureHalf);
  out.said.push_back(Dimension::PagedOptimizer);
  if (package == "trl") {
    add_requirement(out, pinned("trl"));
    if (plan.finetune != FineTune::Full) add_requirement(out, pinned("peft"));
    if (needs_bitsandbytes(plan)) add_requirement(out, pinned("bitsandbytes"));
  }
  note_start(plan, command, out);
  if (package != "trl") out.notes.push_back(fmt::format("Install {} with its own instructions.", package));
}

/// TRL makes a text of a list of one, which PEFT matches with whole paths (trl 1.16, trainer/model_config.py).
Json trl_targets(const TrainingPlan& plan) {
  const std::vector<std::string> names = lora_targets(plan);
  return names.size() == 1 ? Json::array({".*\\." + names.front()}) : peft_targets(plan);
}

bool quantizes_experts(const TrainingPlan& plan) { return plan.finetune == FineTune::Qlora && plan.model.is_moe(); }

/// axolotl adapts quantized experts by the names of their two tensors, and refuses `lora_target_linear` beside them
/// (axolotl 0.19.0, utils/schemas/config.py, check_quantize_moe_experts).
void target_quantized_experts(const TrainingPlan& plan, Json& c) {
  const Architecture& a = plan.model;
  const bool linear = plan.lora_targets == LoraTargets::Linear;
  const AdapterTargets targets = peft_targets_of(a).value_or(AdapterTargets{});
  Json modules = plan.lora_targets == LoraTargets::QueryValue ? targets.query_value : targets.attention;
  if (linear && (a.has_dense_mlp() || a.moe.n_shared_experts > 0)) {
    for (const char* name : {"gate_proj", "up_proj", "down_proj"}) modules.push_back(name);
  }
  c["lora_target_modules"] = std::move(modules);
  if (linear && peft_adapted_layers(a).experts != ExpertAdapters::None) {
    c["lora_target_parameters"] = Json::array({"mlp.experts.gate_up_proj", "mlp.experts.down_proj"});
  }
}

bool stores_scores(const TrainingPlan& plan) { return plan.strategy.execution.flash_attention == Toggle::Off; }

}  // namespace

void check_trl(const TrainingPlan& plan, Diagnostics& faults) { check_tool(plan, &LossWord::trl, "TRL", faults); }
void check_axolotl(const TrainingPlan& plan, Diagnostics& faults) {
  check_tool(plan, &LossWord::axolotl, "axolotl", faults);
  if (plan.finetune == FineTune::Qlora && is_gpt_oss(plan.model)) {
    refuse(faults, fmt::format("{} is published in MXFP4, which bitsandbytes does not quantize again", plan.model.name),
           "plan with --finetune lora");
  }
  if (quantizes_experts(plan) && plan.model.has_latent_attention()) {
    refuse(faults,
           fmt::format("axolotl adapts quantized experts by names, and {} calls its projections otherwise",
                       plan.model.name),
           "plan with --finetune lora");
  }
  if (plan.trained_layers && !plan.model.gated_mlp) {
    faults.push_back(
        {"not-expressible", "--target",
         fmt::format("axolotl freezes by the names of weights, and {} may call its blocks otherwise than Llama",
                     plan.model.name),
         "write unfrozen_parameters yourself, or export to llama-factory"});
  }
  // It loads weights in 16 bits wherever `bf16` or `fp16` is on. DeepSpeed and FSDP make masters of them, nothing else.
  const bool half = plan.precision == Precision::Bf16 || plan.precision == Precision::Fp16;
  const bool whole = plan.finetune == FineTune::Full && plan.strategy.sharding == Sharding::None;
  if (half && whole && !is_pure_half(plan)) {
    faults.push_back({"not-expressible", "--target", "axolotl keeps no fp32 weights where each device has all of them",
                      "plan with --pure-half on, or with --stack fsdp or deepspeed"});
  }
}
void check_llama_factory(const TrainingPlan& plan, Diagnostics& faults) {
  check_tool(plan, &LossWord::factory, "LLaMA-Factory", faults);
  if (plan.trained_layers) check_factory_freezing(plan, faults);
  if (plan.finetune == FineTune::Full && is_pure_half(plan) && plan.precision != Precision::Bf16) {
    faults.push_back({"not-expressible", "--target", "LLaMA-Factory trains without fp32 weights in bf16 alone",
                      "plan with --dtype bf16, or --pure-half off"});
  }
}

void write_trl(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  Json c;
  c["model_name_or_path"] = weights_of(job, out);
  // Weights that are trained are loaded as fp32 masters; a base under adapters has the format of the products.
  const bool masters = plan.finetune == FineTune::Full && !is_pure_half(plan);
  c["dtype"] = masters || keeps_32_bits(plan.precision) ? "float32"
               : plan.precision == Precision::Fp16      ? "float16"
                                                        : "bfloat16";
  if (stores_scores(plan)) c["attn_implementation"] = "eager";
  out.said.push_back(Dimension::FlashAttention);
  c["dataset_name"] = data_set(out);
  c["max_length"] = plan.seq_len;
  if (plan.loss == nullptr) c["packing"] = plan.mean_seq_len == 0;
  if (plan.loss != nullptr && plan.loss->frozen == FrozenModel::Reference) {
    c["precompute_ref_log_probs"] = plan.reference == Reference::Precomputed;
  }
  // Settings that only the loss's own trainer has, at their usual values: they tell whose file it is.
  if (plan.loss != nullptr && plan.loss->name == "kto") c["desirable_weight"] = 1.0;
  if (plan.loss != nullptr && plan.loss->scalar_head) c["center_rewards_coefficient"] = 0.0;
  c["per_device_train_batch_size"] = examples_of_a_pass(plan);
  add_common(job, c);
  c["lr_scheduler_type"] = "cosine";
  c["optim"] = optimizer_name(plan);
  if (plan.finetune != FineTune::Full) {
    c["use_peft"] = true;
    c["lora_r"] = plan.lora_rank;
    c["lora_alpha"] = 2 * plan.lora_rank;
    c["lora_target_modules"] = trl_targets(plan);
    if (plan.lora_embeddings) c["lora_modules_to_save"] = Json::array({"embed_tokens", "lm_head"});
    // The head that gives one number is trained whole.
    if (plan.loss != nullptr && plan.loss->scalar_head) c["lora_task_type"] = "SEQ_CLS";
    say_kind(plan.adapters, &KindWord::trl, c);
  }
  if (plan.finetune == FineTune::Qlora) {
    c["load_in_4bit"] = true;
    c["bnb_4bit_quant_type"] = "nf4";
    c["use_bnb_nested_quant"] = true;
  }
  if (by_deepspeed(plan)) c["deepspeed"] = std::string(kDeepSpeedFile);
  if (is_fsdp(plan.strategy.sharding)) {
    c["fsdp"] = fsdp_words(plan);
    c["fsdp_config"] = fsdp_config(plan);
  }
  if (keeps_no_logits(plan)) {
    c["use_liger_kernel"] = true;
    out.said.push_back(Dimension::LossKernel);
    add_requirement(out, "liger-kernel");
  }
  c["output_dir"] = "output";
  const std::string_view command = plan.loss != nullptr ? word_of(*plan.loss, &LossWord::trl) : "sft";
  add_file(job, "trl.yaml", c, "trl", fmt::format("-m trl.scripts.{} --config trl.yaml", command), out, faults);
}

void write_axolotl(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  Json c;
  c["base_model"] = weights_of(job, out);
  if (plan.loss != nullptr) c["rl"] = word_of(*plan.loss, &LossWord::axolotl);
  c["datasets"] = Json::array(
      {Json{{"path", data_set(out)}, {"type", plan.loss != nullptr ? "chat_template.default" : "chat_template"}}});
  c["sequence_len"] = plan.seq_len;
  c["sample_packing"] = plan.loss == nullptr && plan.mean_seq_len == 0;
  c["micro_batch_size"] = examples_of_a_pass(plan);
  add_common(job, c);
  c["lr_scheduler"] = "cosine";
  c["optimizer"] = optimizer_name(plan);
  const char* fused = fits_flash_attention(plan.model) ? "flash_attention" : "sdp_attention";
  c[stores_scores(plan) ? "eager_attention" : fused] = true;
  if (is_gpt_oss(plan.model)) {
    // The checkpoint's own 4-bit format trains nothing.
    c["model_quantization_config"] = "Mxfp4Config";
    c["model_quantization_config_kwargs"] = Json{{"dequantize", true}};
  }
  out.said.push_back(Dimension::FlashAttention);
  if (plan.finetune != FineTune::Full) {
    c["adapter"] = to_string(plan.finetune);
    c["lora_r"] = plan.lora_rank;
    c["lora_alpha"] = 2 * plan.lora_rank;
    if (quantizes_experts(plan)) {
      target_quantized_experts(plan, c);
    } else if (const std::vector<std::string> targets = lora_targets(plan); targets.empty()) {
      c["lora_target_linear"] = true;
    } else {
      c["lora_target_modules"] = targets;
    }
    if (plan.lora_embeddings) c["lora_modules_to_save"] = Json::array({"embed_tokens", "lm_head"});
    say_kind(plan.adapters, &KindWord::axolotl, c);
  }
  if (plan.finetune == FineTune::Qlora) c["load_in_4bit"] = true;
  if (quantizes_experts(plan)) c["quantize_moe_experts"] = true;
  if (plan.trained_layers) c["unfrozen_parameters"] = unfrozen_names(plan);
  if (keeps_no_logits(plan)) {
    c["plugins"] = Json::array({"axolotl.integrations.liger.LigerPlugin"});
    c["liger_fused_linear_cross_entropy"] = true;
    out.said.push_back(Dimension::LossKernel);
  }
  // Its schema asks for it: the loss reads columns that the model does not.
  if (plan.loss != nullptr && plan.loss->name == "kto") c["remove_unused_columns"] = false;
  if (by_deepspeed(plan)) c["deepspeed"] = std::string(kDeepSpeedFile);
  if (is_fsdp(plan.strategy.sharding)) {
    c["fsdp_version"] = 2;
    Json f;
    f["offload_params"] = plan.strategy.offload.parameters;
    f["reshard_after_forward"] = plan.strategy.sharding != Sharding::FsdpGradOp;
    f["auto_wrap_policy"] = "TRANSFORMER_BASED_WRAP";
    f["transformer_layer_cls_to_wrap"] = block_class_of(plan.model.model_type());
    f["activation_checkpointing"] = plan.strategy.recompute == Recompute::Full;
    f["state_dict_type"] = "SHARDED_STATE_DICT";
    c["fsdp_config"] = f;
  }
  c["output_dir"] = "output";
  add_file(job, "axolotl.yaml", c, "axolotl", "-m axolotl.cli.train axolotl.yaml", out, faults);
}

void write_llama_factory(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  Json c;
  c["model_name_or_path"] = weights_of(job, out);
  // Two losses are stages of their own, the others kinds of DPO's.
  const std::string_view loss = plan.loss != nullptr ? word_of(*plan.loss, &LossWord::factory) : "sft";
  const bool is_stage = loss == "sft" || loss == "kto" || loss == "rm";
  c["stage"] = is_stage ? loss : "dpo";
  if (!is_stage) c["pref_loss"] = loss;
  c["do_train"] = true;
  c["finetuning_type"] = plan.trained_layers ? "freeze" : plan.finetune == FineTune::Full ? "full" : "lora";
  if (plan.trained_layers) {
    const TrainedLayers& t = *plan.trained_layers;
    c["freeze_trainable_layers"] = t.from ? -t.blocks : t.blocks;
    std::vector<std::string> outside;
    if (t.embedding) outside.emplace_back("embed_tokens");
    if (t.head && !plan.model.tied_embeddings) outside.emplace_back("lm_head");
    if (t.head && plan.model.tied_embeddings && !t.embedding) outside.emplace_back("embed_tokens");
    if (!outside.empty()) c["freeze_extra_modules"] = fmt::format("{}", fmt::join(outside, ","));
  }
  if (plan.finetune != FineTune::Full) {
    c["lora_rank"] = plan.lora_rank;
    c["lora_alpha"] = 2 * plan.lora_rank;
    const std::vector<std::string> targets = lora_targets(plan);
    c["lora_target"] = targets.empty() ? "all" : fmt::format("{}", fmt::join(targets, ","));
    if (plan.lora_embeddings) c["additional_target"] = "embed_tokens,lm_head";
    say_kind(plan.adapters, &KindWord::factory, c);
  }
  if (plan.finetune == FineTune::Qlora) {
    c["quantization_bit"] = 4;
    c["quantization_type"] = "nf4";
    c["double_quantization"] = true;
  }
  c["dataset"] = data_set(out);
  c["template"] = "REPLACE-ME-template";
  out.placeholders.push_back({"REPLACE-ME-template", "LLaMA-Factory's name of the model's chat template"});
  c["cutoff_len"] = plan.seq_len;
  if (plan.loss == nullptr) c["packing"] = plan.mean_seq_len == 0;
  c["per_device_train_batch_size"] = examples_of_a_pass(plan);
  add_common(job, c);
  c["lr_scheduler_type"] = "cosine";
  // Else it makes fp32 masters of what it trains.
  if (plan.finetune == FineTune::Full && is_pure_half(plan)) c["pure_bf16"] = true;
  // Its own switch, on by default.
  c["disable_gradient_checkpointing"] = !recomputes_in_trainer(plan);
  c["optim"] = optimizer_name(plan);
  if (stores_scores(plan)) c["flash_attn"] = "disabled";
  out.said.push_back(Dimension::FlashAttention);
  if (by_deepspeed(plan)) c["deepspeed"] = std::string(kDeepSpeedFile);
  if (is_fsdp(plan.strategy.sharding)) {
    c["fsdp"] = fsdp_words(plan);
    c["fsdp_config"] = fsdp_config(plan);
  }
  if (keeps_no_logits(plan)) {
    c["enable_liger_kernel"] = true;
    out.said.push_back(Dimension::LossKernel);
    out.notes.emplace_back("enable_liger_kernel needs the package liger-kernel beside LLaMA-Factory.");
  }
  c["output_dir"] = "output";
  add_file(job, "llama_factory.yaml", c, "LLaMA-Factory", "-m llamafactory.launcher llama_factory.yaml", out, faults);
}

}  // namespace smplan
