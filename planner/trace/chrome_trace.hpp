#pragma once

#include <string>

#include "planner/trace/timeline.hpp"

namespace smplan {

/// The timeline as Chrome trace events (the JSON object form that Perfetto and chrome://tracing open): a process
/// a pipeline rank, a thread for compute and for each kind of communication. Times are whole nanoseconds, written in
/// microseconds, so that a rank's durations sum to the step. `title` names the plan.
/// Source: Trace Event Format, Google, read 2026-11-21 (complete events, metadata events).
std::string chrome_trace(const Timeline& timeline, const std::string& title);

}  // namespace smplan
