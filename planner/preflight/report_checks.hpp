#pragma once

#include "planner/report/report.hpp"

namespace smplan {

/// Checks every plan of a page as the job that it would be: the CreateTrainingJob request that it is exported as, with
/// placeholders for what only the user knows. Fills ReportedPlan::checks.
Result<void> add_checks(ReportData& data, const Catalog& catalog);

}  // namespace smplan
