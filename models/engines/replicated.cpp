#include "models/engines/engine.hpp"

namespace smplan {
namespace {

class ReplicatedEngine final : public StateEngine {
 public:
  [[nodiscard]] bool uses_torch_optimizer() const override { return true; }
  [[nodiscard]] bool allocates_in_torch(const Stack& /*stack*/) const override { return true; }

  /// DDP's buckets are a second copy of the gradients unless `gradient_as_bucket_view` is set.
  [[nodiscard]] double reduction_bytes(const RankStates& r) const override {
    return r.strategy.data_parallel > 1 ? r.widths.gradient * r.parameters.trainable() : 0;
  }

  /// Under autocast the 16-bit casts of all weights live from forward to backward.
  [[nodiscard]] double weight_copies(const RankStates& r) const override {
    return r.widths.weight > r.widths.compute ? r.widths.compute * r.parameters.total() : 0;
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
