#pragma once

#include <string>
#include <string_view>

namespace smplan {

/// Reference token of a JSON pointer. Source: RFC 6901, section 3.
std::string escape_pointer(std::string_view key);

/// Text for elements and attributes of HTML and XML.
std::string escape_markup(std::string_view text);

}  // namespace smplan
