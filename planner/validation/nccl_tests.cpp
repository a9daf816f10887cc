#include "planner/validation/nccl_tests.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/words.hpp"

namespace smplan {
namespace {

/// The header above the figures: `#       size         count      type   redop    root     time   algbw   busbw
/// #wrong`.
bool is_header(const std::vector<std::string_view>& words) {
  const auto has = [&](std::string_view name) { return std::find(words.begin(), words.end(), name) != words.end(); };
  return !words.empty() && words.front() == "#" && has("size") && has("time") && has("busbw");
}

std::optional<double> number(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = error == std::errc() && end == word.data() + word.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// `#  Rank  0 Group  0 Pid   7773 on  host-a device  0 [0x53] NVIDIA H100 80GB HBM3`; the bus id is `[53:00.0]` in
/// some.
struct Rank {
  std::string host, device;
};
std::optional<Rank> rank_of(const std::vector<std::string_view>& words) {
  const auto on = std::find(words.begin(), words.end(), "on");
  const auto device = std::find(on, words.end(), "device");
  if (words.size() < 2 || words[1] != "Rank" || on == words.end() || device != on + 2) return std::nullopt;
  const auto bus = std::find_if(device, words.end(), [](std::string_view w) { return w.starts_with('['); });
  if (bus == words.end()) return std::nullopt;
  Rank rank{std::string(*(on + 1)), {}};
  for (auto word = bus + 1; word != words.end(); ++word)
    rank.device += (rank.device.empty() ? "" : " ") + std::string(*word);
  return rank;
}

/// `all_reduce_perf`, wherever it stands in a text.
std::optional<CollectiveKind> kind_said(std::string_view text) {
  for (const CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
                                    CollectiveKind::AllToAll, CollectiveKind::PointToPoint}) {
    if (text.find(nccl_tests_name(kind)) != std::string_view::npos) return kind;
  }
  return std::nullopt;
}

Diagnostic fault(std::string_view where, std::size_t line, std::string message, std::string hint = {}) {
  return {"invalid", fmt::format("{}:{}", where, line), std::move(message), std::move(hint)};
}

/// Size and out-of-place time of a line of figures: the time stands right after the last word that is no number (type,
/// operation) and the root's rank, if the header has one.
tl::expected<MeasuredCollective, Diagnostic> point_of(const std::vector<std::string_view>& words, std::size_t time_at,
                                                      std::string_view where, std::size_t line) {
  if (words.size() <= time_at) {
    return tl::unexpected(fault(where, line, fmt::format("has {} figures, the header names more", words.size())));
  }
  const std::optional<double> size = number(words.front());
  const std::optional<double> time = number(words[time_at]);
  if (!size || !time) {
    const std::string_view bad = size ? words[time_at] : words.front();
    return tl::unexpected(fault(where, line, quote(printable(bad)) + " is no number"));
  }
  if (!(*size >= 0) || !(*time > 0)) {
    return tl::unexpected(fault(where, line, "a size is negative or a time not positive"));
  }
  return MeasuredCollective{Bytes(*size), microseconds(*time)};
}

}  // namespace

bool is_nccl_tests(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (is_header(words_of(trim(text.substr(0, end))))) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

Result<NcclSweep> read_nccl_tests(std::string_view text, std::string_view where) {
  NcclSweep sweep;
  sweep.kind = kind_said(where);
  Diagnostics faults;
  std::map<std::string, std::int64_t> ranks_of_host;
  std::set<std::string> devices;
  std::size_t time_at = 0;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::vector<std::string_view> words = words_of(trim(row));
    if (words.empty()) continue;
    if (!words.front().starts_with('#')) {
      if (time_at == 0 || !number(words.front())) continue;  // what launchers and NCCL itself log between
      const auto point = point_of(words, time_at, where, line);
      if (!point) faults.push_back(point.error());
      // nccl-tests times empty messages too.
      if (point && point->size > Bytes()) sweep.points.push_back(*point);
      continue;
    }
    if (const auto kind = kind_said(row); kind && !sweep.kind) sweep.kind = kind;
    if (const auto rank = rank_of(words)) {
      ++ranks_of_host[rank->host];
      devices.insert(rank->device);
    }
    // The mark stands apart from `size`, so that columns are counted from the next word.
    if (is_header(words)) {
      time_at = static_cast<std::size_t>(std::find(words.begin(), words.end(), "time") - words.begin()) - 1;
    }
  }
  if (faults.empty() && sweep.points.empty()) {
    faults.push_back(
        {"invalid", std::string(where), "holds no line of figures", "give the whole output of nccl-tests"});
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  StatedMachine& machine = sweep.machine;
  if (devices.size() == 1) machine.gpu = *devices.begin();
  if (!ranks_of_host.empty()) {
    std::int64_t ranks = 0;
    std::int64_t most = 0;
    for (const auto& [host, n] : ranks_of_host) {
      ranks += n;
      most = std::max(most, n);
    }
    machine.n_gpus = ranks;
    machine.gpus_per_node = most;
  }
  return sweep;
}

std::vector<ComparedCollective> compare_collectives(const NcclSweep& sweep, CollectiveKind kind,
                                                    const Cluster& cluster) {
  const GroupShape group = whole_cluster(cluster);
  std::vector<ComparedCollective> compared;
  for (const MeasuredCollective& point : sweep.points) {
    compared.push_back({point, collective_time(kind, point.size, group, cluster, Collectives::Nccl)});
  }
  return compared;
}

}  // namespace smplan
