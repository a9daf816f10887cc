#include "planner/preflight/node.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/escape.hpp"

namespace smplan {
namespace {

/// Beyond it not every whole number is a double.
constexpr double kLargest = 9e15;

}  // namespace

const Node* Node::find(std::string_view name) const {
  if (kind != Kind::Object) return nullptr;
  for (const Node& item : items) {
    if (item.key == name) return &item;
  }
  return nullptr;
}

const Node* Node::at(std::initializer_list<std::string_view> names) const {
  const Node* node = this;
  for (const std::string_view name : names) {
    node = node->find(name);
    if (node == nullptr) return nullptr;
  }
  return node;
}

std::string_view kind_name(Node::Kind kind) {
  static constexpr std::string_view kNames[] = {"null",     "a boolean", "a whole number", "a number",
                                                "a string", "a list",    "an object"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool is_placeholder(std::string_view text) {
  if (text.find("REPLACE-ME") != std::string_view::npos) return true;  // what `smplan export` leaves open
  const std::size_t open = text.find('<');
  if (open != std::string_view::npos && text.find('>', open) != std::string_view::npos) return true;
  const std::size_t dollar = text.find("${");
  return dollar != std::string_view::npos && text.find('}', dollar) != std::string_view::npos;
}

std::optional<std::int64_t> integer_of(const Node& node) {
  if (node.kind == Node::Kind::Integer) return node.integer;
  if (node.kind == Node::Kind::Real && std::trunc(node.real) == node.real) {
    // Monstrous numbers break limits like any others; cut here, no product of theirs overflows.
    return static_cast<std::int64_t>(std::clamp(node.real, -kLargest, kLargest));
  }
  return node.kind == Node::Kind::String ? integer_from(node.text) : std::nullopt;
}

bool is_over_64_bits(const Node& node) {
  if (node.kind != Node::Kind::Real || node.text.empty()) return false;
  const std::size_t sign = node.text[0] == '-' || node.text[0] == '+' ? 1 : 0;
  return node.text.size() > sign && node.text.find_first_not_of("0123456789", sign) == std::string::npos;
}

std::optional<std::int64_t> integer_from(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty() ? std::optional(value) : std::nullopt;
}

std::optional<double> number_of(const Node& node) {
  if (node.kind == Node::Kind::Integer) return static_cast<double>(node.integer);
  if (node.kind == Node::Kind::Real) return node.real;
  if (node.kind != Node::Kind::String || node.text.empty()) return std::nullopt;
  double value = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [stop, error] = std::from_chars(node.text.data(), end, value);
  const bool finite = value - value == 0;
  return error == std::errc() && stop == end && finite ? std::optional(value) : std::nullopt;
}

std::optional<bool> truth_of(const Node& node) {
  if (node.kind == Node::Kind::Bool) return node.truth;
  if (node.kind != Node::Kind::String) return std::nullopt;
  // Hyperparameters carry JSON inside a string, and scripts print Python's names.
  if (node.text == "true" || node.text == "True" || node.text == "\"true\"") return true;
  if (node.text == "false" || node.text == "False" || node.text == "\"false\"") return false;
  return std::nullopt;
}

bool is_not_off(const Node* flag) { return flag != nullptr && truth_of(*flag) != false; }

std::optional<std::string> text_of(const Node& node) {
  if (node.kind != Node::Kind::String || is_placeholder(node.text)) return std::nullopt;
  return node.text;
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_mul_overflow(a, b, &out)) return out;
  return (a < 0) == (b < 0) ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_add_overflow(a, b, &out)) return out;
  return a > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

std::int64_t minus(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (!__builtin_sub_overflow(a, b, &out)) return out;
  return a > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

std::string pointer_to(std::string_view parent, std::string_view key) {
  return fmt::format("{}/{}", parent, escape_pointer(key));
}

Result<Node> parse_document(std::string_view text, std::string_view name, Syntax syntax) {
  if (text.size() > kMaxJobBytes) {
    return fail("file-too-large", std::string(name), fmt::format("is larger than the limit of {} bytes", kMaxJobBytes),
                "a job file is small: check that this is the right file");
  }
  switch (syntax) {
    case Syntax::Json:
      return parse_json_nodes(text, name);
    case Syntax::Yaml:
      return parse_yaml_nodes(text, name);
    case Syntax::Toml:
      return parse_toml_nodes(text, name);
    case Syntax::Arguments:
      break;
  }
  return parse_argument_nodes(text, name);
}

void name_file(Node& node, const std::string& file) {
  node.where.file = file;
  node.span = {};
  for (Node& inner : node.items) name_file(inner, file);
}

}  // namespace smplan
