#pragma once

#include <optional>
#include <string>

#include "cli/render/table.hpp"
#include "planner/plan.hpp"

namespace smplan::cli {

/// Nothing fits: the nearest miss in words first, then what does fit, then the counts by reason.
std::string no_plan_text(const PlanSet& set, const std::optional<Plan>& smallest, const Style& style);

}  // namespace smplan::cli
