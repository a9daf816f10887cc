// Recipes of torchtune. Names of settings: torchtune 0.6.1 (recipes/*.py and recipes/configs). It is the last release
// and needs torchao 0.9, whose later ones moved what it imports.
#include <fmt/format.h>

#include "catalogs/torchtune_models.hpp"
#include "planner/export/program.hpp"
#include "planner/export/text.hpp"
#include "planner/export/tuning.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {

constexpr std::string_view kFile = "torchtune.yaml";
constexpr std::string_view kTool = "torchtune";

bool is_paged(const TrainingPlan& plan) { return plan.strategy.execution.paged_optimizer == Toggle::On; }

/// Empty where it has none.
std::string_view optimizer_class(const TrainingPlan& plan) {
  const bool paged = is_paged(plan);
  switch (plan.optimizer) {
    case Optimizer::AdamW:
      return paged ? "bitsandbytes.optim.PagedAdamW" : "torch.optim.AdamW";
    case Optimizer::SgdMomentum:
      return "torch.optim.SGD";
    case Optimizer::Adam8bit:
      return paged ? "bitsandbytes.optim.PagedAdamW8bit" : "bitsandbytes.optim.AdamW8bit";
    default:
      return "";
  }
}

bool learns_pairs(const TrainingPlan& plan) { return plan.loss != nullptr; }

/// The recipe that runs the plan; empty where torchtune has none.
std::string recipe_of(const TrainingPlan& plan) {
  const bool full = plan.finetune == FineTune::Full;
  const bool alone = plan.world_size() == 1;
  if (learns_pairs(plan)) {
    if (full) return alone ? "" : "full_dpo_distributed";
    return alone ? "lora_dpo_single_device" : "lora_dpo_distributed";
  }
  return fmt::format("{}_finetune_{}", full ? "full" : "lora", alone ? "single_device" : "distributed");
}

void check_execution(const TrainingPlan& plan, Diagnostics& faults) {
  const Strategy& s = plan.strategy;
  if (s.execution.compile == Compile::Layers) {
    refuse(faults, "torchtune compiles layers and loss together", "plan with --compile layers+loss, or off");
  }
  if (s.execution.loss_kernel == LossKernel::Linear) {
    refuse(faults, "torchtune 0.6.1 has no loss that keeps no logits", "plan with --loss-kernel default");
  }
  if (s.execution.update_in_backward == Toggle::On && (plan.finetune != FineTune::Full || learns_pairs(plan))) {
    refuse(faults, "torchtune updates in the backward pass of supervised training of all weights alone",
           "plan with --update-in-backward off");
  }
  if (s.offload.activations && s.recompute != Recompute::Full) {
    refuse(faults, "torchtune offloads activations of recomputed layers alone", "plan with --recompute full");
  }
}

Json lora_modules(const TrainingPlan& plan) {
  if (plan.lora_targets == LoraTargets::QueryValue) return Json::array({"q_proj", "v_proj"});
  return Json::array({"q_proj", "k_proj", "v_proj", "output_proj"});
}

Json model_of(const TrainingPlan& plan, const TorchtuneModel& model) {
  const bool full = plan.finetune == FineTune::Full;
  Json m;
  m["_component_"] = fmt::format("torchtune.models.{}.{}{}", model.package, full ? "" : "lora_", model.builder);
  if (full) return m;
  m["lora_attn_modules"] = lora_modules(plan);
  m["apply_lora_to_mlp"] = plan.lora_targets == LoraTargets::Linear;
  m["lora_rank"] = plan.lora_rank;
  m["lora_alpha"] = 2 * plan.lora_rank;
  m["lora_dropout"] = 0.0;
  if (plan.finetune == FineTune::Qlora) m["quantize_base"] = true;
  return m;
}

constexpr std::string_view kFolder = "REPLACE-ME-weights-folder";

Json tokenizer_of(const TrainingPlan& plan, const TorchtuneModel& model) {
  Json t;
  t["_component_"] = model.tokenizer;
  for (const auto& [argument, file] : model.tokenizer_files) t[argument] = fmt::format("{}/{}", kFolder, file);
  t["max_seq_len"] = plan.seq_len;
  return t;
}

Json checkpointer_of(const TorchtuneModel& model, Export& out) {
  out.placeholders.push_back({std::string(kFolder), "folder of the model's weights as the Hugging Face hub has them"});
  out.placeholders.push_back({"REPLACE-ME-weights-file", "the .safetensors files in that folder, one entry each"});
  Json c;
  c["_component_"] = "torchtune.training.FullModelHFCheckpointer";
  c["checkpoint_dir"] = std::string(kFolder);
  c["checkpoint_files"] = Json::array({"REPLACE-ME-weights-file"});
  c["recipe_checkpoint"] = nullptr;
  c["output_dir"] = "${output_dir}";
  c["model_type"] = model.checkpoint;
  return c;
}

Json data_of(const TrainingPlan& plan, Export& out) {
  Json d;
  d["_component_"] = learns_pairs(plan) ? "torchtune.datasets.preference_dataset" : "torchtune.datasets.chat_dataset";
  d["source"] = data_set(out);
  if (!learns_pairs(plan)) {
    d["conversation_column"] = "messages";
    d["conversation_style"] = "openai";
    d["packed"] = plan.mean_seq_len == 0;
  }
  d["split"] = "train";
  return d;
}

Json optimizer_of(const TrainingPlan& plan) {
  Json o;
  o["_component_"] = optimizer_class(plan);
  if (plan.optimizer == Optimizer::AdamW && !is_paged(plan)) o["fused"] = true;
  if (plan.optimizer == Optimizer::SgdMomentum) o["momentum"] = 0.9;
  o["lr"] = learning_rate(plan);
  return o;
}

}  // namespace

void check_torchtune(const TrainingPlan& plan, Diagnostics& faults) {
  check_tunes(plan, kTool, faults);
  check_one_format(plan, kTool, faults);
  check_fsdp_offload(plan, faults);
  check_execution(plan, faults);
  if (torchtune_model(plan.model.name) == nullptr) {
    refuse(faults, fmt::format("torchtune 0.6.1 implements no {}", plan.model.name),
           "export to trl, axolotl or llama-factory, which take any model of transformers");
  }
  if (optimizer_class(plan).empty()) {
    refuse(faults, fmt::format("this writer knows no optimizer {} of torchtune", to_string(plan.optimizer)),
           "plan with --optimizer adamw");
  }
  if (plan.world_size() > 1 && (is_paged(plan) || plan.optimizer == Optimizer::Adam8bit)) {
    refuse(faults, "bitsandbytes updates no shards of FSDP", "plan with --optimizer adamw --paged-optimizer off");
  }
  if (learns_pairs(plan) && plan.loss->name != "dpo") {
    refuse(faults, fmt::format("this writer knows no recipe of torchtune for the loss {}", plan.loss->name),
           "plan with --loss dpo");
  } else if (recipe_of(plan).empty()) {
    refuse(faults, "torchtune trains all weights by DPO on several devices alone", "plan with --finetune lora");
  }
  if (learns_pairs(plan) && plan.reference == Reference::Precomputed) {
    refuse(faults, "torchtune runs the reference model in every step", "plan with --reference copy");
  }
  if (plan.strategy.sharding == Sharding::None && plan.world_size() > 1) {
    refuse(faults, "torchtune shards over all devices that it has", "plan with --sharding fsdp-full");
  }
}

void write_torchtune(const ExportJob& job, Export& out, Diagnostics& faults) {
  const TrainingPlan& plan = job.plan;
  const TorchtuneModel* const model = torchtune_model(plan.model.name);
  if (model == nullptr) return check_torchtune(plan, faults);
  const Strategy& s = plan.strategy;
  const bool full = plan.finetune == FineTune::Full;
  Json c;
  c["output_dir"] = "output";
  c["model"] = model_of(plan, *model);
  c["tokenizer"] = tokenizer_of(plan, *model);
  c["checkpointer"] = checkpointer_of(*model, out);
  if (full && learns_pairs(plan)) {
    Json reference = c["checkpointer"];
    reference["output_dir"] = "${output_dir}/reference";
    c["ref_checkpointer"] = reference;
  }
  c["resume_from_checkpoint"] = false;
  if (!full) c["save_adapter_weights_only"] = false;
  c["dataset"] = data_of(plan, out);
  c["seed"] = nullptr;
  c["shuffle"] = true;
  c["batch_size"] = examples_of_a_pass(plan);
  c["gradient_accumulation_steps"] = plan.gradient_accumulation;
  c["epochs"] = 1;
  out.notes.push_back(fmt::format(
      "The plan counts {} steps. torchtune ends an epoch with its data: with fewer examples than {}, set epochs to the "
      "passes over them and max_steps_per_epoch to null.",
      plan.steps(), plan.steps() * examples_of_a_step(plan)));
  c["max_steps_per_epoch"] = plan.steps();
  c["optimizer"] = optimizer_of(plan);
  c["lr_scheduler"] = Json{{"_component_", "torchtune.training.lr_schedulers.get_cosine_schedule_with_warmup"},
                           {"num_warmup_steps", std::min<std::int64_t>(100, plan.steps())}};
  c["loss"] = Json{{"_component_", learns_pairs(plan) ? "torchtune.rlhf.loss.DPOLoss"
                                                      : "torchtune.modules.loss.CEWithChunkedOutputLoss"}};
  if (full) c["optimizer_in_bwd"] = s.execution.update_in_backward == Toggle::On;
  c["clip_grad_norm"] = nullptr;
  c["compile"] = plan.strategy.execution.compile == Compile::LayersAndLoss;
  c["device"] = "cuda";
  c["dtype"] = keeps_32_bits(plan.precision) ? "fp32" : "bf16";
  c["enable_activation_checkpointing"] = plan.strategy.recompute == Recompute::Full;
  c["enable_activation_offloading"] = plan.strategy.offload.activations;
  if (is_fsdp(plan.strategy.sharding)) c["fsdp_cpu_offload"] = plan.strategy.offload.parameters;
  c["metric_logger"] =
      Json{{"_component_", "torchtune.training.metric_logging.DiskLogger"}, {"log_dir", "${output_dir}/logs"}};
  c["log_every_n_steps"] = 10;
  c["log_peak_memory_stats"] = true;
  out.files.push_back({std::string(kFile), commented(provenance_lines(job)) + yaml_block(c)});
  out.names_adapters = true;
  out.said.insert(out.said.end(),
                  {Dimension::PureHalf, Dimension::Compile, Dimension::UpdateInBackward, Dimension::PagedOptimizer});
  add_requirement(out, "torchtune==0.6.1");
  add_requirement(out, "torchao==0.9.0");
  // torchtune quantizes by torchao.
  if (needs_bitsandbytes(plan) && plan.finetune != FineTune::Qlora) add_requirement(out, pinned("bitsandbytes"));
  const std::string ranks = plan.world_size() == 1
                                ? std::string()
                                : fmt::format(
                                      "--nnodes {} --nproc_per_node {} --rdzv_backend c10d --rdzv_endpoint "
                                      "FIRST:29500 ",
                                      plan.instance_count, plan.devices_per_instance());
  out.notes.push_back(
      fmt::format("Start it on each instance: `tune run {}{} --config {}`.", ranks, recipe_of(plan), kFile));
  out.notes.emplace_back("torchtune saves at the end of an epoch alone; the plan counts on the saves of its goodput.");
}

}  // namespace smplan
