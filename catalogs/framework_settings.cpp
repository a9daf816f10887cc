#include "catalogs/framework_settings.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "base/json_reader.hpp"
#include "base/words.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

using Type = FrameworkSetting::Type;

constexpr EnumNames<Type, 8> kTypes{{{Type::Boolean, "boolean"},
                                     {Type::Integer, "integer"},
                                     {Type::Number, "number"},
                                     {Type::String, "string"},
                                     {Type::List, "list"},
                                     {Type::Object, "object"},
                                     {Type::Null, "null"},
                                     {Type::Any, "any"}}};
constexpr EnumNames<SettingReader, 4> kReaders{{{SettingReader::Plain, "plain"},
                                                {SettingReader::Pydantic, "pydantic"},
                                                {SettingReader::Argparse, "argparse"},
                                                {SettingReader::Text, "text"}}};
constexpr EnumNames<UnknownKey, 4> kUnknown{{{UnknownKey::Refused, "refused"},
                                             {UnknownKey::Ignored, "ignored"},
                                             {UnknownKey::Open, "open"},
                                             {UnknownKey::HandedOn, "handed on"}}};
constexpr EnumNames<OptionValues, 4> kOptionValues{{{OptionValues::None, "none"},
                                                    {OptionValues::Optional, "optional"},
                                                    {OptionValues::Any, "any"},
                                                    {OptionValues::Many, "many"}}};

std::vector<std::string> texts(ObjectReader& reader, std::string_view key) {
  std::vector<std::string> out;
  for (const JsonValue& value : reader.optional_array(key)) out.push_back(value.as_string(reader.diagnostics()));
  return out;
}

std::vector<std::string> one_or_several(ObjectReader& reader, std::string_view key) {
  const auto value = reader.optional_value(key);
  if (!value) return {};
  if (value->is_string()) return {value->as_string(reader.diagnostics())};
  std::vector<std::string> out;
  for (const JsonValue& one : value->as_array(reader.diagnostics())) out.push_back(one.as_string(reader.diagnostics()));
  return out;
}

std::vector<Type> types(ObjectReader& reader, std::string_view key) {
  std::vector<Type> out;
  for (const std::string& word : texts(reader, key)) {
    out.push_back(parse_enum(kTypes, word, reader.location(key), key, reader.diagnostics()));
  }
  return out;
}

std::pair<std::string, std::string> read_older(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  std::pair<std::string, std::string> older{reader.string("word"), reader.string("last")};
  reader.finish();
  return older;
}

/// A default that is null, missing (`???`) or follows another setting may be anything.
bool is_filled(ObjectReader& reader, Diagnostics& out) {
  const std::optional<JsonValue> value = reader.optional_value("default");
  if (!value || value->is_null()) return false;
  const std::string text = value->is_string() ? value->as_text(out) : std::string();
  return text != "???" && !text.starts_with("${");
}

FrameworkSetting read_setting(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  FrameworkSetting s;
  s.name = reader.string("name");
  s.also = texts(reader, "also");
  s.types = types(reader, "types");
  s.items = types(reader, "items");
  s.values = texts(reader, "values");
  s.free = types(reader, "free");
  s.range = reader.optional_bool("range").value_or(false);
  s.open_with = one_or_several(reader, "open_with");
  s.refused = one_or_several(reader, "refused");
  s.unless = texts(reader, "unless");
  s.grows = reader.optional_bool("grows").value_or(false);
  s.own = reader.optional_bool("own").value_or(false);
  for (const JsonValue& word : reader.optional_array("older")) s.older.push_back(read_older(word, out));
  s.any_case = reader.optional_string("case").has_value();
  s.separated = reader.optional_bool("separated").value_or(false);
  s.min = reader.optional_number("min");
  s.max = reader.optional_number("max");
  s.above = reader.optional_number("above");
  s.below = reader.optional_number("below");
  s.pattern = reader.optional_string("pattern").value_or("");
  s.keys = reader.optional_string("keys").value_or("");
  s.distinct = one_or_several(reader, "distinct");
  if (const auto n = reader.optional_string("nargs")) {
    s.option = parse_enum(kOptionValues, *n, reader.location("nargs"), "nargs", out);
  }
  s.required = reader.optional_bool("required").value_or(false);
  s.section = reader.optional_string("section").value_or("");
  s.section_of = reader.optional_string("section_of").value_or("");
  s.deprecated = reader.optional_bool("deprecated").value_or(false);
  s.replaced_by = reader.optional_string("replaced_by").value_or("");
  s.after = reader.optional_string("after").value_or("");
  s.last = reader.optional_string("last").value_or("");
  s.unlisted = reader.optional_bool("unlisted").value_or(false);
  s.filled = reader.optional_bool("filled").value_or(is_filled(reader, out));
  reader.finish();
  return s;
}

/// With the rows that it shares with a section which stands before it.
void read_shared_rows(ObjectReader& reader, const std::vector<SettingSection>& before, SettingSection& section) {
  const auto like = reader.optional_string("like");
  const std::vector<std::string> names = texts(reader, "names");
  if (!like) return;
  const auto other =
      std::find_if(before.begin(), before.end(), [&](const SettingSection& one) { return one.path == *like; });
  for (const std::string& name : names) {
    const FrameworkSetting* setting = other == before.end() ? nullptr : other->find(name);
    if (setting == nullptr) {
      reader.diagnostics().push_back({"bad-value", reader.location("names"), "no row " + name, "run scripts/refresh"});
    } else {
      section.settings.push_back(*setting);
    }
  }
}

SettingSection read_section(const JsonValue& value, const std::vector<SettingSection>& before, bool& by_configuration,
                            Diagnostics& out) {
  ObjectReader reader(value, out);
  SettingSection section;
  section.path = reader.string("path");
  section.reader = read_enum(reader, "reader", kReaders);
  section.unknown = read_enum(reader, "unknown", kUnknown);
  section.takes_auto = reader.optional_bool("auto").value_or(false);
  if (reader.optional_bool("sharing").value_or(false) && section.path.starts_with(':')) by_configuration = true;
  section.same = texts(reader, "same");
  section.when = texts(reader, "when");
  section.open_when = texts(reader, "open_when");
  section.off = reader.optional_string("off").value_or("");
  read_shared_rows(reader, before, section);
  for (const JsonValue& row : reader.array("fields")) section.settings.push_back(read_setting(row, out));
  reader.finish();
  return section;
}

FrameworkTable read_table(const JsonValue& document, Diagnostics& out) {
  ObjectReader reader(document, out);
  FrameworkTable table;
  if (reader.string("schema") != "smplan.framework/1") {
    out.push_back({"bad-schema", reader.location("schema"), "is none of a framework's table", "run scripts/refresh"});
  }
  table.framework = reader.string("framework");
  table.version = reader.string("version");
  table.source = reader.string("source");
  table.as_of = reader.string("as_of");
  for (const JsonValue& section : reader.array("sections")) {
    table.sections.push_back(read_section(section, table.sections, table.by_configuration, out));
  }
  reader.finish();
  return table;
}

/// A fault in a shipped file is one of the build, which tests read: it throws.
FrameworkTable read_shipped(const EmbeddedFile& file) {
  Diagnostics faults;
  const Result<JsonValue> json = parse_json(file.content, file.name);
  if (!json) throw std::logic_error(to_string(json.error()));
  FrameworkTable table = read_table(*json, faults);
  if (!faults.empty()) throw std::logic_error(to_string(faults));
  return table;
}

/// A check asks for one table: the others are not read.
struct OnDemand {
  const EmbeddedFile* file = nullptr;
  std::once_flag once;
  FrameworkTable table;
};

std::vector<OnDemand> shipped_tables() {
  const std::span<const EmbeddedFile> files = shipped_framework_files();
  std::vector<OnDemand> tables(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) tables[i].file = &files[i];
  return tables;
}

std::vector<FrameworkTable> read_tables() {
  std::vector<FrameworkTable> tables;
  for (const EmbeddedFile& file : shipped_framework_files()) tables.push_back(read_shipped(file));
  return tables;
}

}  // namespace

bool FrameworkSetting::is(Type type) const { return std::find(types.begin(), types.end(), type) != types.end(); }

bool FrameworkSetting::answers_to(std::string_view spelling) const {
  return name == spelling || std::find(also.begin(), also.end(), spelling) != also.end();
}

std::string_view FrameworkSetting::last_with(std::string_view word) const {
  const auto at = std::find_if(older.begin(), older.end(), [&](const auto& one) {
    return one.first == word || (any_case && lower_case(one.first) == lower_case(word));
  });
  return at == older.end() ? std::string_view() : std::string_view(at->second);
}

const FrameworkSetting* SettingSection::find(std::string_view spelling) const {
  const auto at =
      std::find_if(settings.begin(), settings.end(), [&](const FrameworkSetting& s) { return s.answers_to(spelling); });
  return at == settings.end() ? nullptr : &*at;
}

const SettingSection* FrameworkTable::find(std::string_view path) const {
  const auto at = std::find_if(sections.begin(), sections.end(), [&](const SettingSection& s) {
    return s.path == path || std::find(s.same.begin(), s.same.end(), path) != s.same.end();
  });
  return at == sections.end() ? nullptr : &*at;
}

const std::vector<FrameworkTable>& framework_tables() {
  static const std::vector<FrameworkTable> tables = read_tables();
  return tables;
}

const FrameworkTable* framework_table(std::string_view framework) {
  static std::vector<OnDemand> tables = shipped_tables();
  for (OnDemand& one : tables) {
    if (one.file->name.substr(0, one.file->name.find('.')) != framework) continue;
    std::call_once(one.once, [&] { one.table = read_shipped(*one.file); });
    return &one.table;
  }
  return nullptr;
}

}  // namespace smplan
