#include <map>
#include <vector>

#include <fmt/format.h>

#include "cli/interface/completion.hpp"
#include "cli/interface/values.hpp"

namespace smplan::cli {
namespace {

constexpr const char* kHead = R"(# bash completion of smplan; written by `smplan completion bash`
_smplan() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' values='' flags='' word
  local -i at=-1
  # Bash cuts --flag=value at the equals sign.
  if [[ $cur == = ]]; then cur=''; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && break
    if [[ -z $command ]]; then command=$word; else at+=1; fi
  done
  at+=1
)";

constexpr const char* kTail = R"(  # The last word of a comma list is completed, what stands before it is kept.
  local before=''
  [[ $cur == *,* ]] && before=${cur%,*},
  local IFS=$'\n'
  if [[ $values == '<file>' ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
  elif [[ -n $values ]]; then
    IFS=$' \t\n'
    COMPREPLY=($(compgen -P "$before" -W "$values" -- "${cur##*,}"))
  elif [[ $prev != --* || $cur == -* ]]; then
    IFS=$' \t\n'
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  fi
}
complete -F _smplan smplan
)";

std::string join(const std::vector<std::string>& words, const char* separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

/// What the variable `values` gets; `<file>` stands for paths.
std::string words_of(const ArgumentHelp& argument, const Catalog& catalog) {
  if (is_path(argument.type)) return "<file>";
  return join(values_of(argument.type, catalog), " ");
}

/// `case` patterns `command:flag` by the values that they offer; flags with the same values share a line.
using Patterns = std::map<std::string, std::vector<std::string>>;

void add_patterns(Patterns& patterns, const CommandHelp& command, const Catalog& catalog) {
  for (const ArgumentHelp& argument : command.arguments) {
    // Any text goes: nothing to offer, not even flags.
    if (argument.positional || !argument.takes_value()) continue;
    const std::string values = words_of(argument, catalog);
    if (!values.empty()) patterns[values].push_back(command.name + ':' + argument.name());
  }
}

/// Flags of a command and, where the word is its n-th positional, the words for it.
std::string command_branch(const CommandHelp& command, const Catalog& catalog) {
  std::vector<std::string> flags;
  std::vector<std::string> positionals;
  for (const ArgumentHelp& argument : command.arguments) {
    if (argument.positional) {
      positionals.push_back(argument.type.empty() ? "<file>" : words_of(argument, catalog));
      if (argument.repeats) positionals.back() += "+";
    } else {
      flags.insert(flags.end(), argument.names.begin(), argument.names.end());
    }
  }
  std::string out = fmt::format("    {})\n      flags+='{}'\n", command.name, join(flags, " "));
  if (!positionals.empty()) {
    out += "      [[ -z $values && $prev != --* && $cur != -* ]] && case $at in\n";
    for (std::size_t i = 0; i < positionals.size(); ++i) {
      const bool repeats = positionals[i].back() == '+';
      const std::string values = repeats ? positionals[i].substr(0, positionals[i].size() - 1) : positionals[i];
      out += fmt::format("        {}) values='{}' ;;\n", repeats ? "*" : std::to_string(i), values);
    }
    out += "      esac\n";
  }
  return out + "      ;;\n";
}

}  // namespace

std::string bash_completion(const Interface& interface, const Catalog& catalog) {
  Patterns patterns;
  std::vector<std::string> names;
  std::string branches;
  for (const CommandHelp& command : interface.commands) {
    names.push_back(command.name);
    add_patterns(patterns, command, catalog);
    branches += command_branch(command, catalog);
  }
  std::string globals;
  for (const ArgumentHelp& argument : interface.arguments) globals += ' ' + join(argument.names, " ");

  std::string out = kHead;
  out += fmt::format("  case $command in\n    {}) ;;\n    *)\n", join(names, "|"));
  out += "      # No command yet; flags alone are a request to plan.\n";
  out += fmt::format("      [[ $COMP_CWORD == 1 && $cur != -* ]] && values='{}'\n", join(names, " "));
  out += "      [[ $COMP_CWORD == 1 ]] && flags+='" + globals.substr(1) + " '\n";
  out += "      command=plan ;;\n  esac\n";
  out += "  case $command:$prev in\n";
  for (const auto& [values, places] : patterns) {
    out += fmt::format("    {}) values='{}' ;;\n", join(places, "|"), values);
  }
  out += "  esac\n  case $command in\n" + branches + "  esac\n" + kTail;
  return out;
}

}  // namespace smplan::cli
