#pragma once

#include <string>
#include <string_view>

#include "cli/interface/description.hpp"
#include "cli/output.hpp"

namespace smplan::cli {

/// Man pages of section 1, `smplan.1` first and then one for each command. `date` is what they carry in their footer.
std::vector<OutputFile> man_pages(const Interface& interface, std::string_view version, std::string_view date);

/// The whole reference as one page of Markdown.
std::string reference_page(const Interface& interface);

}  // namespace smplan::cli
