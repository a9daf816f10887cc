#pragma once

#include <string_view>

namespace smplan {

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
/// Source: The Unicode Standard 15.0, table 3-7.
bool is_utf8(std::string_view text);

}  // namespace smplan
