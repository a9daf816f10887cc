#include "planner/request/runs_on.hpp"

namespace smplan {

Precision effective_precision(const PlanRequest& request, const Accelerator& accelerator) {
  if (!request.precision_defaulted || accelerator.supports(Precision::Bf16)) return request.workload.precision;
  return Precision::Fp16;
}

bool stack_runs_on(const Stack& stack, const Cluster& cluster, const InstanceType& instance, Precision precision) {
  if (!stack.runs_on(cluster.accelerator)) return false;
  // The one library that AWS limits to a list of instance types.
  if (stack.smp_version == 2 && !instance.smp_v2) return false;
  return cluster.accelerator.supports(precision);
}

}  // namespace smplan
