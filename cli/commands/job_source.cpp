#include "cli/commands/job_source.hpp"

#include "base/json_reader.hpp"
#include "planner/preflight/beside.hpp"

namespace smplan::cli {

Result<Job> read_job_source(const std::string& path) {
  const Result<std::string> file = job_file_of(path);
  if (!file) return tl::unexpected<Diagnostics>(file.error());
  const Result<std::string> text = read_text_file(*file);
  if (!text) return tl::unexpected<Diagnostics>(text.error());
  Result<Job> job = read_job(*text, *file, std::nullopt);
  if (job) read_beside(*job, *file == path ? std::string() : path);
  return job;
}

}  // namespace smplan::cli
