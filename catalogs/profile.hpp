#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "catalogs/precision.hpp"
#include "catalogs/provenance.hpp"

namespace smplan {

/// Least part of a peak rate that a catalog may state: at a rate of zero, steps would never end.
inline constexpr double kMinEfficiency = 1e-3;

/// Whose fused attention kernels a stack runs.
enum class AttentionKernel {
  Flash2,  ///< FlashAttention-2 class: not written for Hopper's and Blackwell's instructions
  Triton,  ///< the first FlashAttention as written in Triton, before FlashAttention-2
  Vendor,  ///< cuDNN, Transformer Engine, FlashAttention-3: the best that the part has
};

/// Fused attention of one class of kernels: `time = pairs * flops_per_pair / (peak * efficiency)`,
/// where each query meets its keys and `overhead_keys` more.
struct AttentionRates {
  std::array<double, kPrecisionCount> forward_efficiency{};  ///< of peak; long sequences, head_dim 128
  std::array<double, kPrecisionCount> backward_efficiency{};
  double forward_overhead_keys = 0;  ///< start and end of a block of queries, in keys
  double backward_overhead_keys = 0;
  /// Softmax work per pair in units of head_dim: narrow heads reach (1 + x/128) / (1 + x/head_dim).
  double half_dim = 0;
  friend bool operator==(const AttentionRates&, const AttentionRates&) = default;
};

/// What silicon decides: achieved fractions of the data sheet. Fitted on kernel measurements by
/// scripts/fit/kernels.py; the formulas are in models/machine/compute.cpp and models/machine/attention.cpp.
struct AcceleratorProfile {
  std::string accelerator;  ///< key
  /// Fraction of peak that 256 x 128 tiles reach in full waves at large k, by Precision.
  std::array<double, kPrecisionCount> gemm_efficiency{};
  /// Prologue and epilogue of a tile, in elements of k.
  double gemm_half_k = 0;
  /// Operand feeding: a tile reaches 1 / (1 + this * (1/rows + 1/columns) / 2).
  double gemm_half_tile = 0;
  /// 1: an incomplete wave of tiles lasts as long as a full one; 0: as long as its share.
  double gemm_wave_rounding = 0;
  Seconds gemm_floor;
  AttentionRates flash2;
  AttentionRates vendor_attention;
  /// Fraction of memory bandwidth that streaming kernels reach.
  double memory_efficiency = 0;
  /// Ramp of a streaming kernel, back to back.
  Seconds kernel_floor;
  /// What the whole device spends on a 16-bit FLOP of its tensor cores in training, in picojoules; 0 where the power
  /// cap is not known to bind. With the cap, the rate that seconds of work sustain (powered_rate in
  /// models/machine/compute.hpp).
  double energy_per_flop_pj = 0;
  /// Part of the kernel benchmarks' rate of matrix products and attention that training sustains
  /// within the power cap: warm clocks. Fitted on training runs, 1 where there are none.
  double sustained_fraction = 1;
  /// What a vendor's attention kernel keeps of that, relative to its benchmark at the best size.
  double sustained_attention = 1;
  Provenance provenance;

  [[nodiscard]] const AttentionRates& attention(AttentionKernel kernel) const {
    return kernel == AttentionKernel::Vendor ? vendor_attention : flash2;
  }
  friend bool operator==(const AcceleratorProfile&, const AcceleratorProfile&) = default;
};
AcceleratorProfile read_accelerator_profile(const JsonValue& value, Diagnostics& out);

/// What training keeps of the kernel rates of one accelerator. Apart from the profile, because runs
/// and not kernels tell it; the catalog puts it into the accelerator's profile.
struct SustainedRate {
  std::string accelerator;  ///< key
  double fraction = 1;
  double attention = 1;
  Provenance provenance;
  friend bool operator==(const SustainedRate&, const SustainedRate&) = default;
};
SustainedRate read_sustained_rate(const JsonValue& value, Diagnostics& out);

/// One number of a sustained rate: the only list of them, which reading, writing and fitting walk.
struct DeviceParameter {
  std::string_view key;
  double SustainedRate::*rate = nullptr;
  double AcceleratorProfile::*profile = nullptr;
  double low = 0;
  double high = 1;
};
std::span<const DeviceParameter> device_parameters();

/// What a link type decides: `base + steps * step_latency + bytes / (line_rate * efficiency) *
/// (1 + half_size / (bytes + half_size))`, bytes as they cross one accelerator's wire (see
/// models/machine/collectives.hpp). Fitted on collective sweeps by scripts/fit/collectives.py.
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
