#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace smplan {

/// Where something stands in the file that is checked, or in one that it goes on from.
struct Where {
  std::string path;    ///< JSON pointer, also for YAML, TOML and argument lists
  int line = 0;        ///< from 1; 0 where the file does not say it
  std::string file{};  ///< another file than the one that is checked, from the folder of that one; else empty

  /// Unlike that of any other place of the job.
  [[nodiscard]] std::string name() const { return file + path; }
  friend bool operator==(const Where&, const Where&) = default;
};

/// Bytes [begin, end) of a text.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A value of a parsed job file, whatever its syntax. Findings point back into the file, so every node
/// knows its path and line; where a fix can leave the rest as it was, also its bytes.
struct Node {
  enum class Kind { Null, Bool, Integer, Real, String, Array, Object };

  Kind kind = Kind::Null;
  bool truth = false;
  std::int64_t integer = 0;
  double real = 0;      ///< of a real number alone; number_of() takes both
  std::string text;     ///< of a string; of a number as written
  std::string key;      ///< in the object that holds it
  std::string written;  ///< of an option: its name as it stands in the line, where that is not the key; else empty
  std::vector<Node> items;
  Where where;
  Span span;               ///< the value; of YAML and TOML only scalars that stand as they read, else empty
  Span key_span;           ///< JSON only: the key with its quotes; empty elsewhere
  bool open = false;       ///< of a command's options: there may be more of them; of one: a condition decides on it
  bool passes_on = false;  ///< of a command's options: those that its script is given come behind them (`"$@"`)
  int plus = -1;           ///< of an override of Hydra's: the plus signs before it; else below 0
  /// Of an override: what the file that it changes has in its place.
  enum class Under : std::uint8_t { Unknown, Nothing, Null, Value };
  Under under = Under::Unknown;
  bool malformed = false;   ///< an override that Hydra's grammar refuses
  bool removed = false;     ///< by an override (`~a.b`), where null stands then
  bool braces = false;      ///< of an override: an object as it is written, in braces
  int overridden_line = 0;  ///< of an option that stands twice: where the one stood that no longer counts

  /// The key as messages show it.
  [[nodiscard]] const std::string& name() const { return written.empty() ? key : written; }
  [[nodiscard]] bool is_null() const { return kind == Kind::Null; }
  [[nodiscard]] bool is_string() const { return kind == Kind::String; }
  [[nodiscard]] bool is_number() const { return kind == Kind::Integer || kind == Kind::Real; }
  [[nodiscard]] bool is_array() const { return kind == Kind::Array; }
  [[nodiscard]] bool is_object() const { return kind == Kind::Object; }
  /// Member of an object; nullptr if there is none or this is no object.
  [[nodiscard]] const Node* find(std::string_view name) const;
  /// Follows members by name; nullptr where one is missing.
  [[nodiscard]] const Node* at(std::initializer_list<std::string_view> names) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
};

std::string_view kind_name(Node::Kind kind);

/// A value that only the user knows: `<role>`, `${BUCKET}`, `<bucket>/data`. Rules neither trust nor judge it.
bool is_placeholder(std::string_view text);
/// The value as a rule reads it: a number written as a string counts, a placeholder does not.
std::optional<std::int64_t> integer_of(const Node& node);
/// A whole number that 64 bits do not hold.
bool is_over_64_bits(const Node& node);
/// All of a text; nullopt where it is no whole number.
std::optional<std::int64_t> integer_from(std::string_view text);
std::optional<double> number_of(const Node& node);
std::optional<bool> truth_of(const Node& node);
std::optional<std::string> text_of(const Node& node);
/// A flag that is there and not false: one without a value is on, and one of an unknown value may be.
bool is_not_off(const Node* flag);

/// Makes it a part of another file, where fixes do not go.
void name_file(Node& node, const std::string& file);

/// Product, and sum, that stay at the ends of the range: files may state any number.
std::int64_t times(std::int64_t a, std::int64_t b);
std::int64_t plus(std::int64_t a, std::int64_t b);
std::int64_t minus(std::int64_t a, std::int64_t b);

enum class Syntax { Json, Yaml, Toml, Arguments };

/// Job files are small; what is larger is no job file.
inline constexpr std::size_t kMaxJobBytes = std::size_t{4} << 20;
inline constexpr int kMaxJobDepth = 64;
inline constexpr std::size_t kMaxJobNodes = 200'000;

/// Parses a job file. Refuses duplicate keys, depth, size and alias bombs; faults carry the line.
Result<Node> parse_document(std::string_view text, std::string_view name, Syntax syntax);

/// RFC 6901: one more token.
std::string pointer_to(std::string_view parent, std::string_view key);

// One parser a syntax; parse_document() has checked the size.
Result<Node> parse_json_nodes(std::string_view text, std::string_view name);
Result<Node> parse_yaml_nodes(std::string_view text, std::string_view name);
/// Every document of the text; at least one.
Result<std::vector<Node>> parse_yaml_documents(std::string_view text, std::string_view name);
Result<Node> parse_toml_nodes(std::string_view text, std::string_view name);
Result<Node> parse_argument_nodes(std::string_view text, std::string_view name);
/// The same from a JSON list of words.
Result<Node> argument_nodes_of(const Node& list, std::string_view name);

}  // namespace smplan
