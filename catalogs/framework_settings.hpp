#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/embedded_file.hpp"

namespace smplan {

/// How a library takes the values of an object.
enum class SettingReader : std::uint8_t {
  Plain,     ///< as they are: a wrong type fails where it is used, and text is true
  Pydantic,  ///< pydantic's lax mode: text that reads as the type will do
  Argparse,  ///< text of a command line; a file's other values as they are
  Text,      ///< made text, and read from there
};

/// What a library does with a key that it does not know.
enum class UnknownKey : std::uint8_t {
  Refused,
  Ignored,
  Open,      ///< another part, or the user's script, may know it
  HandedOn,  ///< all keys are arguments of another library's function
};

/// Values that an option of a command line takes.
enum class OptionValues : std::uint8_t { One, None, Optional, Any, Many };

/// One setting of a framework's file or command line.
struct FrameworkSetting {
  enum class Type : std::uint8_t { Boolean, Integer, Number, String, List, Object, Null, Any };
  std::string name;
  std::vector<std::string> also;  ///< other spellings
  std::vector<Type> types;        ///< any of these
  std::vector<Type> items;        ///< of a list's entries; empty: anything
  std::vector<std::string> values;
  std::vector<Type> free;              ///< types that `values` do not bind: "auto", or any number
  bool range = false;                  ///< also two numbers, `2:4`, of which the first is no more
  std::vector<std::string> open_with;  ///< a text with one of these in it is no word of `values`, and will do: a path
  std::vector<std::string> refused;    ///< beginnings of words that are refused by name, whatever else will do
  std::vector<std::string> unless;     ///< what the file has where others bring words of their own
  bool grows = false;                  ///< `values` get more with every version
  bool own = false;                    ///< a program may add `values` of its own: a slip of one is refused alone
  /// Of `values`, those that the newest version no longer takes, and the version that took each last.
  std::vector<std::pair<std::string, std::string>> older;
  bool any_case = false;   ///< of `values`
  bool separated = false;  ///< a text may be several of `values`, with blanks between them
  std::optional<double> min, max, above, below;
  std::string pattern;                ///< of a text, in the syntax of PCRE2; empty: any
  std::string keys;                   ///< the same of the names in an object
  std::vector<std::string> distinct;  ///< of a list of objects: members whose values must differ
  OptionValues option = OptionValues::One;
  bool required = false;
  /// The library takes it, and its own file, which a command line can only change, does not have it.
  bool unlisted = false;
  bool filled = false;  ///< that file has a value for it, which is not null
  std::string section;  ///< of the object that it is, or of each object in a list
  /// The member whose value chooses that section: beside it, or inside it where `section` has a name too.
  std::string section_of;
  bool deprecated = false;
  std::string replaced_by;
  std::string after;  ///< newest version that did not list it yet, where that is known
  std::string last;   ///< version that had it last; empty where the newest still has it

  [[nodiscard]] bool is(Type type) const;
  [[nodiscard]] bool answers_to(std::string_view spelling) const;
  /// The version that took the word last; empty where the newest takes it.
  [[nodiscard]] std::string_view last_with(std::string_view word) const;
};

/// An object of the file, by the path of its members: `zero_optimization.offload_param`.
struct SettingSection {
  std::string path;
  SettingReader reader = SettingReader::Plain;
  UnknownKey unknown = UnknownKey::Ignored;
  bool takes_auto = false;             ///< `auto` stands for a value that somebody fills in
  std::vector<std::string> same;       ///< other paths that it is the section of
  std::vector<std::string> when;       ///< of the whole file, where it has one of these keys
  std::vector<std::string> open_when;  ///< unknown keys may be right, where the file has one of these
  std::string off;                     ///< the switch in it that, where it is false, lets every other value pass
  std::vector<FrameworkSetting> settings;

  [[nodiscard]] const FrameworkSetting* find(std::string_view name) const;
};

/// What a training framework's configuration takes, read out of the framework by scripts/refresh.
struct FrameworkTable {
  std::string framework;
  std::string version;  ///< newest that was read
  std::string source, as_of;
  std::vector<SettingSection> sections;
  /// Sections are those of one configuration of several, whose name stands behind a colon: `policy:grpo`.
  bool by_configuration = false;

  [[nodiscard]] const SettingSection* find(std::string_view path) const;
};

/// By the name of its kind of job: `deepspeed`, `trl`; nullptr for a framework without a table.
const FrameworkTable* framework_table(std::string_view framework);
const std::vector<FrameworkTable>& framework_tables();

/// Generated at build time from catalogs/data/frameworks.
std::span<const EmbeddedFile> shipped_framework_files();

}  // namespace smplan
