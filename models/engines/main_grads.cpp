#include "models/engines/engine.hpp"

namespace smplan {
namespace {

/// Megatron's distributed optimizer and its kin: the gradients' buffer is also what is reduced, and fused kernels
/// update in place.
class MainGradsEngine final : public StateEngine {
 public:
  /// Weight gradients in the compute format before they join the fp32 buffer: Transformer Engine keeps one of each
  /// shape.
  [[nodiscard]] double weight_copies(const RankStates& r) const override {
    const StateWidths& b = r.widths;
    return b.gradient > b.compute ? b.compute * r.parameters.distinct : 0;
  }
};

}  // namespace

const StateEngine& main_grads_engine() {
  static const MainGradsEngine engine;
  return engine;
}

}  // namespace smplan
