#pragma once

#include <cstddef>
#include <cstdint>

#include "base/json_reader.hpp"
#include "catalogs/catalog.hpp"
#include "planner/answer/plan.hpp"
#include "planner/export/training_plan.hpp"

namespace smplan {

/// In the place of a rank: the first plan of the file, whatever its rank. A job's own file has one plan, which keeps
/// the rank that it had in the search.
inline constexpr std::int64_t kFirstPlan = 0;

/// Reads the plan of a rank out of `plan --format json` (schema/plan.schema.json). Every key that decides
/// the job must be there and of its kind, degrees must multiply to the devices and batches must multiply up; in the
/// model, the degrees and the sharding an unknown key is a fault. Other keys only ranked the plan and are not read.
Result<TrainingPlan> read_training_plan(const JsonValue& plan_set, std::int64_t rank, const Catalog& catalog);

/// The same from a search's own answer.
TrainingPlan training_plan_of(const PlanRequest& request, const Plan& plan, std::size_t rank = 1);

/// The strategy of one of the plans of such a file, where nothing else of it is needed; faults go to `out`.
Strategy read_plan_strategy(const JsonValue& plan, Diagnostics& out);

}  // namespace smplan
