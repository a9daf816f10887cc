#include "catalogs/tokenizer/characters.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include <utf8proc.h>

namespace smplan {
namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool is_in(utf8proc_category_t value, utf8proc_category_t first, utf8proc_category_t last) {
  return value >= first && value <= last;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

utf8proc_option_t options_of(NormalForm form) {
  constexpr int kStable = UTF8PROC_STABLE;
  switch (form) {
    case NormalForm::C:
      return static_cast<utf8proc_option_t>(kStable | UTF8PROC_COMPOSE);
    case NormalForm::D:
      return static_cast<utf8proc_option_t>(kStable | UTF8PROC_DECOMPOSE);
    case NormalForm::KC:
      return static_cast<utf8proc_option_t>(kStable | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
    case NormalForm::KD:
      break;
  }
  return static_cast<utf8proc_option_t>(kStable | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
}

}  // namespace

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0x85 || is_in(category(c), UTF8PROC_CATEGORY_ZS, UTF8PROC_CATEGORY_ZP);
}

bool is_number(char32_t c) { return is_in(category(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO); }

bool is_punctuation(char32_t c) {
  if (c < 0x80) return c > ' ' && c < 0x7F && !((c >= '0' && c <= '9') || ((c | 0x20U) >= 'a' && (c | 0x20U) <= 'z'));
  return is_in(category(c), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool is_mark(char32_t c) { return is_in(category(c), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME); }

bool is_nonspacing_mark(char32_t c) { return category(c) == UTF8PROC_CATEGORY_MN; }

bool is_control_or_format(char32_t c) {
  const utf8proc_category_t value = category(c);
  return value == UTF8PROC_CATEGORY_CC || value == UTF8PROC_CATEGORY_CF || value == UTF8PROC_CATEGORY_CO;
}

void append_utf8(std::string& out, char32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

void append_lower(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 0x20 : c);
    return;
  }
  // The one character whose lower case is two. Source: The Unicode Standard 15.0, SpecialCasing.txt.
  constexpr char32_t kCapitalDottedI = 0x130;
  if (c == kCapitalDottedI) {
    out += "i\u0307";
    return;
  }
  append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

std::string normal_form(std::string_view text, NormalForm form) {
  if (is_ascii(text)) return std::string(text);
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                               static_cast<utf8proc_ssize_t>(text.size()), &bytes, options_of(form));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(bytes, &std::free);
  if (length < 0) throw std::bad_alloc();  // well-formed text has no other failure
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)};
}

std::size_t grapheme_length(std::string_view text) {
  CodePoint before = first_code_point(text);
  std::size_t length = before.length;
  utf8proc_int32_t state = 0;
  while (length < text.size()) {
    const CodePoint next = first_code_point(text.substr(length));
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before.value),
                                         static_cast<utf8proc_int32_t>(next.value), &state)) {
      break;
    }
    length += next.length;
    before = next;
  }
  return length;
}

}  // namespace smplan
