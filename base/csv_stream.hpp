#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace smplan {

inline constexpr std::size_t kMaxCsvLine = std::size_t{1} << 20;

/// Rows of a CSV file too large to hold, one after the other; rows may differ in length. Quoting after RFC 4180.
class CsvStream {
 public:
  CsvStream(std::istream& in, std::string_view name) : in_(in), name_(name) {}

  /// Reads the next row into `fields`; false at the end. A quote that never ends, or a row longer than
  /// kMaxCsvLine, is refused.
  Result<bool> next(std::vector<std::string>& fields);
  /// Where the last row started, from 1.
  [[nodiscard]] std::size_t line() const { return row_line_; }

 private:
  std::istream& in_;
  std::string name_;
  std::size_t line_ = 0;
  std::size_t row_line_ = 0;
};

}  // namespace smplan
