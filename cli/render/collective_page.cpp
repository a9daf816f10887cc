#include "cli/render/collective_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "base/units.hpp"

namespace smplan::cli {
namespace {

double in_microseconds(Seconds time) { return time.value() * 1e6; }
double in_gb_per_s(BytesPerSecond rate) { return rate.value() / 1e9; }

std::string time_text(Seconds time) { return fmt::format("{:.1f}", in_microseconds(time)); }
std::string rate_text(BytesPerSecond rate) { return fmt::format("{:.2f}", in_gb_per_s(rate)); }

/// The longest of what a collective waits for.
std::string bound_of(const CollectiveTime& time, const Cluster& cluster) {
  const bool crosses = time.across >= time.inside;
  if (time.latency >= std::max(time.inside, time.across)) return "latency";
  return std::string(crosses ? to_string(cluster.network.kind) : to_string(cluster.fabric.kind));
}

/// Sizes of a range: where messages are small, of a chunk or so, and large.
struct Range {
  const char* name;
  double most;  ///< bytes
};
constexpr std::array<Range, 4> kRanges{{{"under 1 MiB", kMiB},
                                        {"1 to 64 MiB", 64 * kMiB},
                                        {"64 to 512 MiB", 512 * kMiB},
                                        {"over 512 MiB", std::numeric_limits<double>::infinity()}}};

}  // namespace

Listing collective_list(CollectiveKind kind, const std::vector<Bytes>& sizes, const Cluster& cluster) {
  Listing listing;
  listing.table.columns = {
      {"SIZE"},    {"TIME us", Align::Right}, {"ALGBW GB/s", Align::Right}, {"BUSBW GB/s", Align::Right}, {"ALGORITHM"},
      {"BOUND BY"}};
  const GroupShape group = whole_cluster(cluster);
  for (const Bytes size : sizes) {
    const CollectiveTime time = collective_time(kind, size, group, cluster, Collectives::Nccl);
    const BytesPerSecond rate = size / time.time;
    const BytesPerSecond bus = rate * bus_factor(kind, group.ranks);
    const std::string bound = bound_of(time, cluster);
    listing.table.rows.push_back({format_bytes(size), time_text(time.time), rate_text(rate), rate_text(bus),
                                  std::string(to_string(time.algorithm)), bound});
    listing.rows.push_back({{"size_bytes", size.value()},
                            {"time_us", in_microseconds(time.time)},
                            {"algbw_gb_per_s", in_gb_per_s(rate)},
                            {"busbw_gb_per_s", in_gb_per_s(bus)},
                            {"algorithm", to_string(time.algorithm)},
                            {"bound_by", bound},
                            {"latency_us", in_microseconds(time.latency)},
                            {"fabric_us", in_microseconds(time.inside)},
                            {"network_us", in_microseconds(time.across)}});
  }
  return listing;
}

Listing collective_comparison(CollectiveKind kind, const std::vector<ComparedCollective>& compared,
                              const Cluster& cluster) {
  Listing listing;
  listing.table.columns = {{"SIZE"},
                           {"MEASURED us", Align::Right},
                           {"PREDICTED us", Align::Right},
                           {"ERROR", Align::Right},
                           {"BUSBW GB/s", Align::Right},
                           {"BOUND BY"}};
  const double factor = bus_factor(kind, whole_cluster(cluster).ranks);
  std::array<double, kRanges.size()> sums{};
  std::array<int, kRanges.size()> counts{};
  for (const ComparedCollective& c : compared) {
    const double error = c.ratio() - 1;
    const BytesPerSecond bus = c.measured.size / c.measured.time * factor;
    const std::string bound = bound_of(c.predicted, cluster);
    listing.table.rows.push_back({format_bytes(c.measured.size), time_text(c.measured.time),
                                  time_text(c.predicted.time), fmt::format("{:+.1f}%", 100 * error), rate_text(bus),
                                  bound});
    listing.rows.push_back({{"size_bytes", c.measured.size.value()},
                            {"measured_us", in_microseconds(c.measured.time)},
                            {"predicted_us", in_microseconds(c.predicted.time)},
                            {"error", error},
                            {"measured_busbw_gb_per_s", in_gb_per_s(bus)},
                            {"bound_by", bound}});
    std::size_t range = 0;
    while (c.measured.size.value() >= kRanges[range].most) ++range;
    sums[range] += std::abs(error);
    ++counts[range];
  }
  for (std::size_t i = 0; i < kRanges.size(); ++i) {
    if (counts[i] == 0) continue;
    listing.table.rows.push_back(
        {kRanges[i].name, "", "mean error", fmt::format("{:.1f}%", 100 * sums[i] / counts[i]), "", ""});
  }
  return listing;
}

}  // namespace smplan::cli
