#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "base/result.hpp"

namespace smplan {

/// A node of a parsed JSON document that knows its own JSON pointer. Cheap to copy; keeps the
/// document alive. Kind mismatches are reported to the Diagnostics given, and a default returned,
/// so that a reader collects every fault of a file in one pass.
class JsonValue {
 public:
  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_bool() const;

  /// `file.json:/instances/3/gpus`
  [[nodiscard]] std::string location() const;

  /// One printable line (base/printable.hpp) of at most kMaxJsonLine bytes; another is reported. Names and words of
  /// files go into scripts, pages and terminals, so that none may hold a control character.
  std::string as_string(Diagnostics& out) const;
  /// A string of any content, for text that is parsed or replaced and never shown as it is.
  std::string as_text(Diagnostics& out) const;
  /// Finite by construction: JSON has no NaN, and overflow to infinity is a parse error.
  double as_number(Diagnostics& out) const;
  /// Whole numbers only: `8.0` and `8.7` are refused, as is what does not fit in 64 bits.
  std::int64_t as_integer(Diagnostics& out) const;
  bool as_bool(Diagnostics& out) const;
  /// Elements in order; empty and reported if this is no array.
  std::vector<JsonValue> as_array(Diagnostics& out) const;
  /// Keys in file order; empty and reported if this is no object.
  std::vector<std::string> keys(Diagnostics& out) const;
  /// Member of an object, or nullopt.
  std::optional<JsonValue> find(std::string_view key) const;
  /// The node re-serialised compactly (for echoing into messages and for pass-through data).
  std::string dump() const;
  /// The node as a value of our own, which needs no document; whole numbers beyond 64 bits become the nearest double.
  [[nodiscard]] Json copy() const;

 private:
  friend Result<JsonValue> parse_json(std::string_view, std::string_view, std::string_view);
  struct Document;
  JsonValue(std::shared_ptr<const Document> document, const void* node, std::string pointer);

  std::shared_ptr<const Document> document_;
  const void* node_ = nullptr;
  std::string pointer_;
};

/// Limits against hostile files: refused with a diagnostic, never by exhaustion.
inline constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;
inline constexpr int kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonValues = 8'000'000;
inline constexpr std::size_t kMaxJsonLine = 4096;

/// Parses one JSON document. Refuses duplicate keys, invalid UTF-8, NaN/Infinity, trailing text,
/// anything over the limits above; syntax errors carry line and column.
/// A UTF-8 BOM is accepted. `name` is the file name (or `<stdin>`) for locations, `pointer` the place of the text in
/// that file where it is a part of it.
Result<JsonValue> parse_json(std::string_view text, std::string_view name, std::string_view pointer = {});

/// Reads a whole file (`-` is standard input) into memory, up to `max_bytes`.
Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes = kMaxJsonBytes);
/// Writes through a temporary file in the same folder and renames; on failure nothing is left.
Result<void> write_text_file(const std::string& path, std::string_view content);
Result<JsonValue> read_json_file(const std::string& path);

/// Reads one object strictly: every key must be asked for, every required key must be there.
/// Usage: construct, call the getters, call `finish()`; errors are collected in `out`.
class ObjectReader {
 public:
  ObjectReader(const JsonValue& value, Diagnostics& out);

  std::string string(std::string_view key);
  /// A string that follows a rule (is_identifier, is_label); else reported with the rule in words, and empty.
  std::string string(std::string_view key, bool (*follows)(std::string_view), std::string_view rule);
  double number(std::string_view key);
  /// A number in [min, max]; outside is reported with the bounds.
  double number(std::string_view key, double min, double max);
  std::int64_t integer(std::string_view key);
  std::int64_t integer(std::string_view key, std::int64_t min, std::int64_t max);
  bool boolean(std::string_view key);
  std::vector<JsonValue> array(std::string_view key);
  std::optional<JsonValue> value(std::string_view key);  ///< required, any kind

  // Absent key or null: nullopt, or the fallback.
  std::optional<std::string> optional_string(std::string_view key);
  std::optional<double> optional_number(std::string_view key);
  std::optional<std::int64_t> optional_integer(std::string_view key);
  std::optional<bool> optional_bool(std::string_view key);
  std::optional<JsonValue> optional_value(std::string_view key);
  std::vector<JsonValue> optional_array(std::string_view key);

  /// True if the key is present and not null. Does not count as asking for it.
  [[nodiscard]] bool has(std::string_view key) const;
  /// Accepts and drops a key (free-form notes).
  void ignore(std::string_view key);
  /// Reports keys that nobody asked for, with the nearest known key as the hint.
  void finish();

  [[nodiscard]] std::string location(std::string_view key) const;
  Diagnostics& diagnostics() { return out_; }

 private:
  std::optional<JsonValue> take(std::string_view key, bool required);

  JsonValue value_;
  Diagnostics& out_;
  std::vector<std::string> asked_;
};

}  // namespace smplan
