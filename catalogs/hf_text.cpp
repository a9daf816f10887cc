#include <algorithm>
#include <array>

#include "base/words.hpp"
#include "catalogs/hf_config.hpp"

namespace smplan {
namespace {

constexpr std::array<std::string_view, 3> kPythonNumbers{"NaN", "Infinity", "-Infinity"};

/// Behind the string that begins at `at`; the end of the text where it does not end.
std::size_t behind_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

/// The word of Python's at this place, if it is a whole value there.
std::string_view python_number(std::string_view text, std::size_t at) {
  if (at > 0 && (is_letter_or_digit(text[at - 1]) || text[at - 1] == '-')) return {};
  for (const std::string_view word : kPythonNumbers) {
    const std::size_t end = at + word.size();
    const bool whole = end >= text.size() || !is_letter_or_digit(text[end]);
    if (whole && text.substr(at).starts_with(word)) return word;
  }
  return {};
}

std::string with_quoted_numbers(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text[at] == '"') {
      end = behind_string(text, at);
    } else if (const std::string_view word = python_number(text, at); !word.empty()) {
      out += '"';
      out += word;
      out += '"';
      at += word.size();
      continue;
    }
    out += text.substr(at, end - at);
    at = end;
  }
  return out;
}

}  // namespace

Result<JsonValue> parse_hf_config(std::string_view text, std::string_view name) {
  const bool plain = text.find("NaN") == std::string_view::npos && text.find("Infinity") == std::string_view::npos;
  return plain ? parse_json(text, name) : parse_json(with_quoted_numbers(text), name);
}

Result<JsonValue> read_hf_config_file(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return tl::unexpected<Diagnostics>(text.error());
  return parse_hf_config(*text, path == "-" ? "<stdin>" : path);
}

}  // namespace smplan
