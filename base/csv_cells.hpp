#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv_reader.hpp"
#include "base/result.hpp"
#include "base/words.hpp"

namespace smplan {

/// Where a table has the columns that its reader asks for: looked up once, however many rows there are.
class CsvColumns {
 public:
  /// Where a column stands, under whatever name the table has for it.
  using Find = std::optional<std::size_t> (*)(const CsvTable& table, std::string_view column);
  CsvColumns(const CsvTable& table, Find find) : table_(table), find_(find) {}

  /// `column`: a literal.
  std::optional<std::size_t> at(std::string_view column);
  /// Every column that was asked for.
  [[nodiscard]] const std::map<std::string_view, std::optional<std::size_t>>& asked() const { return asked_; }

 private:
  const CsvTable& table_;
  Find find_;
  std::map<std::string_view, std::optional<std::size_t>> asked_;
};

/// Typed cells of one row. An empty cell, one of `n/a`, `na`, `nan`, `-`, `--`, `?`, `unknown`, `not stated`, `tbd` and
/// `null`, and one of an absent column state nothing: nullopt. A cell that is no value of its column is nullopt too,
/// and a fault (`invalid`) that names the line, the column and what was expected.
class CsvCells {
 public:
  static constexpr double kUnbounded = 1e300;

  CsvCells(CsvColumns& columns, const CsvRow& row, std::string_view where)
      : columns_(columns), row_(row), where_(where) {}

  /// Without blanks around it; empty where the table has no such column.
  std::string text(std::string_view column);
  /// A number from 0 to `most`.
  std::optional<double> number(std::string_view column, double most = kUnbounded);
  std::optional<std::int64_t> integer(std::string_view column, double most);
  /// A degree or size: zero is no configuration.
  std::optional<std::int64_t> positive(std::string_view column, double most);
  /// `1`, `yes`, `on`, a check mark, and their opposites.
  std::optional<bool> flag(std::string_view column);
  /// `parse` takes the cell in lower case; `known`: what it takes, for who wrote something else.
  template <typename Parse>
  auto named(std::string_view column, Parse parse, const std::string& known) -> decltype(parse(std::string_view())) {
    const std::string cell = lower_case(text(column));
    if (states_nothing(cell)) return std::nullopt;
    auto value = parse(cell);
    if (!value) refuse(column, text(column), known);
    return value;
  }

  Diagnostics faults;

 private:
  static bool states_nothing(std::string_view cell);
  void refuse(std::string_view column, std::string_view value, std::string_view expected);

  CsvColumns& columns_;
  const CsvRow& row_;
  std::string_view where_;
};

/// Any word for on and off, in lower case.
std::optional<bool> switch_from(std::string_view word);

}  // namespace smplan
