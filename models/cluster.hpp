#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "catalogs/catalog.hpp"

namespace smplan {

/// Homogeneous hardware as the models see it: values only, resolved once per (instance type, count).
struct Cluster {
  Accelerator accelerator;
  AcceleratorProfile accelerator_profile;
  IntraNodeFabric fabric;
  FabricProfile fabric_profile;
  Network network;
  FabricProfile network_profile;
  std::int32_t gpus_per_node = 1;
  std::int32_t nodes = 1;
  Bytes device_memory;       ///< per accelerator, as reported, before the context
  Bytes host_memory;         ///< per node
  BytesPerSecond host_link;  ///< per accelerator, one direction
  Bytes local_nvme;
  BytesPerSecond local_nvme_read;
  BytesPerSecond local_nvme_write;

  [[nodiscard]] std::int64_t gpus() const { return std::int64_t{gpus_per_node} * nodes; }
  /// Accelerators that reach each other at fabric speed (at most the whole cluster).
  [[nodiscard]] std::int64_t domain() const {
    const std::int64_t d = fabric.domain_size > gpus_per_node ? fabric.domain_size : gpus_per_node;
    return d < gpus() ? d : gpus();
  }
};

/// Looks up accelerator and profiles. Fails if the catalog lacks one of them.
Result<Cluster> make_cluster(const Catalog& catalog, const InstanceType& instance, std::int32_t nodes);

}  // namespace smplan
