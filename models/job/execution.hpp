#pragma once

#include <cstdint>

#include "catalogs/stack.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"

namespace smplan {

/// A framework as a job runs it: what `execution` switches is switched, all else is the framework's default. The models
/// take such a stack. One that was executed so before stays as it is; one that was executed otherwise is a fault of the
/// caller (assertion).
Stack executed(const Stack& stack, const Execution& execution);

/// The defaults that the framework had in a release, as Execution has it; the catalog's are today's.
Stack as_of_release(Stack stack, std::int32_t release);

/// Whether layers run under torch.compile.
inline bool compiles_layers(const Execution& e) {
  return e.compile == Compile::Layers || e.compile == Compile::LayersAndLoss;
}
inline bool is_on(Toggle toggle) { return toggle == Toggle::On; }

/// Bytes of a frozen weight that is held so; by default those of the tensors of a run in `precision`.
double base_format_bytes(BaseFormat format, Precision precision);

/// Who keeps weights, gradients and optimizer states.
enum class EngineKind : std::uint8_t { Fsdp, DeepSpeed, MainGrads, Replicated };
EngineKind engine_kind(const Strategy& strategy, const Stack& stack);

/// The optimizer is one of torch.optim or bitsandbytes, which a script may call for a parameter alone.
inline bool uses_torch_optimizer(const Strategy& strategy, const Stack& stack) {
  const EngineKind kind = engine_kind(strategy, stack);
  return kind == EngineKind::Fsdp || kind == EngineKind::Replicated;
}

/// The year of a release as Execution has it: 2602 is 2026 + 1/12.
double year_of_release(std::int32_t release);

/// Embedding, head, norms and hidden states are fp32 beside a 4-bit base.
inline bool holds_wide_root(const Workload& workload, const Stack& stack) {
  return workload.finetune == FineTune::Qlora && stack.casts_beside_four_bits;
}

/// Weights and hidden states are fp32, and autocast runs products in 16 bits: full training by scripts that do not hold
/// the weights in 16 bits themselves.
bool runs_under_autocast(const Workload& workload, const Stack& stack);

}  // namespace smplan
