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

}  // namespace smplan::cli
