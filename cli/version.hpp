#pragma once

#include <string>

#include "catalogs/catalog.hpp"

namespace smplan::cli {

/// Date of the newest fact about hardware, prices, models and stacks.
std::string catalog_date(const Catalog& catalog);

/// `smplan 0.1.0`, or as JSON with the dates of what the answers rest on.
std::string version_text(bool json, const Catalog& catalog);

}  // namespace smplan::cli
