#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace smplan {

struct CsvRow {
  std::size_t line = 0;  ///< where the row starts in the file, counted from 1
  std::vector<std::string> fields;

  friend bool operator==(const CsvRow&, const CsvRow&) = default;
};

/// A CSV file with a header; every row has as many fields as the header.
struct CsvTable {
  std::string name;  ///< file name, for locations
  std::vector<std::string> header;
  std::vector<CsvRow> rows;

  /// Position of a column, or nullopt. Where none has the very name, blanks around it and its case do not count.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view column_name) const;
  /// The field of a row; empty if the table has no such column.
  [[nodiscard]] std::string_view field(const CsvRow& row, std::string_view column_name) const;
  /// `runs.csv:17:seq_len`
  [[nodiscard]] std::string location(const CsvRow& row, std::string_view column_name) const;
};

inline constexpr std::size_t kMaxCsvBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMaxCsvFields = 16'000'000;

/// Parses comma-separated values after RFC 4180: quoted fields with doubled quotes, commas and line breaks;
/// LF or CRLF; a BOM is accepted and blank lines are skipped. Refuses ragged rows, duplicate or empty column
/// names, stray quotes, invalid UTF-8 and NUL, each with its line.
Result<CsvTable> parse_csv(std::string_view text, std::string_view name);
/// `-` is standard input.
Result<CsvTable> read_csv_file(const std::string& path);

/// A field as it is written: quoted if it holds a comma, quote, line break or outer space, and where it
/// begins with two colons, which GitHub's runner would take for a command.
std::string csv_field(std::string_view text);
/// A line of fields, with its line feed.
std::string csv_line(const std::vector<std::string>& fields);

}  // namespace smplan
