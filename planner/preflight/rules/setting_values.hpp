#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "catalogs/framework_settings.hpp"
#include "planner/preflight/rule.hpp"

namespace smplan {

// One value against its row of a framework's table, as the reader of the framework takes it.

/// What is wrong with a value.
struct SettingFault {
  std::string expected;
  Severity severity = Severity::Error;
  std::string fix;  ///< empty: to write what is expected
};

/// Type, words and limits. `option`: the value is one of a command line.
std::optional<SettingFault> value_fault(const Node& node, const FrameworkSetting& setting,
                                        const SettingSection& section, bool option);

/// The same of the first entry of a list, or name in an object, that does not fit.
struct EntryFault {
  const Node* entry;
  SettingFault fault;
  std::string is;  ///< in a message
};
std::optional<EntryFault> entry_fault(const Node& list, const FrameworkSetting& setting, const SettingSection& section);

/// What a shell fills in, or its user.
bool is_left_open(std::string_view text);
/// The value as a word of an enumeration; nullopt for what is none.
std::optional<std::string> written_word(const Node& node);
/// The value in a message.
std::string shown_value(const Node& node);

}  // namespace smplan
