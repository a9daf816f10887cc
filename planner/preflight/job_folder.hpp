#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/preflight/job.hpp"

namespace smplan {

/// A file of a job's folder that says something of the job.
struct FolderFile {
  std::string path;  ///< below the folder
  Job job;
};

/// What became of a file that an export wrote.
enum class FileState { AsWritten, Changed, Missing };
struct ListedFile {
  std::string path;
  FileState state = FileState::AsWritten;
};

/// A job that is a folder: every file in it that is read, and what an export left there. Read once; rules do no I/O.
struct JobFolder {
  std::string path;
  std::vector<ListedFile> listed;                               ///< by the marker of the export
  std::vector<FolderFile> files;                                ///< the one that is the job first
  std::vector<std::pair<std::string, std::string>> unreadable;  ///< path and reason
  std::optional<std::string> lock;                              ///< text of plan.json
  std::string source_dir;                                       ///< of the script, below the folder
  bool entry_point_missing = false;                             ///< the job names one, and it is not in source_dir
  bool entry_point_awaited = false;                             ///< the export left it to the user, by this name
};

/// A file by the name that exports give it: what it is, and which export writes it as the job.
struct JobFileName {
  std::string_view name;
  JobKind kind;
  std::string_view target;
};
/// nullptr for a name that no file of a job has.
const JobFileName* job_file_name(const std::filesystem::path& path);
/// The export that writes jobs of this kind; empty where none does.
std::string_view target_of(JobKind kind);

/// Below the folder, whatever a marker says.
bool stays_inside(const std::filesystem::path& path);
/// What the marker lists; empty without one that can be read.
std::vector<std::string> exported_files(const std::filesystem::path& folder);
/// The file of a folder that is the job; empty without one.
std::string job_file_in(const std::filesystem::path& folder);
/// The folder that an export wrote this file into; empty where none did.
std::filesystem::path folder_of(const std::string& job_file);

/// What the job says of the folder of its script; nullptr where it says nothing.
const Node* source_of(const Job& job);

/// The programs of exports count sequences; DeepSpeed counts examples, of pairs two sequences each.
void count_sequences(const Job& job, JobStrategy& deepspeed);

/// A file of the job's folder as findings name it: from the folder of the file that is checked.
std::string beside(const Job& job, const std::string& file);
/// A place in a file of the job's folder, which a flag's stays.
Where in_file(const Job& job, const std::string& file, const Where& where);

/// Reads all of a folder around the job, which stands in one of its files.
JobFolder read_job_folder(const std::filesystem::path& folder, const Job& job);

}  // namespace smplan
