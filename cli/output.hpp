#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "planner/export/target.hpp"

namespace smplan::cli {

/// Writes to standard output (`-`) or, whole or not at all, to a file. A reader that closed the pipe
/// has seen enough: that is no error.
Result<void> write_answer(const std::string& destination, std::string_view text);

/// An answer in a format of --format, without characters that a terminal, a log or an editor would obey. JSON keeps its
/// values; elsewhere `?` stands for them.
std::string fit_for_display(std::string text, std::string_view format);

/// A file of an answer that has several.
using OutputFile = ExportFile;

/// Whether an answer of several files goes into a folder: wherever the destination does not name the first file alone,
/// by its ending (`job.json` of `create_training_job.json`).
bool names_folder(const std::string& destination, const std::string& first_file);

/// Writes the files into a folder, made if it is missing; each whole or not at all.
Result<void> write_files(const std::string& folder, const std::vector<OutputFile>& files);

/// A line on standard error beside the answer.
void note(std::string_view text);

/// One line a diagnostic on standard error, the first 50 and how many more there are.
void report(const Diagnostics& diagnostics);

}  // namespace smplan::cli
