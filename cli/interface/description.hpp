#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace smplan::cli {

/// A flag or positional as the parser knows it.
struct ArgumentHelp {
  std::vector<std::string> names;  ///< `--help`, `-h`; of a positional its one name
  std::string type;                ///< `N`, `FILE`, `table|json`; empty for a switch
  std::string text;
  std::string group;  ///< heading in the help; empty for those of the program itself
  bool positional = false;
  bool required = false;
  bool repeats = false;

  /// The name that stands for it.
  [[nodiscard]] const std::string& name() const { return names.front(); }
  [[nodiscard]] bool takes_value() const { return positional || !type.empty(); }
};

struct CommandHelp {
  std::string name;
  std::string summary;
  std::vector<std::string> examples;
  std::vector<ArgumentHelp> arguments;
};

/// The whole command line, read from the parser: completions, man pages and the reference are written from it, so that
/// a new flag is named in one place.
struct Interface {
  std::string about;
  std::vector<std::pair<std::string, std::string>> exit_codes;   ///< with what they mean
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables with what they do
  std::vector<std::string> examples;
  std::vector<ArgumentHelp> arguments;
  std::vector<CommandHelp> commands;
};

/// Help group of what every command has.
inline constexpr const char* kCommonGroup = "Output and data";

/// What is known once every command has been added to `root`.
std::vector<ArgumentHelp> describe_arguments(const CLI::App& app);

}  // namespace smplan::cli
