#pragma once

#include <string>

#include "planner/preflight/job.hpp"

namespace smplan {

/// Completes a job that is submitted with what the files beside it say of its split: those that an export's marker
/// lists, else those of our names in the folder of its script. Only what the job leaves unsaid is taken. Where an
/// export wrote the job's file, or the folder is given, Job::folder gets all that lies there. Does nothing for a job
/// that stands in no file.
void read_beside(Job& job, const std::string& folder = {});

/// The file of a folder which says the job; another path is returned as it is. Fails on a folder that has neither the
/// marker of an export nor a plan, or no such file.
Result<std::string> job_file_of(const std::string& path);

}  // namespace smplan
