#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "planner/search/search.hpp"

namespace smplan {

/// Why the winner won, what bounds it, what the alternatives lose. Plain sentences.
std::vector<std::string> explain(const PlanSet& set, const Catalog& catalog, std::size_t rank = 1,
                                 const SearchOptions& options = {});

}  // namespace smplan
