#include "planner/export/program.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/embedded_file.hpp"
#include "base/escape.hpp"
#include "base/json_writer.hpp"
#include "catalogs/hf_writer.hpp"
#include "catalogs/model_modules.hpp"
#include "planner/export/hub_name.hpp"
#include "planner/export/text.hpp"
#include "planner/export/tuning.hpp"
#include "planner/export/writers.hpp"

namespace smplan {

/// planner/export/programs (generated at build time).
std::span<const EmbeddedFile> training_program_files();

namespace {

constexpr std::string_view kConfig = "model/config.json";

std::string_view embedded(std::string_view name) {
  for (const EmbeddedFile& file : training_program_files()) {
    if (file.name == name) return file.content;
  }
  SMPLAN_ASSERT(false);
  return {};
}

std::string_view to_string(Engine engine) {
  switch (engine) {
    case Engine::Fsdp:
      return "fsdp";
    case Engine::DeepSpeed:
      return "deepspeed";
    case Engine::Ddp:
      break;
  }
  return "ddp";
}

/// Members of the execution that the programs read as settings.
constexpr std::array kTold = {
    Dimension::Compile,    Dimension::FlashAttention, Dimension::LossKernel,          Dimension::LigerKernels,
    Dimension::PureHalf,   Dimension::EmptyCache,     Dimension::ReentrantCheckpoint, Dimension::FusedOptimizer,
    Dimension::BaseFormat, Dimension::PagedOptimizer};
/// Members that the environment, the versions or accelerate's file decide.
constexpr std::array kDecided = {Dimension::HostThreads, Dimension::SoftwareRelease, Dimension::UnshardedGradients,
                                 Dimension::DoubleQuantization};

template <std::size_t N>
bool among(const std::array<Dimension, N>& list, Dimension dimension) {
  return std::find(list.begin(), list.end(), dimension) != list.end();
}

/// Optimizers whose states live beside the weights in this engine. DeepSpeed refuses others than its own beside ZeRO,
/// and bitsandbytes does not update shards of FSDP.
std::uint32_t optimizers(TrainingProgram program, Engine engine) {
  constexpr std::uint32_t kSharded = set_of(Optimizer::AdamW, Optimizer::SgdMomentum, Optimizer::Adafactor);
  if (engine == Engine::DeepSpeed) return set_of(Optimizer::AdamW);
  if (engine == Engine::Fsdp) return program == TrainingProgram::Trainer ? set_of(Optimizer::AdamW) : kSharded;
  return kSharded | set_of(Optimizer::Adam8bit, Optimizer::Lion);
}

/// Where the weights come from: a configuration that is written beside the program, or a name on the hub.
struct ModelSource {
  std::optional<std::string> config;
  std::string name;  ///< empty where nobody knows it
};

ModelSource model_source(const ExportJob& job) {
  ModelSource source;
  source.name = hub_name(job);
  if (!job.plan.fine_tunes) source.config = hf_config_text(job.plan.model);
  return source;
}

/// Losses whose trainer of TRL the second program starts.
bool trl_trains(const TrainingLoss& loss) { return loss.name == "dpo"; }

/// A thirtieth of the steps, 2000 at most.
std::int64_t warmup_steps(const TrainingPlan& plan) { return std::min<std::int64_t>(2000, (plan.steps() + 29) / 30); }

/// FLOPs of the model for a token, forward and backward, as the plan's MFU counts them.
double flops_per_token(const TrainingPlan& plan, FlopsPerSecond peak) {
  const PlanPrediction& p = plan.prediction;
  const double tokens = static_cast<double>(plan.seq_len) * static_cast<double>(plan.global_batch);
  return p.mfu * peak.value() * static_cast<double>(plan.world_size()) * p.step.value() / tokens;
}

/// The columns of `smplan validate` that the run itself does not decide.
Json run_row(const ExportJob& job, Engine engine) {
  const TrainingPlan& plan = job.plan;
  const Architecture& a = plan.model;
  Json row;
  row["id"] = plan.id();
  row["source"] = "smplan_run.csv";
  row["source_ref"] = fmt::format("the training program of smplan {}", plan.smplan_version);
  const ModelPreset* preset = job.catalog.find_model(a.name);
  const bool known = preset != nullptr && a == preset->architecture;
  row["model"] = known ? a.name : std::string();
  if (!known) {
    row["kind"] = std::string(smplan::to_string(a.kind));
    row["n_layers"] = a.n_layers;
    if (a.n_encoder_layers > 0) row["n_encoder_layers"] = a.n_encoder_layers;
    row["hidden"] = a.hidden;
    row["ffn_hidden"] = a.ffn_hidden;
    row["n_heads"] = a.n_heads;
    row["n_kv_heads"] = a.n_kv_heads;
    row["head_dim"] = a.head_dim;
    row["vocab"] = a.vocab;
    row["mlp"] = a.gated_mlp ? "swiglu" : "gelu";
    row["tied_embeddings"] = a.tied_embeddings ? "yes" : "no";
    if (a.is_moe()) {
      row["n_experts"] = a.moe.n_experts;
      row["top_k"] = a.moe.top_k;
      row["expert_ffn_hidden"] = a.moe.expert_ffn_hidden;
    }
  }
  row["stack"] = plan.stack->id;
  row["sharding"] = std::string(smplan::to_string(plan.strategy.sharding));
  if (engine == Engine::Fsdp && plan.strategy.shard_degree < plan.replicas()) {
    row["shard_degree"] = plan.strategy.shard_degree;
  }
  for (const DimensionRow& dimension : dimensions()) {
    if (!dimension.of_execution || !dimension.applies(plan.strategy)) continue;
    row[std::string(dimension.keyword)] = dimension.text(dimension.get(plan.strategy));
  }
  return row;
}

Json job_facts(const ExportJob& job, Engine engine, std::string_view layer) {
  const TrainingPlan& plan = job.plan;
  const Accelerator* device = job.catalog.find_accelerator(plan.instance->accelerator);
  const FlopsPerSecond peak = device->peak_rate(plan.stack->product_precision(plan.precision));
  Json out;
  out["schema"] = "smplan.job/1";
  out["plan_id"] = plan.id();
  out["kind"] = std::string(smplan::to_string(plan.model.kind));
  out["strategy"] = std::string(to_string(engine));
  out["layer_class"] = std::string(layer);
  out["offloads_parameters"] = plan.strategy.offload.parameters;
  out["flops_per_token"] = flops_per_token(plan, peak);
  out["peak_flops_per_s"] = peak.value();
  out["row"] = run_row(job, engine);
  return out;
}

/// The model, where its text comes from, and how fast it learns.
Settings program_settings(const ExportJob& job, const ModelSource& source, Export& out) {
  const TrainingPlan& plan = job.plan;
  Settings settings;
  std::string model(kConfig);
  if (!source.config) {
    model = source.name;
    if (model.empty()) {
      model = "REPLACE-ME-model";
      out.placeholders.push_back({model, "folder of the model's weights, or its name on the Hugging Face hub"});
    } else {
      out.notes.push_back(fmt::format(
          "The job reads {} from the Hugging Face hub: set HF_TOKEN in its environment where the model asks for it, or "
          "give the job a channel `model` with its files.",
          model));
    }
  }
  settings.emplace_back("model", json_string(model));
  if (source.config && !source.name.empty() && plan.model.kind != ModelKind::Vision) {
    settings.emplace_back("tokenizer", json_string(source.name));
  }
  settings.emplace_back("learning_rate", Json(learning_rate(plan)).dump());
  settings.emplace_back("warmup_steps", fmt::format("{}", warmup_steps(plan)));
  return settings;
}

void add_requirements(const ExportJob& job, TrainingProgram program, const std::string& path, Export& out) {
  const TrainingPlan& plan = job.plan;
  const Engine engine = engine_of(program, plan.strategy);
  const auto add = [&](bool needed, std::string_view package) {
    if (needed) add_requirement(out, pinned(package), path);
  };
  add(true, "transformers");
  add(plan.loss != nullptr || plan.mean_seq_len > 0, "trl");
  add(program == TrainingProgram::Trainer || engine == Engine::Fsdp || plan.finetune != FineTune::Full, "accelerate");
  add(plan.finetune != FineTune::Full, "peft");
  add(needs_bitsandbytes(plan), "bitsandbytes");
  add(plan.strategy.execution.liger_kernels == Toggle::On, "liger-kernel");
  add(engine == Engine::DeepSpeed, "deepspeed");
  add(plan.model.kind != ModelKind::Vision, "datasets");
}

std::string word(const std::string& json) {
  const auto value = Json::parse(json);
  return escape_shell(value.is_string() ? value.text() : json);
}

/// What the program cannot freeze beside.
void check_freezing(const TrainingPlan& plan, Engine engine, Diagnostics& faults) {
  const TrainedLayers& t = *plan.trained_layers;
  // FSDP keeps all that is outside of the blocks in one unit, and a unit has one number format.
  if (engine == Engine::Fsdp && t.embedding != t.head && !plan.model.tied_embeddings) {
    faults.push_back(
        {"not-expressible", "--target",
         "the training program under FSDP trains embedding and head together or neither: they are one unit",
         "plan with both or none in --trained-layers, or export with --script your own"});
  }
  // Reentrant checkpoints give no gradients where no input of a layer has one.
  if (plan.strategy.execution.reentrant_checkpoint == Toggle::On && plan.strategy.recompute == Recompute::Full) {
    faults.push_back({"not-expressible", "--target",
                      "the training program recomputes frozen layers without reentrant checkpoints only",
                      "plan with --reentrant-checkpoint off, or export with --script your own"});
  }
}

}  // namespace

Engine engine_of(TrainingProgram program, const Strategy& strategy) {
  if (program == TrainingProgram::TorchFsdp) return Engine::Fsdp;
  if (program == TrainingProgram::TorchDeepSpeed) return Engine::DeepSpeed;
  if (program == TrainingProgram::TorchDdp || strategy.sharding == Sharding::None) return Engine::Ddp;
  return is_fsdp(strategy.sharding) ? Engine::Fsdp : Engine::DeepSpeed;
}

double learning_rate(const TrainingPlan& plan) {
  // Of virtual tokens as PEFT's comparison of methods has it (5d602fd, experiments *-lr_0.001).
  if (plan.virtual_tokens > 0) return 1e-3;
  if (plan.finetune != FineTune::Full) return 2e-4;
  return plan.fine_tunes ? 1e-5 : 3e-4;
}

ExportFile program_file(std::string_view name, std::string_view folder) {
  return {fmt::format("{}{}", folder, name), std::string(embedded(name))};
}

bool needs_bitsandbytes(const TrainingPlan& plan) {
  const Execution& told = plan.strategy.execution;
  const bool quantized = plan.finetune == FineTune::Qlora || told.base_format == BaseFormat::Int8;
  const bool updates = plan.optimizer == Optimizer::Adam8bit || plan.optimizer == Optimizer::Lion;
  return quantized || updates || told.paged_optimizer == Toggle::On;
}

std::string pinned(std::string_view package) {
  const std::string_view list = embedded("requirements.txt");
  const std::string start = fmt::format("{}==", package);
  const std::size_t at = list.find(start);
  SMPLAN_ASSERT(at != std::string_view::npos);
  return std::string(list.substr(at, list.find('\n', at) - at));
}

void check_program(const TrainingPlan& plan, TrainingProgram program, Diagnostics& faults) {
  if (program == TrainingProgram::None) return;
  const Strategy& s = plan.strategy;
  const Engine engine = engine_of(program, s);
  const auto refuse = [&](std::string message, std::string hint) {
    faults.push_back({"not-expressible", "--target", std::move(message), std::move(hint)});
  };
  if (plan.loss != nullptr && !(program == TrainingProgram::Trainer && trl_trains(*plan.loss))) {
    refuse(fmt::format("the training program does not train by {}", plan.loss->name),
           trl_trains(*plan.loss) ? "plan with --stack hf-trainer, or export with --script your own"
                                  : "export with --script your own");
  }
  check_targets(plan, faults);
  if (plan.loss != nullptr && plan.model.kind != ModelKind::Decoder) {
    refuse(fmt::format("{} gives no likelihood of an answer to learn {} by", plan.model.name, plan.loss->name),
           "plan a causal language model");
  }
  if (plan.model.plain_attention && s.execution.flash_attention == Toggle::On) {
    refuse(fmt::format("transformers has no scaled dot product attention for {}", plan.model.name),
           "plan with --flash-attention off, or export with --script your own");
  }
  if (s.execution.loss_kernel == LossKernel::InPlace) {
    refuse("the training program has no loss that writes over its logits",
           "plan with --loss-kernel linear, or export with --script your own");
  }
  if (plan.adapter_count > 1) {
    refuse("the training program trains one adapter", "plan with --adapter-count 1, or export with --script your own");
  }
  if (plan.virtual_tokens > 0 && (plan.loss != nullptr || plan.model.kind != ModelKind::Decoder)) {
    refuse("the training program trains virtual tokens by the loss of the next token, of causal language models",
           "plan without --loss, or export with --script your own");
  }
  // DoRA reads the norms of whole weights at its start, PiSSA their singular values.
  if (plan.adapters != nullptr && (plan.adapters->needs_half || !plan.adapters->is_lora()) && engine != Engine::Ddp) {
    refuse(fmt::format("the training program trains {} beside whole weights, which ranks of {} do not hold",
                       plan.adapters->name, to_string(engine)),
           "plan with --stack hf-trainer or ddp, or export with --script your own");
  }
  if (plan.mean_seq_len > 0 && program != TrainingProgram::Trainer) {
    refuse("the training program packs sequences to one length, the plan pads them",
           "plan with --stack hf-trainer, or export with --script your own");
  }
  if (!holds(optimizers(program, engine), plan.optimizer)) {
    refuse(fmt::format("the training program has no optimizer {} with {}", smplan::to_string(plan.optimizer),
                       to_string(engine)),
           "plan with --optimizer adamw, or export with --script your own");
  }
  if (s.execution.paged_optimizer == Toggle::On && engine != Engine::Ddp) {
    refuse(fmt::format("the training program has no paged optimizer with {}", to_string(engine)),
           "plan with --paged-optimizer off, or export with --script your own");
  }
  if (plan.precision == Precision::Fp8 && program != TrainingProgram::TorchFsdp) {
    refuse(fmt::format("the training program has no fp8 with {}", to_string(engine)),
           "plan with --dtype bf16, or with --stack fsdp");
  }
  if (plan.trained_layers) check_freezing(plan, engine, faults);
  const bool shards_bits = engine == Engine::Ddp || program == TrainingProgram::TorchFsdp;
  if (plan.finetune == FineTune::Qlora && !shards_bits) {
    refuse(fmt::format("the training program has no 4-bit base with {}", to_string(engine)),
           "plan with --stack fsdp or hf-trainer, or export with --script your own");
  }
  if (plan.finetune == FineTune::Qlora && plan.model.is_moe()) {
    refuse("bitsandbytes leaves the experts, which transformers 5 holds in one tensor a layer, in 16 bits",
           "plan with --finetune lora, export to axolotl, or export with --script your own");
  }
  for (const DimensionRow& row : dimensions()) {
    if (!row.of_execution || !row.applies(s) || among(kTold, row.dimension) || among(kDecided, row.dimension)) continue;
    refuse(fmt::format("the training program cannot be told {} {}", row.title, row.text(row.get(s))),
           "plan without it, or export with --script your own");
  }
}

bool brings_program(const ExportJob& job, TrainingProgram program) {
  return program != TrainingProgram::None && !job.options.script && job.plan.strategy.collectives != Collectives::Smddp;
}

void add_program(const ExportJob& job, TrainingProgram program, std::string_view folder, Export& out,
                 Settings& settings) {
  const ModelSource source = model_source(job);
  std::string_view layer = block_class_of(job.plan.model.model_type());
  if (layer.empty()) {
    layer = "REPLACE-ME-layer-class";
    out.placeholders.push_back({std::string(layer), "class of the model's layers"});
  }
  Settings told = program_settings(job, source, out);
  settings.insert(settings.begin(), told.begin(), told.end());
  const auto add = [&](std::string_view path, std::string content) {
    out.files.push_back({fmt::format("{}{}", folder, path), std::move(content)});
  };
  add("train.py", std::string(embedded(program == TrainingProgram::Trainer ? "train_hf.py" : "train.py")));
  for (const std::string_view shared : {"smplan_data.py", "smplan_model.py", "smplan_run.py"}) {
    add(shared, std::string(embedded(shared)));
  }
  add("smplan_job.json", job_facts(job, engine_of(program, job.plan.strategy), layer).dump(2) + "\n");
  if (source.config) add(kConfig, *source.config);
  add_requirements(job, program, fmt::format("{}requirements.txt", folder), out);
  out.said.insert(out.said.end(), kTold.begin(), kTold.end());
  out.said.insert(out.said.end(), kDecided.begin(), kDecided.end());
  out.brings_program = true;
  out.notes.emplace_back(
      "train.py reads the channel `train`: JSON lines, Parquet, a data set of Hugging Face, or tokens (.npy); "
      "smplan_data.py says how. --data synthetic trains on made-up tokens. It saves the state, goes on from it, and "
      "writes smplan_run.csv, which smplan validate compares with this plan.");
  if (!job.plan.fine_tunes && !source.config) {
    out.notes.emplace_back("No configuration of transformers says this model: the program trains on from the weights.");
  }
}

std::string launch_script(const ExportJob& job, const Launch& launch, std::string_view folder, bool by_accelerate,
                          bool has_requirements) {
  std::string arguments;
  if (launch.script != "smplan_entry.py") {
    for (const auto& setting : launch.hyperparameters) {
      arguments += fmt::format(" \\\n  --{} {}", setting.first, word(setting.second));
    }
  }
  // On SageMaker the container starts torchrun itself; this is for other clusters and for a look at what it does.
  std::string text = "#!/bin/sh\n" + commented(provenance_lines(job)) +
                     "# Run it on every instance, with NODE_RANK 0 to NNODES-1 and the first one's address in "
                     "MASTER_ADDR.\n"
                     "# Inside a SageMaker container both follow from SM_HOSTS and SM_CURRENT_HOST.\n";
  if (has_requirements) text += fmt::format("# Needs: pip install -r {}requirements.txt\n", folder);
  text += "set -eu\n";
  for (const auto& variable : launch.environment) {
    text += fmt::format("export {}={}\n", variable.first, escape_shell(variable.second));
  }
  text += folder.empty() ? "cd \"$(dirname -- \"$0\")\"\n"
                         : fmt::format("cd \"$(dirname -- \"$0\")/{}\"\n", folder.substr(0, folder.size() - 1));
  const std::int32_t nodes = job.plan.instance_count;
  const std::string_view rank = nodes == 1 ? "${NODE_RANK:-0}" : "${NODE_RANK:?}";
  const std::string_view address = nodes == 1 ? "${MASTER_ADDR:-127.0.0.1}" : "${MASTER_ADDR:?}";
  const std::string start =
      by_accelerate ? fmt::format(
                          "accelerate launch \\\n  --config_file accelerate_config.yaml \\\n"
                          "  --machine_rank \"{}\" \\\n  --main_process_ip \"{}\" \\\n"
                          "  --main_process_port \"${{MASTER_PORT:-7777}}\"",
                          rank, address)
                    : fmt::format(
                          "torchrun \\\n  --nnodes {} \\\n  --nproc_per_node {} \\\n  --node_rank \"{}\" \\\n"
                          "  --rdzv_backend static \\\n  --master_addr \"{}\" \\\n"
                          "  --master_port \"${{MASTER_PORT:-7777}}\"",
                          nodes, job.plan.devices_per_instance(), rank, address);
  return text + fmt::format("exec {} \\\n  {}{} \"$@\"\n", start, escape_shell(launch.script), arguments);
}

}  // namespace smplan
