#pragma once

#include <optional>

#include "planner/search/search.hpp"

namespace smplan::cli {

/// search() with its wall time noted: the planner itself reads no clock.
PlanSet timed_search(const PlanRequest& request, const Catalog& catalog);

/// The plan on the fewest instances, cheapest by the hour, that the same work fits once hardware, money
/// and time are left open; nullopt if none does.
std::optional<Plan> smallest_fit(const PlanRequest& request, const RequestSpec& spec, const Catalog& catalog);

}  // namespace smplan::cli
