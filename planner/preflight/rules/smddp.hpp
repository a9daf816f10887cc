#pragma once

#include <string>

#include "planner/preflight/rules/tools.hpp"

namespace smplan {

/// Why the job's machines, framework version or image cannot run SMDDP; empty where nothing in the file forbids it.
std::string smddp_obstacle(const CheckInput& in);

}  // namespace smplan
