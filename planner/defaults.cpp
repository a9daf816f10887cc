#include "planner/defaults.hpp"

#include <algorithm>
#include <cmath>

#include "models/layers.hpp"

namespace smplan {
namespace {

constexpr double kTokensPerParameter = 20;
constexpr std::int64_t kDefaultSeqLen = 4096;
constexpr double kSmallBatchTokens = 1 << 19;
constexpr double kMediumBatchTokens = 1 << 21;
constexpr double kLargeBatchTokens = 1 << 22;
constexpr std::int64_t kAdapterBatch = 128;
constexpr double kPowerOfTwoTolerance = 0.05;

double nearest_power_of_two(double x) { return std::exp2(std::round(std::log2(std::max(1.0, x)))); }

}  // namespace

double default_tokens(const Architecture& architecture, FineTune mode, const Lora& lora) {
  const std::int64_t trained =
      mode == FineTune::Full ? count_parameters(architecture).total() : trained_lora_parameters(architecture, lora);
  return kTokensPerParameter * static_cast<double>(trained);
}

std::int64_t default_seq_len(const Architecture& architecture, std::int64_t preset_seq_len) {
  if (preset_seq_len > 0) return preset_seq_len;
  return architecture.max_positions > 0 ? std::min(architecture.max_positions, kDefaultSeqLen) : kDefaultSeqLen;
}

double default_batch_tokens(double parameters) {
  if (parameters < 1e9) return kSmallBatchTokens;
  return parameters < 1e10 ? kMediumBatchTokens : kLargeBatchTokens;
}

std::int64_t default_global_batch(double parameters, std::int64_t seq_len, FineTune mode) {
  if (mode != FineTune::Full) return kAdapterBatch;
  const double sequences = default_batch_tokens(parameters) / static_cast<double>(seq_len);
  return static_cast<std::int64_t>(nearest_power_of_two(sequences));
}

std::int64_t sequences_of(double batch_tokens, std::int64_t seq_len) {
  const double sequences = std::max(1.0, batch_tokens / static_cast<double>(seq_len));
  const double round = nearest_power_of_two(sequences);
  if (std::abs(round / sequences - 1) <= kPowerOfTwoTolerance) return static_cast<std::int64_t>(round);
  return static_cast<std::int64_t>(std::llround(sequences));
}

}  // namespace smplan
