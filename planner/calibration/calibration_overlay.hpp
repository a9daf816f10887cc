#pragma once

#include <string>

#include "planner/calibration/calibrate.hpp"

namespace smplan {

/// The fitted profiles as an overlay that every command accepts by --calibration. `source` names the
/// tables of runs, `as_of` is the date of the fit; numbers have six significant digits.
std::string calibration_overlay(const CalibrationResult& result, const std::string& source, const std::string& as_of);

}  // namespace smplan
