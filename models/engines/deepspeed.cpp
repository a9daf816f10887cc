#include <algorithm>

#include "models/engines/engine.hpp"
#include "models/engines/memory_constants.hpp"

namespace smplan {
namespace {

/// DeepSpeed: ZeRO in stages, or none.
class DeepSpeedEngine final : public StateEngine {
 public:
  [[nodiscard]] bool allocates_in_torch(const Stack& stack) const override { return !stack.pipeline_parallel; }
  /// It gathers into a buffer and copies each parameter out of it, and gradients into one before they are reduced (0.9
  /// to 0.16, zero/partition_parameters.py, AllGatherCoalescedHandle; zero/stage3.py, __add_grad_to_ipg_bucket).
  [[nodiscard]] bool copies_collectives() const override { return true; }
  [[nodiscard]] bool fetches_head_apart(const Stack& /*stack*/) const override { return true; }

  /// The head stays from its forward to its backward; a layer is gathered into one buffer and copied out of it
  /// (DeepSpeed edaa722, partitioned_param_coordinator.py and AllGatherCoalescedHandle).
  [[nodiscard]] double gathered_bytes(const RankStates& r) const override {
    if (r.strategy.sharding != Sharding::Zero3) return 0;
    const StageParameters& p = r.parameters;
    const bool frozen = r.workload.finetune != FineTune::Full;
    const double width = frozen ? gathered_parameter_bytes(r.workload, r.stack) : r.widths.compute;
    return width * (std::min(p.total(), std::max(kMemoryConstants.zero_live_parameters, p.unit + p.head)) + p.unit);
  }

  [[nodiscard]] double reduction_bytes(const RankStates& r) const override {
    const Strategy& s = r.strategy;
    const StageParameters& p = r.parameters;
    const bool sharded = s.sharding != Sharding::None;
    if (!sharded && s.data_parallel * s.context_parallel == 1) return 0;
    const double elements = r.stack.reduce_bucket_elements;
    // Stage 3 cuts a gradient that no bucket holds in a copy of its own.
    const bool alone = s.sharding == Sharding::Zero3 && r.workload.trains_head() && p.head > elements;
    const double largest = alone ? r.widths.compute * p.head : 0;
    const double buckets = kMemoryConstants.zero_buckets * r.widths.compute;
    // Whole from the first backward pass on, however little is trained and on one rank too (DeepSpeed edaa722,
    // stage_1_and_2.py, `setup_buckets`); a pipeline reduces at its end, when activations are gone.
    const bool whole = sharded && s.pipeline_parallel == 1;
    return buckets * (whole ? elements : std::min(elements, p.trainable())) + largest;
  }

  /// It copies its part of the gradients into one flat tensor and casts that to fp32 (stage 3: a sub-group at a time);
  /// without a stage it casts all and copies the casts (DeepSpeed 0.19.8, zero/stage_1_and_2.py, stage3.py,
  /// fp16/fused_optimizer.py; scripts/fit/zero_memory.py counts them).
  [[nodiscard]] double step_transient(const Strategy& s, const Stack& /*stack*/, const StateWidths& b,
                                      double own) const override {
    if (b.gradient >= 4) return 0;  // already fp32
    if (s.sharding == Sharding::None) return (4 + 4) * own;
    return (b.gradient + 4) * (s.sharding == Sharding::Zero3 ? std::min(own, kMemoryConstants.zero_sub_group) : own);
  }

  /// The flat tensors of the step are larger than any block that the passes left free. The pool of what is gathered is
  /// a stream's own: blocks of the embedding are soon cut up for layers, and the head gets new ones.
  [[nodiscard]] std::optional<double> beside_passes(const RankStates& r, double transient) const override {
    const StageParameters& p = r.parameters;
    const bool gathers = r.strategy.sharding == Sharding::Zero3;
    return transient + (gathers ? r.widths.compute * std::max(0.0, p.root - p.head) : 0);
  }

  /// Its pipeline keeps what a stage sent until its gradient comes back, for which it has a buffer, as for what comes
  /// in. Tensor ranks keep and send a slice each, and gather it for the backward pass; a rank alone reads a copy of
  /// what came in (DeepSpeed f095c7d, runtime/pipe/engine.py: is_pipe_partitioned, pipe_recv_buf, grad_layer).
  [[nodiscard]] StageBoundary boundary(const Workload& w, const Strategy& s, const Stack& /*stack*/, bool first,
                                       bool last) const override {
    const double hidden = 2 * static_cast<double>(w.architecture.hidden);
    const bool slices = s.tensor_parallel > 1;
    const double slice = hidden / s.tensor_parallel;
    StageBoundary out;
    if (!last) {
      out.kept += slice;
      out.buffers += (slices ? 2 : 1) * hidden;
    }
    if (!first) {
      out.kept += slices ? 0 : hidden;
      out.buffers += slice;
    }
    return out;
  }
};

}  // namespace

const StateEngine& deepspeed_engine() {
  static const DeepSpeedEngine engine;
  return engine;
}

}  // namespace smplan
