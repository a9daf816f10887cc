#pragma once

#include <string>
#include <vector>

#include "cli/render/table.hpp"
#include "planner/validation/report.hpp"

namespace smplan::cli {

/// Errors over all runs and by source, memory errors, the worst rows and the refused ones.
std::string validation_text(const std::vector<ComparedRun>& runs, const Style& style);
std::string validation_markdown(const std::vector<ComparedRun>& runs);

}  // namespace smplan::cli
