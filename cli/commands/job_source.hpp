#pragma once

#include <string>

#include "planner/preflight/job.hpp"

namespace smplan::cli {

/// The job of a file or of a folder, with what stands beside it: what --from names.
Result<Job> read_job_source(const std::string& path);

}  // namespace smplan::cli
