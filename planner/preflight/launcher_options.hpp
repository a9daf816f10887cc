#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/preflight/node.hpp"
#include "planner/preflight/shell_words.hpp"

namespace smplan {

/// A launcher of processes that a job starts.
struct LauncherCall {
  std::string_view launcher;        ///< by its name: `torchrun`, `accelerate-launch`
  std::string_view title;           ///< as a user calls it
  std::string_view table, section;  ///< what knows its options
  Node options;  ///< its own, those before its script, by the names that they are written with, without two hyphens
};

/// What the words of a shell start.
struct LauncherCalls {
  std::vector<LauncherCall> all;
  /// Options before the script of their command, which are none of its own: the name, with hyphens, and the line.
  std::set<std::pair<std::string, int>> before_script;
  Node titan;  ///< TorchTitan's own settings behind its program, as its TOML has them
};

/// The only call of that launcher; nullptr without one, and where there are several.
const LauncherCall* only_call(const LauncherCalls& launches, std::string_view launcher);
/// An option of it by its name with hyphens, however it is spelled; nullptr without it.
const Node* option_of(const LauncherCall& call, std::string_view name);

/// `list` is where the words stand in a file that is no script; of a script it is empty.
LauncherCalls launches_of(const std::vector<ShellWord>& words, const std::string& list);

}  // namespace smplan
