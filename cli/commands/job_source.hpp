#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/preflight/job.hpp"

namespace smplan::cli {

/// A job as the command names it: a file, and the folder around it where that was named.
struct JobPlace {
  std::string file;
  std::string folder;  ///< empty where only the file was named
};

/// The jobs that a word of the command line names: one, or all of a folder of jobs. Fails on a folder that holds none.
Result<std::vector<JobPlace>> jobs_of(const std::string& path);

/// The job of a file's text, with what stands beside it; `folder` is empty where only the file was named.
Result<Job> job_of(const std::string& text, const std::string& path, const std::string& folder,
                   std::optional<JobKind> kind);

/// The job of a file or of a folder, with what stands beside it: what --from names.
Result<Job> read_job_source(const std::string& path);

}  // namespace smplan::cli
