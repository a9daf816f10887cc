#pragma once

#include "models/machine/cluster.hpp"
#include "planner/request/request.hpp"

namespace smplan {

/// The number format of the request, or its default on this hardware.
Precision effective_precision(const PlanRequest& request, const Accelerator& accelerator);

/// Whether the stack runs on the devices of the type, and they have the format.
bool stack_runs_on(const Stack& stack, const Cluster& cluster, const InstanceType& instance, Precision precision);

}  // namespace smplan
