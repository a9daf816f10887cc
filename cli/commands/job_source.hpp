#pragma once

#include <optional>
#include <string>

#include "planner/preflight/job.hpp"

namespace smplan::cli {

/// The job of a file's text, with what stands beside it; `folder` is empty where only the file was named.
Result<Job> job_of(const std::string& text, const std::string& path, const std::string& folder,
                   std::optional<JobKind> kind);

/// The job of a file or of a folder, with what stands beside it: what --from names.
Result<Job> read_job_source(const std::string& path);

}  // namespace smplan::cli
