#pragma once

#include <cstddef>
#include <string_view>

namespace smplan {

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
/// Source: The Unicode Standard 15.0, table 3-7.
bool is_utf8(std::string_view text);

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  ///< in bytes; 0: no well-formed sequence begins here
};

/// The character at the start of `text`.
CodePoint first_code_point(std::string_view text);

}  // namespace smplan
