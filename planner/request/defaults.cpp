#include "planner/request/defaults.hpp"

#include <algorithm>
#include <cmath>

#include "models/layers/layers.hpp"

namespace smplan {
namespace {

constexpr double kTokensPerParameter = 20;
constexpr std::int64_t kDefaultSeqLen = 4096;
constexpr double kPowerOfTwoTolerance = 0.05;

double nearest_power_of_two(double x) { return std::exp2(std::round(std::log2(std::max(1.0, x)))); }

}  // namespace

double default_tokens(const Architecture& architecture) {
  return kTokensPerParameter * static_cast<double>(count_parameters(architecture).total());
}

std::int64_t default_seq_len(const Architecture& architecture, std::int64_t preset_seq_len) {
  if (preset_seq_len > 0) return preset_seq_len;
  return architecture.max_positions > 0 ? std::min(architecture.max_positions, kDefaultSeqLen) : kDefaultSeqLen;
}

double default_batch_tokens(Flops flops) {
  constexpr double kScale = 0.2920;
  constexpr double kExponent = 0.3271;
  return kScale * std::pow(flops.value(), kExponent);
}

std::int64_t default_global_batch(const Architecture& architecture, double tokens, std::int64_t seq_len) {
  constexpr double kFlopsPerParameterAndToken = 6;
  const auto active = static_cast<double>(active_parameters(architecture));
  const double batch = default_batch_tokens(Flops(kFlopsPerParameterAndToken * active * tokens));
  return static_cast<std::int64_t>(nearest_power_of_two(batch / static_cast<double>(seq_len)));
}

std::int64_t published_batch(double batch_tokens, std::int64_t seq_len) {
  constexpr std::int64_t kStep = 64;
  const std::int64_t sequences = sequences_of(batch_tokens, seq_len);
  return sequences < kStep ? sequences : (sequences + kStep / 2) / kStep * kStep;
}

std::int64_t sequences_of(double batch_tokens, std::int64_t seq_len) {
  const double sequences = std::max(1.0, batch_tokens / static_cast<double>(seq_len));
  const double round = nearest_power_of_two(sequences);
  if (std::abs(round / sequences - 1) <= kPowerOfTwoTolerance) return static_cast<std::int64_t>(round);
  return static_cast<std::int64_t>(std::llround(sequences));
}

}  // namespace smplan
