#pragma once

#include <cstdint>

#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"
#include "models/layers/layers.hpp"

namespace smplan {

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
  double trained_root = 0;     ///< what of `root` is trained beside adapters, or beside frozen layers
  /// Of full training that leaves part of the model frozen: what of the layers is trained.
  bool part_frozen = false;
  double trained_dense = 0;
  double trained_experts = 0;
  double trained_unit = 0;  ///< of `unit`
  [[nodiscard]] double total() const { return dense + experts + root; }
  [[nodiscard]] double trainable() const {
    if (part_frozen) return trained_dense + trained_experts + trained_root;
    return adapters > 0 ? adapters + expert_adapters + trained_root : total();
  }
  /// Weights of layers that full training updates, and of the largest such layer.
  [[nodiscard]] double updated_layers() const {
    return part_frozen ? trained_dense + trained_experts : dense + experts;
  }
  [[nodiscard]] double updated_unit() const { return part_frozen ? trained_unit : unit; }
};

/// Parameters that one rank holds after tensor, expert and pipeline parallelism have cut the model,
/// before data-parallel sharding. Experts are apart because another group of ranks shares them.
struct RankParameters {
  double dense = 0;
  double experts = 0;
  [[nodiscard]] double total() const { return dense + experts; }
};

/// Experts of a layer that one rank holds, whole or cut.
double rank_experts(const Architecture& a, const Strategy& s);

/// One layer of a kind, as one rank holds it. Norms are on every tensor rank; so are routers, too small to tell apart.
RankParameters layer_rank_parameters(const LayerRun& run, const Strategy& s);

/// Outside the layers: the embedding on the first rank, the head (or a copy of the tied embedding) on the last.
double stage_root_parameters(const Architecture& architecture, const Strategy& s, std::int32_t stage);

/// What of that is trained, whole.
double trained_root_parameters(const Workload& workload, const Strategy& s, std::int32_t stage);

/// Low-rank adapters of all stages together, cut as the weights that they stand beside.
RankParameters adapter_rank_parameters(const Architecture& a, const Lora& lora, const Strategy& s);

/// A whole pipeline rank, its layers and what is outside of them.
RankParameters stage_rank_parameters(const Architecture& a, const LayerStack& stack, const Strategy& s,
                                     std::int32_t stage);

/// What of a pipeline rank full training updates. Precondition: workload.trained_layers.
RankParameters stage_updated_parameters(const Workload& workload, const LayerStack& stack, const Strategy& s,
                                        std::int32_t stage);

}  // namespace smplan
