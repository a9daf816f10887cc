#pragma once

#include "catalogs/stack.hpp"
#include "models/strategy.hpp"
#include "models/workload.hpp"

namespace smplan {

/// Who keeps weights, gradients and optimizer states, and so which buffers stand beside them.
enum class StateEngine {
  Replicated,  ///< torch DDP, Horovod: fp32 weights, 16-bit casts
  MainGrads,   ///< Megatron, nanotron: 16-bit weights, fp32 gradients in one buffer that is also reduced
  Zero,        ///< DeepSpeed
  Fsdp,
};
StateEngine state_engine(const Strategy& strategy, const Stack& stack);

/// Whether the host holds optimizer states and updates the weights: where it was told to, and where FSDP's parameters
/// live there.
bool updates_on_host(const Strategy& strategy);

/// Bytes per parameter before sharding.
struct StateWidths {
  double weight = 0;
  double gradient = 0;
  double optimizer = 0;  ///< moments and master copy
  double compute = 0;    ///< the copy that products read
};
StateWidths state_widths(const Workload& w, const Strategy& s, const Stack& stack);

/// Parameters of one pipeline rank, as it holds them before data-parallel sharding.
struct StageParameters {
  double dense = 0;  ///< layers, without routed experts
  double experts = 0;
  double root = 0;  ///< embedding, head: outside the layers
  double head = 0;  ///< of those, the projection to the vocabulary
  /// Largest layer: what is gathered or reduced at once.
  double unit = 0;
  /// One weight gradient of each shape of the layers on the rank (experts share one shape).
  double distinct = 0;
  double adapters = 0;         ///< trainable low-rank parameters, without those of experts; 0 in full training
  double expert_adapters = 0;  ///< those of routed experts
  double trained_root = 0;     ///< what of `root` is trained beside adapters
  [[nodiscard]] double total() const { return dense + experts + root; }
  [[nodiscard]] double trainable() const { return adapters > 0 ? adapters + expert_adapters + trained_root : total(); }
};

/// Bytes of one rank after sharding: what stays on the device and what offloading moves away.
struct ModelStates {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double offloaded = 0;       ///< resides on host or NVMe
  double step_transient = 0;  ///< extra bytes while the optimizer runs
};

/// Source: Rajbhandari et al. 2020, figure 1 (ZeRO); Megatron Core's distributed optimizer, 6 + 12/D bytes.
ModelStates model_states(const StageParameters& p, const Workload& w, const Strategy& s, const Stack& stack);

}  // namespace smplan
