#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "catalogs/stack.hpp"

namespace smplan {

/// Time of one micro-batch on one pipeline rank (all its virtual chunks together).
struct StageTime {
  Seconds forward;
  Seconds backward_input;   ///< gradient of the activations
  Seconds backward_weight;  ///< gradient of the weights; zero-bubble schedules move it
  [[nodiscard]] Seconds backward() const { return backward_input + backward_weight; }
  [[nodiscard]] Seconds total() const { return forward + backward(); }
};

struct PipelineTime {
  Seconds total;   ///< first forward to last backward
  Seconds busy;    ///< work of the busiest rank
  Seconds bubble;  ///< total - busy
};

/// Closed form for a schedule. Exact for equal stages without transfer time; for uneven stages the
/// busiest stage paces the steady state.
/// Source: Narayanan et al. 2021 (1F1B, interleaved), Huang et al. 2019 (GPipe), Qi et al. 2023 (zero bubble).
PipelineTime pipeline_closed_form(std::span<const StageTime> stages, std::int64_t micro_batches, std::int32_t chunks,
                                  Schedule schedule, Seconds transfer);

/// One task of a simulated schedule.
struct PipelineTask {
  std::int32_t stage = 0;
  std::int32_t chunk = 0;
  std::int64_t micro_batch = 0;
  enum class Kind { Forward, Backward, BackwardInput, BackwardWeight } kind = Kind::Forward;
  Seconds start;
  Seconds end;
};

/// The schedule as a task graph, its critical path by Boost.Graph (topological order). Order of
/// tasks on a rank is the schedule's; start times obey data dependencies plus `transfer` per hop.
std::vector<PipelineTask> simulate_pipeline(std::span<const StageTime> stages, std::int64_t micro_batches,
                                            std::int32_t chunks, Schedule schedule, Seconds transfer);
PipelineTime pipeline_critical_path(std::span<const StageTime> stages, std::int64_t micro_batches, std::int32_t chunks,
                                    Schedule schedule, Seconds transfer);

/// Micro-batches whose activations a rank holds at once, in units of whole-rank activations.
double in_flight_micro_batches(std::int32_t stage, std::int32_t stages, std::int64_t micro_batches, std::int32_t chunks,
                               Schedule schedule);

/// Splits layers into contiguous stages so that the heaviest is lightest (embedding and head count
/// with the first and last). Shortest bottleneck path over the layer graph. Returns layers per stage.
std::vector<std::int64_t> balance_layers(std::span<const double> layer_cost, double first_extra, double last_extra,
                                         std::int32_t stages);

}  // namespace smplan
