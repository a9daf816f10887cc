#pragma once

#include "base/units.hpp"

namespace smplan {

/// Bytes that no formula over widths gives, each with its source. The only place for them.
struct MemoryConstants {
  /// CUDA context and loaded kernels. 0.47 GiB with lazy loading, 0.92 without: torch 2.1.1 on A100;
  /// 0.90 with torch 1.13. Source: stas00/ml-engineering, training/performance, 2024.
  Bytes context = gib(0.9);
  /// What PyTorch's caching allocator cannot do without where memory ends, as a part of the peak that is allocated, and
  /// as a part of the blocks that lie idle beside it; the rest it gives back and asks again. Of 25 trainings on an H200
  /// that were held to ever more memory above their own peak, 9 ran with 5 %, 19 with 8 % and all but one with 18 %.
  /// Source: scripts/measure_trainer.py --limits, 2026-11-27; least squares of scripts/fit/limit_memory.py.
  double fragments_at_limit = 0.04;
  double idle_at_limit = 0.65;
  /// First NCCL communicator, outside the torch allocator: 2.00 - 0.55 GiB on two A100.
  /// Source: stas00/ml-engineering, 2024.
  Bytes first_communicator = gib(1.45);
  /// Each further communicator: 544 MB over two ranks, 688 MB over more. Source: NVIDIA/nccl issue 964, 2023.
  Bytes next_communicator = Bytes(544e6);
  /// cuBLAS and cuBLASLt workspaces from Hopper on: 2 x 32 MiB. Source: pytorch issue 144397, 2025-01.
  Bytes cublas_workspace = Bytes(64 * kMiB);
  Bytes cublas_workspace_before_hopper = Bytes(8 * kMiB);
  /// DeepSpeed reduces gradients through two buckets, one filling and one on its way, and keeps up to 1e9 gathered
  /// parameters (`stage3_max_live_parameters`). Source: DeepSpeed configuration reference, 2024.
  double zero_buckets = 2;
  double zero_live_parameters = 1e9;
  /// Parameters that DeepSpeed updates at a time in stage 3 (`sub_group_size`). Source: as above.
  double zero_sub_group = 1e9;
  /// Fully-sharded units gathered at once: the current one and the prefetched. Source: pytorch issue 128884.
  double fsdp_units_in_flight = 2;
  /// NF4: half a byte and one 8-bit scale a block of 64, themselves in blocks of 256 with an fp32 scale.
  /// Source: Dettmers et al. 2023, section 3.
  double nf4_bytes = 0.5 + 1.0 / 64 + 4.0 / (64 * 256);
  /// The same with fp32 scales that are not quantised themselves.
  double nf4_plain_bytes = 0.5 + 4.0 / 64;
  /// A quantised head while it multiplies: its 16-bit copies in the format of the quantisation and of the computation
  /// take 4 (lightning 2.1, plugins/precision/bitsandbytes.py; bitsandbytes 0.42, MatMul4Bit). Peaks of five of
  /// LitGPT's models say 5.5 to 7.
  double quantized_head_bytes = 6;
  /// Logits and loss that nothing casts to fp32: both, their shifted copy and the gradient in 16 bits.
  /// Source: Qwen/Qwen-7B, modeling_qwen.py, 2023.
  double half_logits_bytes = 8;
  /// Part of an instance's memory that programs on it do not get. Source: aws/karpenter-provider-aws,
  /// pkg/operator/options/options.go, default of vm-memory-overhead-percent (read 2026-11-28).
  double host_overhead = 0.075;
  /// A training process on its host before it has data or states: 869 MiB with PyTorch 2.15, transformers 5.24,
  /// accelerate 1.15 and PEFT 0.21 imported, on Debian 12, 2026-11-28 (ru_maxrss). What CUDA maps is not in it.
  Bytes host_process = Bytes(869 * kMiB);
};

inline constexpr MemoryConstants kMemoryConstants{};

}  // namespace smplan
