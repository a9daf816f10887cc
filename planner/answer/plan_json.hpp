#pragma once

#include <string>

#include "planner/answer/plan.hpp"

namespace smplan {

class Json;

/// The plan set as schema/plan.schema.json describes it: fixed key order, shortest round-trip numbers,
/// newline at the end. An estimate has the same form with one plan.
std::string to_json(const PlanSet& set);
/// Its member `request`: the request with everything resolved.
std::string to_json(const PlanRequest& request);
/// One of its plans, which answers the request.
Json plan_json(const PlanRequest& request, const Plan& plan, std::size_t rank);
/// Of the schema that plan files follow.
int plan_schema_version();
/// Version of smplan as plan files state it.
std::string_view version();
/// One line a plan, header first, the columns of the table plus the degrees.
std::string to_csv(const PlanSet& set);

}  // namespace smplan
