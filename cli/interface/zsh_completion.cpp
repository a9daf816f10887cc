#include <fmt/format.h>

#include "cli/interface/completion.hpp"
#include "cli/interface/values.hpp"

namespace smplan::cli {
namespace {

/// Text inside single quotes and brackets.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

/// `:message:action` of a value.
std::string value_part(const ArgumentHelp& argument, const Catalog& catalog) {
  const std::vector<std::string> values = values_of(argument.type, catalog);
  const std::string message = argument.positional ? argument.name() : values.empty() ? argument.type : "value";
  if (!values.empty()) return fmt::format(":{}:({})", escaped(message), fmt::join(values, " "));
  const bool path = is_path(argument.type) || (argument.positional && argument.type.empty());
  return fmt::format(":{}:{}", escaped(message), path ? "_files" : " ");
}

std::string argument_spec(const ArgumentHelp& argument, std::string_view name, const Catalog& catalog) {
  if (argument.positional) {
    return fmt::format("      '{}{}'", argument.repeats ? "*" : "", value_part(argument, catalog));
  }
  const bool takes_value = argument.takes_value();
  return fmt::format("      '{}{}{}[{}]{}'", argument.repeats ? "*" : "", name, takes_value ? "=" : "",
                     escaped(argument.text), takes_value ? value_part(argument, catalog) : "");
}

std::string argument_specs(const std::vector<ArgumentHelp>& arguments, const Catalog& catalog) {
  std::string out;
  for (const ArgumentHelp& argument : arguments) {
    for (const std::string& name : argument.names) out += " \\\n" + argument_spec(argument, name, catalog);
  }
  return out;
}

}  // namespace

std::string zsh_completion(const Interface& interface, const Catalog& catalog) {
  std::string out = "#compdef smplan\n# zsh completion of smplan; written by `smplan completion zsh`\n_smplan() {\n";
  out += "  local command=$words[2]\n  local -a commands=(\n";
  for (const CommandHelp& command : interface.commands) {
    out += fmt::format("    '{}:{}'\n", command.name, escaped(command.summary));
  }
  out += R"(  )
  if (( CURRENT == 2 )) && [[ $command != -* ]]; then
    _describe -t commands command commands
    return
  fi
  # Flags alone are a request to plan.
  if [[ $command == -* ]]; then command=plan; else shift words; (( CURRENT-- )); fi
  case $command in
)";
  for (const CommandHelp& command : interface.commands) {
    out += fmt::format("    {}) _arguments{} ;;\n", command.name, argument_specs(command.arguments, catalog));
  }
  return out + "  esac\n}\n_smplan \"$@\"\n";
}

}  // namespace smplan::cli
