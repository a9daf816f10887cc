#pragma once

#include <string>
#include <string_view>

namespace smplan {

/// One line of text that Markdown shows as it is: no link, HTML, code or emphasis comes of it, and no line break.
/// Source: CommonMark 0.31, section 2.4.
std::string markdown_text(std::string_view text);

/// Markdown text as a cell of a table, which a bar would end.
std::string markdown_cell(std::string_view text);

}  // namespace smplan
