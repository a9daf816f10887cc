#include <algorithm>

#include <fmt/format.h>

// Header only: the one translation unit that sees it.
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "planner/preflight/node.hpp"

namespace smplan {
namespace {

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

/// Where the lines of a text begin.
std::vector<std::size_t> line_starts(std::string_view text) {
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') starts.push_back(i + 1);
  }
  return starts;
}

/// Bytes of a value on one line of ASCII, whose columns are bytes; empty elsewhere.
Span span_of(const toml::source_region& at, std::string_view text, const std::vector<std::size_t>& starts) {
  if (at.begin.line == 0 || at.begin.line != at.end.line || at.begin.line > starts.size()) return {};
  const std::size_t line = starts[at.begin.line - 1];
  const Span span{line + at.begin.column - 1, line + at.end.column - 1};
  if (span.end > text.size()) return {};
  for (const char c : text.substr(line, span.end - line)) {
    if (static_cast<unsigned char>(c) > 127) return {};
  }
  return span;
}

Node convert(const toml::node& value, std::string path, std::string_view text, const std::vector<std::size_t>& starts) {
  Node node;
  node.where = {std::move(path), line_of(value)};
  if (value.is_value()) node.span = span_of(value.source(), text, starts);
  if (const toml::table* table = value.as_table()) {
    node.kind = Node::Kind::Object;
    for (const auto& [key, member] : *table) {
      Node item = convert(member, pointer_to(node.where.path, key.str()), text, starts);
      item.key = key.str();
      if (key.source().begin.line != 0) item.where.line = static_cast<int>(key.source().begin.line);
      node.items.push_back(std::move(item));
    }
  } else if (const toml::array* array = value.as_array()) {
    node.kind = Node::Kind::Array;
    for (const toml::node& element : *array) {
      node.items.push_back(convert(element, fmt::format("{}/{}", node.where.path, node.items.size()), text, starts));
    }
  } else if (const auto integer = value.value_exact<std::int64_t>()) {
    node.kind = Node::Kind::Integer;
    node.integer = *integer;
    node.text = std::to_string(*integer);
  } else if (const auto truth = value.value_exact<bool>()) {
    node.kind = Node::Kind::Bool;
    node.truth = *truth;
  } else if (const auto real = value.value_exact<double>()) {
    node.kind = Node::Kind::Real;
    node.real = *real;
    node.text = fmt::format("{}", *real);
  } else if (const auto words = value.value_exact<std::string>()) {
    node.kind = Node::Kind::String;
    node.text = *words;
  } else {
    // Dates and times: no job key has one.
    node.kind = Node::Kind::String;
    node.text = "<date>";
  }
  return node;
}

/// Behind the string that begins at `at`; what is wrong with it is the parser's to say.
std::size_t string_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view three = text.substr(at, 3);
  const bool lines = three.size() == 3 && three[1] == quote && three[2] == quote;
  for (std::size_t i = at + (lines ? 3 : 1); i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (lines ? text.substr(i, 3) == three : text[i] == quote || text[i] == '\n') {
      return i + (lines ? 3 : 1);
    }
  }
  return text.size();
}

/// The first line on which brackets and dotted keys nest too deep, or 0. The parser bounds brackets alone, and takes
/// its tables apart by recursion.
std::size_t too_deep_line(std::string_view text) {
  std::vector<std::size_t> outer;  // depths around the open brackets
  std::size_t base = 0;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = string_end(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    ++i;
    if (c == '[' || c == '{') {
      outer.push_back(base);
      base += dots + 1;
      dots = 0;
    } else if (c == ']' || c == '}') {
      if (!outer.empty()) {
        base = outer.back();
        outer.pop_back();
      }
      dots = 0;
    } else if (c == '.') {
      ++dots;
    } else if (c == ',' || c == '\n') {
      dots = 0;
    }
    if (base + dots > static_cast<std::size_t>(kMaxJobDepth)) {
      return 1 +
             static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n'));
    }
  }
  return 0;
}

/// TOML knows `nan` and `inf`; no setting of a job may be one.
const Node* not_finite(const Node& node) {
  if (node.kind == Node::Kind::Real && node.real - node.real != 0) return &node;
  for (const Node& item : node.items) {
    if (const Node* found = not_finite(item)) return found;
  }
  return nullptr;
}

}  // namespace

Result<Node> parse_toml_nodes(std::string_view text, std::string_view name) {
  if (const std::size_t line = too_deep_line(text); line > 0) {
    return fail("toml-too-deep", fmt::format("{}:{}", name, line),
                fmt::format("is nested deeper than {} levels", kMaxJobDepth), "flatten the document");
  }
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return fail("toml-syntax", fmt::format("{}:{}:{}", name, error.source().begin.line, error.source().begin.column),
                std::string(error.description()));
  }
  Node root = convert(parsed.table(), "", text, line_starts(text));
  if (const Node* bad = not_finite(root)) {
    return fail("not-finite", fmt::format("{}:{}", name, bad->where.line),
                fmt::format("{} is {}", bad->where.path, bad->text), "give a finite number");
  }
  return root;
}

}  // namespace smplan
