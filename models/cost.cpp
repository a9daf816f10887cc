#include "models/cost.hpp"

#include <algorithm>
#include <cmath>

namespace smplan {

ReliabilityProfile default_reliability() {
  ReliabilityProfile r;
  // 419 unexpected interruptions in 54 days on 16,384 H100: one per 50,677 GPU-hours.
  // Source: Llama Team 2024, "The Llama 3 Herd of Models", section 3.3.4.
  r.mean_time_between_failures_per_gpu = days(16384.0 * 54.0 / 419.0);
  // Wall time of a SageMaker job on one ml.p4d.24xlarge until its first step (which ran out of
  // memory): provisioning, image pull, model initialisation. 13 minutes.
  // Source: aws-samples/sagemaker-distributed-training-workshop, 16_smp_cp_fp8_llama3_1, 2024-11-19.
  r.startup = Seconds(13 * 60.0);
  // Managed training restarts the whole job: what it takes to start is taken again.
  r.restart = r.startup;
  // BLOOM-176B: 2.3 TB saved synchronously in 40 s. Source: stas00/ml-engineering, fault tolerance, 2022.
  r.checkpoint_stall = Seconds(40.0);
  return r;
}

Seconds checkpoint_interval(Seconds mean_time_between_failures, Seconds stall) {
  const double ratio = stall / (2 * mean_time_between_failures);
  if (ratio >= 1) return mean_time_between_failures;
  const Seconds young(std::sqrt(2 * stall.value() * mean_time_between_failures.value()));
  return young * (1 + std::sqrt(ratio) / 3 + ratio / 9) - stall;
}

Seconds expected_wall_time(Seconds productive, Seconds interval, Seconds stall, Seconds restart,
                           Seconds mean_time_between_failures) {
  const Seconds& m = mean_time_between_failures;
  return m * std::exp(restart / m) * std::expm1((interval + stall) / m) * (productive / interval);
}

RunCost estimate_cost(const StepEstimate& step, const Workload& workload, std::int64_t gpus, UsdPerSecond instance_rate,
                      std::int32_t instances, const ReliabilityProfile& reliability) {
  RunCost cost;
  cost.productive = std::ceil(workload.tokens / workload.tokens_per_step()) * step.time();
  cost.startup = reliability.startup;
  if (cost.productive > Seconds{}) {
    const Seconds failures_apart = reliability.mean_time_between_failures_per_gpu / static_cast<double>(gpus);
    const Seconds stall = reliability.checkpoint_stall;
    // A run shorter than the interval saves once, at its end. Without a stall any interval is free,
    // so that the steps themselves are the segments.
    const Seconds interval =
        std::clamp(checkpoint_interval(failures_apart, stall), std::min(step.time(), cost.productive), cost.productive);
    cost.lost =
        expected_wall_time(cost.productive, interval, stall, reliability.restart, failures_apart) - cost.productive;
  }
  cost.goodput = cost.productive / cost.time_to_train();
  cost.hourly = instance_rate * static_cast<double>(instances);
  cost.compute = cost.hourly * cost.productive;
  cost.overhead = cost.hourly * (cost.startup + cost.lost);
  return cost;
}

}  // namespace smplan
