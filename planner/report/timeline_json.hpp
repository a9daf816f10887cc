#pragma once

#include <string>

#include "planner/trace/timeline.hpp"

namespace smplan {

/// Passes of a timeline that the page draws; of longer steps only the beginning and the end are there.
inline constexpr std::size_t kMaxDrawnPasses = 1200;

/// The timeline by passes, small enough for a page:
/// `{"step_time_s", "ranks", "busiest", "undrawn": null or [from_us, to_us], "passes": [[rank, phase, micro_batch,
/// chunk, start_us,
///   end_us]], "end_of_step": [[name, start_us, end_us]]}`; `phase` counts as Phase does.
std::string timeline_json(const Timeline& timeline);

}  // namespace smplan
