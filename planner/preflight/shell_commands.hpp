#pragma once

#include <vector>

#include "planner/preflight/shell_variables.hpp"
#include "planner/preflight/shell_words.hpp"

namespace smplan {

/// A command of a script, with the values of the variables and arrays that stand in it.
struct ShellCommand {
  std::vector<ShellWord> words;
  bool conditional = false;  ///< it may not run
  bool array = false;        ///< no command, but an array that none has
};

struct ShellScript {
  std::vector<ShellCommand> commands;
  Variables variables;  ///< as the script leaves them
};

/// The commands of a script in their order, those of texts that a shell of its own runs (`bash -c "..."`) behind the
/// command that starts it. An array that no command has is one. What is not known stays as it is written; messages are
/// left out.
ShellScript commands_of(const std::vector<ShellWord>& words);

}  // namespace smplan
