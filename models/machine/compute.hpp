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
  /// An operand is stored by rows that do not start on 16 bytes, as in a product that sums over rows.
  bool misaligned = false;
  [[nodiscard]] Flops flops() const {
    return Flops(2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                 static_cast<double>(batch));
  }
};

/// Device time of one GEMM: tiled compute (tiles in waves over the SMs, split along k where that is
/// faster) and memory traffic, the larger of which dominates, plus a floor. Operands lie
/// by rows of k unless `misaligned` says otherwise: where those are no whole multiples of 16 bytes, loads are narrow
/// and the tensor cores wait. How the product is written costs nothing.
/// Infinite for a precision that the device has no units for.
Seconds gemm_time(const GemmShape& shape, Precision precision, const Accelerator& a, const AcceleratorProfile& p);

struct AttentionShape {
  std::int64_t batch = 1;  ///< sequences
  std::int64_t heads = 1;  ///< query heads on this rank
  std::int64_t kv_heads = 1;
  std::int64_t query_len = 0;
  std::int64_t key_len = 0;
  std::int64_t head_dim = 0;   ///< of queries and keys
  std::int64_t value_dim = 0;  ///< of values
  bool causal = true;          ///< with fewer queries than keys (context parallel): each rank's balanced share
  std::int64_t window = 0;     ///< 0: all keys
  std::int64_t prefix = 0;     ///< keys before the sequence, which every query attends to
};

enum class Pass { Forward, Backward };

/// What the power cap lets the tensor cores do in `precision` for seconds on end. The peak where the profile states no
/// energy, and of fp32, which runs elsewhere. Kernel timings last microseconds and may lie above it.
FlopsPerSecond powered_rate(Precision precision, const Accelerator& a, const AcceleratorProfile& p);

/// Of the pairs that a query attends to, without what a kernel pads or masks.
Flops attention_flops(const AttentionShape& shape, Pass pass);

/// Fused attention core. Backward recomputes the scores: five products against two.
/// Source: Dao 2023 (arXiv 2307.08691).
Seconds flash_attention_time(const AttentionShape& shape, Pass pass, Precision precision, const Accelerator& a,
                             const AcceleratorProfile& p, AttentionKernel kernel);
/// What stands between the two products of unfused attention.
struct ScoreKernels {
  bool fused_softmax = false;  ///< scale, mask and softmax in one kernel, which passes over what a causal mask hides
  bool dropout = false;        ///< of the probabilities
};

/// Whether Megatron's kernel that masks and normalises scores takes these: matrices by fours, rows of 17 to 4,096 in
/// fours; else five PyTorch operations do its work.
/// Source: NVIDIA/Megatron-LM 00caa53, megatron/core/fusions/fused_softmax.py.
bool takes_fused_softmax(const AttentionShape& shape);

/// Scores materialised: batched GEMMs over all pairs (masked ones too) and the traffic of `kernels`. Without the GEMMs
/// where heads do not start on 16 bytes: misaligned_attention_time() has those.
Seconds unfused_attention_time(const AttentionShape& shape, Pass pass, Precision precision, const Accelerator& a,
                               const AcceleratorProfile& p, ScoreKernels kernels = {});
/// The batched GEMMs of heads whose rows do not start on 16 bytes leave the tensor cores, whatever runs around them.
/// Zero for other heads.
Seconds misaligned_attention_time(const AttentionShape& shape, Pass pass, const Accelerator& a);
/// Keys that a query attends to, averaged over the queries.
double mean_attended_keys(const AttentionShape& shape);

/// A kernel bound by memory: bytes over achieved bandwidth after a ramp.
Seconds streaming_time(Bytes traffic, const Accelerator& a, const AcceleratorProfile& p);

}  // namespace smplan
