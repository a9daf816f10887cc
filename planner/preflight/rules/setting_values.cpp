#include "planner/preflight/rules/setting_values.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/words.hpp"
#include "catalogs/tokenizer/pattern.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {

bool is_left_open(std::string_view text) {
  return is_placeholder(text) || text.find_first_of("$`") != std::string_view::npos;
}

std::string shown_value(const Node& node) {
  if (node.is_string()) return "the text " + quote(node.text);
  if (node.is_number()) return node.text;
  if (node.kind == Node::Kind::Bool) return node.truth ? "true" : "false";
  return std::string(kind_name(node.kind));
}

std::optional<std::string> written_word(const Node& node) {
  if (node.is_string() || node.is_number()) return node.text;
  return std::nullopt;
}

namespace {

using Type = FrameworkSetting::Type;

enum class ValueVerdict : std::uint8_t { Fits, TextForTruth, Refused };

/// As int() of Python reads text: blanks around, a sign, digits with single underscores between them.
bool reads_as_integer(std::string_view text, bool point) {
  text = trim(text);
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (point) {  // pydantic takes 5.0 too
    const std::size_t dot = text.find('.');
    if (dot != std::string_view::npos && text.substr(dot + 1).find_first_not_of('0') == std::string_view::npos) {
      text = text.substr(0, dot);
    }
  }
  bool digit_before = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && !(c == '_' && digit_before)) return false;
    digit_before = digit;
  }
  return digit_before;
}

/// As float() of Python.
bool reads_as_number(std::string_view text) {
  Node node;
  node.kind = Node::Kind::String;
  node.text = trim(text);
  if (number_of(node) || reads_as_integer(text, false)) return true;
  std::string word = lower_case(node.text);
  if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.erase(0, 1);
  return word == "inf" || word == "infinity" || word == "nan";
}

bool reads_as_truth(std::string_view text, SettingReader reader) {
  const std::string word = lower_case(reader == SettingReader::Pydantic ? text : trim(text));
  static constexpr std::string_view kWords[] = {"true", "t", "yes", "y", "1", "false", "f", "no", "n", "0"};
  const bool common = std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
  return common || (reader != SettingReader::Argparse && (word == "on" || word == "off"));
}

/// A number without a fraction that a 64-bit integer holds.
bool is_whole(const Node& node) {
  if (node.kind == Node::Kind::Integer) return true;
  constexpr double kLargest = 9.2e18;
  return node.kind == Node::Kind::Real && std::trunc(node.real) == node.real && std::abs(node.real) < kLargest;
}

ValueVerdict yes(bool fits) { return fits ? ValueVerdict::Fits : ValueVerdict::Refused; }

ValueVerdict truth_verdict(const Node& node, SettingReader reader) {
  if (node.kind == Node::Kind::Bool) return ValueVerdict::Fits;
  if (node.is_number()) {
    const auto value = number_of(node);
    return yes(reader == SettingReader::Plain || value == 0.0 || value == 1.0);
  }
  if (!node.is_string()) return ValueVerdict::Refused;
  if (reader == SettingReader::Plain) return ValueVerdict::TextForTruth;
  if (!reads_as_truth(node.text, reader)) return ValueVerdict::Refused;
  return reader == SettingReader::Pydantic ? ValueVerdict::TextForTruth
                                           : ValueVerdict::Fits;  // its older versions asked for truth
}

ValueVerdict integer_verdict(const Node& node, SettingReader reader, bool option) {
  if (node.kind == Node::Kind::Bool) return yes(!option && reader != SettingReader::Text);
  if (node.is_number()) {
    const bool as_text = option || reader == SettingReader::Text;
    return yes(as_text ? reads_as_integer(node.text, false) : is_whole(node));
  }
  if (!node.is_string() || reader == SettingReader::Plain) return ValueVerdict::Refused;
  return yes(reads_as_integer(node.text, reader == SettingReader::Pydantic));
}

ValueVerdict number_verdict(const Node& node, SettingReader reader, bool option) {
  if (node.kind == Node::Kind::Bool) return yes(!option && reader != SettingReader::Text);
  if (node.is_number()) return ValueVerdict::Fits;
  return yes(node.is_string() && reader != SettingReader::Plain && reads_as_number(node.text));
}

ValueVerdict text_verdict(const Node& node, SettingReader reader, bool option) {
  if (node.is_string()) return ValueVerdict::Fits;
  if (reader == SettingReader::Text || reader == SettingReader::Argparse) {
    return yes(!node.is_object() && !node.is_array() && !(option && node.kind == Node::Kind::Bool));
  }
  return ValueVerdict::Refused;
}

/// `option`: of a command line, where everything was text.
ValueVerdict verdict_on(const Node& node, Type type, SettingReader reader, bool option) {
  switch (type) {
    case Type::Any:
      return ValueVerdict::Fits;
    case Type::Null:
      return yes(node.is_null());
    case Type::Boolean:
      return truth_verdict(node, reader);
    case Type::Integer:
      return integer_verdict(node, reader, option);
    case Type::Number:
      return number_verdict(node, reader, option);
    case Type::String:
      return text_verdict(node, reader, option);
    case Type::List:
      return yes(node.is_array() || (reader == SettingReader::Argparse && !node.is_object()));
    case Type::Object:
      return yes(node.is_object() || (reader == SettingReader::Argparse && node.is_string()));
  }
  return ValueVerdict::Fits;
}

/// The mildest verdict of all the types that will do.
ValueVerdict verdict_on(const Node& node, const std::vector<Type>& types, SettingReader reader, bool option) {
  ValueVerdict best = types.empty() ? ValueVerdict::Fits : ValueVerdict::Refused;
  // An old switch where an object is due is asked for its type.
  const bool object = std::find(types.begin(), types.end(), Type::Object) != types.end();
  for (const Type type : types) {
    const bool strict = object && type == Type::Boolean && node.kind != Node::Kind::Bool;
    if (!strict) best = std::min(best, verdict_on(node, type, reader, option));
  }
  return best;
}

std::string words_of_types(const std::vector<Type>& types) {
  static constexpr std::string_view kWords[] = {"a boolean", "a whole number", "a number", "a text",
                                                "a list",    "an object",      "null",     "anything"};
  std::string out;
  for (const Type type : types) {
    if (type == Type::Null && types.size() > 1) continue;
    out += (out.empty() ? "" : " or ") + std::string(kWords[static_cast<std::size_t>(type)]);
  }
  return out;
}

bool is_word(const std::string& word, const FrameworkSetting& setting) {
  return std::any_of(setting.values.begin(), setting.values.end(), [&](const std::string& known) {
    return known == word || (setting.any_case && lower_case(known) == lower_case(word));
  });
}

/// What the value should be; empty where its words are right. Numbers may be written 3 and 3.0.
std::string word_fault(const Node& node, const FrameworkSetting& setting, SettingReader reader) {
  if (setting.values.empty()) return {};
  if (!setting.free.empty() && verdict_on(node, setting.free, reader, false) != ValueVerdict::Refused) return {};
  auto word = written_word(node);
  // `no` is false in YAML; true is no word.
  if (!word && node.kind == Node::Kind::Bool && node.truth && !setting.is(Type::Boolean)) word = "true";
  if (!word || is_word(*word, setting)) return {};
  const auto has = [&](const std::string& part) { return word->find(part) != std::string::npos; };
  if (std::any_of(setting.open_with.begin(), setting.open_with.end(), has)) return {};
  const auto whole = integer_of(node);
  if (whole && is_word(count_text(*whole), setting)) return {};
  if (setting.separated && node.is_string()) {
    const std::vector<std::string_view> words = words_of(*word);
    const bool known =
        std::all_of(words.begin(), words.end(), [&](auto w) { return is_word(std::string(w), setting); });
    if (known) return {};
  }
  constexpr std::size_t kMostShown = 16;
  const std::string other = setting.free.empty() ? "" : words_of_types(setting.free) + " or ";
  if (setting.values.size() <= kMostShown) return other + "one of " + list_text(setting.values);
  return other + "one of its " + count_text(static_cast<std::int64_t>(setting.values.size())) + " words";
}

std::string limit_fault(const Node& node, const FrameworkSetting& setting) {
  if (node.kind == Node::Kind::Bool) return {};
  const auto n = number_of(node);
  if (!n) return {};
  if (setting.min && *n < *setting.min) return fmt::format("at least {}", *setting.min);
  if (setting.max && *n > *setting.max) return fmt::format("at most {}", *setting.max);
  if (setting.above && *n <= *setting.above) return fmt::format("above {}", *setting.above);
  if (setting.below && *n >= *setting.below) return fmt::format("below {}", *setting.below);
  return {};
}

/// `--flag value` and `--option` without one.
std::optional<SettingFault> option_fault(const Node& node, const FrameworkSetting& setting) {
  const bool bare = node.kind == Node::Kind::Bool;
  if (setting.option == OptionValues::None && !bare) {
    // Other words may be the program, or the shell's.
    if (node.is_array() || !reads_as_truth(node.text, SettingReader::Text)) return {};
    return SettingFault{"a switch without a value", Severity::Error, "drop the value"};
  }
  const bool needs_one = setting.option == OptionValues::One || setting.option == OptionValues::Many;
  if (bare && needs_one && !setting.is(Type::Any)) {
    return SettingFault{"followed by " + words_of_types(setting.types), Severity::Error, "add the value"};
  }
  return {};
}

/// A slip of a known word, and not the word of a later version: `lama3`, but not `llama5`.
bool is_slip(const std::string& word, const std::vector<std::string>& known) {
  const auto letters = [](std::string text) {
    std::erase_if(text, [](char c) { return c < 'A' || c > 'z'; });
    return text;
  };
  return std::any_of(known.begin(), known.end(), [&](const std::string& other) {
    return word.size() > 3 && one_slip_apart(word, other) && letters(word) != letters(other);
  });
}

bool is_of_another_case(const std::string& word, const std::vector<std::string>& known) {
  return std::any_of(known.begin(), known.end(),
                     [&](const std::string& other) { return lower_case(word) == lower_case(other); });
}

/// The library would find the pattern in the text. No name, path or image is as long as a hostile text.
bool matches(const std::string& text, const std::string& pattern) {
  constexpr std::size_t kMostMatched = 10'000;
  return pattern.empty() || (text.size() <= kMostMatched && Matcher().matches(Pattern::own(pattern), text));
}

std::string form_of(const std::string& pattern) {
  if (pattern == "^[\\s\\S]+$") return "a text that is not empty";
  return pattern == "^/" ? "an absolute path" : "a text of the form " + pattern;
}

/// A name in an object that the library refuses, or an entry of a list that is like another one where it may not be.
std::optional<EntryFault> name_fault(const Node& member, const FrameworkSetting& setting) {
  if (member.is_object() && !setting.keys.empty()) {
    for (const Node& entry : member.items) {
      if (is_left_open(entry.key) || matches(entry.key, setting.keys)) continue;
      return EntryFault{&entry,
                        {"an object with names of the form " + setting.keys, Severity::Error, "give it another name"},
                        "the name " + quote(entry.key)};
    }
  }
  for (const std::string& distinct : setting.distinct) {
    std::set<std::string> seen;
    for (const Node& entry : member.items) {
      const Node* value = entry.find(distinct);
      if (value == nullptr || !value->is_string() || is_left_open(value->text)) continue;
      if (seen.insert(value->text).second) continue;
      return EntryFault{value,
                        {"a list whose entries differ in " + distinct, Severity::Error, "give one of them another"},
                        quote(value->text) + " twice"};
    }
  }
  return std::nullopt;
}

/// A text that a library reads as JSON where it looks like an object: transformers' arguments do.
bool is_broken_json(const Node& node, const FrameworkSetting& setting) {
  if (!node.is_string() || !setting.is(Type::Object) || !node.text.starts_with('{')) return false;
  return !parse_document(node.text, setting.name, Syntax::Json);
}

/// A list's entries, or the values of an object of any keys: their type, and the words of an enumeration.
const Node* wrong_entry(const Node& list, const FrameworkSetting& setting, const SettingSection& section) {
  const bool values = list.is_object() && setting.is(Type::Object) && !setting.is(Type::List);
  if ((!list.is_array() && !values) || setting.items.empty()) return nullptr;
  for (const Node& entry : list.items) {
    if (is_left_open(entry.text)) continue;
    const bool fits = verdict_on(entry, setting.items, section.reader, false) == ValueVerdict::Fits;
    if (!fits || !word_fault(entry, setting, section.reader).empty()) return &entry;
  }
  return nullptr;
}

/// `2:4` of a setting that takes a range: both are as the setting asks, and the first is no more than the second.
std::optional<SettingFault> range_fault(const Node& node, std::size_t colon, const FrameworkSetting& setting,
                                        const SettingSection& section) {
  Node least = node;
  Node most = node;
  least.text = node.text.substr(0, colon);
  most.text = node.text.substr(colon + 1);
  for (const Node& end : {least, most}) {
    if (end.text.find(':') != std::string::npos || end.text.empty()) {
      return SettingFault{words_of_types(setting.types) + " or two of them, MIN:MAX", Severity::Error, ""};
    }
    if (auto fault = value_fault(end, setting, section, true)) return fault;
  }
  if (number_of(least).value_or(0) <= number_of(most).value_or(0)) return {};
  if (is_left_open(node.text)) return {};
  return SettingFault{"MIN:MAX with MIN no more than MAX", Severity::Error, "write " + most.text + ":" + least.text};
}

}  // namespace

std::optional<SettingFault> value_fault(const Node& node, const FrameworkSetting& setting,
                                        const SettingSection& section, bool option) {
  const std::size_t colon = setting.range && node.is_string() ? node.text.find(':') : std::string::npos;
  if (colon != std::string::npos) return range_fault(node, colon, setting, section);
  const bool argparse = section.reader == SettingReader::Argparse;
  // Objects are unpacked, whoever fills in values.
  const bool object = !setting.section.empty() && setting.is(Type::Object);
  const bool null_fits = setting.is(Type::Null) || (section.reader != SettingReader::Pydantic && !object);
  if (node.is_null() && null_fits) return {};
  const bool unpacked = object && section.reader == SettingReader::Plain;
  if (is_left_open(node.text) || (section.takes_auto && node.text == "auto" && !unpacked)) return {};
  if (option) {
    if (const auto fault = option_fault(node, setting)) return fault;
    if (setting.option == OptionValues::None || node.kind == Node::Kind::Bool) return {};
  }
  if (argparse && option && node.is_array()) {  // the first word is the option's; others may be the program's
    return value_fault(node.items.front(), setting, section, option);
  }
  ValueVerdict verdict = verdict_on(node, setting.types, section.reader, option);
  // argparse makes a list of one word, which has to be an entry.
  if (argparse && node.is_string() && setting.is(Type::List) && !setting.items.empty()) {
    std::vector<Type> entries = setting.items;
    std::copy_if(setting.types.begin(), setting.types.end(), std::back_inserter(entries),
                 [](Type type) { return type != Type::List; });
    verdict = verdict_on(node, entries, section.reader, option);
  }
  if (verdict == ValueVerdict::Refused) {
    if (is_over_64_bits(node)) return SettingFault{"a whole number that 64 bits hold", Severity::Error, ""};
    const bool number = setting.is(Type::Integer) || setting.is(Type::Number);
    // A file's value is not converted; but a list or an object is no number or switch, and only a word is a word.
    const bool impossible = (number || setting.is(Type::Boolean)) && (node.is_array() || node.is_object());
    if (argparse && !option && !node.is_string() && !impossible && setting.values.empty()) return {};
    const auto meant = node.is_string() ? number_of(node) : std::nullopt;
    const bool whole = meant && std::trunc(*meant) == *meant && std::abs(*meant) < 1e18;
    return SettingFault{words_of_types(setting.types), Severity::Error,
                        number && whole ? "write " + count_text(static_cast<std::int64_t>(*meant)) : ""};
  }
  if (verdict == ValueVerdict::TextForTruth) {
    return SettingFault{"a boolean", Severity::Warning, "write true or false without quotes: any text is true"};
  }
  if (argparse && is_broken_json(node, setting)) {
    return SettingFault{"JSON where it starts with a brace", Severity::Error, "put its names into double quotes"};
  }
  if (node.is_string() && !matches(node.text, setting.pattern)) {
    return SettingFault{form_of(setting.pattern), Severity::Error, ""};
  }
  for (const std::string& beginning : setting.refused) {
    if (node.is_string() && node.text.starts_with(beginning)) {
      return SettingFault{"another than " + beginning, Severity::Error, "use one that is still taken"};
    }
  }
  if (std::string expected = word_fault(node, setting, section.reader); !expected.empty() && !node.is_array()) {
    const std::string written = written_word(node).value_or("");
    const auto near = nearest_names(written, setting.values, 1);
    const bool word = !written.empty() && lower_case(written)[0] >= 'a' && lower_case(written)[0] <= 'z';
    const bool slip = is_slip(written, setting.values);
    if (setting.own && !slip && !is_of_another_case(written, setting.values)) return {};
    const bool newer = setting.grows && word && !slip;
    return SettingFault{std::move(expected), newer ? Severity::Warning : Severity::Error,
                        near.empty() ? "" : "did you mean " + near.front() + "?"};
  }
  if (std::string expected = limit_fault(node, setting); !expected.empty())
    return SettingFault{std::move(expected), Severity::Error, ""};
  return {};
}

std::optional<EntryFault> entry_fault(const Node& list, const FrameworkSetting& setting,
                                      const SettingSection& section) {
  const Node* entry = wrong_entry(list, setting, section);
  if (entry == nullptr) return name_fault(list, setting);
  const std::string words = word_fault(*entry, setting, section.reader);
  const std::string expected = words.empty() ? words_of_types(setting.items) : words;
  if (list.is_object())
    return EntryFault{entry, {expected + " under each key", Severity::Error, ""}, shown_value(*entry)};
  return EntryFault{entry, {"a list of " + expected, Severity::Error, ""}, shown_value(*entry)};
}

}  // namespace smplan
