#include <algorithm>

#include "models/engines/engine.hpp"
#include "models/engines/memory_constants.hpp"

namespace smplan {
namespace {

class FsdpEngine final : public StateEngine {
 public:
  [[nodiscard]] bool allocates_in_torch(const Stack& /*stack*/) const override { return true; }
  [[nodiscard]] bool has_stream_pools() const override { return true; }
  [[nodiscard]] bool keeps_whole_gradients(const Stack& stack, bool accumulates) const override {
    return stack.whole_gradients && accumulates;
  }
  [[nodiscard]] bool reduces_by_unit(const Strategy& s) const override { return s.pipeline_parallel == 1; }

  /// Whole units in flight and the root, which stays. Under a pipeline FSDP leaves the stage gathered, or it would
  /// gather once a micro-batch (torchtitan's default).
  [[nodiscard]] double gathered_bytes(const RankStates& r) const override {
    const StageParameters& p = r.parameters;
    const double layers = p.dense + p.experts;
    const double compute = r.widths.compute;
    const bool frozen = r.workload.finetune != FineTune::Full;
    const double width = frozen ? gathered_parameter_bytes(r.workload, r.stack) : compute;
    const bool stays = r.strategy.sharding == Sharding::FsdpGradOp || r.strategy.pipeline_parallel > 1;
    if (stays) return width * layers + compute * p.root;
    return width * std::min(layers, kMemoryConstants.fsdp_units_in_flight * p.unit) + compute * p.root;
  }

  /// FSDP2 gathers into buffers of a stream of their own and copies the parameters out of them.
  [[nodiscard]] double gathered_copies(const RankStates& r) const override {
    return r.stack.copies_gathered ? r.widths.compute * (r.parameters.root + r.parameters.unit) : 0;
  }

  [[nodiscard]] double reduction_bytes(const RankStates& r) const override {
    const StageParameters& p = r.parameters;
    const double reduced = reduced_gradient_bytes(r.workload, r.stack);
    // Under a pipeline gradients stay whole, in the format of the reduction, until the last micro-batch.
    if (r.strategy.pipeline_parallel > 1) return reduced * p.trainable();
    const bool frozen = p.adapters > 0;
    return frozen ? 0 : p.updated_unit() * (r.widths.compute + reduced);
  }

  /// As that of the replicated engine, for the shard.
  [[nodiscard]] double step_transient(const Strategy& /*strategy*/, const Stack& /*stack*/, const StateWidths& b,
                                      double own) const override {
    return b.weight * own;
  }
};

}  // namespace

const StateEngine& fsdp_engine() {
  static const FsdpEngine engine;
  return engine;
}

}  // namespace smplan
