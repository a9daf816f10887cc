#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/machine/cluster.hpp"

namespace smplan {

/// Hardware as far as somebody states it.
struct StatedMachine {
  std::string gpu;       ///< an accelerator; empty: that of the instance
  std::string instance;  ///< an instance type or reference system; empty: the one most like the rest
  std::optional<std::int64_t> n_gpus, gpus_per_node;
  std::optional<double> internode_gbps_per_node;
  std::optional<NetworkKind> network;
};

/// The cluster: that instance type or the catalog's system most like the stated facts, with the stated network, and as
/// many accelerators of each node as ran. `assumptions` gets a sentence for each fact that was filled in. Errors:
/// `unsupported` where too little is stated or the catalog lacks a name, `invalid` where accelerators do not fill
/// nodes.
Result<Cluster> cluster_of(const StatedMachine& stated, const Catalog& catalog, std::vector<std::string>& assumptions);

/// The accelerator alone; nullptr where the catalog has none of that name.
const Accelerator* accelerator_of(const StatedMachine& stated, const Catalog& catalog);

}  // namespace smplan
