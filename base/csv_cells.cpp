#include "base/csv_cells.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <system_error>

namespace smplan {
namespace {

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::optional<bool> switch_from(std::string_view word) {
  constexpr auto kOn = std::to_array<std::string_view>({"1", "true", "yes", "on", "y", "t", "enabled", "✓", "✔"});
  constexpr auto kOff =
      std::to_array<std::string_view>({"0", "false", "no", "off", "n", "f", "disabled", "none", "✗", "✘"});
  if (is_among(word, kOn)) return true;
  return is_among(word, kOff) ? std::optional(false) : std::nullopt;
}

std::optional<std::size_t> CsvColumns::at(std::string_view column) {
  const auto [entry, is_new] = asked_.try_emplace(column);
  if (is_new) entry->second = find_(table_, column);
  return entry->second;
}

bool CsvCells::states_nothing(std::string_view cell) {
  constexpr auto kBlanks =
      std::to_array<std::string_view>({"", "-", "--", "n/a", "na", "?", "nan", "tbd", "unknown", "null", "not stated"});
  return is_among(lower_case(trim(cell)), kBlanks);
}

std::string CsvCells::text(std::string_view column) {
  const std::optional<std::size_t> index = columns_.at(column);
  return index && *index < row_.fields.size() ? std::string(trim(row_.fields[*index])) : std::string();
}

std::optional<double> CsvCells::number(std::string_view column, double most) {
  const std::string cell = text(column);
  if (states_nothing(cell)) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value) || value < 0) {
    refuse(column, cell, "a number that is not negative");
    return std::nullopt;
  }
  if (value <= most) return value;
  refuse(column, cell, "at most " + std::to_string(static_cast<std::int64_t>(most)));
  return std::nullopt;
}

std::optional<std::int64_t> CsvCells::integer(std::string_view column, double most) {
  const std::optional<double> value = number(column, most);
  if (!value) return std::nullopt;
  if (*value == std::floor(*value)) return static_cast<std::int64_t>(*value);
  refuse(column, text(column), "a whole number");
  return std::nullopt;
}

std::optional<std::int64_t> CsvCells::positive(std::string_view column, double most) {
  const std::optional<std::int64_t> value = integer(column, most);
  if (!value || *value > 0) return value;
  refuse(column, "0", "a positive whole number");
  return std::nullopt;
}

std::optional<bool> CsvCells::flag(std::string_view column) { return named(column, switch_from, "0 or 1"); }

void CsvCells::refuse(std::string_view column, std::string_view value, std::string_view expected) {
  faults.push_back({"invalid", std::string(where_) + ":" + std::to_string(row_.line),
                    std::string(column) + " is " + quote(value), "expected " + std::string(expected)});
}

}  // namespace smplan
