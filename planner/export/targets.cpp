#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/markdown.hpp"
#include "base/words.hpp"
#include "catalogs/recovery_features.hpp"
#include "planner/export/program.hpp"
#include "planner/export/text.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {

constexpr std::uint32_t kEverySharding = set_of(Sharding::None, Sharding::Zero1, Sharding::Zero2, Sharding::Zero3,
                                                Sharding::FsdpFull, Sharding::FsdpGradOp, Sharding::FsdpHybrid);
constexpr std::uint32_t kEveryRecompute = set_of(Recompute::None, Recompute::Selective, Recompute::Full);
constexpr std::uint32_t kFullRecompute = set_of(Recompute::None, Recompute::Full);
constexpr std::uint32_t kEveryPrecision =
    set_of(Precision::Fp32, Precision::Tf32, Precision::Fp16, Precision::Bf16, Precision::Fp8, Precision::Fp4);
constexpr std::uint32_t kHalfPrecision = set_of(Precision::Fp32, Precision::Tf32, Precision::Fp16, Precision::Bf16);

/// A launcher starts anything: what can be said is up to the strategy file that it brings along.
constexpr Capabilities kAnything = {.tensor = true,
                                    .sequence = true,
                                    .pipeline = true,
                                    .interleaved = true,
                                    .context = true,
                                    .expert = true,
                                    .expert_tensor = true,
                                    .partial_sharding = true,
                                    .partial_recompute = true,
                                    .offload_optimizer = true,
                                    .offload_parameters = true,
                                    .offload_activations = true,
                                    .offload_to_nvme = true,
                                    .adapters = true,
                                    .quantized_adapters = true,
                                    .trained_embeddings = true,
                                    .chosen_layers = true,
                                    .frozen_layers = true,
                                    .several_adapters = true,
                                    .adapter_kinds = true,
                                    .lengths = true,
                                    .losses = true,
                                    .smddp = true,
                                    .vendors = set_of(Vendor::Nvidia, Vendor::Aws),
                                    .shardings = kEverySharding,
                                    .recomputes = kEveryRecompute,
                                    .precisions = kEveryPrecision};

/// The same where the cluster decides.
constexpr Capabilities on(Platform platform) {
  Capabilities can = kAnything;
  can.platforms = set_of(platform);
  return can;
}

/// A file that a tool for fine-tuning reads: TrainingArguments under other names.
constexpr Capabilities kTrainerFile = {.offload_optimizer = true,
                                       .offload_parameters = true,
                                       .adapters = true,
                                       .quantized_adapters = true,
                                       .trained_embeddings = true,
                                       .chosen_layers = true,
                                       .adapter_kinds = true,
                                       .lengths = true,
                                       .losses = true,
                                       .shardings = set_of(Sharding::None, Sharding::Zero1, Sharding::Zero2,
                                                           Sharding::Zero3, Sharding::FsdpFull, Sharding::FsdpGradOp),
                                       .recomputes = kFullRecompute,
                                       .precisions = kHalfPrecision,
                                       .stacks = "fsdp deepspeed ddp hf-trainer",
                                       .trains = true};

/// The same of a tool that can freeze part of the model by its file.
constexpr Capabilities kFreezingTrainerFile = [] {
  Capabilities can = kTrainerFile;
  can.frozen_layers = true;
  return can;
}();

/// Every target: one entry, one writer. What a writer lacks words for is said here and nowhere else.
constexpr ExportTarget kTargets[] = {
    {"sagemaker-sdk-v2", "PyTorch estimator of the SageMaker Python SDK 2: a script and its arguments as JSON",
     TargetSide::Launcher, on(Platform::TrainingJob),
     set_of(LaunchMethod::Torchrun, LaunchMethod::Smddp, LaunchMethod::Mpi, LaunchMethod::SmpV1, LaunchMethod::SmpV2,
            LaunchMethod::Recipe),
     nullptr, write_sagemaker_sdk_v2},
    {"sagemaker-sdk-v3", "ModelTrainer of the SageMaker Python SDK 3: a script and its arguments as JSON",
     TargetSide::Launcher, on(Platform::TrainingJob),
     set_of(LaunchMethod::Torchrun, LaunchMethod::Mpi, LaunchMethod::SmpV2), nullptr, write_sagemaker_sdk_v3,
     TrainingProgram::None, true},
    {"create-training-job", "CreateTrainingJob request for boto3 or the AWS command line", TargetSide::Launcher,
     on(Platform::TrainingJob),
     set_of(LaunchMethod::Torchrun, LaunchMethod::Smddp, LaunchMethod::Mpi, LaunchMethod::SmpV1, LaunchMethod::SmpV2),
     nullptr, write_create_training_job, TrainingProgram::None, true},
    {"hyperpod-job", "HyperPodPyTorchJob of a HyperPod cluster with EKS: manifest (YAML), Dockerfile and program",
     TargetSide::Launcher, on(Platform::HyperPodEks), set_of(LaunchMethod::Torchrun), check_hyperpod_job,
     write_hyperpod_job, TrainingProgram::None, false, true},
    {"hyperpod-slurm", "Batch script of a HyperPod cluster with Slurm, and the program that it starts",
     TargetSide::Launcher, on(Platform::HyperPodSlurm), set_of(LaunchMethod::Torchrun), nullptr, write_hyperpod_slurm},
    {"hyperpod-recipe",
     "SageMaker HyperPod recipe (YAML)",
     TargetSide::Strategy,
     {.tensor = true,
      .sequence = true,
      .pipeline = true,
      .interleaved = true,
      .context = true,
      .expert = true,
      .expert_tensor = true,
      .partial_sharding = true,
      .partial_recompute = true,
      .offload_parameters = true,
      .offload_activations = true,
      .adapters = true,
      .quantized_adapters = true,
      .checkpointless = true,
      .shardings =
          set_of(Sharding::None, Sharding::Zero1, Sharding::FsdpFull, Sharding::FsdpGradOp, Sharding::FsdpHybrid),
      .recomputes = kEveryRecompute,
      .precisions = set_of(Precision::Bf16, Precision::Fp8),
      .stacks = "hyperpod-adapter megatron"},
     0,
     nullptr,
     write_hyperpod_recipe},
    {"deepspeed",
     "DeepSpeed configuration (JSON)",
     TargetSide::Strategy,
     {.offload_optimizer = true,
      .offload_parameters = true,
      .offload_to_nvme = true,
      .adapters = true,
      .quantized_adapters = true,
      .trained_embeddings = true,
      .chosen_layers = true,
      .frozen_layers = true,
      .several_adapters = true,
      .adapter_kinds = true,
      .lengths = true,
      .losses = true,
      .shardings = set_of(Sharding::None, Sharding::Zero1, Sharding::Zero2, Sharding::Zero3),
      .recomputes = kFullRecompute,
      .precisions = kHalfPrecision,
      .stacks = "deepspeed"},
     0,
     nullptr,
     write_deepspeed,
     TrainingProgram::TorchDeepSpeed},
    {"accelerate",
     "Hugging Face accelerate configuration (YAML)",
     TargetSide::Strategy,
     {.partial_sharding = true,
      .offload_optimizer = true,
      .offload_parameters = true,
      .adapters = true,
      .quantized_adapters = true,
      .trained_embeddings = true,
      .chosen_layers = true,
      .frozen_layers = true,
      .several_adapters = true,
      .adapter_kinds = true,
      .lengths = true,
      .losses = true,
      .shardings = kEverySharding,
      .recomputes = kFullRecompute,
      .precisions = kHalfPrecision,
      .stacks = "fsdp deepspeed ddp hf-trainer"},
     0,
     nullptr,
     write_accelerate,
     TrainingProgram::Trainer},
    {"fsdp",
     "PyTorch FSDP: a module that shards a model as planned",
     TargetSide::Strategy,
     {.partial_sharding = true,
      .partial_recompute = true,
      .offload_parameters = true,
      .offload_activations = true,
      .adapters = true,
      .quantized_adapters = true,
      .trained_embeddings = true,
      .chosen_layers = true,
      .frozen_layers = true,
      .several_adapters = true,
      .adapter_kinds = true,
      .smddp = true,
      .shardings = set_of(Sharding::FsdpFull, Sharding::FsdpGradOp, Sharding::FsdpHybrid),
      .recomputes = kEveryRecompute,
      .precisions = kHalfPrecision | set_of(Precision::Fp8),
      .stacks = "fsdp"},
     0,
     nullptr,
     write_fsdp,
     TrainingProgram::TorchFsdp},
    {"smp-v2",
     "Parameters of the SageMaker model parallel library 2 (JSON)",
     TargetSide::Strategy,
     {.tensor = true,
      .sequence = true,
      .context = true,
      .expert = true,
      .partial_sharding = true,
      .offload_activations = true,
      .adapters = true,
      .smddp = true,
      .shardings = set_of(Sharding::None, Sharding::FsdpFull, Sharding::FsdpHybrid),
      .recomputes = kFullRecompute,
      .precisions = set_of(Precision::Fp16, Precision::Bf16, Precision::Fp8),
      .stacks = "smp-v2"},
     0,
     nullptr,
     write_smp_v2},
    {"smp-v1",
     "Parameters of the SageMaker model parallel library 1 (JSON; archived library)",
     TargetSide::Strategy,
     {.tensor = true,
      .pipeline = true,
      .partial_sharding = true,
      .offload_activations = true,
      .smddp = true,
      .shardings = set_of(Sharding::None, Sharding::Zero1, Sharding::FsdpHybrid),
      .recomputes = kFullRecompute,
      .precisions = set_of(Precision::Fp32, Precision::Fp16, Precision::Bf16),
      .stacks = "smp-v1"},
     0,
     nullptr,
     write_smp_v1},
    {"megatron",
     "Megatron-LM arguments",
     TargetSide::Strategy,
     {.tensor = true,
      .sequence = true,
      .pipeline = true,
      .interleaved = true,
      .context = true,
      .expert = true,
      .expert_tensor = true,
      .partial_sharding = true,
      .partial_recompute = true,
      .offload_optimizer = true,
      .offload_activations = true,
      .shardings = set_of(Sharding::None, Sharding::Zero1),
      .recomputes = kEveryRecompute,
      .precisions = kEveryPrecision,
      .stacks = "megatron"},
     0,
     check_megatron,
     write_megatron},
    {"torchtitan",
     "TorchTitan 0.2 configuration (TOML)",
     TargetSide::Strategy,
     {.tensor = true,
      .sequence = true,
      .pipeline = true,
      .interleaved = true,
      .context = true,
      .expert = true,
      .expert_tensor = true,
      .partial_sharding = true,
      .offload_parameters = true,
      .shardings = set_of(Sharding::None, Sharding::FsdpFull, Sharding::FsdpGradOp, Sharding::FsdpHybrid),
      .recomputes = kEveryRecompute,
      .precisions = set_of(Precision::Fp32, Precision::Bf16, Precision::Fp8),
      .stacks = "torchtitan"},
     0,
     check_torchtitan,
     write_torchtitan},
    {"neuronx",
     "NeuronX Distributed configuration (JSON)",
     TargetSide::Strategy,
     {.tensor = true,
      .sequence = true,
      .pipeline = true,
      .interleaved = true,
      .context = true,
      .vendors = set_of(Vendor::Aws),
      .shardings = set_of(Sharding::None, Sharding::Zero1),
      .recomputes = kEveryRecompute,
      .precisions = set_of(Precision::Fp32, Precision::Bf16),
      .stacks = "neuron"},
     0,
     check_neuronx,
     write_neuronx},
    {"trl", "TRL configuration (YAML)", TargetSide::Strategy, kTrainerFile, 0, check_trl, write_trl},
    {"axolotl", "axolotl configuration (YAML)", TargetSide::Strategy, kFreezingTrainerFile, 0, check_axolotl,
     write_axolotl},
    {"llama-factory", "LLaMA-Factory configuration (YAML)", TargetSide::Strategy, kFreezingTrainerFile, 0,
     check_llama_factory, write_llama_factory},
    {"torchtune",
     "torchtune recipe configuration (YAML)",
     TargetSide::Strategy,
     {.offload_optimizer = true,
      .offload_parameters = true,
      .offload_activations = true,
      .adapters = true,
      .quantized_adapters = true,
      .chosen_layers = true,
      .lengths = true,
      .losses = true,
      .shardings = set_of(Sharding::None, Sharding::FsdpFull),
      .recomputes = kFullRecompute,
      .precisions = set_of(Precision::Fp32, Precision::Bf16),
      .stacks = "torchtune",
      .trains = true},
     0,
     check_torchtune,
     write_torchtune},
    {"verl",
     "verl configuration of supervised fine-tuning (YAML)",
     TargetSide::Strategy,
     {.partial_sharding = true,
      .offload_optimizer = true,
      .offload_parameters = true,
      .adapters = true,
      .chosen_layers = true,
      .lengths = true,
      .shardings = set_of(Sharding::FsdpFull, Sharding::FsdpHybrid),
      .recomputes = kFullRecompute,
      .precisions = set_of(Precision::Bf16),
      .stacks = "fsdp",
      .trains = true},
     0,
     check_verl,
     write_verl},
    {"hyperpod-llmft",
     "SageMaker HyperPod recipe of 2026 for fine-tuning by FSDP, llmft (YAML)",
     TargetSide::Strategy,
     {.partial_sharding = true,
      .offload_optimizer = true,
      .offload_parameters = true,
      .adapters = true,
      .lengths = true,
      .losses = true,
      .shardings = set_of(Sharding::FsdpFull, Sharding::FsdpHybrid),
      .recomputes = kFullRecompute,
      .precisions = set_of(Precision::Bf16),
      .stacks = "fsdp",
      .trains = true},
     0,
     check_llmft,
     write_llmft},
    {"hyperpod-verl",
     "SageMaker HyperPod recipe of 2026 for fine-tuning by verl (YAML)",
     TargetSide::Strategy,
     {.partial_sharding = true,
      .offload_optimizer = true,
      .offload_parameters = true,
      .adapters = true,
      .chosen_layers = true,
      .lengths = true,
      .losses = true,
      .shardings = set_of(Sharding::FsdpFull, Sharding::FsdpHybrid),
      .recomputes = kFullRecompute,
      .precisions = set_of(Precision::Bf16),
      .stacks = "fsdp",
      .trains = true},
     0,
     check_hyperpod_verl,
     write_hyperpod_verl},
    {"torchrun", "A shell script that starts the processes of a node, for any cluster", TargetSide::Launcher, kAnything,
     set_of(LaunchMethod::Torchrun, LaunchMethod::SmpV2), nullptr, write_torchrun},
};

std::string adapters_of_script(const TrainingPlan& plan) {
  std::string text =
      plan.virtual_tokens > 0
          ? fmt::format("The script trains {} virtual tokens ({})", plan.virtual_tokens, plan.adapters->name)
          : fmt::format("The script brings the adapters, of rank {} on {}", plan.lora_rank, adapted_layers(plan));
  if (plan.lora_embeddings) text += ", and trains embedding and head (modules_to_save of PEFT)";
  if (plan.adapter_count > 1)
    text += fmt::format("; {} of them at once, each on its part of a batch", plan.adapter_count);
  return text + '.';
}

/// What the prediction counts on and no setting of a job can bring about.
void note_kernels(const TrainingPlan& plan, Export& out) {
  if (!out.brings_program && !out.names_adapters && plan.finetune != FineTune::Full) {
    out.notes.push_back(adapters_of_script(plan));
  }
  if (!out.brings_program && !out.names_adapters && plan.trained_layers) {
    out.notes.push_back(fmt::format("The script trains {} and freezes the rest (requires_grad_).",
                                    trained_words(*plan.trained_layers)));
  }
  for (const DimensionRow& row : dimensions()) {
    const bool said = std::find(out.said.begin(), out.said.end(), row.dimension) != out.said.end();
    if (!row.of_execution || said || !row.applies(plan.strategy)) continue;
    const std::string value = row.text(row.get(plan.strategy));
    if (row.dimension == Dimension::LossKernel && value == "linear") {
      out.notes.emplace_back(
          "The plan counts on a loss that keeps no logits: the script uses Liger's or cut cross-entropy.");
    } else {
      out.notes.push_back(fmt::format("The plan counts on this, which the script sets: {} {}.", row.title, value));
    }
  }
}

/// What the plan counts on of a standing cluster.
void note_cluster(const TrainingPlan& plan, const ExportTarget& target, Export& out) {
  out.placeholders.push_back({"REPLACE-ME-data", "the folder of the data on the cluster's file system"});
  const Recovery& recovery = plan.recovery;
  if (recovery.spares > 0) {
    const std::int32_t all = plan.instance_count + recovery.spares;
    out.notes.push_back(
        target.asks_spares
            ? fmt::format("The job asks for {} spare instances beside its {}: the cluster needs {}.", recovery.spares,
                          plan.instance_count, all)
            : fmt::format(
                  "The plan counts on a cluster of {} instances of this type, and bills them: the job takes {}, "
                  "and {} stand idle until one of the job's fails. The files cannot ask for them: leave them "
                  "free in the partition or node group.",
                  all, plan.instance_count, recovery.spares));
  }
  for (const std::string_view feature : {to_string(recovery.mode), to_string(plan.checkpoint_storage)}) {
    if (const RecoveryFeature* f = recovery_feature(feature)) {
      out.notes.push_back(fmt::format("For {}: {}.", f->title, f->needs));
    }
  }
}

/// The program of a strategy target beside its file, and what starts it.
void add_start(const ExportJob& job, const ExportTarget& target, Export& out) {
  if (!brings_program(job, target.program)) return;
  Launch launch = prepare_start(job);
  add_program(job, target.program, "", out, launch.hyperparameters);
  const bool by_accelerate = target.program == TrainingProgram::Trainer;
  if (target.program == TrainingProgram::TorchDeepSpeed)
    launch.hyperparameters.emplace_back("deepspeed_config", json_string(kDeepSpeedFile));
  out.files.push_back({"launch.sh", launch_script(job, launch, "", by_accelerate, has_requirements(out))});
}

}  // namespace

std::span<const ExportTarget> export_targets() { return kTargets; }

bool runs_as(const ExportTarget& target, std::string_view stack) {
  const std::vector<std::string_view> names = words_of(target.can.stacks);
  return std::find(names.begin(), names.end(), stack) != names.end();
}

Result<const ExportTarget*> find_export_target(std::string_view name, std::string_view where) {
  std::vector<std::string> names;
  for (const ExportTarget& target : kTargets) {
    if (target.name == name) return &target;
    names.emplace_back(target.name);
  }
  Diagnostic unknown = unknown_name("export target", name, where, names);
  if (unknown.hint.empty()) unknown.hint = fmt::format("known: {}", fmt::join(names, ", "));
  return tl::unexpected<Diagnostics>(Diagnostics{std::move(unknown)});
}

Result<Export> export_plan(const ExportJob& job, std::string_view target_name) {
  const Result<const ExportTarget*> target = find_export_target(target_name, "--target");
  if (!target) return tl::unexpected<Diagnostics>(target.error());
  Diagnostics faults = check(job.options);
  if (!job.options.fallbacks.empty() && !(*target)->lists_types) {
    faults.push_back({"not-expressible", "--fallbacks", fmt::format("{} takes no list of instance types", target_name),
                      "export to create-training-job or sagemaker-sdk-v3"});
  }
  const Diagnostics refused = refusals(job, **target);
  faults.insert(faults.end(), refused.begin(), refused.end());
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  // The launcher starts as many processes as the strategy divides: the reader of plans saw to it.
  SMPLAN_ASSERT(std::int64_t{job.plan.instance_count} * job.plan.devices_per_instance() == job.plan.world_size());
  Export out;
  out.target = std::string(target_name);
  out.plan_id = job.plan.id();
  (*target)->write(job, out, faults);
  add_start(job, **target, out);
  if (is_standing(job.plan.recovery.platform)) note_cluster(job.plan, **target, out);
  if (!out.brings_program) out.notes.insert(out.notes.end(), out.script_notes.begin(), out.script_notes.end());
  note_kernels(job.plan, out);
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  if (!job.lock.empty()) out.files.push_back({std::string(kLockFile), std::string(job.lock)});
  std::vector<std::string> lines = provenance_lines(job);
  for (const std::string& warning : job.plan.warnings) lines.push_back("Warning: " + markdown_text(warning));
  add_notes(out, job.plan.model.name, (*target)->summary, lines);
  return out;
}

}  // namespace smplan
