#include "planner/preflight/beside.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "planner/export/folder.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/job_folder.hpp"
#include "planner/preflight/nemo_rl_configuration.hpp"
#include "planner/preflight/predict.hpp"
#include "planner/preflight/torchtitan_arguments.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;

/// Files that say a split, by the names that our exports give them.
constexpr std::string_view kNeuron = "neuronx_config.json";
constexpr std::array<std::string_view, 4> kSplitFiles = {"megatron_args.txt", "torchtitan.toml", "ds_config.json",
                                                         kNeuron};
/// Where a split may stand: in the files of the export, else in the folder of the script.
std::vector<std::string> split_files(const Job& job, const fs::path& folder) {
  std::vector<std::string> files = exported_files(folder);
  std::erase_if(files, [](const std::string& file) {
    return std::find(kSplitFiles.begin(), kSplitFiles.end(), fs::path(file).filename().string()) == kSplitFiles.end();
  });
  if (!files.empty()) return files;
  const Node* source = source_of(job);
  const std::string own = source != nullptr && source->is_string() ? source->text : "src";
  if (!stays_inside(own)) return files;
  for (const std::string_view name : kSplitFiles) files.push_back((fs::path(own) / name).string());
  return files;
}

template <typename T>
void take(Field<T>& mine, const Field<T>& other, const std::string& file) {
  if (mine.stated || !other.stated) return;
  mine = other;
  mine.where.file = file;
}

std::string_view stack_of_split(JobKind kind) {
  switch (kind) {
    case JobKind::Megatron:
      return "megatron";
    case JobKind::TorchTitan:
      return "torchtitan";
    case JobKind::DeepSpeed:
      return "deepspeed";
    case JobKind::CreateTrainingJob:
    case JobKind::Estimator:
    case JobKind::ModelTrainer:
    case JobKind::HyperpodRecipe:
    case JobKind::Accelerate:
    case JobKind::Smp:
    case JobKind::Torchrun:
    case JobKind::Axolotl:
    case JobKind::LlamaFactory:
    case JobKind::Torchtune:
    case JobKind::Trl:
    case JobKind::Verl:
    case JobKind::NemoRl:
    case JobKind::HyperpodJob:
      break;
  }
  return {};
}

/// neuronx_distributed_config's arguments, which are no job of their own.
void read_neuron(const Node& root, JobStrategy& s) {
  s.tensor = count_field(root.find("tensor_parallel_size"));
  s.pipeline = count_field(root.find("pipeline_parallel_size"));
  s.virtual_pipeline = count_field(root.at({"pipeline_config", "virtual_pipeline_size"}));
  s.context = count_field(root.find("context_parallel_size"));
  s.sequence_parallel = switch_field(root.find("sequence_parallel"));
  if (const Node* sharded = root.at({"optimizer_config", "zero_one_enabled"})) {
    s.sharding = derived(std::string(truth_of(*sharded) == true ? "zero1" : "none"), sharded->where);
  }
  s.recompute = text_field(root.find("activation_checkpoint_config"));
  if (!s.recompute.stated) s.recompute = derived(std::string("none"), root.where);
  s.stack = derived(std::string("neuron"), root.where);
}

/// The split that a file says; its stack is stated where it says one.
JobStrategy split_of(const std::string& text, const std::string& path) {
  JobStrategy s;
  if (fs::path(path).filename() == kNeuron) {
    const Result<Node> root = parse_document(text, path, Syntax::Json);
    if (root) read_neuron(*root, s);
    return s;
  }
  const Result<Job> job = read_job(text, path, std::nullopt);
  if (!job || stack_of_split(job->kind).empty()) return s;
  s = job->strategy;
  s.stack = derived(std::string(stack_of_split(job->kind)), job->root().where);
  return s;
}

void take_split(Job& job, const JobStrategy& other, const std::string& file) {
  JobStrategy& mine = job.strategy;
  for (const auto field : {&JobStrategy::tensor,
                           &JobStrategy::pipeline,
                           &JobStrategy::virtual_pipeline,
                           &JobStrategy::first_stage_layers,
                           &JobStrategy::last_stage_layers,
                           &JobStrategy::context,
                           &JobStrategy::expert,
                           &JobStrategy::expert_tensor,
                           &JobStrategy::data,
                           &JobStrategy::data_replicate,
                           &JobStrategy::data_shard,
                           &JobStrategy::shard_degree,
                           &JobStrategy::micro_batch,
                           &JobStrategy::global_batch,
                           &JobStrategy::accumulation,
                           &JobStrategy::sequence_length,
                           &JobStrategy::steps,
                           &JobStrategy::recompute_layers,
                           &JobStrategy::heads,
                           &JobStrategy::kv_heads,
                           &JobStrategy::hidden,
                           &JobStrategy::ffn,
                           &JobStrategy::layers,
                           &JobStrategy::experts,
                           &JobStrategy::zero_stage}) {
    take(mine.*field, other.*field, file);
  }
  for (const auto field :
       {&JobStrategy::sharding, &JobStrategy::recompute, &JobStrategy::optimizer_offload,
        &JobStrategy::parameter_offload, &JobStrategy::optimizer_nvme_path, &JobStrategy::parameter_nvme_path}) {
    take(mine.*field, other.*field, file);
  }
  for (const auto field :
       {&JobStrategy::sequence_parallel, &JobStrategy::pipeline_layout, &JobStrategy::bf16, &JobStrategy::fp16,
        &JobStrategy::fp8, &JobStrategy::fp4, &JobStrategy::fp32, &JobStrategy::activation_offload}) {
    take(mine.*field, other.*field, file);
  }
  take(mine.stack, other.stack, file);
}

/// The DeepSpeed or accelerate file that the job names: as the path says from its folder, or beside it.
void read_named_split(Job& job) {
  const Text& named = job.strategy.split_file;
  if (!named || !stays_inside(*named)) return;
  const fs::path folder = fs::path(job.file).parent_path();
  for (const fs::path& path : {folder / *named, folder / fs::path(*named).filename()}) {
    std::error_code none;
    if (!fs::is_regular_file(path, none)) continue;
    const Result<std::string> text = read_text_file(path.string());
    const Result<Job> split =
        text ? read_job(*text, path.string(), std::nullopt) : tl::unexpected<Diagnostics>(text.error());
    if (!split) job.broken_files.push_back({named.where, *named, to_string(split.error().front())});
    if (!split || (split->kind != JobKind::DeepSpeed && split->kind != JobKind::Accelerate)) return;
    const std::string shown = path.lexically_relative(folder).string();
    if (split->kind == JobKind::DeepSpeed) job.split = NamedFile{shown, std::make_shared<const Job>(*split)};
    take_split(job, split->strategy, shown);
    take(job.strategy.nodes, split->strategy.nodes, shown);
    take(job.strategy.world, split->strategy.world, shown);
    if (const std::optional<std::string> stack = stack_of(*split); stack && !job.strategy.stack.stated) {
      job.strategy.stack = derived(*stack, named.where);
    }
    const Execution& told = split->strategy.execution;
    Execution& execution = job.strategy.execution;
    if (told.reduce_bucket > 0) execution.reduce_bucket = told.reduce_bucket;
    if (execution.compile == Compile::Default) execution.compile = told.compile;
    // What accumulates is said by the job itself.
    if (job.strategy.accumulation.value_or(1) > 1) execution.unsharded_gradients = told.unsharded_gradients;
    job.split_unknown.clear();
    return;
  }
}

/// Whether the entry point, where it lies in the job's source, has words that start processes.
void read_entry_point(Job& job) {
  if (!job.entry_point || !stays_inside(*job.entry_point)) return;
  const Node* source = source_of(job);
  if (source != nullptr && (!source->is_string() || !stays_inside(source->text))) return;
  const fs::path folder = fs::path(job.file).parent_path() / (source == nullptr ? "" : source->text);
  std::error_code none;
  if (!fs::is_regular_file(folder / *job.entry_point, none)) {
    const bool beside = source != nullptr && fs::is_directory(folder, none);
    if (beside && !is_placeholder(*job.entry_point)) job.source_without_script = source->text;
    return;
  }
  const Result<std::string> text = read_text_file((folder / *job.entry_point).string());
  if (!text) return;
  constexpr std::array<std::string_view, 11> kStarts = {"torchrun",
                                                        "torch.distributed.run",
                                                        "torch.distributed.launch",
                                                        "elastic_launch",
                                                        "mp.spawn",
                                                        ".spawn(",
                                                        "subprocess",
                                                        "Process(",
                                                        "os.system",
                                                        "launch_command",
                                                        "mpirun"};
  job.script_launches = std::any_of(kStarts.begin(), kStarts.end(),
                                    [&](std::string_view word) { return text->find(word) != std::string::npos; });
}

}  // namespace

void read_beside(Job& job, const std::string& given) {
  std::error_code none;
  if (!fs::is_regular_file(job.file, none)) return;
  read_inherited(job);
  if (job.kind == JobKind::TorchTitan) read_titan_file(job);
  if (job.submitted()) read_entry_point(job);
  const fs::path whole = given.empty() ? folder_of(job.file) : fs::path(given);
  // Before the job takes what others say: each file speaks for itself.
  if (!whole.empty()) job.folder = std::make_shared<const JobFolder>(read_job_folder(whole, job));
  read_named_split(job);
  if (!job.submitted() && job.kind != JobKind::Torchrun && job.kind != JobKind::HyperpodJob) return;
  const fs::path folder = fs::path(job.file).parent_path();
  for (const std::string& file : split_files(job, folder)) {
    const std::string path = (folder / file).string();
    if (!fs::is_regular_file(path, none)) continue;
    const Result<std::string> text = read_text_file(path);
    if (!text) continue;
    JobStrategy split = split_of(*text, path);
    count_sequences(job, split);
    if (split.stack) take_split(job, split, file);
  }
}

Result<std::string> job_file_of(const std::string& path) {
  std::error_code none;
  if (!fs::is_directory(path, none)) return path;
  std::string file = job_file_in(path);
  if (!file.empty()) return file;
  if (exported_files(path).empty() && !fs::is_regular_file(fs::path(path) / kLockFile, none)) {
    return fail(
        "no-export", path,
        fmt::format("is a folder that no `smplan export` wrote: it has neither {} nor {}", kExportMarker, kLockFile),
        "name the file of the job");
  }
  return fail("no-job", path, "holds no job that can be checked", "name the file of the job");
}

}  // namespace smplan
