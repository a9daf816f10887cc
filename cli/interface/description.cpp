#include "cli/interface/description.hpp"

#include <CLI/CLI.hpp>

namespace smplan::cli {
namespace {

ArgumentHelp describe(const CLI::Option& option) {
  ArgumentHelp help;
  help.positional = option.get_positional();
  if (help.positional) {
    help.names = {option.get_name(true)};
  } else {
    for (const std::string& name : option.get_lnames()) help.names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) help.names.push_back("-" + name);
  }
  // A switch takes no values; the parser gives it a type all the same.
  const bool is_switch = !help.positional && option.get_expected_min() == 0;
  if (!is_switch) help.type = option.get_type_name();
  help.text = option.get_description();
  help.group = option.get_group() == "Options" ? "" : option.get_group();
  help.required = option.get_required();
  help.repeats = option.get_expected_max() > 1;
  return help;
}

}  // namespace

std::vector<ArgumentHelp> describe_arguments(const CLI::App& app) {
  std::vector<ArgumentHelp> all;
  for (const CLI::Option* option : app.get_options()) all.push_back(describe(*option));
  return all;
}

}  // namespace smplan::cli
