#pragma once

#include <optional>
#include <string>

#include "cli/render/table.hpp"
#include "planner/answer/plan.hpp"

namespace smplan::cli {

/// Whether more or larger devices would help: nothing fits for want of memory, or at all.
bool is_short_of_memory(const PlanSet& set);

/// A plan that shows a way out: of the same request by other software, or of the same work by any means.
struct WayOut {
  Plan plan;
  bool other_software = false;
};

/// Nothing fits, in one line: the nearest miss and what it lacks, and what does fit.
std::string no_plan_reason(const PlanSet& set, const std::optional<WayOut>& way);

/// The reason, the counts of refusals and what was assumed.
std::string no_plan_text(const PlanSet& set, const std::optional<WayOut>& way, const Style& style);

}  // namespace smplan::cli
