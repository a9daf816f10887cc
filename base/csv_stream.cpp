#include "base/csv_stream.hpp"

#include <fmt/format.h>

namespace smplan {

Result<bool> CsvStream::next(std::vector<std::string>& fields) {
  fields.clear();
  row_line_ = line_ + 1;
  std::string field;
  std::size_t length = 0;
  bool quoted = false;
  bool any = false;
  std::streambuf& bytes = *in_.rdbuf();
  while (true) {
    const int c = bytes.sbumpc();
    if (c == std::char_traits<char>::eof()) {
      if (quoted) {
        return fail("csv-syntax", fmt::format("{}:{}", name_, row_line_), "has a quote that never ends",
                    "fetch the file again; nothing was taken from it");
      }
      if (!any) return false;
      fields.push_back(std::move(field));
      return true;
    }
    any = true;
    if (++length > kMaxCsvLine) {
      return fail("file-too-large", fmt::format("{}:{}", name_, row_line_),
                  fmt::format("has a row longer than {} bytes", kMaxCsvLine), "fetch the file again");
    }
    const char letter = static_cast<char>(c);
    if (letter == '\n') ++line_;
    if (quoted) {
      if (letter != '"') {
        field += letter;
      } else if (bytes.sgetc() == '"') {
        bytes.sbumpc();
        field += '"';
      } else {
        quoted = false;
      }
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == ',') {
      fields.push_back(std::move(field));
      field.clear();
    } else if (letter == '\n') {
      if (!field.empty() && field.back() == '\r') field.pop_back();
      fields.push_back(std::move(field));
      return true;
    } else {
      field += letter;
    }
  }
}

}  // namespace smplan
