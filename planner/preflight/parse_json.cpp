#include <charconv>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "planner/preflight/node.hpp"

namespace smplan {
namespace {

/// Second pass over text that the strict reader has accepted (so it is well formed, no deeper than its
/// limit and without duplicate keys): builds nodes with lines and byte ranges, which that reader drops.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  Node value(std::string path) {
    skip_blanks();
    Node node;
    node.where = {std::move(path), line_};
    node.span.begin = at_;
    switch (text_[at_]) {
      case '{':
        members(node);
        break;
      case '[':
        elements(node);
        break;
      case '"':
        node.kind = Node::Kind::String;
        node.text = string();
        break;
      default:
        word(node);
    }
    node.span.end = at_;
    if (++count_ > kMaxJobNodes) too_many_ = true;
    return node;
  }

  [[nodiscard]] bool too_many() const { return too_many_; }

 private:
  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      if (text_[at_++] == '\n') ++line_;
    }
  }

  /// Skips blanks and reports whether `c` came next, past it.
  bool next(char c) {
    skip_blanks();
    if (text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string string() {
    const std::size_t begin = at_++;
    bool escaped = false;
    while (text_[at_] != '"') {
      if (text_[at_] == '\\') {
        escaped = true;
        ++at_;
      }
      ++at_;
    }
    ++at_;
    const std::string_view raw = text_.substr(begin, at_ - begin);
    if (!escaped) return std::string(raw.substr(1, raw.size() - 2));
    return Json::parse(raw).text();
  }

  void members(Node& node) {
    node.kind = Node::Kind::Object;
    ++at_;
    if (next('}')) return;
    do {
      skip_blanks();
      const Span key_span{at_, 0};
      const int key_line = line_;
      std::string key = string();
      const std::size_t key_end = at_;
      next(':');
      Node member = value(pointer_to(node.where.path, key));
      member.key = std::move(key);
      member.key_span = {key_span.begin, key_end};
      member.where.line = key_line;
      node.items.push_back(std::move(member));
    } while (next(','));
    next('}');
    if (stands_for_value(node)) {
      node.kind = Node::Kind::String;
      node.text = "${" + node.items.front().key + " " + node.items.front().text + "}";
      node.items.clear();
    }
  }

  /// A variable of SageMaker Pipelines, as a pipeline's definition writes it: {"Get": "Parameters.Count"}.
  static bool stands_for_value(const Node& node) {
    if (node.items.size() != 1 || node.where.path.empty()) return false;
    const std::string& key = node.items.front().key;
    return key.starts_with("Std:") || (key == "Get" && node.items.front().is_string());
  }

  void elements(Node& node) {
    node.kind = Node::Kind::Array;
    ++at_;
    if (next(']')) return;
    do {
      node.items.push_back(value(fmt::format("{}/{}", node.where.path, node.items.size())));
    } while (next(','));
    next(']');
  }

  void word(Node& node) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) ++at_;
    node.text = text_.substr(begin, at_ - begin);
    if (node.text == "null") return;
    if (node.text == "true" || node.text == "false") {
      node.kind = Node::Kind::Bool;
      node.truth = node.text == "true";
      return;
    }
    const char* end = node.text.data() + node.text.size();
    // Beyond 64 bits it is a number like any other, as YAML's is.
    if (const auto read = std::from_chars(node.text.data(), end, node.integer);
        read.ptr == end && read.ec == std::errc()) {
      node.kind = Node::Kind::Integer;
      return;
    }
    node.kind = Node::Kind::Real;
    std::from_chars(node.text.data(), end, node.real);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t count_ = 0;
  bool too_many_ = false;
};

}  // namespace

Result<Node> parse_json_nodes(std::string_view text, std::string_view name) {
  const Result<JsonValue> valid = parse_json(text, name);
  if (!valid) return tl::unexpected<Diagnostics>(valid.error());
  Scanner scanner(text);
  Node root = scanner.value("");
  if (scanner.too_many()) {
    return fail("file-too-large", std::string(name), fmt::format("holds more than {} values", kMaxJobNodes),
                "a job file is small: check that this is the right file");
  }
  return root;
}

}  // namespace smplan
