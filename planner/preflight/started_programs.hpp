#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/preflight/launcher_options.hpp"
#include "planner/preflight/shell_variables.hpp"
#include "planner/preflight/shell_words.hpp"

namespace smplan {

/// A program that a command of a shell starts, whoever launches it.
struct StartedProgram {
  std::string name;              ///< as it is written, with variables filled in: `train.py`, `verl.trainer.main_ppo`
  std::vector<ShellWord> words;  ///< its own, behind the name
};

/// What the words of a shell start.
struct StartedPrograms {
  std::vector<LauncherCall> launches;
  std::vector<StartedProgram> programs;
  /// Options before the program of their command, which are none of its own: the name, with hyphens, and the line.
  std::set<std::pair<std::string, int>> before_program;
  Variables variables;     ///< as the words leave them
  bool is_script = false;  ///< and no argument list alone
};

/// `list` is where the words stand in a file that is no script; of a script it is empty.
StartedPrograms started_by(const std::vector<ShellWord>& words, const std::string& list);

/// The name of a file without its folders.
std::string_view base_name(std::string_view path);
/// The only call of that launcher; nullptr without one, and where there are several.
const LauncherCall* only_call(const StartedPrograms& started, std::string_view launcher);
/// The command of TRL that trains, or its script in TRL's own package: `sft`; empty where none of them does. Source:
/// huggingface/trl f2cd577, trl/cli and trl/scripts.
std::string trl_command(const StartedPrograms& started);
/// Whether one of the programs has that name, in whatever folder.
bool starts(const StartedPrograms& started, std::string_view program);

}  // namespace smplan
