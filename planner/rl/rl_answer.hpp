#pragma once

#include <string>

#include "base/json_writer.hpp"
#include "planner/rl/rl_search.hpp"

namespace smplan {

/// Flat objects with equal keys, a plan each, best first: what CSV and JSON say, and Python.
Json rl_rows(const RlRequest& request, const RlPlanSet& set);

/// Nothing fits, in one line: what came nearest, and what it lacks.
std::string no_rl_plan_reason(const RlRequest& request, const RlPlanSet& set);

/// What the figures rest on.
std::string rl_caveat(const RlRequest& request);

}  // namespace smplan
