#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "planner/preflight/node.hpp"
#include "planner/preflight/shell_words.hpp"

namespace smplan {

/// A launcher of processes: how it is started, by its program, with its action behind it, or by Python, as a module;
/// and what knows its options.
struct LaunchProgram {
  std::string_view launcher;  ///< by its name: `torchrun`, `accelerate-launch`
  std::string_view title;     ///< as a user calls it
  std::string_view table, section;
  std::string_view program, action, module;
  bool plain;        ///< its program's name is that of a library too: it starts where a program stands
  bool abbreviates;  ///< it takes the beginning of an option's name
};

/// A launcher of processes that a job starts.
struct LauncherCall {
  const LaunchProgram* program = nullptr;
  int line = 0;
  Node options;  ///< its own, those before its script, by the names that they are written with, without two hyphens
};

/// A command may have no more: a hostile file may have a hundred thousand.
inline constexpr std::size_t kMostLauncherOptions = 1000;

/// `--name`, `-x`; a negative number is none.
bool is_any_option(std::string_view word);
/// With hyphens for underscores.
std::string hyphened(std::string_view name);

/// The options of a command's words from `next` to the launcher's script, no more than `most`. `list` is where the
/// words stand in a file that is no script; of a script it is empty.
LauncherCall read_launcher_options(const LaunchProgram& launcher, const std::vector<ShellWord>& command,
                                   std::size_t next, const std::string& list, std::size_t most);

/// An option of it by its name with hyphens, however it is spelled; nullptr without it.
const Node* option_of(const LauncherCall& call, std::string_view name);

}  // namespace smplan
