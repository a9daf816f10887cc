#pragma once

#include <string>
#include <vector>

#include "planner/validation/measured_run.hpp"

namespace smplan {

class Catalog;

/// What runs are grouped by when groups are left out of a fit: `source`, `file`, `model`, `gpu`, `stack`, and
/// `stack-gpu`: a stack on accelerators of one design.
const std::vector<std::string>& run_groupings();

/// A label a run. `files`: of each run, the table that it stands in.
std::vector<std::string> run_groups(const std::string& grouping, const std::vector<MeasuredRun>& runs,
                                    const std::vector<std::string>& files, const Catalog& catalog);

/// Accelerators of one design: what is left out together to see how a new one would be predicted.
/// The accelerator's name where the catalog lacks it.
std::string accelerator_family(const MeasuredRun& run, const Catalog& catalog);

/// Id of the stack that a run is taken to have used; empty if none is known.
std::string stack_of(const MeasuredRun& run, const Catalog& catalog);

}  // namespace smplan
