#pragma once

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/embedded_file.hpp"
#include "base/json_reader.hpp"
#include "base/words.hpp"
#include "catalogs/reading.hpp"

namespace smplan {

/// The rows of the shipped file that has an array of this name. A fault there is one of the build, which tests read: it
/// throws.
template <typename Read>
auto shipped_rows(std::span<const EmbeddedFile> files, std::string_view array, Read read) {
  Diagnostics faults;
  std::vector<decltype(read(std::declval<const JsonValue&>(), faults))> rows;
  for (const EmbeddedFile& file : files) {
    const Result<JsonValue> json = parse_json(file.content, file.name);
    if (!json) throw std::logic_error(to_string(json.error()));
    if (!json->find(array)) continue;
    ObjectReader reader(*json, faults);
    reader.string("schema");
    read_provenance(reader);
    reader.ignore("note");
    for (const JsonValue& row : reader.array(array)) rows.push_back(read(row, faults));
    reader.finish();
  }
  if (!faults.empty()) throw std::logic_error(to_string(faults));
  return rows;
}

/// The row of that name by its letters and digits, in any case; nullptr where there is none.
template <typename Row>
const Row* row_named(const std::vector<Row>& rows, std::string_view name) {
  const std::string letters = letters_and_digits(name);
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return letters_and_digits(row.name) == letters; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace smplan
