// The fine-tuning recipes of HyperPod that plain FSDP trains (llmft). Keys and their values where a plan decides none:
// aws/sagemaker-hyperpod-recipes 2631995 (2026-06-23), recipes_collection/recipes/fine-tuning/*/llmft_*.yaml.
#include <fmt/format.h>

#include "planner/export/program.hpp"
#include "planner/export/text.hpp"
#include "planner/export/tuning.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {

bool learns_pairs(const TrainingPlan& plan) { return plan.loss != nullptr; }

bool is_hybrid(const TrainingPlan& plan) { return plan.strategy.shard_degree < plan.replicas(); }

/// What turns records into tokens, for messages or for pairs of answers to a prompt.
Json converters(const TrainingPlan& plan) {
  if (!learns_pairs(plan)) {
    return Json::array(
        {Json{{"type", "TrainingSFTSampleConverter"}},
         Json{{"type", "Seq2SeqTokensProcessor"}, {"chat_template_name", nullptr}, {"ignore_prompt_labels", true}},
         Json{{"type", "DropColumns"}, {"column_names", Json::array({"messages"})}}});
  }
  const std::int64_t half = plan.seq_len / 2;
  return Json::array(
      {Json{{"type", "TrainingPOSampleConverter"},
            {"prompt_key", "prompt"},
            {"key_map", Json{{"chosen", "chosen"}, {"rejected", "rejected"}}}},
       Json{{"type", "ApplyChatTemplate"}},
       Json{{"type", "SelectColumns"}, {"selected_columns", Json::array({"prompt", "chosen", "rejected"})}},
       Json{{"type", "TokenizeSampleDPO"},
            {"add_special_tokens", false},
            {"max_prompt_length", half},
            {"max_completion_length", plan.seq_len - half}}});
}

Json datasets(const TrainingPlan& plan, Export& out) {
  out.placeholders.push_back({"REPLACE-ME-data", "file of the records that are trained on"});
  const auto file = [](std::string_view path) { return Json{{"name", ""}, {"file_path", path}, {"limit", nullptr}}; };
  Json d;
  d["preprocessor_cfgs"] = converters(plan);
  d["save_intermediate_processing_steps"] = false;
  d["train_data"] = file("REPLACE-ME-data");
  d["val_data"] = file("");
  d["train_val_split_ratio"] = 0.9;
  d["train_val_split_seed"] = 42;
  return d;
}

Json model_config(const ExportJob& job, Export& out) {
  const TrainingPlan& plan = job.plan;
  Json m;
  m["model_name_or_path"] = weights_of(job, out);
  m["model_save_name"] = job_name_of(job);
  m["attn_implementation"] = plan.strategy.execution.flash_attention == Toggle::Off ? "eager" : "sdpa";
  out.said.push_back(Dimension::FlashAttention);
  m["apply_chat_template"] = false;
  m["device_map"] = nullptr;
  m["multimodal"] = false;
  m["lora_checkpoint_file_path"] = nullptr;
  if (plan.finetune == FineTune::Full) return m;
  m["peft_config"] = Json{{"peft_type", "lora"},      {"r", plan.lora_rank}, {"lora_alpha", 2 * plan.lora_rank},
                          {"lora_dropout", 0.0},      {"bias", "none"},      {"target_modules", "all-linear"},
                          {"task_type", "CAUSAL_LM"}, {"use_dora", false}};
  return m;
}

Json fsdp_config(const TrainingPlan& plan) {
  return Json{{"auto_wrap_policy", "TRANSFORMER_BASED_WRAP"},
              {"backward_prefetch", "BACKWARD_PRE"},
              {"cpu_offload", plan.strategy.offload.parameters},
              {"cpu_ram_efficient_loading", true},
              {"forward_prefetch", false},
              {"sharding_strategy", is_hybrid(plan) ? "HYBRID_SHARD" : "FULL_SHARD"},
              {"state_dict_type", "SHARDED_STATE_DICT"},
              {"sync_module_states", true},
              {"use_orig_params", true}};
}

Json training_args(const TrainingPlan& plan) {
  const Strategy& s = plan.strategy;
  Json a;
  a["trainer_type"] = learns_pairs(plan) ? "dpo" : "sft";
  if (learns_pairs(plan)) {
    a["loss_type"] = "sigmoid";
    a["beta"] = 0.01;
    a["label_smoothing"] = 0.0;
    a["nll_loss_coef"] = 0.0;
    a["reference_free"] = false;
    a["ref_offload"] = false;
  }
  a["train_batch_size"] = examples_of_a_step(plan);
  a["micro_train_batch_size"] = examples_of_a_pass(plan);
  a["max_len"] = plan.seq_len;
  a["max_epochs"] = 1;
  a["max_samples"] = plan.steps() * examples_of_a_step(plan);
  a["packing_samples"] = false;
  a["pretrain_mode"] = false;
  a["gradient_checkpointing"] = s.recompute == Recompute::Full;
  a["gradient_checkpointing_use_reentrant"] = false;
  a["gradient_clipping"] = true;
  a["gradient_clipping_threshold"] = 1.0;
  a["learning_rate"] = learning_rate(plan);
  a["lr_scheduler"] = "cosine";
  a["lr_warmup_ratio"] = 0.1;
  a["adam_betas"] = Json::array({0.9, 0.95});
  a["weight_decay"] = 0.0;
  a["ring_attn_size"] = 1;
  a["ring_head_stride"] = 1;
  a["logging_steps"] = 10;
  a["save_steps"] = plan.save_steps();
  a["save_hf_ckpt"] = true;
  a["load_checkpoint"] = true;
  a["seed"] = 42;
  a["strategy"]["fsdp_config"] = fsdp_config(plan);
  return a;
}

}  // namespace

void check_llmft(const TrainingPlan& plan, Diagnostics& faults) {
  const Strategy& s = plan.strategy;
  check_tunes(plan, "llmft", faults);
  check_fsdp_offload(plan, faults);
  if (is_hybrid(plan) && s.shard_degree != plan.devices_per_instance()) {
    refuse(
        faults,
        fmt::format("fine-tuning recipes shard over all devices or over those of a node, not over {}", s.shard_degree),
        fmt::format("plan with --shard-degree {}", plan.devices_per_instance()));
  }
  if (plan.optimizer != Optimizer::AdamW) {
    refuse(faults, fmt::format("fine-tuning recipes know no optimizer {}", to_string(plan.optimizer)),
           "plan with --optimizer adamw");
  }
  if (learns_pairs(plan) && plan.loss->name != "dpo") {
    refuse(faults, fmt::format("fine-tuning recipes know no loss {}", plan.loss->name), "plan with --loss dpo");
  }
}

void write_llmft(const ExportJob& job, Export& out, Diagnostics&) {
  const TrainingPlan& plan = job.plan;
  Json c;
  c["display_name"] = fmt::format("{} {} of {}", plan.finetune == FineTune::Full ? "Full" : "LoRA",
                                  learns_pairs(plan) ? "dpo" : "sft", plan.model.name);
  c["instance_types"] = Json::array({plan.instance->name});
  c["run"] = Json{{"name", job_name_of(job)},
                  {"model_type", "llm_finetuning_aws"},
                  {"results_dir", "${base_results_dir}/${.name}"},
                  {"hf_access_token", nullptr}};
  c["trainer"] = Json{{"devices", plan.devices_per_instance()}, {"num_nodes", plan.instance_count}};
  Json& t = c["training_config"];
  t["model_config"] = model_config(job, out);
  t["datasets"] = datasets(plan, out);
  t["training_args"] = training_args(plan);
  out.files.push_back({"recipe.yaml", commented(provenance_lines(job)) + yaml_block(c)});
  out.names_adapters = true;
  out.notes.push_back(
      fmt::format("The plan counts {} examples in all. With fewer in the data, set max_epochs to the passes over them.",
                  plan.steps() * examples_of_a_step(plan)));
  out.notes.emplace_back(
      "For the launcher of sagemaker-hyperpod-recipes of 2026-06-23 (2631995): put the file under "
      "recipes_collection/recipes/fine-tuning and name it in recipes. A chat template that the model does not bring "
      "goes into Seq2SeqTokensProcessor.");
}

}  // namespace smplan
