#pragma once

#include <string>
#include <vector>

#include "planner/validation/measured_run.hpp"

namespace smplan {

class Catalog;

/// What runs are grouped by when groups are left out of a fit: `source`, `file`, `model`, `gpu`, `stack`.
const std::vector<std::string>& run_groupings();

/// A label a run. `files`: of each run, the table that it stands in.
std::vector<std::string> run_groups(const std::string& grouping, const std::vector<MeasuredRun>& runs,
                                    const std::vector<std::string>& files, const Catalog& catalog);

}  // namespace smplan
