#pragma once

#include <string>
#include <vector>

#include "planner/answer/plan.hpp"

namespace smplan::cli {

/// A note for standard error where plans rest on prices that are old today; results themselves read no clock.
std::vector<std::string> stale_price_notes(const std::vector<Plan>& plans);

}  // namespace smplan::cli
