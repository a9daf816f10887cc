#include "planner/preflight/job_folder.hpp"

#include <algorithm>
#include <array>

#include "base/hash.hpp"
#include "base/json_reader.hpp"
#include "catalogs/training_loss.hpp"
#include "planner/export/folder.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/fields.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;

/// In the order in which the job is looked for: what is submitted, what starts it, what its script reads.
constexpr std::array<JobFileName, 19> kFileNames = {{
    {"estimator.json", JobKind::Estimator, "sagemaker-sdk-v2"},
    {"model_trainer.json", JobKind::ModelTrainer, "sagemaker-sdk-v3"},
    {"create_training_job.json", JobKind::CreateTrainingJob, "create-training-job"},
    {"job.yaml", JobKind::HyperpodJob, "hyperpod-job"},
    {"recipe.yaml", JobKind::HyperpodRecipe, "hyperpod-recipe"},
    {"trl.yaml", JobKind::Trl, "trl"},
    {"axolotl.yaml", JobKind::Axolotl, "axolotl"},
    {"llama_factory.yaml", JobKind::LlamaFactory, "llama-factory"},
    {"torchtune.yaml", JobKind::Torchtune, "torchtune"},
    {"verl_sft.yaml", JobKind::Verl, "verl"},
    {"launch.sh", JobKind::Torchrun, "torchrun"},
    {"megatron_args.txt", JobKind::Megatron, "megatron"},
    {"torchtitan.toml", JobKind::TorchTitan, "torchtitan"},
    {"accelerate_config.yaml", JobKind::Accelerate, "accelerate"},
    {"accelerate.yaml", JobKind::Accelerate, "accelerate"},
    {"ds_config.json", JobKind::DeepSpeed, "deepspeed"},
    {"smp_parameters.json", JobKind::Smp, "smp-v2"},
    {"smp_config.json", JobKind::Smp, "smp-v2"},
    {"verl_rl.yaml", JobKind::Verl, ""},  // of plans of reinforcement learning, which no plan.json holds
}};

constexpr std::string_view kSource = "src";
/// The script that exports leave to the user.
constexpr std::string_view kUserScript = "train.py";

bool is_file(const fs::path& path) {
  std::error_code none;
  return fs::is_regular_file(path, none);
}

/// Path and hash of each file that the marker lists.
std::vector<std::pair<std::string, std::string>> marked(const fs::path& folder) {
  std::vector<std::pair<std::string, std::string>> files;
  const fs::path marker = folder / kExportMarker;
  if (!is_file(marker)) return files;
  const Result<std::string> text = read_text_file(marker.string());
  const Result<Node> document =
      text ? parse_document(*text, marker.string(), Syntax::Json) : tl::unexpected<Diagnostics>(text.error());
  const Node* list = document ? document->find("files") : nullptr;
  if (list == nullptr) return files;
  for (const Node& file : list->items) {
    const Node* path = file.find("path");
    const Node* hash = file.find("hash");
    if (path == nullptr || !path->is_string() || !stays_inside(path->text)) continue;
    files.emplace_back(path->text, hash == nullptr ? "" : hash->text);
  }
  return files;
}

FileState state_of(const fs::path& file, const std::string& hash) {
  if (!is_file(file)) return FileState::Missing;
  const Result<std::string> text = read_text_file(file.string());
  return text && hash_text(*text) == hash ? FileState::AsWritten : FileState::Changed;
}

/// Files of the folder and of its script's folder, by their names.
std::vector<std::string> named_files(const fs::path& folder, const std::string& source_dir) {
  std::vector<std::string> files;
  const bool by_accelerate = is_file(folder / "accelerate_config.yaml");
  for (const JobFileName& known : kFileNames) {
    // Such a script starts accelerate, which reads its own file; torchrun's arguments are not in it.
    if (known.kind == JobKind::Torchrun && by_accelerate) continue;
    for (const fs::path& below : {fs::path(), fs::path(source_dir)}) {
      const std::string path = (below / known.name).string();
      const bool there = std::find(files.begin(), files.end(), path) != files.end();
      if (!there && is_file(folder / path)) files.push_back(path);
    }
  }
  return files;
}

std::string source_dir_of(const Job& job) {
  const Node* source = source_of(job);
  if (source == nullptr || !source->is_string()) return std::string(kSource);
  return stays_inside(source->text) ? source->text : std::string();
}

}  // namespace

const JobFileName* job_file_name(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto known =
      std::find_if(kFileNames.begin(), kFileNames.end(), [&](const JobFileName& f) { return f.name == name; });
  return known == kFileNames.end() ? nullptr : &*known;
}

std::string_view target_of(JobKind kind) {
  const auto known =
      std::find_if(kFileNames.begin(), kFileNames.end(), [&](const JobFileName& f) { return f.kind == kind; });
  return known == kFileNames.end() ? std::string_view() : known->target;
}

bool stays_inside(const fs::path& path) {
  return path.is_relative() && std::find(path.begin(), path.end(), "..") == path.end();
}

std::vector<std::string> exported_files(const fs::path& folder) {
  std::vector<std::string> files;
  for (auto& [path, hash] : marked(folder)) files.push_back(std::move(path));
  return files;
}

std::string job_file_in(const fs::path& folder) {
  std::vector<std::string> files = exported_files(folder);
  if (files.empty() && is_file(folder / kLockFile)) files = named_files(folder, std::string(kSource));
  // Beside a strategy file of its own, a script only starts what that file says; elsewhere such files lie below it.
  const auto is_strategy = [](const std::string& file) {
    const JobFileName* known = job_file_name(file);
    return known != nullptr && !fs::path(file).has_parent_path() &&
           (known->kind == JobKind::Accelerate || known->kind == JobKind::DeepSpeed);
  };
  const bool started = std::any_of(files.begin(), files.end(), is_strategy);
  for (const JobFileName& known : kFileNames) {
    if (started && known.kind == JobKind::Torchrun) continue;
    for (const std::string& file : files) {
      if (fs::path(file).filename() == known.name) return (folder / file).string();
    }
  }
  return {};
}

fs::path folder_of(const std::string& job_file) {
  const fs::path file(job_file);
  const fs::path near = file.parent_path();
  for (const fs::path& folder : {near, near.parent_path()}) {
    const std::vector<std::string> files = exported_files(folder);
    const std::string own = file.lexically_relative(folder).string();
    if (std::find(files.begin(), files.end(), own) != files.end()) return folder.empty() ? fs::path(".") : folder;
  }
  return {};
}

const Node* source_of(const Job& job) {
  const Node* source = first_of(job.root(), {"source_dir"});
  return source != nullptr ? source : job.root().at({"source_code", "source_dir"});
}

void count_sequences(const Job& job, JobStrategy& deepspeed) {
  const Node* settings = job.hyperparameters != nullptr ? job.hyperparameters : &job.root();
  const Node* stated = job.kind == JobKind::Torchrun || job.submitted() ? settings->find("loss") : nullptr;
  const TrainingLoss* loss = stated == nullptr ? nullptr : training_loss(stated->text);
  if (loss == nullptr) return;
  for (Count* count : {&deepspeed.micro_batch, &deepspeed.global_batch}) {
    if (count->value) *count->value *= loss->sequences;
  }
}

std::string beside(const Job& job, const std::string& file) {
  return (fs::path(job.folder->path) / file).lexically_relative(fs::path(job.file).parent_path()).generic_string();
}

Where in_file(const Job& job, const std::string& file, const Where& where) {
  if (file == job.folder->files.front().path || where.path.starts_with("--")) return where;
  return {where.path, where.line, beside(job, file)};
}

JobFolder read_job_folder(const fs::path& folder, const Job& job) {
  JobFolder out;
  out.path = folder.string();
  for (const auto& [path, hash] : marked(folder)) out.listed.push_back({path, state_of(folder / path, hash)});
  out.source_dir = source_dir_of(job);
  const std::string own = fs::path(job.file).lexically_relative(folder).string();
  out.files.push_back({own, job});
  for (const std::string& path : named_files(folder, out.source_dir)) {
    if (path == own) continue;
    const Result<std::string> text = read_text_file((folder / path).string());
    const Result<Job> read =
        text ? read_job(*text, path, job_file_name(path)->kind) : tl::unexpected<Diagnostics>(text.error());
    if (read) {
      out.files.push_back({path, *read});
      if (read->kind == JobKind::DeepSpeed) count_sequences(job, out.files.back().job.strategy);
    } else {
      out.unreadable.emplace_back(path, to_string(read.error().front()));
    }
  }
  if (is_file(folder / kLockFile)) {
    Result<std::string> text = read_text_file((folder / kLockFile).string());
    if (text) {
      out.lock = std::move(*text);
    } else {
      out.unreadable.emplace_back(kLockFile, to_string(text.error().front()));
    }
  }
  const bool known = job.entry_point && !is_placeholder(*job.entry_point) && stays_inside(*job.entry_point);
  out.entry_point_missing = known && !out.source_dir.empty() && !is_file(folder / out.source_dir / *job.entry_point);
  const std::string script = known ? (fs::path(out.source_dir) / *job.entry_point).string() : std::string();
  const bool exported =
      std::any_of(out.listed.begin(), out.listed.end(), [&](const ListedFile& file) { return file.path == script; });
  out.entry_point_awaited = known && *job.entry_point == kUserScript && !out.listed.empty() && !exported;
  return out;
}

}  // namespace smplan
