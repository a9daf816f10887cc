#include "planner/request/scenario.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "planner/request/fields.hpp"

namespace smplan {
namespace {

constexpr double kLeastFactor = 0.01;
constexpr double kLargestFactor = 100;

constexpr std::array<ScenarioKnob, 8> kKnobs{{{"price", "instance prices", &Scenario::price},
                                              {"compute", "sustained compute rate", &Scenario::compute},
                                              {"memory", "device memory", &Scenario::memory},
                                              {"memory-bandwidth", "memory bandwidth", &Scenario::memory_bandwidth},
                                              {"nvlink", "bandwidth inside a node", &Scenario::nvlink},
                                              {"efa", "network bandwidth", &Scenario::efa},
                                              {"host-link", "host link bandwidth", &Scenario::host_link},
                                              {"batch", "global batch", &Scenario::batch}}};

std::optional<double> plain_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `2x` is a factor; `+10%` and `-20%` are changes, so that a bare `20%` could mean either and is refused.
std::optional<double> parse_factor(std::string_view text) {
  if ((text.ends_with('x') || text.ends_with('X'))) return plain_number(text.substr(0, text.size() - 1));
  if (!text.ends_with('%') || !(text.starts_with('+') || text.starts_with('-'))) return std::nullopt;
  const auto percent = plain_number(text.substr(0, text.size() - 1));
  if (!percent) return std::nullopt;
  return 1 + *percent / 100;
}

}  // namespace

std::span<const ScenarioKnob> scenario_knobs() { return kKnobs; }

void scale_batch(Workload& workload, double factor) {
  const double sequences = std::round(static_cast<double>(workload.global_batch) * factor);
  workload.global_batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(sequences));
}

void apply(const Scenario& scenario, Cluster& cluster) {
  cluster.accelerator_profile.sustained_fraction *= scenario.compute;
  cluster.device_memory = cluster.device_memory * scenario.memory;
  cluster.accelerator.memory_bandwidth = cluster.accelerator.memory_bandwidth * scenario.memory_bandwidth;
  cluster.fabric.bandwidth_per_accelerator = cluster.fabric.bandwidth_per_accelerator * scenario.nvlink;
  for (BytesPerSecond& ring : cluster.ring_bandwidth) ring = ring * scenario.nvlink;
  cluster.network.bandwidth_per_node = cluster.network.bandwidth_per_node * scenario.efa;
  cluster.host_link = cluster.host_link * scenario.host_link;
}

Result<Scenario> parse_scenario(std::string_view text, std::string_view where) {
  Scenario scenario;
  Diagnostics faults;
  std::vector<std::string> seen;
  std::vector<std::string> names;
  for (const ScenarioKnob& knob : kKnobs) names.emplace_back(knob.name);
  for (const std::string_view part : split_list(text, where, faults)) {
    const std::size_t equals = part.find('=');
    const std::string typed(trim(part.substr(0, equals)));
    const std::string name = known_spelling(typed, names).value_or(typed);
    const auto* knob =
        std::find_if(kKnobs.begin(), kKnobs.end(), [&](const ScenarioKnob& k) { return k.name == name; });
    if (knob == kKnobs.end()) {
      faults.push_back(unknown_name("assumption", name, where, names));
      continue;
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      faults.push_back({"repeated", std::string(where), fmt::format("{} is given twice", name), "give it once"});
    }
    seen.push_back(name);
    const auto factor = equals == std::string_view::npos ? std::nullopt : parse_factor(part.substr(equals + 1));
    if (!factor) {
      faults.push_back({"bad-change", std::string(where), fmt::format("'{}' says no change", part),
                        fmt::format("write {0}=+10%, {0}=-20% or {0}=2x", name)});
    } else if (!(*factor >= kLeastFactor && *factor <= kLargestFactor)) {
      faults.push_back({"out-of-range", std::string(where),
                        fmt::format("'{}' multiplies {} by {:g}", part, knob->words, *factor),
                        fmt::format("stay within {:g}x and {:g}x", kLeastFactor, kLargestFactor)});
    } else {
      scenario.*knob->factor = *factor;
    }
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return scenario;
}

std::string to_string(const Scenario& scenario) {
  std::string out;
  for (const ScenarioKnob& knob : kKnobs) {
    const double factor = scenario.*knob.factor;
    if (factor == 1) continue;
    const double percent = (factor - 1) * 100;
    out += fmt::format("{}{} {}{:.4g}%", out.empty() ? "" : ", ", knob.words, percent > 0 ? "+" : "", percent);
  }
  return out;
}

}  // namespace smplan
