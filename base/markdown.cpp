#include "base/markdown.hpp"

#include "base/printable.hpp"

namespace smplan {
namespace {

std::string escaped(std::string_view text, std::string_view marks) {
  std::string out;
  for (const char c : printable(text)) {
    if (marks.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string markdown_text(std::string_view text) { return escaped(text, "\\`*[]<&"); }
std::string markdown_cell(std::string_view text) { return escaped(text, "|"); }

}  // namespace smplan
