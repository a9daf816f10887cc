#pragma once

#include "models/step/step.hpp"
#include "planner/search/search_space.hpp"

namespace smplan {

/// Lower bounds that dismiss candidates before they are priced. Admissible: no bound exceeds what the
/// models say of any candidate it stands for (a property test holds them to it).

/// Bounds and estimates add the same numbers in different order; this covers the rounding.
inline constexpr double kBoundRounding = 1 - 1e-9;

/// Forward and backward of all layers and both ends, one micro-batch: exposed communication at its least.
Seconds table_floor(const LayerTable& table, const StackProfile& profile);
/// What full recomputation adds to it.
Seconds recompute_floor(const LayerTable& table, const Stack& stack);

/// Matrix products that every strategy computes, forward and backward, as FLOPs of one token through the
/// whole model: what a device needs at its best rate no candidate undercuts.
struct TokenWork {
  double cut = 0;     ///< divided by tensor parallelism: attention projections, dense MLP
  double router = 0;  ///< whole on every rank
  double head_column = 0;
  double shared_column = 0;  ///< one column of the shared experts
  double routed = 0;         ///< one routed token through one column of an expert
};
TokenWork token_work(const Workload& workload, const StackProfile& profile);

/// The same for one micro-batch on one rank, had it the whole depth. Counts whole columns and tokens per
/// expert as the layer costs do.
Flops micro_batch_work(const TokenWork& work, const Workload& workload, const Split& split, std::int32_t micro_batch);

/// Rate of matrix products in full tiles and waves: gemm_time never beats it.
FlopsPerSecond work_rate(const Cluster& cluster, Precision precision, const StackProfile& profile);

/// What stretches every step of a number of devices: waiting for the slowest rank.
double straggler_stretch(std::int64_t gpus, const StackProfile& profile);

/// Bubble of even stages in units of one stage's micro-batch: (p-1)/v, nothing for zero-bubble schedules.
/// Source: as pipeline_closed_form; uneven stages take longer.
double bubble_floor(Schedule schedule, std::int32_t pipeline, std::int32_t chunks);

/// Step of `micro_batches` on `pipeline` ranks that takes `model_time` a micro-batch without sharding,
/// transfers, optimizer and offload.
Seconds step_floor(Seconds model_time, double micro_batches, std::int32_t pipeline, double bubble, double stretch,
                   const StackProfile& profile);

}  // namespace smplan
