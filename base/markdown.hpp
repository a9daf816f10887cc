#pragma once

#include <string>
#include <string_view>

namespace smplan {

/// Text as a cell of a Markdown table, which a bar would end.
std::string markdown_cell(std::string_view text);

}  // namespace smplan
