// A job that is a folder: its files against each other and against the plan beside them.
#include <filesystem>

#include <fmt/format.h>

#include "planner/preflight/job_folder.hpp"
#include "planner/preflight/job_settings.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;

/// A file of the folder as findings name it: from the folder of the file that is checked.
std::string beside(const Job& job, const std::string& file) {
  return (fs::path(job.folder->path) / file).lexically_relative(fs::path(job.file).parent_path()).generic_string();
}

Where in_file(const Job& job, const std::string& file, const Where& where) {
  if (file == job.folder->files.front().path || where.path.starts_with("--")) return where;
  return {where.path, where.line, beside(job, file)};
}

void drift(const CheckInput& in, Report& report) {
  for (const Change& change : *in.drift) {
    Finding& finding = report.at(in_file(in.job, change.file, change.where), {to_string(change)});
    if (change.where.path.starts_with("--")) finding.fix = "the flag counts: plan again with it if it is meant";
  }
}

void contradictions(const CheckInput& in, Report& report) {
  const JobFolder& folder = *in.job.folder;
  for (const Contradiction& c : contradictions_in(folder, in.catalog)) {
    report.at(in_file(in.job, c.second_file, c.second.where),
              {std::string(c.name), *c.first.value, place_in(c.first_file, c.first.where), *c.second.value,
               place_in(c.second_file, c.second.where)});
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
     "write the same value in both: the job fails at its start, or trains another thing than one of them says", kFolder,
     kAnyKind, Need::Folder, contradictions},
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
