#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "planner/preflight/node.hpp"

namespace smplan {
namespace {

/// Thrown through the parser, which knows no other way to stop; never leaves this file.
struct Refusal {
  Diagnostic diagnostic;
};

/// Plain scalars as PyYAML's loader reads them, which is what the launchers use.
void resolve(Node& node) {
  const std::string& t = node.text;
  if (t.empty() || t == "~" || t == "null" || t == "Null" || t == "NULL") {
    node.kind = Node::Kind::Null;
    return;
  }
  for (const std::string_view yes : {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"}) {
    if (t == yes) {
      node.kind = Node::Kind::Bool;
      node.truth = true;
      return;
    }
  }
  for (const std::string_view no : {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}) {
    if (t == no) {
      node.kind = Node::Kind::Bool;
      return;
    }
  }
  node.kind = Node::Kind::String;
  const char* begin = t.data() + (t[0] == '+' ? 1 : 0);
  const char* end = t.data() + t.size();
  std::int64_t integer = 0;
  if (const auto read = std::from_chars(begin, end, integer); read.ec == std::errc() && read.ptr == end) {
    node.kind = Node::Kind::Integer;
    node.integer = integer;
    return;
  }
  double real = 0;
  const bool numeric = t.find_first_of("0123456789") != std::string::npos;
  if (const auto read = std::from_chars(begin, end, real);
      numeric && read.ec == std::errc() && read.ptr == end && real - real == 0) {
    node.kind = Node::Kind::Real;
    node.real = real;
  }
}

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  std::vector<Node> documents;

  void OnDocumentStart(const YAML::Mark& mark) override {
    documents.emplace_back().where.line = mark.line + 1;
    anchors_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(leaf(mark), anchor); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) {
      refuse(mark, "yaml-alias", "an alias stands inside the value that it names", "write the value out");
    }
    Node copy = known->second;
    relocate(copy, child_path(), mark);
    count(copy, mark);
    place(std::move(copy));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!open_.empty() && open_.back().node.is_object() && !open_.back().has_key) {
      open_.back().key = value;
      open_.back().key_line = mark.line + 1;
      open_.back().has_key = true;
      for (const Node& item : open_.back().node.items) {
        if (item.key == value) {
          refuse(mark, "duplicate-key", fmt::format("key {} appears twice in one mapping", quote(value)),
                 "keep one of them");
        }
      }
      return;
    }
    Node node = leaf(mark);
    node.text = value;
    node.kind = Node::Kind::String;
    if (tag == "?") resolve(node);
    // A fix of a value that aliases repeat would change them all.
    if (anchor == 0) node.span = span_of(value, mark);
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, Node::Kind::Array);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, Node::Kind::Object);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    std::string key;
    int key_line = 0;
    bool has_key = false;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string code, std::string message, std::string hint) const {
    throw Refusal{{std::move(code), fmt::format("{}:{}:{}", name_, mark.line + 1, mark.column + 1), std::move(message),
                   std::move(hint)}};
  }

  [[nodiscard]] std::string child_path() const {
    if (open_.empty()) return "";
    const Node& parent = open_.back().node;
    return parent.is_object() ? pointer_to(parent.where.path, open_.back().key)
                              : fmt::format("{}/{}", parent.where.path, parent.items.size());
  }

  /// The scalar with its quotes, where it stands as it reads; empty for escapes, folded lines and blocks.
  [[nodiscard]] Span span_of(const std::string& value, const YAML::Mark& mark) const {
    const auto begin = static_cast<std::size_t>(mark.pos);
    if (value.empty() || begin >= text_.size()) return {};
    if (text_.substr(begin, value.size()) == value) return {begin, begin + value.size()};
    const char quote = text_[begin];
    const std::size_t end = begin + value.size() + 2;
    const bool quoted = (quote == '"' || quote == '\'') && end <= text_.size() && text_[end - 1] == quote;
    return quoted && text_.substr(begin + 1, value.size()) == value ? Span{begin, end} : Span{};
  }

  [[nodiscard]] Node leaf(const YAML::Mark& mark) const {
    Node node;
    node.where = {child_path(), mark.line + 1};
    return node;
  }

  static void relocate(Node& node, const std::string& path, const YAML::Mark& mark) {
    node.where = {path, mark.line + 1};
    node.span = {};
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      Node& item = node.items[i];
      relocate(item, node.is_object() ? pointer_to(path, item.key) : fmt::format("{}/{}", path, i), mark);
    }
  }

  /// Aliases copy: counting the copies keeps a page of nested aliases from becoming gigabytes.
  void count(const Node& node, const YAML::Mark& mark) {
    if (++count_ > kMaxJobNodes) {
      refuse(mark, "file-too-large", fmt::format("holds more than {} values, aliases counted", kMaxJobNodes),
             "a job file is small: check that this is the right file");
    }
    for (const Node& item : node.items) count(item, mark);
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    if (open_.size() >= static_cast<std::size_t>(kMaxJobDepth)) {
      refuse(mark, "yaml-too-deep", fmt::format("is nested deeper than {} levels", kMaxJobDepth),
             "flatten the document");
    }
    if (!open_.empty() && open_.back().node.is_object() && !open_.back().has_key) {
      refuse(mark, "yaml-key", "a key is a list or a mapping", "use plain text keys");
    }
    Node node = leaf(mark);
    node.kind = kind;
    open_.push_back({std::move(node), anchor, {}, 0, false});
  }

  static void move_to(Node& node, const std::string& path) {
    node.where.path = path;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      Node& item = node.items[i];
      move_to(item, node.is_object() ? pointer_to(path, item.key) : fmt::format("{}/{}", path, i));
    }
  }

  /// `<<` brings the keys of one mapping, or of each of a list, where its own mapping lacks them: YAML 1.1's merge key,
  /// which PyYAML's loader follows. Anything else under it stays an unknown key.
  static void merge(Node& mapping) {
    std::vector<Node>& items = mapping.items;
    const auto found = std::find_if(items.begin(), items.end(), [](const Node& item) { return item.key == "<<"; });
    if (!mapping.is_object() || found == items.end()) return;
    std::vector<Node> sources;
    if (found->is_object()) {
      sources.push_back(*found);
    } else {
      sources = found->items;
    }
    const auto is_object = [](const Node& source) { return source.is_object(); };
    if (sources.empty() || !std::all_of(sources.begin(), sources.end(), is_object)) return;
    items.erase(found);
    for (Node& source : sources) {
      for (Node& item : source.items) {
        const bool stated =
            std::any_of(items.begin(), items.end(), [&](const Node& own) { return own.key == item.key; });
        if (stated) continue;
        move_to(item, pointer_to(mapping.where.path, item.key));
        items.push_back(std::move(item));
      }
    }
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    merge(done.node);
    add(std::move(done.node), done.anchor);
  }

  void add(Node node, YAML::anchor_t anchor) {
    if (++count_ > kMaxJobNodes) {
      throw Refusal{{"file-too-large", std::string(name_), fmt::format("holds more than {} values", kMaxJobNodes),
                     "a job file is small: check that this is the right file"}};
    }
    if (anchor != 0) anchors_[anchor] = node;
    place(std::move(node));
  }

  void place(Node node) {
    if (open_.empty()) {
      node.where.line = documents.size() > 1 ? documents.back().where.line : node.where.line;
      documents.back() = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.is_object()) {
      node.key = std::move(parent.key);
      node.where.line = parent.key_line;
      parent.has_key = false;
    }
    parent.node.items.push_back(std::move(node));
  }

  std::string_view text_, name_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t count_ = 0;
};

}  // namespace

Result<std::vector<Node>> parse_yaml_documents(std::string_view text, std::string_view name) {
  TreeBuilder builder(text, name);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return tl::unexpected<Diagnostics>({refusal.diagnostic});
  } catch (const YAML::Exception& error) {
    return fail("yaml-syntax", fmt::format("{}:{}:{}", name, error.mark.line + 1, error.mark.column + 1), error.msg);
  }
  if (builder.documents.empty()) return fail("yaml-empty", std::string(name), "holds nothing", "give a YAML mapping");
  return std::move(builder.documents);
}

Result<Node> parse_yaml_nodes(std::string_view text, std::string_view name) {
  Result<std::vector<Node>> documents = parse_yaml_documents(text, name);
  if (!documents) return tl::unexpected<Diagnostics>(documents.error());
  if (documents->size() == 1) return std::move(documents->front());
  return fail("yaml-documents", fmt::format("{}:{}:1", name, (*documents)[1].where.line), "holds a second document",
              "keep one document a file");
}

}  // namespace smplan
