#pragma once

#include <string>
#include <vector>

#include "catalogs/catalog.hpp"

namespace smplan {

/// Regions that the catalog has a price in, sorted.
std::vector<std::string> priced_regions(const Catalog& catalog);
/// Those, and all that instance types are offered in, sorted.
std::vector<std::string> known_regions(const Catalog& catalog);

}  // namespace smplan
