#pragma once

#include "base/units.hpp"
#include "models/step.hpp"

namespace smplan {

/// Wall time and money of a whole run.
struct RunCost {
  Seconds productive;   ///< steps * step time
  Seconds startup;      ///< provisioning, image pull, compile: billed once
  Seconds lost;         ///< expected rework and restarts after failures, checkpoint stalls
  double goodput = 1;   ///< productive / time_to_train
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

/// Checkpoint interval that loses least, to third order. Source: Daly 2006 (after Young 1974), eq. 37.
Seconds checkpoint_interval(Seconds mean_time_between_failures, Seconds stall);

/// Wall time of `productive` seconds of work with exponential failures, a stall at the end of each
/// interval and a restart after each failure. Source: Daly 2006, eq. 20.
Seconds expected_wall_time(Seconds productive, Seconds interval, Seconds stall, Seconds restart,
                           Seconds mean_time_between_failures);

/// Whole optimizer steps to cover the tokens; checkpoints at the best interval. Assumes independent
/// failures at a constant rate per GPU and a rate that bills start-up as it bills training.
RunCost estimate_cost(const StepEstimate& step, const Workload& workload, std::int64_t gpus, UsdPerSecond instance_rate,
                      std::int32_t instances, const ReliabilityProfile& reliability);

}  // namespace smplan
