#include "catalogs/reading.hpp"

#include <fmt/format.h>

#include "base/printable.hpp"

namespace smplan {
namespace {

bool is_iso_date(std::string_view text) {
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : (text[i] < '0' || text[i] > '9')) return false;
  }
  const auto two_digits = [&](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  if (text.size() >= 7 && (two_digits(5) < 1 || two_digits(5) > 12)) return false;
  return text.size() < 10 || (two_digits(8) >= 1 && two_digits(8) <= 31);
}

}  // namespace

std::vector<std::string> strings_of(const std::vector<JsonValue>& values, Diagnostics& out) {
  std::vector<std::string> strings;
  for (const JsonValue& value : values) {
    const std::size_t faults = out.size();
    std::string text = value.as_string(out);
    if (out.size() == faults) strings.push_back(std::move(text));
  }
  return strings;
}

std::vector<std::string> read_strings(ObjectReader& reader, std::string_view key) {
  return strings_of(reader.optional_array(key), reader.diagnostics());
}

std::string read_name(ObjectReader& reader, std::string_view key) {
  return reader.string(key, is_identifier, kIdentifierRule);
}

std::string read_optional_name(ObjectReader& reader, std::string_view key) {
  if (reader.has(key)) return read_name(reader, key);
  reader.ignore(key);
  return {};
}

std::vector<std::string> read_names(ObjectReader& reader, std::string_view key) {
  std::vector<std::string> names = read_strings(reader, key);
  for (const std::string& name : names) {
    if (is_identifier(name)) continue;
    reader.diagnostics().push_back(
        {"bad-name", reader.location(key), fmt::format("{} is no name", quote(name)), std::string(kIdentifierRule)});
  }
  return names;
}

std::string read_label(ObjectReader& reader, std::string_view key) { return reader.string(key, is_label, kLabelRule); }

std::string read_text(ObjectReader& reader, std::string_view key) {
  const std::size_t faults = reader.diagnostics().size();
  std::string text = reader.string(key);
  if (text.empty() && reader.diagnostics().size() == faults) {
    reader.diagnostics().push_back(
        {"empty-value", reader.location(key), fmt::format("{} is empty", key), "give it a value"});
  }
  return text;
}

double read_number_or(ObjectReader& reader, std::string_view key, double min, double max, double fallback) {
  if (reader.has(key)) return reader.number(key, min, max);
  return reader.optional_number(key).value_or(fallback);
}

double read_rate_or_zero(ObjectReader& reader, std::string_view key, double least, double max) {
  const double rate = read_number_or(reader, key, 0, max, 0);
  if (rate == 0 || rate >= least) return rate;
  reader.diagnostics().push_back({"out-of-range", reader.location(key),
                                  fmt::format("must be 0 (unknown) or at least {}, is {}", least, rate),
                                  "check the unit in the key's name"});
  return 0;
}

std::int64_t read_integer_or(ObjectReader& reader, std::string_view key, std::int64_t min, std::int64_t max,
                             std::int64_t fallback) {
  if (reader.has(key)) return reader.integer(key, min, max);
  return reader.optional_integer(key).value_or(fallback);
}

std::array<double, kPrecisionCount> read_by_precision(ObjectReader& reader, std::string_view key, double max) {
  std::array<double, kPrecisionCount> numbers{};
  const auto object = reader.value(key);
  if (!object) return numbers;
  ObjectReader rates(*object, reader.diagnostics());
  for (int i = 0; i < kPrecisionCount; ++i) {
    const auto precision = static_cast<Precision>(i);
    numbers[static_cast<std::size_t>(i)] = read_number_or(rates, to_string(precision), 0, max, 0);
  }
  rates.finish();
  return numbers;
}

Provenance read_provenance(ObjectReader& reader) {
  Provenance provenance;
  provenance.source = read_text(reader, "source");
  const std::size_t faults = reader.diagnostics().size();
  provenance.as_of = reader.string("as_of");
  if (reader.diagnostics().size() == faults && !is_iso_date(provenance.as_of)) {
    reader.diagnostics().push_back({"bad-date", reader.location("as_of"),
                                    fmt::format("as_of '{}' is not a date", provenance.as_of),
                                    "write YYYY-MM-DD, YYYY-MM or YYYY"});
  }
  return provenance;
}

}  // namespace smplan
