#include "cli/flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

namespace smplan::cli {

Flag Flag::type_name(const std::string& name) { return Flag(option_->type_name(name)); }
Flag Flag::group(const std::string& name) { return Flag(option_->group(name)); }
Flag Flag::required() { return Flag(option_->required()); }
Flag Flag::one_value_each() { return Flag(option_->allow_extra_args(false)); }
Flag Flag::one_of(const std::set<int>& values) { return Flag(option_->check(CLI::IsMember(values).description(""))); }

Flag Flags::add_option(const std::string& name, std::string& field, const std::string& help) {
  return Flag(app_.add_option(name, field, help));
}
Flag Flags::add_option(const std::string& name, std::optional<std::string>& field, const std::string& help) {
  return Flag(app_.add_option(name, field, help));
}
Flag Flags::add_option(const std::string& name, std::optional<int>& field, const std::string& help) {
  return Flag(app_.add_option(name, field, help));
}
Flag Flags::add_option(const std::string& name, std::vector<std::string>& field, const std::string& help) {
  return Flag(app_.add_option(name, field, help));
}
Flag Flags::add_flag(const std::string& name, bool& field, const std::string& help) {
  return Flag(app_.add_flag(name, field, help));
}
Flag Flags::add_switch(const std::string& name, std::optional<std::string>& field, const std::string& help) {
  return Flag(app_.add_flag(name + "{true}", field, help));
}
Flag Flags::add_list(const std::string& name, std::optional<std::string>& field, const std::string& help) {
  const auto join = [&field](const std::vector<std::string>& values) {
    field = fmt::format("{}", fmt::join(values, ","));
  };
  return Flag(app_.add_option_function<std::vector<std::string>>(name, join, help)->allow_extra_args(false));
}

}  // namespace smplan::cli
