#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "models/step/step.hpp"
#include "planner/answer/plan.hpp"
#include "planner/export/training_plan.hpp"

namespace smplan {

/// What a step is simulated from: the same facts that priced it.
struct SimulatedJob {
  Workload workload;
  Strategy strategy;
  Cluster cluster;
  Stack stack;  ///< executed as the strategy says
};

Result<SimulatedJob> simulated_job(const PlanRequest& request, const Plan& plan, const Catalog& catalog);
/// From a plan file. Refused where the file does not tell the whole architecture (a model read from a file).
Result<SimulatedJob> simulated_job(const TrainingPlan& plan, const Catalog& catalog);

/// Which pass of which micro-batch a stretch of time belongs to.
enum class Phase {
  Forward,
  Backward,
  BackwardInput,   ///< zero-bubble schedules only
  BackwardWeight,  ///< likewise
  EndOfStep,       ///< what happens once a step, after the last micro-batch
};
std::string_view to_string(Phase phase);

/// One stretch of one pipeline rank's time, spent on one part of the step. Stretches of a rank follow each
/// other without gaps and overlaps: hidden communication is not shown, as it costs nothing.
struct Stretch {
  std::int32_t rank = 0;
  std::size_t part = 0;  ///< into step_parts()
  Phase phase = Phase::EndOfStep;
  std::int32_t chunk = 0;
  std::int64_t micro_batch = 0;
  Seconds start;
  Seconds end;
};

/// One optimizer step of one pipeline (data, tensor and context ranks do the same at the same time).
/// Every rank's stretches sum to `step`; those of the busiest rank sum to the step's components.
struct Timeline {
  Seconds step;
  std::int32_t ranks = 1;
  std::int32_t busiest = 0;
  std::vector<Stretch> stretches;  ///< by rank, then by start
};

/// More passes than this are no picture any more, and no file that a viewer opens.
inline constexpr std::int64_t kMaxSimulatedPasses = 200'000;

/// Plays the schedule. Refused beyond kMaxSimulatedPasses.
Result<Timeline> simulate_step(const SimulatedJob& job);

}  // namespace smplan
