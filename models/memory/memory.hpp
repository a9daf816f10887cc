#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/units.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"
#include "models/layers/layers.hpp"
#include "models/machine/cluster.hpp"

namespace smplan {

/// Bytes on the worst rank, by what they are. Names are those of the JSON.
struct MemoryComponents {
  Bytes weights;  ///< as held between steps
  Bytes gradients;
  Bytes optimizer;      ///< moments and master weights
  Bytes activations;    ///< saved for the backward pass, all micro-batches in flight
  Bytes logits;         ///< logits, loss and their gradient (last stage)
  Bytes communication;  ///< gathered parameters, reduce buckets, NCCL buffers
  Bytes workspace;      ///< cuBLAS workspace and the largest transient of an operation
  Bytes framework;      ///< CUDA context, kernels, allocator slack
  Bytes reference;      ///< frozen weights beside the trained ones, and their logits: of a reference or a teacher
  [[nodiscard]] Bytes total() const {
    return weights + gradients + optimizer + activations + logits + communication + workspace + reference + framework;
  }
  friend bool operator==(const MemoryComponents&, const MemoryComponents&) = default;
};

struct MemoryPart {
  std::string_view key;
  std::string_view title;  ///< in messages
  Bytes MemoryComponents::*bytes;
};
/// All of them, in the order of the struct, under their JSON names.
std::span<const MemoryPart> memory_parts();

struct MemoryEstimate {
  /// At the peak instant: phases are not summed (backward's peak and the optimizer step's differ). They add up to
  /// `wanted`.
  MemoryComponents components;
  Bytes peak_allocated;  ///< what torch.cuda.max_memory_allocated would say
  Bytes peak_reserved;   ///< what the caching allocator holds
  /// What nvidia-smi would say of a run that survives: all that the allocator has taken, as far as the limit lets it.
  Bytes peak_device;
  /// The same two of the first pipeline rank, whatever the worst one needs.
  Bytes first_stage_allocated;
  Bytes first_stage_reserved;
  /// What the verdict and its probability rest on: the peak if memory had no end, without free blocks of the passes
  /// that the allocator gives back before the optimizer's step runs out.
  Bytes wanted;
  Bytes paged;          ///< states of a paged optimizer, in no component: torch does not count them
  Bytes limit;          ///< device memory as reported
  Bytes host_per_node;  ///< what offloading needs of the host
  Bytes nvme_per_node;
  Bytes host_limit;  ///< memory of a node that its system and the training processes leave
  Bytes nvme_limit;
  std::int32_t worst_stage = 0;  ///< pipeline rank that peaks

  /// More likely than not: memory is log-normal about `wanted`.
  [[nodiscard]] bool fits_device() const { return wanted <= limit; }
  /// Whether pages of states leave the device while the passes run.
  [[nodiscard]] bool pages_out() const { return wanted + paged > limit && paged > Bytes(); }
  [[nodiscard]] bool fits_host() const { return host_per_node <= host_limit; }
  [[nodiscard]] bool fits_nvme() const { return nvme_per_node <= nvme_limit; }
  [[nodiscard]] bool fits() const { return fits_device() && fits_host() && fits_nvme(); }
};

/// Whether gradients take less where a step has one micro-batch: nothing accumulates from pass to pass.
bool lighter_in_one_pass(const Strategy& strategy, const Stack& stack);

/// What offloading lacks of a node's memory or disks, one sentence; empty where both hold it.
std::string host_shortfall(const MemoryEstimate& memory);

MemoryEstimate estimate_memory(const Workload& workload, const Strategy& strategy, const Cluster& cluster,
                               const Stack& stack);
/// The same where the workload's layers are at hand: they are the same for every strategy.
MemoryEstimate estimate_memory(const LayerStack& layers, const Workload& workload, const Strategy& strategy,
                               const Cluster& cluster, const Stack& stack);

}  // namespace smplan
