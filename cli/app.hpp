#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.hpp"

namespace smplan::cli {

/// Runs one command line (without the program's name): parses, answers, writes. Never throws for bad input.
ExitCode run(std::vector<std::string> arguments);

}  // namespace smplan::cli
