#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace smplan::cli {

/// Writes to standard output (`-`) or, whole or not at all, to a file. A reader that closed the pipe
/// has seen enough: that is no error.
Result<void> write_answer(const std::string& destination, std::string_view text);

/// One line a diagnostic on standard error.
void report(const Diagnostics& diagnostics);

}  // namespace smplan::cli
