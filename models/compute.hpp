#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "catalogs/accelerator.hpp"
#include "catalogs/profile.hpp"

namespace smplan {

/// One matrix product: m x k times k x n, `batch` of them in one kernel (grouped GEMM).
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
};

/// Device time of one GEMM: the larger of tiled compute (tiles in waves over the SMs, efficiency
/// rising with k) and memory traffic, never under the kernel floor.
Seconds gemm_time(const GemmShape& shape, Precision precision, const Accelerator& a, const AcceleratorProfile& p);

struct AttentionShape {
  std::int64_t batch = 1;  ///< sequences
  std::int64_t heads = 1;  ///< query heads on this rank
  std::int64_t kv_heads = 1;
  std::int64_t query_len = 0;
  std::int64_t key_len = 0;
  std::int64_t head_dim = 0;   ///< of queries and keys
  std::int64_t value_dim = 0;  ///< of values
  bool causal = true;
  std::int64_t window = 0;  ///< 0: all keys
};

enum class Pass { Forward, Backward };

/// Fused (flash) attention core.
Seconds flash_attention_time(const AttentionShape& shape, Pass pass, Precision precision, const Accelerator& a,
                             const AcceleratorProfile& p);
/// Scores materialised: two batched GEMMs and the softmax's traffic over s x s.
Seconds unfused_attention_time(const AttentionShape& shape, Pass pass, Precision precision, const Accelerator& a,
                               const AcceleratorProfile& p);

/// A kernel bound by memory: bytes over achieved bandwidth, never under the kernel floor.
Seconds streaming_time(Bytes traffic, const Accelerator& a, const AcceleratorProfile& p);

}  // namespace smplan
