#pragma once

#include <optional>
#include <string>

#include "catalogs/catalog.hpp"
#include "models/memory/memory.hpp"
#include "models/step/step.hpp"
#include "planner/answer/uncertainty.hpp"
#include "planner/validation/measured_run.hpp"

namespace smplan {

struct ResolvedRun;

enum class RunStatus {
  Ok,
  Unsupported,  ///< the row does not say enough, or names what the catalog does not know
  Invalid,      ///< the row contradicts itself
};
std::string_view to_string(RunStatus status);

/// What the models say of one measured run.
struct RunPrediction {
  std::string id;
  RunStatus status = RunStatus::Ok;
  std::string message;  ///< assumptions, or why there is no prediction
  StepEstimate step;
  MemoryEstimate memory;
  Bytes peak;  ///< of the kind that the row's mem_kind names, see reported_peak(); of each device that it counts
  PeakInterval peak_interval;
  double out_of_memory_probability = 0;  ///< whatever kind of peak the row names
  std::string stack;                     ///< resolved stack, for grouping
  std::string accelerator;
  Precision precision = Precision::Bf16;
  std::vector<std::string> unmeasured;  ///< traits that no run behind the stack's profile had
};

/// Peak memory as a figure of that kind counts it: on the fullest device, or on rank 0 of stacks that write of it
/// alone.
Bytes reported_peak(const MemoryEstimate& memory, const Stack& stack, MemoryKind kind);

/// A step of the run under a stack that was executed as the run was. Tokens are counted by the row's seq_len.
StepEstimate step_of(const ResolvedRun& run, const Stack& stack);

RunPrediction predict_run(const MeasuredRun& run, const Catalog& catalog);

/// Measured step time: stated, or restated from tokens, samples, or from TFLOP/s and MFU by the
/// FLOPs formula of the convention that the row names. nullopt if the row was not timed.
std::optional<Seconds> measured_step_time(const MeasuredRun& run, const Catalog& catalog);

}  // namespace smplan
