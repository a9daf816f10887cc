#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"
#include "cli/refresh/http.hpp"

namespace smplan::cli {

struct ProgramLimits {
  Seconds time = Seconds(120);
  std::uint64_t max_bytes = 0;
};

/// The first executable of that name in the absolute folders of PATH: what lies in the working folder is never run.
std::optional<std::string> find_program(const std::string& name);

/// Runs a program without a shell, in a session of its own so that it cannot ask anybody, and takes what it prints.
/// `variables` are added to its environment. It ends with smplan, and with its limits. A status other than 0 is a
/// fault, with the last line that it said on standard error.
Result<void> run_program(const std::string& path, const std::vector<std::string>& arguments,
                         const std::vector<std::string>& variables, const ProgramLimits& limits, Body& output);

/// As a user types it in a shell.
std::string command_line(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace smplan::cli
