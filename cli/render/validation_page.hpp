#pragma once

#include <string>
#include <vector>

#include "cli/render/table.hpp"
#include "planner/validation/report.hpp"

namespace smplan::cli {

/// What the reader asked to see.
struct ValidationView {
  GroupBy by = GroupBy::Source;
  std::size_t worst = 5;
};

/// Errors over all runs and by group, memory errors, the worst rows with their breakdown, the refused ones.
std::string validation_text(const std::vector<ComparedRun>& runs, const ValidationView& view, const Style& style);
std::string validation_markdown(const std::vector<ComparedRun>& runs, const ValidationView& view);

/// Columns of errors under a first one with this title, and the cells of one group.
Table error_columns(const std::string& title);
std::vector<std::string> error_cells(const ErrorSummary& s);

/// Text of a file as it may be shown: control characters become blanks, so that no cell breaks a table or
/// steers a terminal.
std::string printable(std::string_view text);

/// `1 run`, `2 runs`.
std::string counted(std::size_t n, std::string_view noun);
std::string plain_percent(double fraction);

}  // namespace smplan::cli
