#pragma once

#include "base/units.hpp"
#include "models/step.hpp"

namespace smplan {

/// Wall time and money of a whole run.
struct RunCost {
  Seconds productive;   ///< steps * step time
  Seconds startup;      ///< provisioning, image pull, compile: billed once
  Seconds lost;         ///< expected rework and restarts after failures, checkpoint stalls
  double goodput = 1;   ///< productive / wall time
  UsdPerSecond hourly;  ///< all instances
  Usd compute;          ///< productive time
  Usd overhead;         ///< start-up and lost time
  [[nodiscard]] Seconds time_to_train() const { return productive + startup + lost; }
  [[nodiscard]] Usd total() const { return compute + overhead; }
};

/// Failure rate, restart and checkpoint figures with their sources.
struct ReliabilityProfile {
  Seconds mean_time_between_failures_per_gpu;
  Seconds restart;
  Seconds startup;
  Seconds checkpoint_stall;
};
ReliabilityProfile default_reliability();

/// Source: Young 1974 for the checkpoint interval; failure rate from the catalog of published runs.
RunCost estimate_cost(const StepEstimate& step, const Workload& workload, std::int64_t gpus, UsdPerSecond instance_rate,
                      std::int32_t instances, const ReliabilityProfile& reliability);

}  // namespace smplan
