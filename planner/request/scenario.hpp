#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "models/job/workload.hpp"
#include "models/machine/cluster.hpp"

namespace smplan {

/// A world that differs from the catalog's by factors: what a request is planned in when it asks "what if".
struct Scenario {
  double price = 1;             ///< of every instance
  double compute = 1;           ///< sustained rate of matrix products and attention
  double memory = 1;            ///< device memory
  double memory_bandwidth = 1;  ///< of the device
  double nvlink = 1;            ///< bandwidth between the accelerators of a node or domain
  double efa = 1;               ///< bandwidth of the node's network
  double host_link = 1;         ///< PCIe or C2C, host to device
  double batch = 1;             ///< sequences of an optimizer step

  [[nodiscard]] bool is_catalog() const { return *this == Scenario{}; }
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

/// One factor: its name on the command line and its name in sentences. The table is the only list of them.
struct ScenarioKnob {
  std::string_view name;
  std::string_view words;
  double Scenario::*factor;
};
std::span<const ScenarioKnob> scenario_knobs();

/// Global batch as the scenario has it, a whole number of sequences.
void scale_batch(Workload& workload, double factor);

/// The hardware as the scenario has it; prices are applied where a run is billed.
void apply(const Scenario& scenario, Cluster& cluster);

/// `price=-20%,efa=2x`: each a knob and `2x`, `0.5x`, `+10%` or `-20%`; factors in [0.01, 100].
Result<Scenario> parse_scenario(std::string_view text, std::string_view where);
/// `instance prices -20%, EFA bandwidth +100%`; empty for the catalog's world.
std::string to_string(const Scenario& scenario);

}  // namespace smplan
