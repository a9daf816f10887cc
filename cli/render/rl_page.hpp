#pragma once

#include <string>

#include "cli/render/listing.hpp"
#include "planner/rl/rl_answer.hpp"

namespace smplan::cli {

/// One row a plan, best first: the table for people, numbers in full for machines.
Listing rl_listing(const RlRequest& request, const RlPlanSet& set);

/// The whole answer: what was asked, the best plan, the ranking, and on what it rests.
std::string rl_text(const RlRequest& request, const RlPlanSet& set, const Style& style);
std::string rl_markdown(const RlRequest& request, const RlPlanSet& set);

/// The plan in a line: hardware, placement, training, generating, step, time and money.
std::string rl_words(const RlRequest& request, const RlPlan& plan);

/// Why nothing fits, the counts of refusals and what was assumed.
std::string no_rl_plan_text(const RlRequest& request, const RlPlanSet& set, const Style& style);

}  // namespace smplan::cli
