#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/pipeline/schedule.hpp"

namespace smplan {

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

}  // namespace smplan
