#include "base/printable.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "base/words.hpp"

namespace smplan {
namespace {

constexpr std::size_t kMaxIdentifier = 64;
constexpr std::size_t kMaxLabel = 96;
/// No sentence of ours is as long; what a file holds may be.
constexpr std::size_t kMaxLine = 16384;

struct Range {
  char32_t first;
  char32_t last;
};

/// In order. Source: Unicode 15.0, UnicodeData.txt: Cc, Cf, Zl, Zp, Co; section 23.7 for noncharacters.
constexpr Range kInvisible[] = {
    {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x600, 0x605},      {0x61C, 0x61C},
    {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},      {0x180E, 0x180E},
    {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0xE000, 0xF8FF},    {0xFDD0, 0xFDEF},
    {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD},  {0x110CD, 0x110CD},
    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0x10FFFF},
};

bool is_invisible(char32_t point) {
  const auto* const after = std::upper_bound(std::begin(kInvisible), std::end(kInvisible), point,
                                             [](char32_t p, const Range& range) { return p < range.first; });
  if (after != std::begin(kInvisible) && point <= std::prev(after)->last) return true;
  return (point & 0xFFFE) == 0xFFFE;  // the last two of every plane
}

/// Bytes at the start of `text` that make up one printable character; 0 if there is none.
std::size_t printable_length(std::string_view text) {
  const CodePoint first = first_code_point(text);
  return first.length == 0 || is_invisible(first.value) ? 0 : first.length;
}

/// What is replaced as one: a character, or a byte of none.
std::size_t hidden_length(std::string_view text) { return std::max<std::size_t>(1, first_code_point(text).length); }

/// `ESC [ digits ; digits m` at the start of `text`: sets a colour and nothing else. 0 if it is not there.
std::size_t colour_length(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  constexpr std::size_t kLongest = 12;
  return end != std::string_view::npos && text[end] == 'm' && end < kLongest ? end + 1 : 0;
}

/// Where the runner looks for a command: behind blanks (V2), or anywhere in the line (V1).
void append_without_commands(std::string_view line, std::string& out) {
  const bool cut = line.size() > kMaxLine;
  if (cut) {
    line = line.substr(0, kMaxLine);
    while (!line.empty() && !is_utf8(line)) line.remove_suffix(1);
  }
  const std::size_t start = std::min(line.find_first_not_of(" \t"), line.size());
  if (line.substr(start).starts_with("::")) {
    out.append(line.substr(0, start)).append(": :");
    line.remove_prefix(start + 2);
  }
  constexpr std::string_view kOld = "##[";
  for (std::size_t at = line.find(kOld); at != std::string_view::npos; at = line.find(kOld)) {
    out.append(line.substr(0, at)).append("## [");
    line.remove_prefix(at + kOld.size());
  }
  out.append(line).append(cut ? "..." : "");
}

bool is_label_mark(char c) { return std::string_view("._/+:@()-").find(c) != std::string_view::npos; }

/// Bytes at the start of `text` that a label may hold, but for blanks; 0 if none.
std::size_t label_length(std::string_view text) {
  if (text.empty()) return 0;
  if (static_cast<unsigned char>(text.front()) < 0x80) {
    return is_letter_or_digit(text.front()) || is_label_mark(text.front()) ? 1 : 0;
  }
  return printable_length(text);
}

bool may_begin_label(std::string_view text) {
  const char c = text.front();
  return is_letter_or_digit(c) || c == '.' || c == '_' || c == '/' || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    const std::string_view shown = length == 0 ? "?" : text.substr(0, length);
    if (out.size() + shown.size() > max_bytes) return out + "...";
    out += shown;
    text.remove_prefix(length == 0 ? hidden_length(text) : length);
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  std::string line;
  while (!text.empty()) {
    const std::size_t colour = colour_length(text);
    const std::size_t length = colour > 0 ? colour : printable_length(text);
    if (text.front() == '\n') {
      append_without_commands(line, out);
      out += '\n';
      line.clear();
    } else {
      line += length > 0 ? text.substr(0, length) : text.front() == '\t' ? "\t" : "?";
    }
    text.remove_prefix(length > 0 ? length : hidden_length(text));
  }
  append_without_commands(line, out);
  return out;
}

std::string printable_json(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    const CodePoint point = first_code_point(json);
    const std::size_t length = std::max<std::size_t>(1, point.length);
    if (point.length == 0 || !is_invisible(point.value) || point.value == '\n') {
      out += json.substr(0, length);
    } else if (point.value > 0xFFFF) {
      const std::uint32_t above = static_cast<std::uint32_t>(point.value) - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (above >> 10), 0xDC00 + (above & 0x3FF));
    } else {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point.value));
    }
    json.remove_prefix(length);
  }
  return out;
}

bool is_identifier(std::string_view text) {
  const auto allowed = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; };
  return !text.empty() && text.size() <= kMaxIdentifier && is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), allowed);
}

bool is_label(std::string_view text) {
  if (text.empty() || text.size() > kMaxLabel || text.back() == ' ' || !may_begin_label(text)) return false;
  if (text.find("  ") != std::string_view::npos) return false;
  while (!text.empty()) {
    const std::size_t length = text.front() == ' ' ? 1 : label_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string label_of(std::string_view text) {
  // What is cut off could not be shown, whatever it becomes; so a hostile megabyte costs little.
  constexpr std::size_t kLongest = 4096;
  if (text.size() > kLongest) text.remove_prefix(text.size() - kLongest);
  std::string out;
  const auto append_between = [&out](char mark) {
    if (!out.empty() && out.back() != ' ' && out.back() != '-') out += mark;
  };
  while (!text.empty()) {
    const std::size_t length = label_length(text);
    if (length > 0 && (!out.empty() || may_begin_label(text))) {
      out += text.substr(0, length);
    } else {
      append_between(text.front() == ' ' ? ' ' : '-');
    }
    text.remove_prefix(length > 0 ? length : hidden_length(text));
  }
  // From the end, at the beginning of a character.
  std::size_t cut = out.size() > kMaxLabel ? out.size() - kMaxLabel : 0;
  while (cut < out.size() && ((static_cast<unsigned char>(out[cut]) & 0xC0) == 0x80 || out[cut] == ' ' ||
                              !may_begin_label(std::string_view(out).substr(cut)))) {
    ++cut;
  }
  out.erase(0, cut);
  while (!out.empty() && (out.back() == ' ' || out.back() == '-')) out.pop_back();
  return out;
}

}  // namespace smplan
