#include <fmt/format.h>

#include "cli/interface/completion.hpp"
#include "cli/interface/values.hpp"

namespace smplan::cli {
namespace {

constexpr const char* kHead = R"(# fish completion of smplan; written by `smplan completion fish`
# The command that the line names; flags alone are a request to plan.
function __smplan_command
    set -l words (commandline -opc)
    if not set -q words[2]
        string match -q -- '-*' (commandline -ct); and echo plan
    else if string match -q -- '-*' $words[2]
        echo plan
    else
        echo $words[2]
    end
end
function __smplan_in
    string match -q -- $argv[1] (__smplan_command)
end
function __smplan_word
    __smplan_in $argv[1]; and test (count (commandline -opc)) -eq $argv[2]
end
complete -c smplan -f
)";

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + '\'';
}

/// What stands for the value: a list of words, paths, or any text.
std::string value_part(const ArgumentHelp& argument, const Catalog& catalog) {
  if (!argument.takes_value()) return "";
  const std::vector<std::string> values = values_of(argument.type, catalog);
  if (!values.empty()) return fmt::format(" -x -a {}", quoted(fmt::format("{}", fmt::join(values, " "))));
  return is_path(argument.type) ? " -r -F" : " -x";
}

std::string positional_line(const CommandHelp& command, const ArgumentHelp& argument, std::size_t word,
                            const Catalog& catalog) {
  const std::string condition =
      argument.repeats ? "__smplan_in " + command.name : fmt::format("__smplan_word {} {}", command.name, word);
  const bool path = is_path(argument.type) || argument.type.empty();
  return fmt::format("complete -c smplan -n {}{} -d {}\n", quoted(condition),
                     path ? " -F" : value_part(argument, catalog).substr(3), quoted(argument.text));
}

}  // namespace

std::string fish_completion(const Interface& interface, const Catalog& catalog) {
  std::string out = kHead;
  for (const ArgumentHelp& argument : interface.arguments) {
    out += fmt::format("complete -c smplan -n 'test (count (commandline -opc)) -eq 1' -l {} -d {}\n",
                       argument.name().substr(2), quoted(argument.text));
  }
  for (const CommandHelp& command : interface.commands) {
    out += fmt::format("complete -c smplan -n 'test (count (commandline -opc)) -eq 1' -a {} -d {}\n", command.name,
                       quoted(command.summary));
    std::size_t word = 2;  // the program and the command stand before
    for (const ArgumentHelp& argument : command.arguments) {
      if (argument.positional) {
        out += positional_line(command, argument, word++, catalog);
      } else {
        out += fmt::format("complete -c smplan -n {} -l {}{} -d {}\n", quoted("__smplan_in " + command.name),
                           argument.name().substr(2), value_part(argument, catalog), quoted(argument.text));
      }
    }
  }
  return out;
}

}  // namespace smplan::cli
