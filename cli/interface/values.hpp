#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalogs/catalog.hpp"

namespace smplan::cli {

/// The words of a type that lists them (`table|json`); empty for any other.
std::vector<std::string> choices_of(std::string_view type);

/// Every word that a value of this type can be: its choices, or names of the catalog (MODEL, INSTANCES, STACKS, REGION)
/// and of exports (TARGET). Empty where any text goes.
std::vector<std::string> values_of(std::string_view type, const Catalog& catalog);

/// Whether a value of this type is a path.
bool is_path(std::string_view type);

}  // namespace smplan::cli
