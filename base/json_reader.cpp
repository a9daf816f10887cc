#include "base/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <numeric>
#include <variant>

#include "base/escape.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"

namespace smplan {
namespace {

struct Object;
struct Node;
/// A number written with a point or exponent, or too long for 64 bits; `text` as it stood in the file.
struct Real {
  double value;
  std::string text;
};
using Array = std::vector<Node>;

struct Node {
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, std::unique_ptr<Real>, std::string, Array,
               std::unique_ptr<Object>>
      data;

  template <typename T>
  [[nodiscard]] const T* get() const {
    return std::get_if<T>(&data);
  }
};

struct Member {
  std::string key;
  Node value;
};

/// Members in file order, and their positions in key order for look-up.
struct Object {
  std::vector<Member> members;
  std::vector<std::uint32_t> by_key;
};

const Object* object_of(const Node& node) {
  const auto* owner = node.get<std::unique_ptr<Object>>();
  return owner == nullptr ? nullptr : owner->get();
}

/// `7:12` of a byte offset: lines count from 1, columns in characters from 1.
std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n');
  const std::string_view row = start == std::string_view::npos ? before : before.substr(start + 1);
  const auto column = std::count_if(row.begin(), row.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return fmt::format("{}:{}", line, std::max<std::ptrdiff_t>(column, 1));
}

/// The library's sentence without its prefix, its position (given elsewhere) and the offending token (which
/// may be megabytes of anything).
std::string syntax_message(std::string_view what) {
  const std::size_t bracket = what.find("] ");
  if (bracket != std::string_view::npos) what.remove_prefix(bracket + 2);
  if (what.starts_with("parse error at ")) what.remove_prefix(std::min(what.size(), what.find(": ") + 2));
  if (what.starts_with("number overflow")) return "a number is too large for a double";
  const std::size_t token = what.find("; last read: ");
  std::string message(what.substr(0, token));
  const std::size_t expected = what.rfind("; expected ");
  if (token != std::string_view::npos && expected != std::string_view::npos && expected > token) {
    message += what.substr(expected);
  }
  return message;
}

/// Builds the tree from parse events; refuses what the library lets through: duplicate keys, depth, count.
class TreeBuilder {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  TreeBuilder(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  bool null() { return add(Node{}); }
  bool boolean(bool value) { return add(Node{value}); }
  bool number_integer(number_integer_t value) { return add(Node{std::int64_t{value}}); }
  bool number_unsigned(number_unsigned_t value) { return add(Node{std::uint64_t{value}}); }
  bool number_float(number_float_t value, const string_t& text) {
    return add(Node{std::make_unique<Real>(Real{value, text})});
  }
  bool string(string_t& value) { return add(Node{std::move(value)}); }
  bool binary(binary_t&) { return false; }  // JSON text has none
  bool start_object(std::size_t) { return open(Node{std::make_unique<Object>()}); }
  bool start_array(std::size_t) { return open(Node{Array{}}); }
  bool end_array() { return close(); }

  bool key(string_t& key) {
    open_.back().key = std::move(key);
    return true;
  }

  bool end_object() {
    Object& object = *std::get<std::unique_ptr<Object>>(open_.back().node.data);
    const std::vector<Member>& members = object.members;
    object.by_key.resize(members.size());
    std::iota(object.by_key.begin(), object.by_key.end(), 0U);
    std::stable_sort(object.by_key.begin(), object.by_key.end(),
                     [&](auto a, auto b) { return members[a].key < members[b].key; });
    const auto twice = std::adjacent_find(object.by_key.begin(), object.by_key.end(),
                                          [&](auto a, auto b) { return members[a].key == members[b].key; });
    if (twice != object.by_key.end()) {
      // At this point the innermost open node is the object itself, and its pointer is that of its last key.
      open_.back().key = members[*twice].key;
      return refuse("duplicate-key", fmt::format("{}:{}", name_, pointer()),
                    fmt::format("key {} appears twice in one object", quote(members[*twice].key)), "keep one of them");
    }
    return close();
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    return refuse("json-syntax", fmt::format("{}:{}", name_, line_and_column(text_, position)),
                  syntax_message(error.what()), "");
  }

  Node root;
  Diagnostics faults;

 private:
  struct Open {
    Node node;
    std::string key;  ///< of the member being read, if the node is an object
  };

  bool refuse(std::string code, std::string location, std::string message, std::string hint) {
    faults.push_back({std::move(code), std::move(location), std::move(message), std::move(hint)});
    return false;
  }

  [[nodiscard]] std::string pointer() const {
    std::string out;
    for (const Open& open : open_) {
      const auto* items = open.node.get<Array>();
      out += '/' + (items == nullptr ? escape_pointer(open.key) : std::to_string(items->size()));
    }
    return out;
  }

  bool open(Node node) {
    if (open_.size() >= static_cast<std::size_t>(kMaxJsonDepth)) {
      return refuse("json-too-deep", name_, fmt::format("is nested deeper than {} levels", kMaxJsonDepth),
                    "flatten the document");
    }
    open_.push_back(Open{std::move(node), {}});
    return true;
  }

  bool close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    return add(std::move(node));
  }

  bool add(Node node) {
    if (++count_ > kMaxJsonValues) {
      return refuse("json-too-large", name_, fmt::format("holds more than {} values", kMaxJsonValues),
                    "split the file or drop what is not needed");
    }
    if (open_.empty()) {
      root = std::move(node);
    } else if (auto* items = std::get_if<Array>(&open_.back().node.data)) {
      items->push_back(std::move(node));
    } else {
      Object& object = *std::get<std::unique_ptr<Object>>(open_.back().node.data);
      object.members.push_back(Member{std::move(open_.back().key), std::move(node)});
    }
    return true;
  }

  std::string_view text_;
  std::string name_;
  std::vector<Open> open_;
  std::size_t count_ = 0;
};

std::string_view kind_name(const Node& node) {
  static constexpr std::string_view kNames[] = {"null",     "a boolean", "a number", "a number",
                                                "a number", "a string",  "an array", "an object"};
  return kNames[node.data.index()];
}

void append_dump(const Node& node, std::string& out) {
  const auto append_string = [&out](const std::string& text) { out += nlohmann::json(text).dump(); };
  if (const auto* truth = node.get<bool>()) {
    out += *truth ? "true" : "false";
  } else if (const auto* integer = node.get<std::int64_t>()) {
    out += std::to_string(*integer);
  } else if (const auto* natural = node.get<std::uint64_t>()) {
    out += std::to_string(*natural);
  } else if (const auto* real = node.get<std::unique_ptr<Real>>()) {
    out += (*real)->text;
  } else if (const auto* text = node.get<std::string>()) {
    append_string(*text);
  } else if (const auto* items = node.get<Array>()) {
    std::string_view separator = "[";
    for (const Node& item : *items) {
      out += separator;
      append_dump(item, out);
      separator = ",";
    }
    out += items->empty() ? "[]" : "]";
  } else if (const Object* object = object_of(node)) {
    std::string_view separator = "{";
    for (const Member& member : object->members) {
      out += separator;
      append_string(member.key);
      out += ':';
      append_dump(member.value, out);
      separator = ",";
    }
    out += object->members.empty() ? "{}" : "}";
  } else {
    out += "null";
  }
}

Json copy_of(const Node& node) {
  if (const auto* truth = node.get<bool>()) return *truth;
  if (const auto* integer = node.get<std::int64_t>()) return *integer;
  if (const auto* natural = node.get<std::uint64_t>()) {
    if (*natural > static_cast<std::uint64_t>(INT64_MAX)) return static_cast<double>(*natural);
    return static_cast<std::int64_t>(*natural);
  }
  if (const auto* real = node.get<std::unique_ptr<Real>>()) return (*real)->value;
  if (const auto* text = node.get<std::string>()) return *text;
  if (const auto* items = node.get<Array>()) {
    Json out = Json::array();
    for (const Node& item : *items) out.push_back(copy_of(item));
    return out;
  }
  if (const Object* object = object_of(node)) {
    Json::Object members;
    for (const Member& member : object->members) members.emplace_back(member.key, copy_of(member.value));
    return Json::object(std::move(members));
  }
  return nullptr;
}

const Node& node_at(const void* node) { return *static_cast<const Node*>(node); }

void report_kind(const Node& node, const JsonValue& value, std::string_view wanted, Diagnostics& out) {
  out.push_back({"wrong-kind", value.location(), fmt::format("must be {}, not {}", wanted, kind_name(node)), {}});
}

}  // namespace

struct JsonValue::Document {
  std::string name;
  Node root;
};

JsonValue::JsonValue(std::shared_ptr<const Document> document, const void* node, std::string pointer)
    : document_(std::move(document)), node_(node), pointer_(std::move(pointer)) {}

bool JsonValue::is_null() const { return node_at(node_).get<std::monostate>() != nullptr; }
bool JsonValue::is_object() const { return object_of(node_at(node_)) != nullptr; }
bool JsonValue::is_array() const { return node_at(node_).get<Array>() != nullptr; }
bool JsonValue::is_string() const { return node_at(node_).get<std::string>() != nullptr; }
bool JsonValue::is_bool() const { return node_at(node_).get<bool>() != nullptr; }
bool JsonValue::is_number() const {
  const Node& node = node_at(node_);
  return node.get<std::int64_t>() != nullptr || node.get<std::uint64_t>() != nullptr ||
         node.get<std::unique_ptr<Real>>() != nullptr;
}

std::string JsonValue::location() const {
  return pointer_.empty() ? document_->name : fmt::format("{}:{}", document_->name, pointer_);
}

std::string JsonValue::as_string(Diagnostics& out) const {
  std::string text = as_text(out);
  if (text.size() > kMaxJsonLine) {
    out.push_back({"too-long", location(), fmt::format("has {} bytes, at most {} are read", text.size(), kMaxJsonLine),
                   "shorten it"});
    return {};
  }
  if (is_printable(text)) return text;
  out.push_back({"unprintable", location(), fmt::format("{} holds a control or an invisible character", quote(text)),
                 "write it as one line of plain text"});
  return {};
}

std::string JsonValue::as_text(Diagnostics& out) const {
  const Node& node = node_at(node_);
  if (const auto* text = node.get<std::string>()) return *text;
  report_kind(node, *this, "a string", out);
  return {};
}

double JsonValue::as_number(Diagnostics& out) const {
  const Node& node = node_at(node_);
  if (const auto* integer = node.get<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* natural = node.get<std::uint64_t>()) return static_cast<double>(*natural);
  if (const auto* real = node.get<std::unique_ptr<Real>>()) return (*real)->value;
  report_kind(node, *this, "a number", out);
  return 0;
}

std::int64_t JsonValue::as_integer(Diagnostics& out) const {
  const Node& node = node_at(node_);
  if (const auto* integer = node.get<std::int64_t>()) return *integer;
  const auto* natural = node.get<std::uint64_t>();
  if (natural != nullptr && *natural <= static_cast<std::uint64_t>(INT64_MAX)) {
    return static_cast<std::int64_t>(*natural);
  }
  if (!is_number()) {
    report_kind(node, *this, "a whole number", out);
    return 0;
  }
  const auto* real = node.get<std::unique_ptr<Real>>();
  const std::string text = natural != nullptr ? std::to_string(*natural) : (*real)->text;
  const bool whole = text.find_first_of(".eE") == std::string::npos;
  out.push_back({whole ? "out-of-range" : "not-an-integer",
                 location(),
                 whole ? fmt::format("{} does not fit in 64 bits", quote(text))
                       : fmt::format("must be a whole number without point or exponent, not {}", quote(text)),
                 {}});
  return 0;
}

bool JsonValue::as_bool(Diagnostics& out) const {
  const Node& node = node_at(node_);
  if (const auto* truth = node.get<bool>()) return *truth;
  report_kind(node, *this, "true or false", out);
  return false;
}

std::vector<JsonValue> JsonValue::as_array(Diagnostics& out) const {
  const Node& node = node_at(node_);
  std::vector<JsonValue> values;
  const auto* items = node.get<Array>();
  if (items == nullptr) {
    report_kind(node, *this, "an array", out);
    return values;
  }
  values.reserve(items->size());
  for (std::size_t i = 0; i < items->size(); ++i) {
    values.push_back(JsonValue(document_, &(*items)[i], fmt::format("{}/{}", pointer_, i)));
  }
  return values;
}

std::vector<std::string> JsonValue::keys(Diagnostics& out) const {
  const Node& node = node_at(node_);
  std::vector<std::string> names;
  const Object* object = object_of(node);
  if (object == nullptr) {
    report_kind(node, *this, "an object", out);
    return names;
  }
  for (const Member& member : object->members) names.push_back(member.key);
  return names;
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  const Object* object = object_of(node_at(node_));
  if (object == nullptr) return std::nullopt;
  const std::vector<Member>& members = object->members;
  const auto at = std::lower_bound(object->by_key.begin(), object->by_key.end(), key,
                                   [&](std::uint32_t i, std::string_view wanted) { return members[i].key < wanted; });
  if (at == object->by_key.end() || members[*at].key != key) return std::nullopt;
  return JsonValue(document_, &members[*at].value, fmt::format("{}/{}", pointer_, escape_pointer(key)));
}

Json JsonValue::copy() const { return copy_of(node_at(node_)); }

std::string JsonValue::dump() const {
  std::string out;
  append_dump(node_at(node_), out);
  return out;
}

Result<JsonValue> parse_json(std::string_view text, std::string_view name, std::string_view pointer) {
  const std::string place = pointer.empty() ? std::string(name) : fmt::format("{}:{}", name, pointer);
  if (text.size() > kMaxJsonBytes) {
    return fail("json-too-large", place, fmt::format("is larger than {} bytes", kMaxJsonBytes),
                "split the file or drop what is not needed");
  }
  // The library takes NUL for the end of the text and would ignore what follows.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return fail("json-syntax", fmt::format("{}:{}", place, line_and_column(text, nul + 1)), "holds a NUL character");
  }
  TreeBuilder builder(text, place);
  if (!nlohmann::json::sax_parse(text, &builder)) return tl::unexpected<Diagnostics>(std::move(builder.faults));
  auto document = std::make_shared<JsonValue::Document>();
  document->name = name;
  document->root = std::move(builder.root);
  const void* root = &document->root;
  return JsonValue(std::move(document), root, std::string(pointer));
}

Result<JsonValue> read_json_file(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return tl::unexpected<Diagnostics>(text.error());
  return parse_json(*text, path == "-" ? "<stdin>" : path);
}

}  // namespace smplan
