#pragma once

#include <string>
#include <vector>

#include "cli/flags.hpp"
#include "planner/validation/measured_run.hpp"

namespace smplan::cli {

/// Tables of measured runs as one list.
struct MeasuredFiles {
  std::vector<MeasuredRun> runs;
  std::vector<std::string> files;  ///< of each run: the table that it stands in, without folders
  std::vector<std::string> notes;  ///< of the tables: columns that nothing reads
};

/// The positional argument: one table or more, or none where the command has another source.
void add_measured_files(Flags& command, std::vector<std::string>& paths, bool required = true);

/// Reads every table; all unreadable ones are reported together.
Result<MeasuredFiles> read_measured_files(const std::vector<std::string>& paths);

/// What was passed over, for standard error: columns that nothing reads, measured cells that hold no number.
std::vector<std::string> measured_notes(const MeasuredFiles& measured);

}  // namespace smplan::cli
