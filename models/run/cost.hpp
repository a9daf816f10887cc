#pragma once

#include <optional>
#include <string>

#include "catalogs/operations.hpp"
#include "catalogs/price.hpp"
#include "models/run/bill.hpp"
#include "models/run/checkpoint_time.hpp"
#include "models/run/goodput.hpp"
#include "models/run/input_pipeline.hpp"
#include "models/run/recovery.hpp"
#include "models/run/warm_pool.hpp"
#include "models/step/step.hpp"

namespace smplan {

/// How the runs of a request are operated, whatever the plan.
struct RunSetup {
  Market market = Market::OnDemand;
  std::string region;  ///< spot capacity is taken back more often in some
  /// Points into the catalog; nullptr is an ideal world: starts at once, never fails, stores for nothing.
  const OperationFacts* facts = nullptr;
  Operations operations;  ///< facts->values()
  CheckpointTarget checkpoint_target = CheckpointTarget::S3;
  CheckpointMode checkpoint_mode = CheckpointMode::Sync;
  Recovery recovery;
  std::optional<InputData> data;
  JobSeries series;
  /// Instances are kept between the jobs of the series, so that only the first provisions and pulls the image.
  bool warm_pool = false;
};
/// As the catalog knows it.
RunSetup run_setup(const OperationFacts& facts, Market market, std::string region);

/// What one instance type, count and price make of it. The same for all strategies of a stack.
struct RunTerms {
  Market market = Market::OnDemand;
  std::int32_t instances = 0;
  std::int32_t paid_instances = 0;  ///< with those that only the block's size adds
  Recovery recovery;
  UsdPerSecond rate;     ///< one instance
  Seconds provisioning;  ///< not billed; mean over the series
  Seconds startup;       ///< billed; mean over the series
  Usd warm_pool;         ///< instances kept between jobs, the share of one
  Interruptions interruptions;
  double failure_share = 1;   ///< of the interruptions, hardware; the rest are spot instances taken away and evictions
  double eviction_share = 0;  ///< of the interruptions, by jobs of higher priority
  SaveFormat format;
  std::optional<CheckpointTimes> checkpoint;  ///< what an interrupted run goes on from
  /// Saves that outlive the cluster, where the run goes on from others.
  std::optional<CheckpointTimes> durable;
  Bytes host_memory;               ///< of one instance, by checkpoints in memory
  std::optional<InputPlan> input;  ///< `needed` is that of the plan's step
  Seconds base_weights;            ///< fetching what adapters are trained on, at each start
  Bytes sequence_bytes;            ///< of the data set
  Bytes volume_size;               ///< storage volume of one instance; zero where NVMe is built in
  UsdPerSecond volume;
  UsdPerSecond file_system;
  UsdPerSecond checkpoint_storage;
  Usd requests_per_save;
  Usd requests_for_data;
  Usd transfer;
  Seconds plan_reclaim;
  double price_sigma = 0;  ///< of the logarithm of the rate
};
/// `device_peak` bounds what data the devices can use; where it is not given the input mode follows guidance.
RunTerms run_terms(const RunSetup& setup, const Workload& workload, const InstanceType& instance,
                   std::int32_t instances, UsdPerSecond rate, const SaveFormat& format = {},
                   FlopsPerSecond device_peak = {});

/// Wall time and money of a whole run.
struct RunCost {
  Seconds productive;    ///< steps * step time, or as fast as the data comes
  Seconds provisioning;  ///< until instances run: not billed
  Seconds startup;       ///< all of the start, provisioning included
  LostTime loss;         ///< expected
  double goodput = 1;    ///< productive / time_to_train
  UsdPerSecond hourly;   ///< all instances
  Seconds reserved;      ///< whole days of a training plan, bought for the expected time and extended as needed
  Bill bill;
  Spread spread;         ///< of the time to train
  Usd low, high;         ///< P10 and P90 of the cost: of the time, and of the price
  double failures = 0;   ///< expected interruptions by hardware
  double reclaims = 0;   ///< expected interruptions by the spot market
  double evictions = 0;  ///< expected interruptions by jobs of higher priority
  std::optional<CheckpointTimes> checkpoint;
  Seconds durable_interval;  ///< between saves that outlive the cluster, where others come between
  bool standing = false;     ///< on a cluster that stands before and after: the limits of training jobs do not hold
  std::optional<InputPlan> input;
  Bytes volume_size;              ///< storage volume to ask for, one instance, as billed; zero where NVMe is built in
  bool by_training_plan = false;  ///< on capacity bought ahead, which ends
  bool unsafe = false;            ///< long, on capacity that can be taken away, and without checkpoints
  [[nodiscard]] Seconds lost() const { return loss.total(); }
  [[nodiscard]] Seconds time_to_train() const { return productive + startup + lost(); }
  [[nodiscard]] Usd total() const { return bill.total(); }
  /// What the run costs at most with probability `confidence` (0 < confidence < 1), log-normal through low and high.
  [[nodiscard]] Usd cost_at(double confidence) const;
  /// Probability that it costs no more than `limit`.
  [[nodiscard]] double cost_probability(Usd limit) const;
};

/// Whole optimizer steps to cover the tokens; checkpoints at the best interval. Assumes that interruptions are
/// independent and come at a constant rate. Time and cost grow with the step time.
RunCost estimate_cost(const StepEstimate& step, const Workload& workload, const RunTerms& terms);

}  // namespace smplan
