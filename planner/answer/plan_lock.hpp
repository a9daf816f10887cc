#pragma once

#include <cstddef>
#include <string>

#include "base/json_reader.hpp"
#include "planner/answer/plan.hpp"

namespace smplan {

/// A plan file (schema/plan.schema.json) of one plan, with the request that it answers: what lies beside an exported
/// job as its lock. The plan keeps its rank. What the search made of others is left out, so that the same plan gives
/// the same bytes from the search and from its file. Precondition: the file has a plan of that rank, which was read.
std::string plan_lock(const JsonValue& plan_set, std::size_t rank);
std::string plan_lock(const PlanSet& set, std::size_t rank);

}  // namespace smplan
