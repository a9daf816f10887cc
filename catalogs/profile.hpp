#pragma once

#include <array>
#include <string>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "catalogs/precision.hpp"
#include "catalogs/provenance.hpp"

namespace smplan {

/// What silicon decides: achieved fractions of the data sheet. Fitted on kernel measurements.
struct AcceleratorProfile {
  std::string accelerator;  ///< key
  /// Fraction of peak that a large GEMM reaches, by Precision.
  std::array<double, kPrecisionCount> gemm_efficiency{};
  /// Inner dimension at which a tile reaches half of that fraction: eff = max * K / (K + half).
  double gemm_half_k = 0;
  /// Fraction of peak of fused attention, forward and backward (large, head_dim 128), by Precision.
  std::array<double, kPrecisionCount> attention_forward_efficiency{};
  std::array<double, kPrecisionCount> attention_backward_efficiency{};
  /// Sequence length at which fused attention reaches half of its efficiency.
  double attention_half_seq = 0;
  /// Fraction of memory bandwidth that streaming kernels reach.
  double memory_efficiency = 0;
  /// Device-side floor of one kernel, back to back.
  Seconds kernel_floor;
  Provenance provenance;
  friend bool operator==(const AcceleratorProfile&, const AcceleratorProfile&) = default;
};
AcceleratorProfile read_accelerator_profile(const JsonValue& value, Diagnostics& out);

/// What a link type decides: `base + steps * step_latency + bytes / (line_rate * efficiency) *
/// (1 + half_size / (bytes + half_size))`, bytes as they cross one accelerator's wire (see
/// models/collectives.hpp). Fitted on collective sweeps by scripts/fit/collectives.py.
struct FabricProfile {
  std::string fabric;               ///< `nvswitch-a100`, `efa-v2`, `infiniband`, ...
  double bandwidth_efficiency = 0;  ///< rings and trees, of the one-direction line rate, large messages
  Seconds step_latency;             ///< per ring step or tree hop
  Seconds base_latency;             ///< per collective call
  /// Bytes on the wire around which the half-rate protocol for small messages gives way to the full rate.
  Bytes half_size;
  /// All-to-all and point-to-point reach another fraction than rings do, at every size.
  double alltoall_efficiency = 0;
  /// In-switch reduction (NVLS): all-reduce moves the buffer once, at this fraction; 0 without it.
  double switch_reduction_efficiency = 0;
  Provenance provenance;
  friend bool operator==(const FabricProfile&, const FabricProfile&) = default;
};
FabricProfile read_fabric_profile(const JsonValue& value, Diagnostics& out);

}  // namespace smplan
