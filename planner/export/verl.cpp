// Supervised fine-tuning by verl: the settings of verl.trainer.sft_trainer, and those of its engine as AWS's recipes
// have them. Names: verl 0.9.1, verl/trainer/config/sft_trainer_engine.yaml, model/hf_model.yaml, engine/fsdp.yaml and
// optim/fsdp.yaml; aws/sagemaker-hyperpod-recipes 2631995 (2026-06-23), recipes of qwen-0_7_0.
#include <fmt/format.h>

#include "planner/export/program.hpp"
#include "planner/export/text.hpp"
#include "planner/export/tuning.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {

bool has_liger(const TrainingPlan& plan) { return plan.strategy.execution.liger_kernels == Toggle::On; }
bool has_adapters(const TrainingPlan& plan) { return plan.finetune != FineTune::Full; }

/// The kernel with attention sinks is one of Hopper's: it shows with the instances alone.
void check_kernel(const TrainingPlan& plan, Diagnostics& faults) {
  const bool told = plan.strategy.execution.flash_attention == Toggle::On && plan.model.plain_attention;
  const std::string& device = plan.instance->accelerator;
  if (!told || device.starts_with("H100") || device.starts_with("H200")) return;
  refuse(faults, fmt::format("the fused attention of {} is a kernel for Hopper, not for {}", plan.model.name, device),
         "plan with --instances 'ml.p5*', or export to trl");
}

void check_trainer(const TrainingPlan& plan, std::string_view tool, Diagnostics& faults) {
  check_tunes(plan, tool, faults);
  check_fsdp_offload(plan, faults);
  if (has_adapters(plan)) check_one_format(plan, tool, faults);
  if (plan.optimizer != Optimizer::AdamW) {
    refuse(faults, fmt::format("this writer knows no optimizer {} of verl", to_string(plan.optimizer)),
           "plan with --optimizer adamw");
  }
  const Compile compile = plan.strategy.execution.compile;
  if (compile != Compile::Default && compile != Compile::Off) {
    refuse(faults, "verl compiles no layers", "plan with --compile off");
  }
  if (!fits_flash_attention(plan.model)) {
    refuse(faults, fmt::format("{} has heads wider than FlashAttention 2 takes", plan.model.name), "export to trl");
  }
  if (plan.strategy.execution.flash_attention == Toggle::Off) {
    refuse(faults, "verl packs sequences, which takes fused attention", "plan with --flash-attention on");
  }
  if (plan.strategy.execution.loss_kernel == LossKernel::Linear) {
    refuse(faults, "verl's trainer takes the loss of logits", "plan with --loss-kernel default");
  }
}

/// What FSDP holds the weights in. 32 bits are the masters of mixed precision.
std::string_view held_in(const TrainingPlan& plan) { return is_pure_half(plan) ? "bf16" : "fp32"; }

void add_adapters(const TrainingPlan& plan, Json& model) {
  model["lora_rank"] = has_adapters(plan) ? plan.lora_rank : 0;
  if (!has_adapters(plan)) return;
  model["lora_alpha"] = 2 * plan.lora_rank;
  model["target_modules"] = peft_targets(plan);
}

Json trainer_of(const TrainingPlan& plan, std::string_view folder) {
  Json t;
  t["default_local_dir"] = folder;
  t["project_name"] = "smplan";
  t["experiment_name"] = plan.id();
  t["nnodes"] = plan.instance_count;
  t["n_gpus_per_node"] = plan.devices_per_instance();
  t["total_epochs"] = plan.steps();  // of any data: the number of steps ends the run
  t["total_training_steps"] = plan.steps();
  t["save_freq"] = plan.save_steps();
  t["test_freq"] = -1;
  t["logger"] = Json::array({"console"});
  t["device"] = "cuda";
  return t;
}

std::string data_files(Export& out) {
  out.placeholders.push_back({"REPLACE-ME-data", "Parquet file of the examples, a list of messages each"});
  return "REPLACE-ME-data";
}

void say(Export& out) {
  out.names_adapters = true;
  out.said.insert(out.said.end(),
                  {Dimension::PureHalf, Dimension::LigerKernels, Dimension::Compile, Dimension::FlashAttention});
}

/// Only `offload_policy` keeps states on the host while the model trains: the other two switches move them there
/// between steps (verl/workers/engine/base.py, BaseEngineCtx).
Json engine_of(const TrainingPlan& plan) {
  const Strategy& s = plan.strategy;
  const bool whole = s.shard_degree >= plan.replicas();
  return Json{{"_target_", "verl.workers.config.FSDPEngineConfig"},
              {"dtype", "bfloat16"},
              {"entropy_checkpointing", false},
              {"entropy_from_logits_with_chunking", false},
              {"forward_only", false},
              {"forward_prefetch", true},
              {"fsdp_size", whole ? -1 : s.shard_degree},
              {"full_determinism", false},
              {"model_dtype", held_in(plan)},
              {"offload_policy", s.offload.parameters},
              {"optimizer_offload", false},
              {"param_offload", false},
              {"reshard_after_forward", true},
              {"seed", 42},
              {"strategy", "fsdp2"},
              {"ulysses_sequence_parallel_size", 1},
              {"use_orig_params", false},
              {"use_torch_compile", false},
              {"wrap_policy", Json{{"min_num_params", 0}}}};
}

/// Examples of a pass as tokens: the engine fills each pass up to so many.
Json engine_data(const TrainingPlan& plan, Export& out) {
  Json d;
  if (plan.loss != nullptr) {
    d["_target_"] = "verl.utils.dataset.dpo_dataset.DPODataConfig";
    d["prompt_key"] = "prompt";
    d["chosen_key"] = "chosen";
    d["rejected_key"] = "rejected";
  } else {
    d["messages_key"] = "messages";
  }
  d["train_files"] = data_files(out);
  d["val_files"] = nullptr;
  d["train_batch_size"] = examples_of_a_step(plan);
  d["micro_batch_size_per_gpu"] = examples_of_a_pass(plan);
  d["max_length"] = plan.seq_len;
  d["use_dynamic_bsz"] = true;
  d["max_token_len_per_gpu"] = plan.seq_len * plan.strategy.micro_batch;
  d["pad_mode"] = "no_padding";
  d["truncation"] = "right";
  d["train_max_samples"] = -1;
  d["val_max_samples"] = -1;
  d["custom_cls"] = Json{{"path", nullptr}, {"name", nullptr}};
  return d;
}

Json engine_model(const ExportJob& job, Export& out) {
  const TrainingPlan& plan = job.plan;
  Json m;
  m["_target_"] = "verl.workers.config.HFModelConfig";
  m["path"] = weights_of(job, out);
  m["enable_gradient_checkpointing"] = plan.strategy.recompute == Recompute::Full;
  m["enable_activation_offload"] = plan.strategy.offload.activations;
  add_adapters(plan, m);
  m["use_liger"] = has_liger(plan);
  m["use_remove_padding"] = true;
  m["use_shm"] = false;
  m["trust_remote_code"] = false;
  const bool told = plan.strategy.execution.flash_attention == Toggle::On;
  m["override_config"] = told ? fused_attention(plan.model) : Json::object({});
  return m;
}

Json engine_optimizer(const TrainingPlan& plan) {
  return Json{{"_target_", "verl.workers.config.FSDPOptimizerConfig"},
              {"optimizer", "AdamW"},
              {"optimizer_impl", "torch.optim"},
              {"lr", learning_rate(plan)},
              {"lr_scheduler_type", "cosine"},
              {"lr_warmup_steps_ratio", 0.0},
              {"clip_grad", 1.0}};
}

}  // namespace

void check_verl(const TrainingPlan& plan, Diagnostics& faults) { check_trainer(plan, "verl", faults); }

void check_hyperpod_verl(const TrainingPlan& plan, Diagnostics& faults) {
  check_trainer(plan, "verl", faults);
  if (plan.loss != nullptr && plan.loss->name != "dpo") {
    refuse(faults, fmt::format("verl's recipes know no loss {}", plan.loss->name), "plan with --loss dpo");
  }
}

/// Over verl's own file of defaults, which Hydra finds in the package.
void write_verl(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  check_kernel(plan, faults);
  Json c;
  c["hydra"] = Json{{"searchpath", Json::array({"pkg://verl.trainer.config"})}};
  c["defaults"] = Json::array({"sft_trainer_engine", "_self_"});
  c["data"] = engine_data(plan, out);
  c["model"] = engine_model(job, out);
  c["engine"] = engine_of(plan);
  c["optim"] = engine_optimizer(plan);
  const Json contents = Json::array({"model", "optimizer", "extra", "hf_model"});
  c["checkpoint"] = Json{{"save_contents", contents}, {"load_contents", Json::array({"model", "optimizer", "extra"})}};
  c["trainer"] = trainer_of(plan, "output");
  out.files.push_back({"verl_sft.yaml", commented(provenance_lines(job)) + yaml_block(c)});
  say(out);
  out.said.push_back(Dimension::LossKernel);  // the engine's own
  add_requirement(out, "verl==0.9.1");
  note_start(plan, "-m verl.trainer.sft_trainer --config-path $PWD --config-name verl_sft", out);
  out.notes.emplace_back("verl 0.9.1 loads models with flash_attention_2: install flash-attn beside it.");
}

void write_hyperpod_verl(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  check_kernel(plan, faults);
  const std::string_view loss = plan.loss != nullptr ? "dpo" : "sft";
  Json c;
  c["display_name"] = fmt::format("{} {} of {}", has_adapters(plan) ? "LoRA" : "Full", loss, plan.model.name);
  c["instance_types"] = Json::array({plan.instance->name});
  c["run"] = Json{{"model_type", "verl"}, {"name", job_name_of(job)}, {"results_dir", "${base_results_dir}/${.name}"}};
  c["trainer"] = Json{{"devices", plan.devices_per_instance()}, {"num_nodes", plan.instance_count}};
  Json& t = c["training_config"];
  const Json contents = Json::array({"model", "optimizer", "extra", "hf_model"});
  t["checkpoint"] = Json{
      {"_target_", "verl.trainer.config.CheckpointConfig"}, {"load_contents", contents}, {"save_contents", contents}};
  t["data"] = engine_data(plan, out);
  t["engine"] = engine_of(plan);
  t["model"] = engine_model(job, out);
  t["optim"] = engine_optimizer(plan);
  t["trainer"] = trainer_of(plan, "/opt/ml/model");
  t["trainer"]["default_hdfs_dir"] = nullptr;
  t["trainer"]["resume_mode"] = "auto";
  out.files.push_back({"recipe.yaml", commented(provenance_lines(job)) + yaml_block(c)});
  say(out);
  out.said.push_back(Dimension::LossKernel);  // the engine's own
  out.notes.emplace_back(
      "For the launcher of sagemaker-hyperpod-recipes of 2026-06-23 (2631995): put the file under "
      "recipes_collection/recipes/fine-tuning and name it in recipes.");
}

}  // namespace smplan
