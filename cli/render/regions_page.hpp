#pragma once

#include <string>

#include "cli/render/listing.hpp"
#include "planner/analysis/regions.hpp"

namespace smplan::cli {

/// A row a region and a column a market; for machines a row a pair of both.
Listing regions_listing(const RegionAnswer& answer);

/// What was asked, the table, and what was not compared.
std::string regions_text(const RegionAnswer& answer, const Style& style);

}  // namespace smplan::cli
