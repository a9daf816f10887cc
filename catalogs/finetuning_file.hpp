#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.hpp"
#include "base/json_reader.hpp"
#include "catalogs/reading.hpp"

namespace smplan {

std::span<const EmbeddedFile> shipped_finetuning_files();

/// The rows of the shipped file of catalogs/data/finetuning that has an array of this name. A fault there is one of the
/// build, which tests read: it throws.
template <typename Read>
auto finetuning_rows(std::string_view array, Read read) {
  Diagnostics faults;
  std::vector<decltype(read(std::declval<const JsonValue&>(), faults))> rows;
  for (const EmbeddedFile& file : shipped_finetuning_files()) {
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

}  // namespace smplan
