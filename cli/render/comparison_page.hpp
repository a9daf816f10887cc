#pragma once

#include <string>

#include "cli/render/listing.hpp"
#include "planner/analysis/compare.hpp"

namespace smplan::cli {

/// Choices that differ, outcomes, and the parts that explain them, A beside B.
Listing comparison_listing(const Comparison& comparison);

}  // namespace smplan::cli
