#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/units.hpp"
#include "catalogs/model_modules.hpp"
#include "planner/export/hub_name.hpp"
#include "planner/export/text.hpp"
#include "planner/export/tuning.hpp"
#include "planner/export/writers.hpp"

// Names of keys: aws/sagemaker-hyperpod-recipes v1.5.1 (FSDP and SMP v2) and 2631995 of 2026-06-23 (checkpointless
// NeMo, fine-tuning).

namespace smplan {
namespace {
/// Transformers' type, and `model_type` of the adapter. Source: sagemaker-hyperpod-training-adapter-for-nemo 1.4.0.
constexpr std::pair<std::string_view, std::string_view> kModelTypes[] = {
    {"llama", "llama_v3"}, {"llama4_text", "llama_v4"}, {"mistral", "mistral"},         {"mixtral", "mixtral"},
    {"qwen2", "qwen_v2"},  {"qwen3", "qwen_v3"},        {"deepseek_v3", "deepseek_r1"}, {"gpt_oss", "gpt_oss"}};

}  // namespace

std::string_view recipe_model_type(const Architecture& model) {
  for (const auto& entry : kModelTypes) {
    if (entry.first == model.model_type()) return entry.second;
  }
  return {};
}

namespace {

/// Models without a class of their own in the adapter go by their Hugging Face name, as custom_model/falcon.yaml does.
bool is_custom(const Architecture& model) {
  return recipe_model_type(model).empty() && model.n_encoder_layers == 0 && !block_class_of(model.model_type()).empty();
}

std::string hugging_face_model(const ExportJob& job, Export& out) {
  return hub_name_or(job, "REPLACE-ME-hf-model", "Hugging Face name or folder of the weights to start from", out);
}

Json trainer(const TrainingPlan& plan) {
  Json out;
  out["devices"] = plan.devices_per_instance();
  out["num_nodes"] = plan.instance_count;
  out["accelerator"] = "gpu";
  out["precision"] = "bf16";
  out["max_steps"] = plan.steps();
  out["log_every_n_steps"] = 10;
  out["val_check_interval"] = plan.save_steps();  // without batches to validate, where a checkpoint is written
  out["limit_val_batches"] = 0;
  return out;
}

std::string_view sharding_name(const Strategy& s) {
  switch (s.sharding) {
    case Sharding::None:
      return "no_shard";
    case Sharding::FsdpGradOp:
      return "shard_grad_op";
    case Sharding::FsdpHybrid:
      return "hybrid_shard";
    default:
      return "full_shard";
  }
}

void add_widths(const Architecture& m, Json& out) {
  out["num_hidden_layers"] = m.n_layers;
  out["hidden_size"] = m.hidden;
  out["num_attention_heads"] = m.n_heads;
  out["num_key_value_heads"] = m.n_kv_heads;
  out["intermediate_size"] = m.is_moe() ? m.moe.expert_ffn_hidden : m.ffn_hidden;
  out["vocab_size"] = m.vocab;
  if (m.rotary_base > 0) out["rope_theta"] = m.rotary_base;
  if (m.is_moe()) {
    out["num_local_experts"] = m.moe.n_experts;
    out["num_experts_per_tok"] = m.moe.top_k;
  }
}

Json adapter_model(const ExportJob& job, bool smp, Export& out) {
  const TrainingPlan& plan = job.plan;
  const JobFolders folders = folders_of(plan);
  const Strategy& s = plan.strategy;
  Json m;
  const bool custom = is_custom(plan.model);
  m["model_type"] = custom ? plan.model.model_type() : recipe_model_type(plan.model);
  m["train_batch_size"] = s.micro_batch;
  if (smp) {
    m["tensor_model_parallel_degree"] = s.tensor_parallel;
    m["expert_model_parallel_degree"] = s.expert_parallel;
    m["context_parallel_degree"] = s.context_parallel;
  }
  m["moe"] = plan.model.is_moe();
  m["activation_checkpointing"] = s.recompute == Recompute::Full;
  m["activation_loading_horizon"] = 2;
  // Above 60 billion parameters a copy a rank does not fit the host. Source: SMP v2 best practices.
  m["delayed_param"] = plan.parameters() > 60'000'000'000;
  m["offload_activations"] = s.offload.activations;
  m["sharding_strategy"] = sharding_name(s);
  m["shard_degree"] = s.shard_degree;
  m["forward_prefetch"] = true;
  m["backward_fetch_policy"] = "backward_pre";
  m["limit_all_gathers"] = true;
  m["use_orig_param"] = plan.finetune != FineTune::Full;
  m["fp8"] = plan.precision == Precision::Fp8;
  m["max_context_width"] = plan.seq_len;
  // The widths of a custom model are those of its Hugging Face configuration.
  if (!custom) add_widths(plan.model, m);
  m["do_finetune"] = plan.finetune != FineTune::Full;
  if (custom || plan.finetune != FineTune::Full) m["hf_model_name_or_path"] = hugging_face_model(job, out);
  if (plan.finetune != FineTune::Full) {
    m["peft"] = Json{{"peft_type", plan.finetune == FineTune::Qlora ? "qlora_4bit" : "lora"},
                     {"rank", plan.lora_rank},
                     {"alpha", 2 * plan.lora_rank},
                     {"dropout", 0.0}};
  }
  m["data"] = Json{{"train_dir", Json::array({folders.data})},
                   {"val_dir", Json::array({folders.data})},
                   {"dataset_type", "hf"},
                   {"use_synthetic_data", false}};
  return m;
}

/// Checkpoints as Lightning's callback takes them: when, and how many stay, as the bill counts them.
Json saves(const ExportJob& job) {
  const double kept = job.catalog.operations().values().checkpoints_kept;
  return Json{{"every_n_train_steps", job.plan.save_steps()},
              {"save_top_k", std::max<std::int64_t>(1, std::llround(kept))},
              {"monitor", "step"},
              {"mode", "max"},
              {"save_last", true}};
}

/// Days after which Slurm ends the job: those of a training job, which a cluster may well take longer than.
std::int64_t days_of_job(const TrainingPlan& plan) {
  constexpr double kTimeMargin = 1.25;
  constexpr double kMostOfTrainingJob = 28;
  const double wanted = std::ceil(kTimeMargin * plan.prediction.time_to_train.value() / kSecondsPerDay);
  return static_cast<std::int64_t>(is_standing(plan.recovery.platform) ? std::max(wanted, kMostOfTrainingJob)
                                                                       : kMostOfTrainingJob);
}

Json adapter_recipe(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  const JobFolders folders = folders_of(plan);
  const Strategy& s = plan.strategy;
  const bool split = s.tensor_parallel > 1 || s.context_parallel > 1 || s.expert_parallel > 1;
  const bool smp = plan.stack->smp_version == 2 || split;
  if (s.offload.parameters)
    refuse(faults, "FSDP recipes do not offload parameters of such a plan", "plan with --offload none");
  if (s.pipeline_parallel > 1)
    refuse(faults, "FSDP recipes have no pipeline parallelism", "plan with --pp 1 or --stack megatron");
  if (s.recompute == Recompute::Selective || s.recompute_layers > 0) {
    refuse(faults, "FSDP recipes recompute all or nothing", "plan with --recompute full or none");
  }
  if (recipe_model_type(plan.model).empty() && (smp || !is_custom(plan.model))) {
    refuse(faults, fmt::format("{} recipes know no {} model", smp ? "SMP" : "FSDP", plan.model.model_type()),
           smp ? "plan with --stack fsdp and without tensor, context and expert parallelism"
               : "export to fsdp or accelerate");
  }
  if (plan.gradient_accumulation > 1) {
    refuse(faults,
           fmt::format("FSDP recipes do not accumulate gradients, the plan does {} times", plan.gradient_accumulation),
           fmt::format("plan with --global-batch {}, or with a larger --micro-batch",
                       std::int64_t{s.micro_batch} * s.data_parallel));
  }
  if (plan.model.is_moe() && s.expert_tensor() != s.usual_expert_tensor()) {
    refuse(faults, fmt::format("FSDP recipes cannot cut an expert over {} ranks", s.expert_tensor()),
           "plan without --etp, or with --stack megatron");
  }
  const std::int64_t product = std::int64_t{s.shard_degree} * s.tensor_parallel * s.expert_parallel;
  if (plan.world_size() % product != 0) {
    refuse(faults,
           fmt::format("FSDP recipes need shard {} x tensor {} x expert {} to divide {} devices", s.shard_degree,
                       s.tensor_parallel, s.expert_parallel, plan.world_size()),
           "plan with a smaller --shard-degree");
  }
  Json recipe;
  recipe["run"] = Json{{"name", job_name_of(job)},
                       {"results_dir", folders.model},
                       {"time_limit", fmt::format("{}-00:00:00", days_of_job(plan))},
                       {"model_type", "hf"}};
  recipe["trainer"] = trainer(plan);
  // save_top_k of 0 would switch sharded checkpoints off.
  recipe["exp_manager"] = Json{{"exp_dir", folders.checkpoints},
                               {"name", "experiment"},
                               {"checkpoint_dir", folders.checkpoints},
                               {"checkpoint_callback_params", saves(job)},
                               {"auto_checkpoint", Json{{"enabled", false}}},
                               {"export_full_model", Json{{"every_n_train_steps", 0}, {"save_last", true}}}};
  recipe["use_smp_model"] = smp;
  recipe["distributed_backend"] = s.collectives == Collectives::Smddp ? "smddp" : "nccl";
  recipe["model"] = adapter_model(job, smp, out);
  out.notes.emplace_back(
      "For sagemaker-hyperpod-recipes v1.5.1: later versions dropped these recipes. As a training job: "
      "cluster: sm_jobs, or the target sagemaker-sdk-v2.");
  return recipe;
}

Json nemo_recipe(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  const JobFolders folders = folders_of(plan);
  const Strategy& s = plan.strategy;
  if (plan.finetune == FineTune::Qlora) {
    refuse(faults, "NeMo recipes do not quantize frozen weights", "plan with --finetune lora or full");
  }
  if (s.offload.any()) refuse(faults, "NeMo recipes offload nothing", "plan with --offload none");
  if (plan.precision != Precision::Bf16) {
    refuse(faults, fmt::format("NeMo recipes train in bf16, not in {}", to_string(plan.precision)),
           "plan with --dtype bf16, or export to megatron");
  }
  if (plan.model.kind != ModelKind::Decoder) {
    refuse(faults,
           fmt::format("NeMo recipes train decoders, {} is of kind {}", plan.model.name, to_string(plan.model.kind)),
           "plan with --stack ddp, fsdp or deepspeed");
  }
  const std::int64_t chunks = std::int64_t{s.pipeline_parallel} * s.virtual_pipeline;
  if (plan.model.n_layers % chunks != 0) {
    refuse(faults, fmt::format("NeMo recipes do not cut {} layers into {} uneven stages", plan.model.n_layers, chunks),
           "plan with a --pp that divides the layers, or export to megatron");
  }
  Json recipe;
  recipe["run"] =
      Json{{"name", job_name_of(job)}, {"results_dir", folders.model}, {"model_type", "hyperpod_checkpointless_nemo"}};
  recipe["instance_types"] = Json::array({plan.instance->name});
  recipe["trainer"] = trainer(plan);
  // Lightning takes a precision or a plugin that brings one, and the recipes have the plugin.
  recipe["trainer"].erase("precision");
  recipe["plugins"] =
      Json{{"_target_", "nemo.lightning.pytorch.plugins.MegatronMixedPrecision"}, {"precision", "bf16-mixed"}};
  Json strategy;
  strategy["tensor_model_parallel_size"] = s.tensor_parallel;
  strategy["pipeline_model_parallel_size"] = s.pipeline_parallel;
  strategy["virtual_pipeline_model_parallel_size"] = s.virtual_pipeline > 1 ? Json(s.virtual_pipeline) : Json(nullptr);
  strategy["context_parallel_size"] = s.context_parallel;
  strategy["expert_model_parallel_size"] = s.expert_parallel;
  if (plan.model.is_moe()) strategy["expert_tensor_parallel_size"] = s.expert_tensor();
  strategy["sequence_parallel"] = s.sequence_parallel;
  strategy["num_distributed_optimizer_instances"] =
      s.sharding == Sharding::Zero1 ? plan.replicas() / s.shard_degree : 1;
  recipe["strategy"] = strategy;
  // TransformerConfig of Megatron Core, whose names the recipes' model.config takes.
  Json& config = recipe["model"]["config"];
  config = Json{{"seq_length", plan.seq_len}, {"vocab_size", plan.model.vocab}};
  if (s.recompute != Recompute::None) config["recompute_granularity"] = std::string(to_string(s.recompute));
  if (s.recompute == Recompute::Full) {
    config["recompute_method"] = s.recompute_layers > 0 ? "block" : "uniform";
    config["recompute_num_layers"] = std::max(1, s.recompute_layers);
  }
  if (plan.finetune == FineTune::Lora) {
    recipe["model"]["peft"]["peft_scheme"] = "lora";
    out.notes.push_back(
        fmt::format("A recipe chooses LoRA and not its rank: the training script does, in "
                    "llm.peft.LoRA(dim=...). The plan counts on {}.",
                    plan.lora_rank));
  }
  recipe["data"] =
      Json{{"micro_batch_size", s.micro_batch}, {"global_batch_size", plan.global_batch}, {"seq_length", plan.seq_len}};
  recipe["log"]["ckpt"] = saves(job);
  recipe["dataset"]["dataset_path"] = "REPLACE-ME-data-path";
  out.placeholders.push_back({"REPLACE-ME-data-path", "the data set, as the training script of the recipe reads it"});
  out.notes.emplace_back(
      "For the checkpointless NeMo recipes of 2026, which run on HyperPod with EKS: take the recipe nearest to your "
      "model and put these values in. The model's widths are in its training script.");
  return recipe;
}

/// The fine-tuning recipes of 2026, which have a target of their own too.
void write_finetuning(const ExportJob& job, Export& out, Diagnostics& faults) {
  const Strategy& s = job.plan.strategy;
  check_llmft(job.plan, faults);
  if (s.offload.activations)
    refuse(faults, "fine-tuning recipes do not offload activations", "plan with --offload none or params");
  if (s.recompute == Recompute::Selective || s.recompute_layers > 0) {
    refuse(faults, "fine-tuning recipes recompute all or nothing", "plan with --recompute full or none");
  }
  if (job.plan.finetune == FineTune::Qlora) {
    refuse(faults, "fine-tuning recipes do not quantize frozen weights", "plan with --finetune lora or full");
  }
  write_llmft(job, out, faults);
}

}  // namespace

void write_hyperpod_recipe(const ExportJob& job, Export& out, Diagnostics& faults) {
  const Sharding sharding = job.plan.strategy.sharding;
  const RecipeFamily own = job.plan.stack->hyperpod_recipe;
  const bool nemo = sharding == Sharding::Zero1 || (sharding == Sharding::None && own == RecipeFamily::Nemo);
  const Strategy& s = job.plan.strategy;
  const bool split =
      s.tensor_parallel > 1 || s.context_parallel > 1 || s.expert_parallel > 1 || s.pipeline_parallel > 1;
  const bool adapter = own == RecipeFamily::Adapter;
  const bool finetuning = !adapter && !split && (job.plan.gradient_accumulation > 1 || s.offload.parameters) &&
                          (sharding == Sharding::FsdpFull || sharding == Sharding::FsdpHybrid);
  if (!nemo && finetuning) return write_finetuning(job, out, faults);
  const Json recipe = nemo ? nemo_recipe(job, out, faults) : adapter_recipe(job, out, faults);
  out.files.push_back({"recipe.yaml", commented(provenance_lines(job)) + yaml_block(recipe)});
}

}  // namespace smplan
