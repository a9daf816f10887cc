#include "cli/commands/job_source.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/json_reader.hpp"
#include "planner/preflight/beside.hpp"

namespace smplan::cli {
namespace {

namespace fs = std::filesystem;

/// Files of a folder of jobs: the job of each folder in it, and each file whose name ends as those of jobs do.
void jobs_below(const fs::path& folder, std::vector<JobPlace>& out) {
  constexpr std::array<std::string_view, 7> kEndings{".json", ".yaml", ".yml", ".toml", ".sh", ".sbatch", ".slurm"};
  std::vector<fs::path> entries;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  for (const fs::path& entry : entries) {
    if (fs::is_symlink(entry, none)) continue;
    if (fs::is_directory(entry, none)) {
      if (const Result<std::string> file = job_file_of(entry.string())) {
        out.push_back({*file, entry.string()});
      } else {
        jobs_below(entry, out);
      }
    } else if (std::find(kEndings.begin(), kEndings.end(), entry.extension()) != kEndings.end()) {
      out.push_back({entry.string(), ""});
    }
  }
}

}  // namespace

Result<std::vector<JobPlace>> jobs_of(const std::string& path) {
  const Result<std::string> file = job_file_of(path);
  if (file) return std::vector<JobPlace>{{*file, *file == path ? std::string() : path}};
  std::error_code none;
  std::vector<JobPlace> jobs;
  if (fs::is_directory(path, none)) jobs_below(path, jobs);
  if (jobs.empty()) return tl::unexpected<Diagnostics>(file.error());
  return jobs;
}

Result<Job> job_of(const std::string& text, const std::string& path, const std::string& folder,
                   std::optional<JobKind> kind) {
  Result<Job> job = read_job(text, path, kind);
  if (job) read_beside(*job, folder);
  return job;
}

Result<Job> read_job_source(const std::string& path) {
  const Result<std::string> file = job_file_of(path);
  if (!file) return tl::unexpected<Diagnostics>(file.error());
  const Result<std::string> text = read_text_file(*file);
  if (!text) return tl::unexpected<Diagnostics>(text.error());
  return job_of(*text, *file, *file == path ? std::string() : path, std::nullopt);
}

}  // namespace smplan::cli
