#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace smplan::cli {

/// The arguments as the parser wants them: the command first (`plan` where none is named), values
/// that look like flags (`--tp -1`) joined to theirs.
Result<std::vector<std::string>> normalise_arguments(std::vector<std::string> arguments,
                                                     const std::vector<std::string>& commands);

/// The parser's complaint in our words, with the nearest flag for an unknown one.
Diagnostic explain_parse_error(const CLI::ParseError& error, const CLI::App& command);

}  // namespace smplan::cli
