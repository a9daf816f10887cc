#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_set.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "models/job/dimensions.hpp"
#include "planner/export/training_plan.hpp"

namespace smplan {

/// A type that SageMaker may take in the place of a plan's, with as many accelerators in all.
struct InstanceChoice {
  std::string type;
  std::int32_t count = 0;
  Seconds time_to_train;
  double slow = 1;  ///< what a slow run takes over the usual one: P90 of the step's time
};

/// What a plan cannot know, as far as the user says it. What stays unsaid becomes a placeholder.
struct ExportOptions {
  std::optional<std::string> role;    ///< ARN of the execution role
  std::optional<std::string> bucket;  ///< S3 bucket for code, data, checkpoints and output, in the job's region
  std::optional<std::string> script;  ///< entry point in source_dir
  std::optional<std::string> job_name;
  std::optional<std::string> input_mode;   ///< FastFile or File; else the plan's; a file system is read in place
  std::optional<std::string> file_system;  ///< FSx for Lustre, `fs-0123456789abcdef0`
  std::optional<Seconds> warm_pool;        ///< how long instances stay for the next job; else the plan's
  std::vector<InstanceChoice> fallbacks;   ///< tried in this order where the plan's own type has no capacity
};

/// What the API would refuse only after submission: malformed ARNs, names, ids.
Diagnostics check(const ExportOptions& options);

/// Text in the exported files that the user must replace.
struct Placeholder {
  std::string text;
  std::string meaning;
  friend bool operator==(const Placeholder&, const Placeholder&) = default;
};

struct ExportFile {
  std::string path;  ///< relative to the export's folder
  std::string content;
  friend bool operator==(const ExportFile&, const ExportFile&) = default;
};

/// A plan in the words of a target. The first file is the one that stands for the whole.
struct Export {
  std::string target;
  std::string plan_id;
  std::vector<ExportFile> files;
  std::vector<Placeholder> placeholders;
  std::vector<std::string> notes;         ///< what the reader must know before starting the job
  std::vector<std::string> script_notes;  ///< likewise, of what a script of the user's own must do
  std::vector<Dimension> said;            ///< of the execution what the files switch; the script brings the rest
  bool brings_program = false;            ///< train.py is among the files
  bool names_adapters = false;            ///< the tool that reads the files makes them
};

/// The plan of an exported job, in its folder: what the job was written from, so that it can be told what was changed.
inline constexpr std::string_view kLockFile = "plan.json";

struct ExportJob {
  const TrainingPlan& plan;
  const ExportOptions& options;
  const Catalog& catalog;
  /// Text of the plan file with this plan alone (plan_lock()), written as kLockFile; empty: none is written.
  std::string_view lock = {};
};

/// What a target has words for. A plan that needs more is refused, with everything named that it needs.
struct Capabilities {
  bool tensor = false;
  bool sequence = false;
  bool pipeline = false;
  bool interleaved = false;
  bool context = false;
  bool expert = false;
  bool expert_tensor = false;      ///< another cut of the experts than the usual
  bool partial_sharding = false;   ///< a sharding degree below data x context
  bool partial_recompute = false;  ///< full recomputation of a number of layers
  bool offload_optimizer = false;
  bool offload_parameters = false;
  bool offload_activations = false;
  bool offload_to_nvme = false;
  bool adapters = false;  ///< LoRA
  bool quantized_adapters = false;
  bool trained_embeddings = false;  ///< beside adapters
  bool chosen_layers = false;       ///< adapters on part of the linear layers
  bool frozen_layers = false;       ///< part of the model trained without adapters
  bool several_adapters = false;    ///< at once
  bool adapter_kinds = false;       ///< adapters other than LoRA
  bool lengths = false;             ///< sequences of different lengths
  bool losses = false;              ///< other than that of the next token
  bool smddp = false;
  bool checkpointless = false;  ///< recovers from a replica's memory
  std::uint32_t platforms = set_of(Platform::TrainingJob, Platform::HyperPodEks, Platform::HyperPodSlurm);
  std::uint32_t vendors = set_of(Vendor::Nvidia);  ///< set_of(Vendor...)
  std::uint32_t shardings = 0;                     ///< set_of(Sharding...)
  std::uint32_t recomputes = 0;                    ///< set_of(Recompute...)
  std::uint32_t precisions = 0;                    ///< set_of(Precision...)
  /// Of a strategy target: the stacks that its file is predicted as, with blanks between them.
  std::string_view stacks = {};
  bool trains = false;  ///< what reads the file is a trainer: nobody writes a script
};

/// The reference program that an export brings as train.py.
enum class TrainingProgram {
  None,            ///< the framework has its own entry point, or the user brings a script
  TorchDdp,        ///< plain PyTorch, as are the next two
  TorchFsdp,       ///< with fsdp_strategy.py
  TorchDeepSpeed,  ///< with ds_config.json, of stage 0 too
  Trainer,         ///< Hugging Face's Trainer, under torchrun or accelerate
};

enum class TargetSide {
  Launcher,  ///< starts the processes on SageMaker; brings the strategy file of the plan's stack along
  Strategy,  ///< what the training script reads
};

/// A format that plans are exported to.
struct ExportTarget {
  std::string_view name;
  std::string_view summary;
  TargetSide side = TargetSide::Strategy;
  Capabilities can;
  std::uint32_t launchers = 0;  ///< set_of(LaunchMethod...), of a launcher
  /// Faults of the model, the optimizer or a pair of choices that no capability covers; nullptr: none, whatever the
  /// cluster.
  void (*check)(const TrainingPlan& plan, Diagnostics& faults) = nullptr;
  /// Faults that show only where the files are written (a region without images).
  void (*write)(const ExportJob& job, Export& out, Diagnostics& faults) = nullptr;
  /// The program that a strategy target brings; a launcher brings that of the plan's stack.
  TrainingProgram program = TrainingProgram::None;
  bool lists_types = false;  ///< takes several instance types that are tried in order
  bool asks_spares = false;  ///< its files ask a cluster for spare instances beside the job's
};

std::span<const ExportTarget> export_targets();
/// Whether the file of a strategy target is predicted as this stack.
bool runs_as(const ExportTarget& target, std::string_view stack);
Result<const ExportTarget*> find_export_target(std::string_view name, std::string_view where);

/// What the target cannot say of the plan, whatever cluster it runs on, one sentence each.
std::vector<std::string> inexpressible(const TrainingPlan& plan, const ExportTarget& target);

/// Everything in the plan that the target has no words for; empty if it can say it all.
Diagnostics refusals(const ExportJob& job, const ExportTarget& target);

/// Writes the plan for a target, with a NOTES.md that lists predictions, placeholders and files.
Result<Export> export_plan(const ExportJob& job, std::string_view target);

}  // namespace smplan
