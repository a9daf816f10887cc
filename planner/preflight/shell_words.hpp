#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace smplan {

/// A word of a shell's line.
struct ShellWord {
  std::string text;
  int line = 1;
  bool first = false;        ///< of a command
  bool quoted = false;       ///< in part at least: it stays one word
  bool literal = false;      ///< a dollar in it is one
  bool conditional = false;  ///< a condition decides whether a program gets it
};

/// Of a variable: letters, digits and underscores.
bool is_shell_name(std::string_view text);
/// `NAME=`, which a bracket makes an array.
bool begins_array(std::string_view text);
/// `-c`, `-lc`: the next word is a script of its own.
bool takes_script(std::string_view word);
/// `--name`.
bool is_option(const ShellWord& word);

/// Words as a shell would split them, without expansion: quotes, backslashes, comments, the ends of commands. An array
/// is a word `NAME=(`, its words and a word `)`; a pipe is a word. Fails on a quote that is not closed and on more
/// words than a job file may have.
Result<std::vector<ShellWord>> split_words(std::string_view text, std::string_view name);
/// The words that a program gets: not where its output goes, nor the program that takes it on the same line.
std::vector<ShellWord> without_output(std::vector<ShellWord> words);

}  // namespace smplan
