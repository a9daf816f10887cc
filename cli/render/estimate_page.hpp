#pragma once

#include "cli/render/table.hpp"
#include "planner/answer/plan.hpp"

namespace smplan::cli {

Table memory_table(const MemoryEstimate& memory);
Table step_table(const StepEstimate& step);
Table cost_table(const Plan& plan);

/// One configuration with each figure broken down. Prices nothing that does not fit.
std::string estimate_text(const PlanSet& set, const Style& style);
std::string estimate_markdown(const PlanSet& set);

/// `fits, 12.3 GiB (31.2%) free` or `out of memory: needs ..., has ... a device`.
std::string verdict(const Plan& plan);

}  // namespace smplan::cli
