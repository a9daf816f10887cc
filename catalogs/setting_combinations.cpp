#include "catalogs/setting_combinations.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/json_reader.hpp"
#include "base/words.hpp"

namespace smplan {
namespace {

using Test = SettingCondition::Test;

std::vector<std::string> texts(const JsonValue& value, Diagnostics& out) {
  if (!value.is_array()) return {value.as_string(out)};
  std::vector<std::string> all;
  for (const JsonValue& one : value.as_array(out)) all.push_back(one.as_string(out));
  return all;
}

void read_test(ObjectReader& reader, SettingCondition& c) {
  Diagnostics& out = reader.diagnostics();
  int tests = 0;
  const auto words = [&](std::string_view key, Test test) {
    const auto value = reader.optional_value(key);
    if (!value) return;
    ++tests;
    c.test = test;
    for (const std::string& word : texts(*value, out)) c.words.push_back(lower_case(word));
  };
  const auto number = [&](std::string_view key, Test test) {
    if (const auto value = reader.optional_number(key)) ++tests, c.test = test, c.number = *value;
  };
  const auto other = [&](std::string_view key, Test test) {
    if (auto value = reader.optional_string(key)) ++tests, c.test = test, c.other = std::move(*value);
  };
  words("is", Test::Is);
  words("is_not", Test::IsNot);
  number("above", Test::Above);
  number("below", Test::Below);
  other("at_least", Test::AtLeast);
  other("at_most", Test::AtMost);
  other("multiple_of", Test::MultipleOf);
  other("as_many_as", Test::AsManyAs);
  if (const auto given = reader.optional_bool("given")) ++tests, c.test = *given ? Test::Given : Test::Absent;
  if (reader.optional_bool("null").value_or(false)) ++tests, c.test = Test::Null;
  if (reader.optional_bool("whole").value_or(false)) ++tests, c.test = Test::Whole;
  if (tests > 1) out.push_back({"two-tests", reader.location("setting"), "has two tests", "write two conditions"});
}

SettingCondition read_condition(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  SettingCondition c;
  if (const auto names = reader.value("setting")) c.settings = texts(*names, out);
  read_test(reader, c);
  c.otherwise = reader.optional_string("otherwise");
  reader.finish();
  return c;
}

SettingCombination read_row(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  SettingCombination row;
  for (const JsonValue& one : reader.array("when")) row.when.push_back(read_condition(one, out));
  for (const JsonValue& one : reader.optional_array("must")) row.must.push_back(read_condition(one, out));
  row.says = reader.string("says");
  row.fix = reader.string("fix");
  row.warns = reader.optional_bool("warns").value_or(false);
  row.newest = reader.optional_bool("newest").value_or(false);
  reader.finish();
  return row;
}

FrameworkCombinations read_file(const JsonValue& document, Diagnostics& out) {
  ObjectReader reader(document, out);
  FrameworkCombinations file;
  if (reader.string("schema") != "smplan.combinations/1") {
    out.push_back({"bad-schema", reader.location("schema"), "is none of combinations", "write smplan.combinations/1"});
  }
  file.framework = reader.string("framework");
  file.source = reader.string("source");
  file.as_of = reader.string("as_of");
  for (const JsonValue& row : reader.array("rows")) file.rows.push_back(read_row(row, out));
  reader.finish();
  return file;
}

/// A fault in a shipped file is one of the build, which tests read: it throws.
std::vector<FrameworkCombinations> read_files() {
  std::vector<FrameworkCombinations> files;
  Diagnostics faults;
  for (const EmbeddedFile& file : shipped_combination_files()) {
    const Result<JsonValue> json = parse_json(file.content, file.name);
    if (!json) throw std::logic_error(to_string(json.error()));
    files.push_back(read_file(*json, faults));
  }
  if (!faults.empty()) throw std::logic_error(to_string(faults));
  return files;
}

}  // namespace

const std::vector<FrameworkCombinations>& all_framework_combinations() {
  static const std::vector<FrameworkCombinations> files = read_files();
  return files;
}

const FrameworkCombinations* framework_combinations(std::string_view framework) {
  const std::vector<FrameworkCombinations>& files = all_framework_combinations();
  const auto at = std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.framework == framework; });
  return at == files.end() ? nullptr : &*at;
}

}  // namespace smplan
