#pragma once

#include <optional>

#include "catalogs/stack.hpp"
#include "models/engines/state_widths.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"
#include "models/layers/rank_parameters.hpp"

namespace smplan {

/// One pipeline rank of a job, as an engine is asked about it.
struct RankStates {
  const StageParameters& parameters;
  const Workload& workload;
  const Strategy& strategy;
  const Stack& stack;
  const StateWidths& widths;
};

/// Hidden states that enter and leave a pipeline stage, bytes per token.
struct StageBoundary {
  double kept = 0;     ///< of every micro-batch in flight, beside what the layers keep
  double buffers = 0;  ///< of all of them together
};

/// Who keeps weights, gradients and optimizer states: what stands beside them and how they travel. An engine is one
/// source that answers these questions; memory and step ask no further. Bytes are those of one rank.
class StateEngine {
 public:
  virtual ~StateEngine() = default;

  /// PyTorch's caching allocator serves all that the layers make.
  [[nodiscard]] virtual bool allocates_in_torch(const Stack& /*stack*/) const { return false; }
  /// Streams of its own hold pools that no other stream gets.
  [[nodiscard]] virtual bool has_stream_pools() const { return false; }

  /// Gradients of sharded parameters stay whole until the last micro-batch.
  [[nodiscard]] virtual bool keeps_whole_gradients(const Stack& /*stack*/, bool /*accumulates*/) const { return false; }
  /// Parameters gathered for use, beside the shards.
  [[nodiscard]] virtual double gathered_bytes(const RankStates& /*rank*/) const { return 0; }
  /// What gathered parameters are copied out of.
  [[nodiscard]] virtual double gathered_copies(const RankStates& /*rank*/) const { return 0; }
  /// Buffers through which gradients leave: persistent, or while one unit is reduced.
  [[nodiscard]] virtual double reduction_bytes(const RankStates& /*rank*/) const { return 0; }
  /// Gradients leave unit by unit, so that no buffer outlives its unit.
  [[nodiscard]] virtual bool reduces_by_unit(const Strategy& /*strategy*/) const { return false; }
  /// Copies of weights or gradients in the compute format, through the backward pass.
  [[nodiscard]] virtual double weight_copies(const RankStates& /*rank*/) const { return 0; }
  /// Bytes of a parameter's copy in the compute format that its product's backward pass lets go of. Where layers are
  /// recomputed theirs go with the forward pass.
  [[nodiscard]] virtual double cast_bytes(const RankStates& /*rank*/) const { return 0; }
  /// What runs beside the states in the optimizer step, for `own` parameters of these widths.
  [[nodiscard]] virtual double step_transient(const Strategy& /*strategy*/, const Stack& /*stack*/,
                                              const StateWidths& /*widths*/, double /*own*/) const {
    return 0;
  }
  /// What the step needs beside all that the passes reserved; nullopt where it takes what they let go of.
  [[nodiscard]] virtual std::optional<double> beside_passes(const RankStates& /*rank*/, double /*transient*/) const {
    return std::nullopt;
  }
  [[nodiscard]] virtual StageBoundary boundary(const Workload& workload, const Strategy& strategy, const Stack& stack,
                                               bool first, bool last) const;

  /// Gathered parameters and reduced gradients are copied once more.
  [[nodiscard]] virtual bool copies_collectives() const { return false; }
  /// The head is fetched like a layer, so that the layers hide it.
  [[nodiscard]] virtual bool fetches_head_apart(const Stack& stack) const { return stack.torch_parallelism; }
};

/// The engine that runs the strategy under a stack. Lives for ever.
const StateEngine& state_engine(const Strategy& strategy, const Stack& stack);

/// Sharded weights are gathered for each pass and their gradients scattered after it.
inline bool gathers_parameters(Sharding s) { return s == Sharding::Zero3 || is_fsdp(s); }

/// Whether the host holds optimizer states and updates the weights: where it was told to, and where FSDP's parameters
/// live there.
bool updates_on_host(const Strategy& strategy);
/// torch's CPUOffloadPolicy keeps sharded parameters, their gradients and their states on the host together.
bool offloads_units(const Strategy& strategy);

const StateEngine& main_grads_engine();  ///< Megatron, nanotron: 16-bit weights, fp32 gradients in one buffer
const StateEngine& replicated_engine();  ///< torch DDP, Horovod: fp32 weights, 16-bit casts
const StateEngine& deepspeed_engine();
const StateEngine& fsdp_engine();

}  // namespace smplan
