#pragma once

#include <cstdint>

#include "catalogs/stack.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"
#include "models/layers/layers.hpp"
#include "models/machine/cluster.hpp"
#include "models/machine/collectives.hpp"
#include "models/machine/kernel_clock.hpp"

namespace smplan {

/// Sizes that every term of one layer shares, per rank and micro-batch.
struct Slice {
  double tokens = 0;       ///< s * b / c
  double norm_tokens = 0;  ///< tokens that this rank normalises: / t with sequence parallel
  std::int64_t m = 0;      ///< tokens as a matrix dimension
  std::int64_t tensor = 1;
  std::int64_t heads = 1;
};

Slice make_slice(const Workload& workload, const Strategy& strategy);

/// What decides whether tensor ranks exchange beside their products.
struct TensorRanks {
  FabricKind fabric = FabricKind::None;
  bool one_domain = true;  ///< every rank reaches every other over that fabric
  bool sequence_parallel = false;
  bool latent_attention = false;
  Precision precision = Precision::Bf16;
};

/// Whether products and what tensor ranks exchange can run beside each other. Both ways need memory that each rank maps
/// from every other (Userbuffers of Transformer Engine, PyTorch's symmetric memory). Cards behind a host's PCIe
/// switches, the half of an NVLink mesh that no link joins, and other nodes offer none. Userbuffers need sequence
/// parallelism (NVIDIA/Megatron-LM d98e8a6, arguments.py) and take no 4-bit products, nor those of latent attention
/// (NVIDIA-NeMo/Megatron-Bridge 067f987: the recipes of both turn them off).
bool overlaps(const TensorRanks& ranks, const Stack& stack);

/// Part of what tensor ranks exchange that may hide under products.
double tensor_overlap(const Workload& workload, const Strategy& strategy, const Groups& groups, const Cluster& cluster,
                      const Stack& stack);

/// One layer on one rank: what its terms are computed from. Holds references.
struct LayerInputs {
  const Workload& workload;
  const LayerSpec& spec;
  const Strategy& strategy;
  const Groups& groups;
  const Cluster& cluster;
  const Stack& stack;
  Slice slice = make_slice(workload, strategy);
  KernelClock clock{workload, cluster, stack};
  /// Parts of a product that runs beside a collective of tensor ranks.
  std::int64_t ring = ring_parts();

 private:
  [[nodiscard]] std::int64_t ring_parts() const;
};

/// The heads of this layer that the rank has.
AttentionWidths rank_widths(const LayerInputs& in);

/// Routed tokens of this rank's experts under balanced routing, and the experts' share of width.
struct ExpertSlice {
  std::int64_t experts = 1;            ///< on this rank
  std::int64_t tokens_per_expert = 1;  ///< padded
  std::int64_t width = 1;
  double routed = 0;  ///< tokens * top_k that enter this rank's experts
};

ExpertSlice make_expert_slice(const LayerInputs& in);

}  // namespace smplan
