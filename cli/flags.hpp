#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace smplan::cli {

/// One flag or positional argument of a command; calls may be chained.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}
  Flag* operator->() { return this; }

  /// What stands for the value in help: `N`, `FILE`, `on|off`; empty hides it.
  Flag type_name(const std::string& name);
  /// The heading that it is listed under.
  Flag group(const std::string& name);
  Flag required();
  /// Each value needs the flag before it: `--catalog a --catalog b`.
  Flag one_value_each();
  /// Of a whole number: any other is refused.
  Flag one_of(const std::set<int>& values);

 private:
  CLI::Option* option_;
};

/// What a command can be told: a view of the parser's part for it. Fields are filled while the command line is read.
class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(app) {}

  /// `name`: `--tp`, or a word for a positional argument.
  Flag add_option(const std::string& name, std::string& field, const std::string& help);
  Flag add_option(const std::string& name, std::optional<std::string>& field, const std::string& help);
  Flag add_option(const std::string& name, std::optional<int>& field, const std::string& help);
  Flag add_option(const std::string& name, std::vector<std::string>& field, const std::string& help);
  Flag add_flag(const std::string& name, bool& field, const std::string& help);
  /// Without a value it means `true`; `=false` is a value.
  Flag add_switch(const std::string& name, std::optional<std::string>& field, const std::string& help);
  /// A flag that may be repeated: its values are joined to one comma list.
  Flag add_list(const std::string& name, std::optional<std::string>& field, const std::string& help);

 private:
  CLI::App& app_;
};

}  // namespace smplan::cli
