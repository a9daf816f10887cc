#include "models/rollout/lengths.hpp"

#include <algorithm>
#include <cmath>

#include "models/run/goodput.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kSingles = 32;

/// Of the distribution in a scale of its own, 0 < part < 1.
double quantile(const ResponseLengths& lengths, double part) {
  if (lengths.shape == LengthShape::Exponential) return -std::log1p(-part);
  const double sigma = std::sqrt(std::log1p(lengths.variation * lengths.variation));
  return std::exp(sigma * normal_quantile(part));
}

/// Sizes of the groups, shortest lengths first.
std::vector<std::int64_t> group_sizes(std::int64_t sequences) {
  const std::int64_t singles = std::min(kSingles, sequences);
  std::int64_t left = sequences - singles;
  std::int64_t groups = std::min(left, kMostLengthGroups - kSingles);
  std::vector<std::int64_t> sizes;
  for (; groups > 0; --groups) {
    sizes.push_back(left / groups);
    left -= sizes.back();
  }
  sizes.insert(sizes.end(), static_cast<std::size_t>(singles), 1);
  return sizes;
}

}  // namespace

std::vector<LengthGroup> length_groups(const ResponseLengths& lengths, std::int64_t sequences) {
  std::vector<LengthGroup> groups;
  std::vector<double> shape;
  std::int64_t before = 0;
  for (const std::int64_t size : group_sizes(sequences)) {
    const double middle = static_cast<double>(before) + static_cast<double>(size) / 2;
    const bool constant = lengths.shape == LengthShape::LogNormal && lengths.variation <= 0;
    shape.push_back(constant ? 1 : quantile(lengths, middle / static_cast<double>(sequences)));
    groups.push_back({size, 0});
    before += size;
  }
  const auto limit = static_cast<double>(lengths.limit);
  const auto mean_at = [&](double scale) {
    double sum = 0;
    for (std::size_t i = 0; i < shape.size(); ++i)
      sum += static_cast<double>(groups[i].count) * std::min(limit, scale * shape[i]);
    return sum / static_cast<double>(sequences);
  };
  // The mean grows with the scale up to the limit, where every length is cut.
  double low = 0;
  double high = limit / shape.front();
  constexpr int kHalvings = 50;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (mean_at(middle) < lengths.mean ? low : high) = middle;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    groups[i].tokens = std::clamp<std::int64_t>(std::llround(high * shape[i]), 1, lengths.limit);
  }
  return groups;
}

}  // namespace smplan
