#include "base/csv_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_reader.hpp"
#include "base/utf8.hpp"
#include "base/words.hpp"

namespace smplan {
namespace {

/// A file with more faults than this is of another kind; more lines help nobody.
constexpr std::size_t kMaxFaults = 20;

class Scanner {
 public:
  Scanner(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  [[nodiscard]] bool at_end() const { return next_ >= text_.size(); }
  [[nodiscard]] std::size_t line() const { return line_; }

  /// One record; blank lines give a row without fields.
  Result<CsvRow> record() {
    CsvRow row{line_, {}};
    if (line_end()) return row;
    while (true) {
      std::string field;
      const bool quoted = !at_end() && text_[next_] == '"';
      if (quoted ? !read_quoted(field) : !read_plain(field)) {
        return fail("csv-syntax", fmt::format("{}:{}", name_, row.line), fault_,
                    "put the field in quotes and double each quote inside it");
      }
      row.fields.push_back(std::move(field));
      if (at_end() || line_end()) return row;
      ++next_;  // the comma
    }
  }

 private:
  /// Consumes LF or CRLF.
  bool line_end() {
    const bool crlf = text_.substr(next_, 2) == "\r\n";
    if (!crlf && (at_end() || text_[next_] != '\n')) return false;
    next_ += crlf ? 2 : 1;
    ++line_;
    return true;
  }

  [[nodiscard]] bool field_ends() const {
    return at_end() || text_[next_] == ',' || text_[next_] == '\n' || text_.substr(next_, 2) == "\r\n";
  }

  bool read_plain(std::string& field) {
    const std::size_t start = next_;
    while (!field_ends()) {
      if (text_[next_] == '"') {
        fault_ = "has a quote inside an unquoted field";
        return false;
      }
      ++next_;
    }
    field = text_.substr(start, next_ - start);
    return true;
  }

  bool read_quoted(std::string& field) {
    ++next_;
    while (!at_end()) {
      const char c = text_[next_++];
      if (c == '\n') ++line_;
      if (c != '"') {
        field += c;
      } else if (!at_end() && text_[next_] == '"') {
        field += '"';
        ++next_;
      } else if (field_ends()) {
        return true;
      } else {
        fault_ = "has text after a closing quote";
        return false;
      }
    }
    fault_ = "starts a quoted field that never ends";
    return false;
  }

  std::string_view text_;
  std::string_view name_;
  std::string fault_;
  std::size_t next_ = 0;
  std::size_t line_ = 1;
};

bool is_called(std::string_view written, std::string_view name) {
  const std::string_view bare = trim(written);
  return std::equal(bare.begin(), bare.end(), name.begin(), name.end(),
                    [](char a, char b) { return lower_case(a) == lower_case(b); });
}

Diagnostics check_header(const CsvTable& table, std::size_t line) {
  Diagnostics faults;
  const std::string where = fmt::format("{}:{}", table.name, line);
  std::vector<std::string> sorted = table.header;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    faults.push_back({"duplicate-column", where, fmt::format("column {} appears twice", quote(*twice)),
                      "rename or remove one of them"});
  }
  if (std::find(sorted.begin(), sorted.end(), "") != sorted.end()) {
    faults.push_back({"unnamed-column", where, "a column has no name", "name it or remove the surplus comma"});
  }
  return faults;
}

Result<void> check_text(std::string_view text, std::string_view name) {
  if (text.size() > kMaxCsvBytes) {
    return fail("file-too-large", std::string(name), fmt::format("is larger than {} bytes", kMaxCsvBytes),
                "split the file");
  }
  if (text.find('\0') != std::string_view::npos || !is_utf8(text)) {
    return fail("bad-encoding", std::string(name), "is not UTF-8 text", "save it as CSV in UTF-8");
  }
  return {};
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view column_name) const {
  auto at = std::find(header.begin(), header.end(), column_name);
  if (at == header.end()) {
    at = std::find_if(header.begin(), header.end(),
                      [&](const std::string& name) { return is_called(name, column_name); });
  }
  if (at == header.end()) return std::nullopt;
  return static_cast<std::size_t>(at - header.begin());
}

std::string_view CsvTable::field(const CsvRow& row, std::string_view column_name) const {
  const auto position = column(column_name);
  return position ? std::string_view(row.fields[*position]) : std::string_view();
}

std::string CsvTable::location(const CsvRow& row, std::string_view column_name) const {
  return fmt::format("{}:{}:{}", name, row.line, column_name);
}

Result<CsvTable> parse_csv(std::string_view text, std::string_view name) {
  if (const auto fit = check_text(text, name); !fit) return tl::unexpected<Diagnostics>(fit.error());
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  CsvTable table{std::string(name), {}, {}};
  Diagnostics faults;
  Scanner scanner(text, name);
  std::size_t fields = 0;
  while (!scanner.at_end() && faults.size() < kMaxFaults) {
    auto row = scanner.record();
    if (!row) return tl::unexpected<Diagnostics>(std::move(row.error()));
    fields += row->fields.size();
    if (fields > kMaxCsvFields) {
      return fail("file-too-large", table.name, fmt::format("holds more than {} fields", kMaxCsvFields),
                  "split the file");
    }
    if (row->fields.empty()) continue;
    if (table.header.empty()) {
      table.header = std::move(row->fields);
      faults = check_header(table, row->line);
    } else if (row->fields.size() != table.header.size()) {
      faults.push_back({"ragged-row", fmt::format("{}:{}", name, row->line),
                        fmt::format("has {} fields, the header has {}", row->fields.size(), table.header.size()),
                        "fields with commas need quotes"});
    } else {
      table.rows.push_back(std::move(*row));
    }
  }
  if (table.header.empty())
    return fail("empty-file", table.name, "has no header line", "the first line names the columns");
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return table;
}

Result<CsvTable> read_csv_file(const std::string& path) {
  const Result<std::string> text = read_text_file(path, kMaxCsvBytes);
  if (!text) return tl::unexpected<Diagnostics>(text.error());
  return parse_csv(*text, path == "-" ? "<stdin>" : path);
}

std::string csv_field(std::string_view text) {
  const bool outer_space = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  // At the start of a file a byte order mark would not count as part of the field.
  const bool mark = text.starts_with("\xEF\xBB\xBF");
  if (!outer_space && !mark && !text.starts_with("::") && text.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  // A lone empty field must not read as a blank line.
  if (fields.size() == 1 && fields[0].empty()) return "\"\"\n";
  std::string out;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) out += ',';
    out += csv_field(field);
  }
  return out + '\n';
}

}  // namespace smplan
