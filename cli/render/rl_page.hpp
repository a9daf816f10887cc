#pragma once

#include <string>

#include "cli/render/listing.hpp"
#include "planner/rl/rl_search.hpp"

namespace smplan::cli {

/// One row a plan, best first: the table for people, numbers in full for machines.
Listing rl_listing(const RlRequest& request, const RlPlanSet& set);

/// The whole answer: what was asked, the best plan, the ranking, and on what it rests.
std::string rl_text(const RlRequest& request, const RlPlanSet& set, const Style& style);
std::string rl_markdown(const RlRequest& request, const RlPlanSet& set);

/// Nothing fits, in one line: what came nearest, and what it lacks.
std::string no_rl_plan_reason(const RlRequest& request, const RlPlanSet& set);
/// The reason, the counts of refusals and what was assumed.
std::string no_rl_plan_text(const RlRequest& request, const RlPlanSet& set, const Style& style);

/// What the figures rest on, for standard error beside data for machines.
std::string rl_caveat(const RlRequest& request);

}  // namespace smplan::cli
