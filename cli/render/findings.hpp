#pragma once

#include <string>

#include "cli/render/table.hpp"
#include "planner/preflight/check.hpp"

namespace smplan::cli {

/// For people: a finding a paragraph, then the prediction and the count.
std::string findings_text(const Findings& findings, const Style& style);
/// Workflow commands that GitHub Actions turns into annotations of the file.
std::string findings_github(const Findings& findings);
/// A JUnit report: a test case a rule that was run.
std::string findings_junit(const Findings& findings, bool strict);

/// A file that is no job, or cannot be read, and why.
struct NoJob {
  std::string file;
  std::string why;
};

/// What was found in several jobs that were checked at once.
struct CheckedJobs {
  std::vector<Findings> jobs;
  std::vector<NoJob> unreadable;  ///< that a command names, or that lie in a folder and have the name of a job

  [[nodiscard]] int count(Severity severity) const;
};
/// The findings of each, then a line for all.
std::string jobs_text(const CheckedJobs& checked, const Style& style);
/// `smplan.checks/1`: the documents of the single jobs, what could not be read, and sums.
std::string jobs_json(const CheckedJobs& checked);
std::string jobs_github(const CheckedJobs& checked);
/// A test suite a job; what could not be read is a suite with an error.
std::string jobs_junit(const CheckedJobs& checked, bool strict);

}  // namespace smplan::cli
