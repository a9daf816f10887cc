#include "planner/calibration/calibration_options.hpp"

namespace smplan {

CalibrationOptions calibration_options(CalibrationScope scope) {
  CalibrationOptions options{.scope = scope};
  if (scope == CalibrationScope::StacksAndDevices) {
    options.prior_scale = 1;
    options.least_narrowing = 0.12;
  }
  return options;
}

}  // namespace smplan
