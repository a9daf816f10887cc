#include <array>
#include <cmath>
#include <sstream>
#include <string>

#include "base/csv_reader.hpp"
#include "base/csv_stream.hpp"
#include "base/json_reader.hpp"
#include "base/json_stream.hpp"
#include "base/units.hpp"
#include "base/utf8.hpp"
#include "tests/fuzz/target.hpp"

namespace smplan::fuzz {
namespace {

void json(std::string_view bytes) {
  const Result<JsonValue> value = parse_json(bytes, "fuzz.json");
  if (value) {
    const std::string once = value->dump();
    const Result<JsonValue> again = parse_json(once, "again.json");
    require(again.has_value() && again->dump() == once, "a document that was read reads back the same");
  }
  std::istringstream in{std::string(bytes)};
  const Result<void> streamed = stream_json(in, "fuzz.json", {"/prices/*", "/products/*"}, [](const JsonPiece& piece) {
    require(piece.pattern < 2, "a piece names its pattern");
    return Diagnostics{};
  });
  require(!value || streamed, "what fits in memory can be streamed");
}

void csv(std::string_view bytes) {
  const Result<CsvTable> table = parse_csv(bytes, "fuzz.csv");
  if (table) {
    std::string text = csv_line(table->header);
    for (const CsvRow& row : table->rows) text += csv_line(row.fields);
    const Result<CsvTable> again = parse_csv(text, "again.csv");
    require(again && again->header == table->header && again->rows.size() == table->rows.size(),
            "a table that was read reads back the same");
    for (std::size_t i = 0; i < table->rows.size(); ++i) {
      require(again->rows[i].fields == table->rows[i].fields, "fields read back the same");
    }
  }
  std::istringstream in{std::string(bytes)};
  CsvStream stream(in, "fuzz.csv");
  std::vector<std::string> fields;
  while (true) {
    const Result<bool> more = stream.next(fields);
    if (!more || !*more) return;
  }
}

template <typename T>
void finite(const Result<T>& quantity) {
  if (quantity) require(std::isfinite(quantity->value()), "a quantity is finite");
}

void quantities(std::string_view text) {
  const Result<Bytes> bytes = parse_bytes(text, "--x");
  const Result<Seconds> duration = parse_duration(text, "--x");
  const Result<Usd> usd = parse_usd(text, "--x");
  finite(bytes);
  finite(duration);
  finite(usd);
  const Result<double> count = parse_count(text, "--x");
  if (count) {
    require(std::isfinite(*count) && *count > 0, "a count is positive and finite");
    require(parse_count(format_shortest(*count), "--x") == count, "the shortest form reads back");
    require(!format_count(*count).empty(), "a count has a form for people");
  }
  const Result<std::int64_t> whole = parse_integer_count(text, "--x");
  require(!whole || *whole > 0, "a whole count is positive");
  const Result<double> fraction = parse_fraction(text, "--x");
  require(!fraction || (*fraction >= 0 && *fraction <= 1), "a fraction is in [0, 1]");
  if (bytes) require(!format_bytes(*bytes).empty(), "bytes have a form for people");
  if (duration) require(!format_duration(*duration).empty(), "a duration has a form for people");
  if (usd) require(!format_usd(*usd).empty(), "dollars have a form for people");
  const std::string quoted = quote(text);
  require(quoted.size() <= 100, "a quoted text is short");
  for (const char c : quoted) require(static_cast<unsigned char>(c) >= 0x20, "a quoted text steers no terminal");
}

constexpr std::array<Target, 3> kTargets{{{"json", json}, {"csv", csv}, {"quantities", quantities}}};

}  // namespace

std::span<const Target> base_targets() { return kTargets; }

}  // namespace smplan::fuzz
