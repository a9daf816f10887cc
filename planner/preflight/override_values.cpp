#include "planner/preflight/override_values.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/words.hpp"

namespace smplan {
namespace {

bool is_quote(char c) { return c == '"' || c == '\''; }

bool is_enclosed(std::string_view text, char open, char close) {
  return text.size() > 1 && text.front() == open && text.back() == close;
}

/// The parts between commas that stand in no brackets and no quotes of their own; nullopt where those do not close.
std::optional<std::vector<std::string_view>> parts_of(std::string_view text, char divider) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (is_quote(c)) {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if (c == ']' || c == '}' || c == ')') {
      --depth;
    } else if (c == divider && depth == 0) {
      parts.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
    if (depth < 0) return std::nullopt;
  }
  if (depth != 0 || quote != 0) return std::nullopt;
  parts.push_back(trim(text.substr(begin)));
  if (parts.size() == 1 && parts.front().empty()) parts.clear();
  return parts;
}

/// A number with underscores between its digits, without them.
std::string without_underscores(std::string_view text) {
  std::string out;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between = i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (text[i] != '_' || !between) out += text[i];
  }
  return out;
}

/// A word without quotes that Hydra's grammar refuses: an equals sign, commas outside of brackets, what does not close.
/// What a shell fills in, functions (`choice(1,2)`) and whatever else is written in it are not judged. Source:
/// hydra-core 1.3.2, grammar/OverrideLexer.g4.
bool is_malformed(std::string_view text) {
  if (text.find_first_of("$`<>()\\") != std::string_view::npos) return false;
  if (text.find('=') != std::string_view::npos) return true;
  const auto parts = parts_of(text, ',');
  return !parts || parts->size() > 1;
}

class Values {
 public:
  explicit Values(int plus) : plus_(plus) {}

  Node read(std::string_view text, const Where& where, int depth) const {
    text = trim(text);
    if (text.find('$') == std::string_view::npos && depth < kMaxJobDepth / 2) {
      if (is_enclosed(text, '[', ']')) return list(text, where, depth);
      if (is_enclosed(text, '{', '}')) return object(text, where, depth);
    }
    return scalar(text, where);
  }

 private:
  [[nodiscard]] Node made(Node::Kind kind, const Where& where) const {
    Node node;
    node.kind = kind;
    node.where = where;
    node.plus = plus_;
    return node;
  }

  [[nodiscard]] Node list(std::string_view text, const Where& where, int depth) const {
    const auto parts = parts_of(text.substr(1, text.size() - 2), ',');
    if (!parts) return scalar(text, where);
    Node node = made(Node::Kind::Array, where);
    for (const std::string_view part : *parts) {
      const Where own{fmt::format("{}/{}", where.path, node.items.size()), where.line};
      node.items.push_back(read(part, own, depth + 1));
    }
    return node;
  }

  [[nodiscard]] Node object(std::string_view text, const Where& where, int depth) const {
    const auto parts = parts_of(text.substr(1, text.size() - 2), ',');
    if (!parts) return scalar(text, where);
    Node node = made(Node::Kind::Object, where);
    node.braces = true;
    for (const std::string_view part : *parts) {
      const std::size_t colon = part.find(':');
      if (colon == std::string_view::npos) return scalar(text, where);
      std::string_view key = trim(part.substr(0, colon));
      if (key.size() > 1 && is_quote(key.front()) && key.back() == key.front()) key = key.substr(1, key.size() - 2);
      if (key.empty() || node.has(key)) return scalar(text, where);
      Node item = read(part.substr(colon + 1), {pointer_to(where.path, key), where.line}, depth + 1);
      item.key = key;
      node.items.push_back(std::move(item));
    }
    return node;
  }

  [[nodiscard]] Node scalar(std::string_view text, const Where& where) const {
    Node node = made(Node::Kind::String, where);
    const std::string word = lower_case(text);
    if (word == "null" || text == "None") {
      node.kind = Node::Kind::Null;
    } else if (word == "true" || word == "false") {
      node.kind = Node::Kind::Bool;
      node.truth = word == "true";
    } else if (text.size() > 1 && is_quote(text.front()) && text.back() == text.front()) {
      node.text = text.substr(1, text.size() - 2);
    } else {
      node.text = text;
      node.malformed = is_malformed(text);
      read_number(node);
    }
    return node;
  }

  static void read_number(Node& node) {
    Node number;
    number.kind = Node::Kind::String;
    number.text = without_underscores(node.text);
    if (const auto integer = integer_of(number)) {
      node.kind = Node::Kind::Integer;
      node.integer = *integer;
    } else if (const auto real = number_of(number)) {
      node.kind = Node::Kind::Real;
      node.real = *real;
    }
  }

  int plus_;
};

}  // namespace

Node override_value(std::string_view text, const Where& where, int plus) { return Values(plus).read(text, where, 0); }

}  // namespace smplan
