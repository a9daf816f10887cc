#include "cli/commands/job_source.hpp"

#include "base/json_reader.hpp"
#include "planner/preflight/beside.hpp"

namespace smplan::cli {

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
