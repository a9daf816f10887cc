#pragma once

#include <string>

#include "cli/render/table.hpp"
#include "planner/calibration/calibration_report.hpp"

namespace smplan::cli {

/// Errors of the groups that were left out.
Table left_out_table(const LeftOutReport& report);
/// In one line: what a group that was not fitted on is off by.
std::string left_out_summary(const LeftOutReport& report);

/// Numbers that the runs tell something about: value and spread before and after.
Table fitted_table(const CalibrationResult& result);
std::string fit_summary(const CalibrationResult& result);

}  // namespace smplan::cli
