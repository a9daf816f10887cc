#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/export/target.hpp"

namespace smplan {

/// How SageMaker starts the processes of a node.
enum class LaunchMethod {
  Torchrun,  ///< torch_distributed: one process per device
  Smddp,     ///< smdistributed.dataparallel: mpirun with the SMDDP backend
  Mpi,       ///< mpirun
  SmpV1,     ///< mpirun with the model parallel library v1
  SmpV2,     ///< torchrun in the image of the model parallel library v2
  Recipe,    ///< the SDK 2 reads a recipe: it brings image, script and torchrun
  Script,    ///< the script alone, once an instance: it starts the rest
};

/// How a stack is started and which target writes its strategy file.
struct StackExport {
  std::string_view stack;
  LaunchMethod launcher = LaunchMethod::Torchrun;
  std::string_view strategy_target;  ///< empty where the script's arguments say it all
  std::string_view script;           ///< usual entry point
  TrainingProgram program = TrainingProgram::None;

  /// Whether somebody has to write the script before the job starts.
  [[nodiscard]] bool needs_script() const;
};

/// nullptr for a stack that no SageMaker launcher starts.
const StackExport* stack_export(std::string_view stack);
/// The same for a plan. Sequences of their own length and losses on pairs are trained by trainers of TRL, which shard
/// as accelerate's file says.
const StackExport* stack_export(const TrainingPlan& plan);
std::string startable_stacks();
/// The stack's launcher; SMDDP brings its own.
LaunchMethod launcher_of(const TrainingPlan& plan, const StackExport& stack);
std::string_view to_string(LaunchMethod launcher);

/// Names with JSON text: what the script or the library gets.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// A channel of training data.
struct DataChannel {
  std::string name;
  std::string s3_uri;       ///< empty for a file system
  std::string file_system;  ///< `fs-...`
  std::string directory;
};

/// Everything that a launcher says, in no launcher's words.
struct Launch {
  LaunchMethod launcher = LaunchMethod::Torchrun;
  std::string job_name;
  std::string role;
  std::string image_uri;
  std::string image_note;  ///< support status of the image, in words
  std::string script;
  std::string code_uri;  ///< sourcedir.tar.gz
  Settings hyperparameters;
  Settings library_parameters;  ///< of the model parallel library
  Settings environment;         ///< values are plain text, not JSON
  std::int32_t processes_per_host = 1;
  std::int64_t max_run_s = 0;
  std::int64_t max_wait_s = 0;    ///< 0: no spot
  std::int64_t keep_alive_s = 0;  ///< 0: no warm pool
  std::int64_t volume_gb = 0;     ///< 0: the type brings its own NVMe
  std::string training_plan_arn;
  std::string input_mode;
  std::vector<DataChannel> channels;
  std::string checkpoint_uri;
  std::string output_uri;
  std::vector<std::string> subnets;
  std::vector<std::string> security_groups;
  std::vector<std::pair<std::string, std::string>> tags;
  std::vector<std::string> notes;  ///< what to know before submitting
};

inline constexpr std::string_view kCheckpointPath = "/opt/ml/checkpoints";

/// Where a job finds its data and leaves what it makes: channels of a training job, or folders of the file system that
/// a HyperPod cluster mounts.
struct JobFolders {
  std::string data;
  std::string checkpoints;
  std::string model;
};
JobFolders folders_of(const TrainingPlan& plan);

/// What every training script is told, by the names that docs/export.md states.
Settings script_settings(const ExportJob& job);

/// The newest image of the plan's framework and devices. A fault where the region has none.
void choose_image(const ExportJob& job, Launch& launch, Diagnostics& faults);
/// Script, its settings, processes and environment; writes the strategy files into `src/` of the export.
Launch prepare_processes(const ExportJob& job, Export& out, Diagnostics& faults);
/// What a program is told that a strategy file comes with, and its environment: for any cluster.
Launch prepare_start(const ExportJob& job);
/// Variables of the processes, as the launcher needs them.
void set_environment(const ExportJob& job, Launch& launch);
/// Name, role, image, times, data, volume of processes that are prepared. Placeholders go to `out`.
void complete_launch(const ExportJob& job, Launch& launch, Export& out, Diagnostics& faults);
/// All of it. Placeholders go to `out`.
Launch prepare_launch(const ExportJob& job, Export& out, Diagnostics& faults);

/// Text of a JSON string.
std::string json_string(std::string_view text);

/// Name of the job: model, type, count and the plan's id, within SageMaker's 63 letters, digits and hyphens.
std::string job_name_of(const ExportJob& job);

}  // namespace smplan
