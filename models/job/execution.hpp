#pragma once

#include "catalogs/stack.hpp"
#include "models/job/strategy.hpp"

namespace smplan {

/// A framework as a job runs it: what `execution` switches is switched, all else is the framework's default. The models
/// take such a stack. One that was executed so before stays as it is; one that was executed otherwise is a fault of the
/// caller (assertion).
Stack executed(const Stack& stack, const Execution& execution);

/// Whether layers run under torch.compile.
inline bool compiles_layers(const Execution& e) {
  return e.compile == Compile::Layers || e.compile == Compile::LayersAndLoss;
}
inline bool is_on(Toggle toggle) { return toggle == Toggle::On; }

/// Bytes of a frozen weight that is held so; by default those of the tensors of a run in `precision`.
double base_format_bytes(BaseFormat format, Precision precision);

/// The year of a release as Execution has it: 2602 is 2026 + 1/12.
double year_of_release(std::int32_t release);

}  // namespace smplan
