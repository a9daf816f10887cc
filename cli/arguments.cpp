#include "cli/arguments.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "planner/request/names.hpp"

namespace smplan::cli {
namespace {

constexpr std::array<std::string_view, 7> kValuedCommonFlags = {"--format",      "--output", "--color",   "--catalog",
                                                                "--calibration", "--price",  "--discount"};

bool is_flag(std::string_view token) { return token.size() > 1 && token[0] == '-'; }
bool is_negative_number(std::string_view token) {
  return is_flag(token) && (token[1] == '.' || (token[1] >= '0' && token[1] <= '9'));
}
bool is_global_question(std::string_view token) {
  return token == "--help" || token == "-h" || token == "--version" || token == "-V" || token == "--json";
}

template <typename Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Index of the first argument that is neither a common flag nor its value.
std::size_t after_common_flags(const std::vector<std::string>& arguments) {
  std::size_t i = 0;
  while (i < arguments.size()) {
    if (contains(kValuedCommonFlags, arguments[i])) {
      i += 2;
    } else if (arguments[i] == "--quiet" || arguments[i] == "--no-cache" ||
               contains(kValuedCommonFlags, std::string_view(arguments[i]).substr(0, arguments[i].find('=')))) {
      ++i;
    } else {
      break;
    }
  }
  return std::min(i, arguments.size());
}

std::vector<std::string> join_negative_values(const std::vector<std::string>& arguments) {
  std::vector<std::string> joined;
  for (const std::string& argument : arguments) {
    const bool value = is_negative_number(argument) && !joined.empty() && is_flag(joined.back()) &&
                       joined.back().find('=') == std::string::npos;
    if (value) {
      joined.back() += '=' + argument;
    } else {
      joined.push_back(argument);
    }
  }
  return joined;
}

std::vector<std::string> long_flags(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string help_hint(const CLI::App& command, std::string_view does) {
  return fmt::format("`smplan {}--help` {}", command.get_parent() == nullptr ? "" : command.get_name() + ' ', does);
}

/// `help plan` is `plan --help`, `help` is `--help` and `version` is `--version`.
void questions_as_flags(std::vector<std::string>& arguments) {
  if (arguments.front() == "version") arguments.front() = "--version";
  if (arguments.front() != "help") return;
  arguments.front() = "--help";
  if (arguments.size() > 1 && !is_flag(arguments[1])) std::swap(arguments[0], arguments[1]);
}

}  // namespace

Result<std::vector<std::string>> normalise_arguments(std::vector<std::string> arguments,
                                                     const std::vector<std::string>& commands) {
  if (!arguments.empty()) questions_as_flags(arguments);
  const std::size_t at = after_common_flags(arguments);
  const bool names_command = at < arguments.size() && !is_flag(arguments[at]);
  if (names_command) {
    if (!contains(commands, arguments[at])) {
      Diagnostic unknown = unknown_name("command", arguments[at], "", commands);
      if (unknown.hint.empty()) unknown.hint = "`smplan help` lists the commands";
      return tl::unexpected<Diagnostics>({std::move(unknown)});
    }
    std::rotate(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(at),
                arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  } else if (at < arguments.size() && !is_global_question(arguments[at])) {
    arguments.insert(arguments.begin(), "plan");
  }
  return join_negative_values(arguments);
}

Diagnostic explain_parse_error(const CLI::ParseError& error, const CLI::App& command) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extras = command.remaining(true);
    const std::string first = extras.empty() ? text : extras.front();
    if (is_flag(first)) {
      const std::string name = first.substr(0, first.find('='));
      const std::string hint = hint_for_foreign_word(name.substr(name.find_first_not_of('-')));
      if (!hint.empty()) return {"unknown-flag", "", fmt::format("unknown flag '{}'", name), hint};
      const std::vector<std::string> near = nearest_names(name, long_flags(command), 1);
      return {"unknown-flag", "", fmt::format("unknown flag '{}'", name),
              near.empty() ? help_hint(command, "lists the flags") : fmt::format("did you mean {}?", near.front())};
    }
    return {"unexpected-argument", "", fmt::format("unexpected argument '{}'", first),
            help_hint(command, "shows the usage")};
  }
  const std::string flag = text.substr(0, text.find_first_of(": "));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && flag.rfind("--", 0) == 0) {
    if (text.find("missing") != std::string::npos) return {"missing-value", flag, "needs a value", ""};
    return {"repeated-flag", flag, "was given more than once", "give it once"};
  }
  return {"bad-arguments", "", text, help_hint(command, "shows the usage")};
}

}  // namespace smplan::cli
