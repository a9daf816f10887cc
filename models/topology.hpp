#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "models/cluster.hpp"

namespace smplan {

enum class DeviceKind { Accelerator, Switch, Host, NetworkCard, Network };

struct TopologyLink {
  std::string from;
  std::string to;
  BytesPerSecond bandwidth;  ///< one direction
};

/// The wiring of one instance type as a graph: accelerators, NVSwitch or direct NVLink pairs, PCIe
/// host, network cards, network. Boost.Graph stays inside the .cpp.
class Topology {
 public:
  explicit Topology(const Cluster& cluster);
  ~Topology();
  Topology(Topology&&) noexcept;
  Topology& operator=(Topology&&) noexcept;

  [[nodiscard]] std::vector<std::string> devices() const;
  /// Each wire once, in a fixed order; both directions have its bandwidth.
  [[nodiscard]] std::vector<TopologyLink> links() const;
  /// Widest path between two accelerators of a node (maximum bottleneck bandwidth).
  [[nodiscard]] BytesPerSecond path_bandwidth(int from_accelerator, int to_accelerator) const;
  /// From an accelerator out of the node, with every accelerator sending at once (min cut / accelerators).
  [[nodiscard]] BytesPerSecond egress_per_accelerator() const;
  /// What rings over the first `ranks` accelerators carry together. With a switch: one
  /// accelerator's rate. On a mesh: as many link-disjoint rings as fit, each used in both
  /// directions; where direct links form no ring, one link's worth through other devices. A V100
  /// hybrid mesh carries 150 GB/s over 8, 100 over 4 and 7, 50 or less over 2, 3, 5 or 6.
  [[nodiscard]] BytesPerSecond ring_bandwidth(int ranks) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace smplan
