#include <fmt/format.h>

#include "base/markdown.hpp"
#include "cli/interface/manual.hpp"

namespace smplan::cli {
namespace {

std::string pairs(const char* first, const char* second, const std::vector<std::pair<std::string, std::string>>& all) {
  std::string out = fmt::format("| {} | {} |\n| --- | --- |\n", first, second);
  for (const auto& [name, meaning] : all)
    out += fmt::format("| `{}` | {} |\n", markdown_cell(name), markdown_cell(meaning));
  return out;
}

std::string usage(const CommandHelp& command) {
  std::string out = "smplan " + command.name + " [OPTIONS]";
  for (const ArgumentHelp& argument : command.arguments) {
    if (!argument.positional) continue;
    const std::string word = argument.name() + (argument.repeats ? " ..." : "");
    out += argument.required ? ' ' + word : " [" + word + ']';
  }
  return out;
}

std::string row(const ArgumentHelp& argument) {
  std::string names;
  for (const std::string& name : argument.names) names += (names.empty() ? "`" : "`, `") + name;
  const std::string type = argument.type.empty() ? "" : " `" + markdown_cell(argument.type) + "`";
  return fmt::format("| {}`{} | {} |\n", names, type, markdown_cell(argument.text));
}

/// A table for each heading of the help; what all commands have is said once.
std::string tables(const CommandHelp& command) {
  std::string out;
  std::string group = "none yet";
  for (const bool positional : {true, false}) {
    for (const ArgumentHelp& argument : command.arguments) {
      if (argument.positional != positional || argument.group == kCommonGroup || argument.name() == "--help") continue;
      const std::string heading = positional ? "Arguments" : argument.group.empty() ? "Options" : argument.group;
      if (heading != group) out += fmt::format("\n| {} | |\n| --- | --- |\n", heading);
      group = heading;
      out += row(argument);
    }
  }
  return out;
}

std::string formats_of(const CommandHelp& command) {
  for (const ArgumentHelp& argument : command.arguments) {
    if (argument.name() == "--format") return argument.type;
  }
  return "";
}

std::string common_table(const Interface& interface) {
  std::string out = "| every command | |\n| --- | --- |\n";
  for (const ArgumentHelp& argument : interface.commands.front().arguments) {
    if (argument.group == kCommonGroup || argument.name() == "--help") out += row(argument);
  }
  return out;
}

}  // namespace

std::string reference_page(const Interface& interface) {
  std::string out = "# Command line\n\nWritten by `smplan manual --format markdown`; do not edit.\n\n";
  out += interface.about + "\n\n| command | does |\n| --- | --- |\n";
  for (const CommandHelp& command : interface.commands) {
    out += fmt::format("| [{0}](#{0}) | {1} |\n", command.name, markdown_cell(command.summary));
  }
  out += "\n" + common_table(interface);
  out += "\n" + pairs("exit code", "means", interface.exit_codes);
  out += "\n" + pairs("variable", "does", interface.environment);
  for (const CommandHelp& command : interface.commands) {
    out += fmt::format("\n## {}\n\n{}. `--format {}`.\n\n```text\n{}\n```\n", command.name, command.summary,
                       formats_of(command), usage(command));
    out += tables(command);
    out += "\n```sh\n";
    for (const std::string& line : command.examples) out += line + '\n';
    out += "```\n";
  }
  return out;
}

}  // namespace smplan::cli
