#pragma once

#include <string>
#include <vector>

#include "cli/render/listing.hpp"

namespace smplan::cli {

/// Lines of a sweep (`SweepLine::text`) in the format of the context: a table with the varied members first, the plan
/// of each request and, where there are some, its trials; the same as Markdown; CSV with numbers in full; JSON as an
/// array of the lines. A line that was changed since smplan wrote it has empty cells where it lacks a value.
std::string render_sweep(const std::vector<std::string>& lines, const std::vector<std::string>& varied,
                         const Context& context);

/// The trials of one line in sentences; empty where it has none.
std::string trials_in_words(const std::string& line);

}  // namespace smplan::cli
