#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.hpp"

namespace smplan {

/// What tokenizers ask of a character. Categories are those of The Unicode Standard 15.0, as utf8proc holds them.
bool is_white_space(char32_t c);
bool is_number(char32_t c);       ///< Nd, Nl, No
bool is_punctuation(char32_t c);  ///< P*, and every mark of ASCII
bool is_mark(char32_t c);         ///< Mn, Mc, Me
bool is_nonspacing_mark(char32_t c);
bool is_control_or_format(char32_t c);  ///< Cc, Cf, Co

void append_utf8(std::string& out, char32_t c);
/// The lower case of one character, whatever stands beside it.
void append_lower(std::string& out, char32_t c);

enum class NormalForm { C, D, KC, KD };
/// `text` in a normal form of Unicode. Precondition: well-formed UTF-8.
std::string normal_form(std::string_view text, NormalForm form);

/// Bytes of the first user-perceived character (extended grapheme cluster). Precondition: not empty, well-formed.
std::size_t grapheme_length(std::string_view text);

/// Calls `each(character, offset, length)` for every character. Precondition: well-formed UTF-8.
template <typename F>
void for_each_character(std::string_view text, F&& each) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const CodePoint c = byte < 0x80 ? CodePoint{byte, 1} : first_code_point(text.substr(i));
    each(c.value, i, c.length);
    i += c.length;
  }
}

}  // namespace smplan
