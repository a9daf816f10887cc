#pragma once

#include <optional>

#include "cli/render/no_plan.hpp"
#include "planner/search/search.hpp"

namespace smplan::cli {

/// search() with its wall time noted: the planner itself reads no clock.
PlanSet timed_search(const PlanRequest& request, const Catalog& catalog);

/// Where a search found no plan for want of memory, or no split at all: the cheapest plan of the same request by
/// software that was not compared; else the plan on the fewest instances, cheapest by the hour, that the same work fits
/// once hardware, money and time are left open. nullopt if there is neither.
std::optional<WayOut> way_out(const PlanSet& set, const RequestSpec& spec, const Catalog& catalog);

}  // namespace smplan::cli
