#pragma once

#include <string>
#include <string_view>

namespace smplan {

/// Reference token of a JSON pointer. Source: RFC 6901, section 3.
std::string escape_pointer(std::string_view key);

/// One word of a POSIX shell, whatever the text holds: as it is where no quotes are needed.
/// Source: POSIX.1-2017, Shell Command Language, section 2.2.
std::string escape_shell(std::string_view text);

/// Text for elements and attributes of HTML and XML.
std::string escape_markup(std::string_view text);

}  // namespace smplan
