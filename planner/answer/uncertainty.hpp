#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/job/program.hpp"
#include "models/memory/memory.hpp"
#include "models/step/step.hpp"

namespace smplan {

/// What decides which parts of the models a configuration leans on: accelerator, precision, kind of model,
/// size of model, machine and sequence, each dimension of parallelism in use. Words, as messages show them.
std::vector<std::string> traits(const Workload& workload, const Strategy& strategy, const Cluster& cluster);

/// Traits that no measured run behind the stack's profile had.
std::vector<std::string> unmeasured_traits(const Workload& workload, const Strategy& strategy, const Cluster& cluster,
                                           const Stack& stack);

/// Standard deviation of log(predicted / measured): the stack's residual, wider by each unmeasured trait and by an
/// unknown program.
double total_sigma(const Stack& stack, std::size_t unmeasured, Program program = Program::Unknown);
/// Sets P10 and P90 of the step from it.
void set_interval(StepEstimate& step, const Stack& stack, std::size_t unmeasured, Program program = Program::Unknown);

struct PeakInterval {
  Bytes p10;
  Bytes p90;  ///< beyond the device's memory, what it would take to be sure
};
/// P10 and P90 of a peak, log-normal about the estimate. The spread is that of the stack's measured peaks: no fit moves
/// a number of the memory model, so that they are left out as they stand.
PeakInterval peak_interval(Bytes peak, const Stack& stack);

/// That the device's memory does not suffice, peak memory being log-normal about the estimate.
double out_of_memory_probability(const MemoryEstimate& memory, const Stack& stack);

enum class Verdict {
  Fits,        ///< a run that dies has another reason
  AtTheEdge,   ///< fits, and may run out
  DoesNotFit,  ///< more likely than not
};
std::string_view to_string(Verdict verdict);
/// By the chance to run out: under 1 %, up to one half, and over it.
Verdict verdict_of(double out_of_memory_probability);

/// Part of the device's memory that a peak may take so that the probability stays at `most` (0 < most < 1) or below;
/// at most all of it.
double safe_memory_part(const Stack& stack, double most);

}  // namespace smplan
