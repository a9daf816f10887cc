#pragma once

#include <cstdint>

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

/// Micro-batches whose activations a rank holds at once, in units of whole-rank activations.
double in_flight_micro_batches(std::int32_t stage, std::int32_t stages, std::int64_t micro_batches, std::int32_t chunks,
                               Schedule schedule);

/// Micro-batches that pass through one model chunk before the next chunk's turn: p, or more where p does not divide m,
/// so that every group has at least p (Megatron's microbatch_group_size_per_vp_stage has the same floor: a smaller
/// group would deadlock). Fewer than p micro-batches are one group.
std::int64_t interleave_groups(std::int64_t m, std::int64_t p);
std::int64_t interleave_group_size(std::int64_t m, std::int64_t p);

/// Forwards in flight on a rank before its first backward is next, counted in chunks, of `v` chunks a rank.
std::int64_t warm_up(std::int32_t rank, std::int64_t p, std::int64_t m, std::int32_t v, Schedule schedule);

}  // namespace smplan
