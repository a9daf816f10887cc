#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "catalogs/catalog.hpp"
#include "cli/flags.hpp"
#include "planner/answer/plan.hpp"

namespace smplan::cli {

/// Where a command gets its plans from: a file that `plan --format json` wrote, or a search of its own.
struct PlanSource {
  RequestSpec spec;
  std::optional<std::string> file;
};

void add_plan_source(Flags& command, PlanSource& source);

/// Refuses a file together with a model.
Result<void> check_plan_source(const PlanSource& source);

/// The search that the flags ask for.
Result<PlanSet> searched_plans(const PlanSource& source, const Catalog& catalog);

}  // namespace smplan::cli
