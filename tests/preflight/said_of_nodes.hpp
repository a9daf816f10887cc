#pragma once

#include "tests/preflight/job_cases.hpp"

namespace smplan::test {

inline std::string value_text(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Null:
      return "null";
    case Node::Kind::Bool:
      return node.truth ? "true" : "false";
    case Node::Kind::Integer:
      return "integer " + std::to_string(node.integer) + " " + node.text;
    case Node::Kind::Real:
      return "real " + Json(node.real).dump() + " " + node.text;
    case Node::Kind::String:
      return "text " + node.text;
    case Node::Kind::Array:
      return "list";
    case Node::Kind::Object:
      break;
  }
  return "object";
}

/// A line a node, outer ones first: `line 2 /path: integer 3 3`, then the bytes of key and value where they are known.
inline void tell_nodes(const Node& node, const std::string& text, Json& out) {
  const auto bytes = [&](const char* name, const Span& s) {
    return s.end == 0 ? std::string() : " " + std::string(name) + "<" + text.substr(s.begin, s.end - s.begin) + ">";
  };
  const bool plain = node.kind != Node::Kind::Array && node.kind != Node::Kind::Object;
  out.push_back("line " + std::to_string(node.where.line) + " " + node.where.path + ": " + value_text(node) +
                bytes("key", node.key_span) + (plain ? bytes("value", node.span) : "") +
                (node.overridden_line > 0 ? " overrides line " + std::to_string(node.overridden_line) : ""));
  for (const Node& item : node.items) tell_nodes(item, text, out);
}

/// The nodes of the row's text, or why it is refused: `code, place: message; hint`, without a library's words.
inline Json nodes_of(const Json& row) {
  constexpr std::pair<const char*, Syntax> kSyntaxes[] = {
      {"json", Syntax::Json}, {"yaml", Syntax::Yaml}, {"toml", Syntax::Toml}, {"arguments", Syntax::Arguments}};
  const std::string text = row["text"];
  for (const auto& [name, syntax] : kSyntaxes) {
    if (row["syntax"] != name) continue;
    const Result<Node> root = parse_document(text, "job", syntax);
    Json out = Json::array();
    if (root) {
      tell_nodes(*root, text, out);
    } else {
      const Diagnostic& d = root.error().front();
      const bool of_a_library = d.code == "json-syntax" || d.code == "yaml-syntax" || d.code == "toml-syntax";
      out.push_back(d.code + ", " + d.location + (of_a_library ? "" : ": " + d.message + "; " + d.hint));
    }
    return out;
  }
  throw std::runtime_error("no syntax " + row["syntax"].dump());
}

}  // namespace smplan::test
