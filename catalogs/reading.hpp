#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_reader.hpp"
#include "catalogs/precision.hpp"
#include "catalogs/provenance.hpp"

namespace smplan {

/// The spellings of an enumeration in files and on the command line, one table per type.
template <typename E, std::size_t N>
using EnumNames = std::array<std::pair<E, std::string_view>, N>;

template <typename E, std::size_t N>
std::string_view name_of(const EnumNames<E, N>& names, E value) {
  for (const auto& entry : names) {
    if (entry.first == value) return entry.second;
  }
  return "?";
}

template <typename E, std::size_t N>
std::optional<E> value_of(const EnumNames<E, N>& names, std::string_view name) {
  for (const auto& entry : names) {
    if (entry.second == name) return entry.first;
  }
  return std::nullopt;
}

/// `text` as one of the names; an unknown one is reported at `where` with the nearest names.
template <typename E, std::size_t N>
E parse_enum(const EnumNames<E, N>& names, std::string_view text, std::string_view where, std::string_view kind,
             Diagnostics& out) {
  if (const auto value = value_of(names, text)) return *value;
  std::vector<std::string> known;
  for (const auto& entry : names) known.emplace_back(entry.second);
  out.push_back(unknown_name(kind, text, where, known));
  return names.front().first;
}

template <typename E, std::size_t N>
E read_enum(ObjectReader& reader, std::string_view key, const EnumNames<E, N>& names) {
  const std::size_t faults = reader.diagnostics().size();
  const std::string text = reader.string(key);
  if (reader.diagnostics().size() != faults) return names.front().first;
  return parse_enum(names, text, reader.location(key), key, reader.diagnostics());
}

template <typename E, std::size_t N>
std::vector<E> read_enums(ObjectReader& reader, std::string_view key, const EnumNames<E, N>& names) {
  std::vector<E> values;
  for (const JsonValue& item : reader.array(key)) {
    const std::size_t faults = reader.diagnostics().size();
    const std::string text = item.as_string(reader.diagnostics());
    if (reader.diagnostics().size() != faults) continue;
    values.push_back(parse_enum(names, text, item.location(), key, reader.diagnostics()));
  }
  return values;
}

/// What of the values is a string; the others are faults.
std::vector<std::string> strings_of(const std::vector<JsonValue>& values, Diagnostics& out);
/// Strings of an optional array; absent is empty.
std::vector<std::string> read_strings(ObjectReader& reader, std::string_view key);
/// A string that must say something.
std::string read_text(ObjectReader& reader, std::string_view key);
/// An identifier (base/printable.hpp): other entries, commands and exported jobs refer to it.
std::string read_name(ObjectReader& reader, std::string_view key);
/// The same, empty where the key is absent or null.
std::string read_optional_name(ObjectReader& reader, std::string_view key);
/// Identifiers of an optional array; absent is empty.
std::vector<std::string> read_names(ObjectReader& reader, std::string_view key);
/// The name of a model, a label.
std::string read_label(ObjectReader& reader, std::string_view key);
/// A number in [min, max], or the fallback where the key is absent or null.
double read_number_or(ObjectReader& reader, std::string_view key, double min, double max, double fallback);
/// A rate in [least, max], or 0 where the key is absent, null or 0: unknown. What is slower would make steps without
/// end.
double read_rate_or_zero(ObjectReader& reader, std::string_view key, double least, double max);
/// As read_number_or, whole numbers only.
std::int64_t read_integer_or(ObjectReader& reader, std::string_view key, std::int64_t min, std::int64_t max,
                             std::int64_t fallback);
/// `{"bf16": 312, "fp16": 312}`: numbers in [0, max] by precision; those not named are 0.
std::array<double, kPrecisionCount> read_by_precision(ObjectReader& reader, std::string_view key, double max);
/// The keys `source` and `as_of` of every fact; `as_of` is `YYYY`, `YYYY-MM` or `YYYY-MM-DD`.
Provenance read_provenance(ObjectReader& reader);

}  // namespace smplan
