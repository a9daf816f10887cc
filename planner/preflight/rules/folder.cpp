// A job that is a folder: its files against each other and against the plan beside them.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "planner/preflight/fields.hpp"
#include "planner/preflight/job_folder.hpp"
#include "planner/preflight/job_settings.hpp"
#include "planner/preflight/launcher_options.hpp"
#include "planner/preflight/rules/setting_values.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;

void drift(const CheckInput& in, Report& report) {
  for (const Change& change : *in.drift) {
    Finding& finding = report.at(in_file(in.job, change.file, change.where), {to_string(change)});
    if (change.where.path.starts_with("--")) finding.fix = "the flag counts: plan again with it if it is meant";
  }
}

void contradict(const Contradiction& c, const Where& where, Report& report) {
  report.at(where, {std::string(c.name), *c.first.value, place_in(c.first_file, c.first.where), *c.second.value,
                    place_in(c.second_file, c.second.where)});
}

/// Settings that transformers' Trainer holds against its own, beside those of a strategy. Source: transformers 5.6.0,
/// integrations/deepspeed.py, trainer_config_process and trainer_config_finalize of HfTrainerDeepSpeedConfig.
struct Matched {
  std::string_view of_file, option;
};
constexpr Matched kMatched[] = {
    {"gradient_clipping", "max_grad_norm"},
    {"optimizer.params.lr", "learning_rate"},
    {"optimizer.params.eps", "adam_epsilon"},
    {"optimizer.params.weight_decay", "weight_decay"},
    {"scheduler.params.warmup_max_lr", "learning_rate"},
    {"scheduler.params.warmup_num_steps", "warmup_steps"},
    {"bf16.enabled", "bf16"},
    {"fp16.enabled", "fp16"},
};

/// Both are known, and differ.
bool differ(const Node* own, const Node* theirs) {
  if (own == nullptr || theirs == nullptr) return false;
  if (theirs->kind == Node::Kind::Bool) return truth_of(*own).value_or(theirs->truth) != theirs->truth;
  const auto a = number_of(*own);
  const auto b = number_of(*theirs);
  return a && b && *a != *b;
}

/// What a script says, and the DeepSpeed file that it names by the Trainer's option.
void contradictions_of_split(const CheckInput& in, Report& report) {
  const Job& job = in.job;
  if (!job.strategy.split_file.where.path.ends_with("/deepspeed")) return;
  const NamedFile& split = *job.split;
  const std::string name = fs::path(job.file).filename().string();
  for (const Contradiction& c : contradictions_in({{split.path, split.job.get()}, {name, &job}}, in.catalog)) {
    if (!c.second.where.path.empty()) contradict(c, c.second.where, report);  // a default may not be the script's
  }
  const Node& settings = job.hyperparameters != nullptr ? *job.hyperparameters : job.root();
  for (const auto& [of_file, option] : kMatched) {
    const Node* own = first_of(settings, {option, hyphened(option)});
    const Node* theirs = node_by(split.job->root(), of_file);
    if (!differ(own, theirs)) continue;
    report.at(*own, {own->name(), shown_value(*own), place_in(name, own->where), shown_value(*theirs),
                     place_in(split.path, theirs->where)});
  }
}

void contradictions(const CheckInput& in, Report& report) {
  if (in.job.folder == nullptr) {
    if (in.job.split) contradictions_of_split(in, report);
    return;
  }
  JobFiles files;
  for (const FolderFile& file : in.job.folder->files) files.emplace_back(file.path, &file.job);
  for (const Contradiction& c : contradictions_in(files, in.catalog)) {
    contradict(c, in_file(in.job, c.second_file, c.second.where), report);
  }
}

void missing_files(const CheckInput& in, Report& report) {
  for (const ListedFile& file : in.job.folder->listed) {
    if (file.state == FileState::Missing) report.at(Where{"", 0, beside(in.job, file.path)}, {file.path});
  }
}

void changed_files(const CheckInput& in, Report& report) {
  for (const ListedFile& file : in.job.folder->listed) {
    if (file.state == FileState::Changed) report.at(Where{"", 0, beside(in.job, file.path)}, {file.path});
  }
}

void missing_entry_point(const CheckInput& in, Report& report) {
  if (in.job.folder == nullptr) {
    const std::string& source = in.job.source_without_script;
    if (!source.empty()) report.at(in.job.entry_point, {*in.job.entry_point, source});
    return;
  }
  const JobFolder& folder = *in.job.folder;
  if (!folder.entry_point_missing) return;
  const Text& script = folder.files.front().job.entry_point;
  Finding& finding = report.at(script, {*script.value, folder.source_dir});
  if (folder.entry_point_awaited) finding.severity = Severity::Warning;
  finding.fix = fmt::format("put the training script into {}, or name the one that is there", folder.source_dir);
}

void unreadable(const CheckInput& in, Report& report) {
  for (const BrokenFile& file : in.job.broken_files) report.at(file.where, {file.name, file.why});
  if (in.job.folder == nullptr) return;
  for (const auto& [file, reason] : in.job.folder->unreadable) {
    report.at(Where{"", 0, beside(in.job, file)}, {file, reason});
  }
  if (!in.no_lock.empty()) report.at(Where{"", 0, beside(in.job, "plan.json")}, {"plan.json", in.no_lock});
}

constexpr std::string_view kFolder = "smplan's own exports, docs/export.md";

constexpr Rule kFolderRules[] = {
    {"C220", Severity::Warning, "Drift from the plan",
     "a setting of the job's files, or a flag, is not what the plan.json beside them says", "{}",
     "put the value back, or plan again with it and export", kFolder, kAnyKind, Need::Lock, drift},
    {"C221", Severity::Error, "Files that contradict each other",
     "two files of a job say different things of one setting", "{} is {} in {}, and {} in {}",
     "write the same value in both: the job fails at its start, or trains another thing than one of them says",
     "smplan's own exports, docs/export.md; transformers 5.6.0, integrations/deepspeed.py", kAnyKind, Need::Files,
     contradictions},
    {"C222", Severity::Warning, "Missing file of the export", "a file that the export wrote is not there",
     "{} was exported and is not there", "put it back: smplan export --plan plan.json", kFolder, kAnyKind, Need::Folder,
     missing_files},
    {"C223", Severity::Info, "Changed file", "a file is not as the export wrote it", "{} was changed since its export",
     "nothing to do if that is meant", kFolder, kAnyKind, Need::Folder, changed_files},
    {"C224", Severity::Error, "No entry point",
     "the job's entry point is not in the folder of its source (a warning where the export left the script to you)",
     "the entry point {} is not in {}", "put the training script there", kFolder, kAnyKind, Need::Files,
     missing_entry_point},
    {"C225", Severity::Error, "File of the job that does not count",
     "a file that the job goes on from, or its plan, cannot be read, or is none of this job", "{} does not count: {}",
     "mend it, or export the job again", kFolder, kAnyKind, Need::Files, unreadable},
};

}  // namespace

std::span<const Rule> folder_rules() { return kFolderRules; }

}  // namespace smplan
