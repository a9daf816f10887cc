#include "models/engines/engine.hpp"

namespace smplan {
namespace {

class ReplicatedEngine final : public StateEngine {
 public:
  [[nodiscard]] bool allocates_in_torch(const Stack& /*stack*/) const override { return true; }

  /// DDP's buckets are a second copy of the gradients unless `gradient_as_bucket_view` is set.
  [[nodiscard]] double reduction_bytes(const RankStates& r) const override {
    return r.strategy.data_parallel > 1 ? r.widths.gradient * r.parameters.trainable() : 0;
  }

  /// Autocast's cache holds the 16-bit casts of all weights until the forward pass ends, autograd those of products
  /// that it kept until their backward pass.
  [[nodiscard]] double cast_bytes(const RankStates& r) const override {
    const bool casts = r.workload.finetune == FineTune::Full && r.widths.weight > r.widths.compute;
    return casts ? r.widths.compute : 0;
  }

  /// torch's default `foreach` update holds one more tensor list of the size of the weights. Source: torch.optim
  /// documentation, 2.4.
  [[nodiscard]] double step_transient(const Strategy& /*strategy*/, const Stack& /*stack*/, const StateWidths& b,
                                      double own) const override {
    return b.weight * own;
  }
};

}  // namespace

const StateEngine& replicated_engine() {
  static const ReplicatedEngine engine;
  return engine;
}

}  // namespace smplan
