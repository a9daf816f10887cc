#pragma once

#include <string>
#include <vector>

#include "planner/preflight/node.hpp"
#include "planner/preflight/shell_words.hpp"

namespace smplan {

/// The options of torchrun itself, wherever the words of a shell start it: those before its script, by the names that
/// they are written with, without their two hyphens. `list` is where the words stand in a file that is no script; of a
/// script it is empty.
std::vector<Node> torchrun_options(const std::vector<ShellWord>& words, const std::string& list);

}  // namespace smplan
