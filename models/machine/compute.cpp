#include "models/machine/compute.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace smplan {
namespace {

struct Tile {
  double rows;
  double columns;
};

// What cuBLAS chooses from, in outline; the cheapest counts.
constexpr std::array<Tile, 6> kTiles{{{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}}};
constexpr std::array<double, 4> kSplits{1, 2, 4, 8};
// More than what a bound and the time it bounds can differ by in their last digits.
constexpr double kRounding = 1 + 1e-9;
constexpr double kStepOfK = 64;  // elements of k that one main-loop step consumes
// Partial sums of a split product, fp32, written and read through L2 at twice the DRAM rate.
constexpr double kSplitBytes = 4;
// Operands whose 16-bit rows do not start on 16 bytes are loaded by narrower instructions. The 343 runs of
// VIA-Research/vTrain (MICRO 2024) without tensor parallelism spend 8.2 ms per 1,024 tokens outside the layers
// at 2,048 hidden and 4.7 at 1,024, with GPT-2's vocabulary of 50,257. Padding it to 50,304 saves a quarter of
// the step of the 124M model (A. Karpathy, nanoGPT, 2023-02), which agrees.
constexpr double kMisalignedEfficiency = 0.32;
constexpr double kLoadBytes = 16;

double element_bytes(Precision p) {
  switch (p) {
    case Precision::Fp32:
    case Precision::Tf32:
      return 4;
    case Precision::Fp16:
    case Precision::Bf16:
      return 2;
    case Precision::Fp8:
      return 1;
    case Precision::Fp4:
      return 0.5;
  }
  return 4;
}

/// std::ceil of counts, which lie far below 2^63: without SSE4.1 that is a call, and this the innermost loop.
double round_up(double x) {
  const auto whole = static_cast<double>(static_cast<std::int64_t>(x));
  return whole < x ? whole + 1 : whole;
}

bool aligned(std::int64_t elements, double bytes) {
  const double row = static_cast<double>(elements) * bytes;
  return std::floor(row / kLoadBytes) * kLoadBytes == row;
}

// Williams et al. 2009 draw the roofline as a maximum; near the ridge both limits are felt.
double roofline(double compute, double memory) {
  const double c = compute * compute;
  const double m = memory * memory;
  return std::sqrt(std::sqrt(c * c + m * m));
}

// Seconds of the fastest tile and split. `rate` is FLOP/s of the device at best, `bandwidth` B/s.
double tiled_compute(double m, double n, double k, double batch, double rate, double bandwidth, double sms,
                     const AcceleratorProfile& p) {
  const double half = p.gemm_half_tile / 2;
  const double best_tile = 1 + half * (1 / kTiles[0].rows + 1 / kTiles[0].columns);
  std::array<double, kSplits.size()> depth;
  std::array<double, kSplits.size()> reduction;
  for (std::size_t i = 0; i < kSplits.size(); ++i) {
    depth[i] = round_up(k / kSplits[i] / kStepOfK) * kStepOfK + p.gemm_half_k;
    reduction[i] = i == 0 ? 0 : kSplits[i] * kSplitBytes * batch * m * n / bandwidth;
  }
  double fastest = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kTiles) {
    const double tiles = batch * round_up(m / tile.rows) * round_up(n / tile.columns) / sms;
    const double feeding = (1 + half * (1 / tile.rows + 1 / tile.columns)) / best_tile;
    const double per_k = 2 * tile.rows * tile.columns * sms * feeding / rate;
    // A tile's waves are no less than its load, so that most tiles and splits are out without rounding.
    const double at_least = tiles * per_k;
    for (std::size_t i = 0; i < kSplits.size(); ++i) {
      if (at_least * (k + kSplits[i] * p.gemm_half_k) + reduction[i] > fastest * kRounding) break;
      const double load = tiles * kSplits[i];
      const double waves = p.gemm_wave_rounding * round_up(load) + (1 - p.gemm_wave_rounding) * std::max(load, 1.0);
      fastest = std::min(fastest, waves * per_k * depth[i] + reduction[i]);
    }
  }
  return fastest;
}

}  // namespace

Seconds gemm_time(const GemmShape& shape, Precision precision, const Accelerator& a, const AcceleratorProfile& p) {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  const auto batch = static_cast<double>(shape.batch);
  const double bytes = element_bytes(precision);
  const bool narrow = shape.misaligned || !aligned(shape.k, bytes);
  const double rate = a.peak_rate(precision).value() * p.gemm_efficiency[static_cast<std::size_t>(precision)] *
                      (narrow ? kMisalignedEfficiency : 1.0);
  if (!(rate > 0)) return Seconds(std::numeric_limits<double>::infinity());
  const double bandwidth = a.memory_bandwidth.value() * p.memory_efficiency;
  const double sms = std::max(1, a.sm_count);  // unknown: one large unit, which has no waves
  const double compute = tiled_compute(m, n, k, batch, rate, bandwidth, sms, p);
  const double out_bytes = std::max(bytes, 2.0);  // 8- and 4-bit products are written in 16 bits
  const double traffic = batch * (bytes * (m * k + k * n) + out_bytes * m * n);
  return Seconds(roofline(compute, traffic / bandwidth)) + p.gemm_floor;
}

FlopsPerSecond powered_rate(Precision precision, const Accelerator& a, const AcceleratorProfile& p) {
  const FlopsPerSecond peak = a.peak_rate(precision);
  if (!(p.energy_per_flop_pj > 0) || !(a.power_limit_w > 0) || precision == Precision::Fp32) return peak;
  constexpr double kPicojoule = 1e-12;
  const FlopsPerSecond at_16_bits(a.power_limit_w / (p.energy_per_flop_pj * kPicojoule));
  // Half the bits, twice the rate at the same power.
  return peak * std::min(1.0, at_16_bits / a.peak_rate(Precision::Bf16));
}

Seconds streaming_time(Bytes traffic, const Accelerator& a, const AcceleratorProfile& p) {
  return traffic / (a.memory_bandwidth * p.memory_efficiency) + p.kernel_floor;
}

}  // namespace smplan
