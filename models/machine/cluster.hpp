#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/units.hpp"
#include "catalogs/catalog.hpp"
#include "models/machine/topology.hpp"

namespace smplan {

/// Homogeneous hardware as the models see it: values only, resolved once per (instance type, count).
struct Cluster {
  Accelerator accelerator;
  AcceleratorProfile accelerator_profile;
  IntraNodeFabric fabric;
  FabricProfile fabric_profile;
  Network network;
  FabricProfile network_profile;
  FabricProfile tcp_profile;  ///< of the same cards under TCP, which parameter servers speak
  std::int32_t gpus_per_node = 1;
  std::int32_t nodes = 1;
  Bytes device_memory;             ///< per accelerator, as reported, before the context
  Bytes host_memory;               ///< per node
  Bytes host_taken;                ///< of it, by what no strategy decides: checkpoints kept in memory
  std::int32_t vcpus = 0;          ///< per node; 0: not known
  BytesPerSecond host_link;        ///< per accelerator, one direction
  bool blocking_launches = false;  ///< the host waits for every kernel
  double host_speed = 1;           ///< see InstanceType
  Bytes local_nvme;
  BytesPerSecond local_nvme_read;
  BytesPerSecond local_nvme_write;
  /// Line rate of the rings over the first n accelerators of a node without a switch (models/machine/topology.hpp);
  /// zero where every accelerator reaches every other at full rate.
  std::array<BytesPerSecond, kMaxMeshNode + 1> ring_bandwidth{};

  [[nodiscard]] std::int64_t gpus() const { return std::int64_t{gpus_per_node} * nodes; }
  /// Accelerators that reach each other at fabric speed (at most the whole cluster). Of domains
  /// that span nodes a larger job takes a power of two each (64 of an NVL72's 72), so that no group straddles two.
  [[nodiscard]] std::int64_t domain() const {
    if (fabric.domain_size <= gpus_per_node) return gpus_per_node;
    if (gpus() <= fabric.domain_size) return gpus();
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(fabric.domain_size)));
  }
};

/// Looks up accelerator and profiles. Fails if the catalog lacks one of them.
Result<Cluster> make_cluster(const Catalog& catalog, const InstanceType& instance, std::int32_t nodes);

/// The part of the cluster that a stack uses: of a parameter server's instances one device, which has the whole host,
/// and the one card that its address is of, under TCP. The cluster itself for all others.
Cluster used_by(const Stack& stack, Cluster cluster);

/// Which fabric profiles describe an instance type: the wires inside a node by kind and accelerator
/// generation, the network by kind, version and whether it reaches GPU memory.
std::string_view fabric_profile_key(const InstanceType& instance, const Accelerator& accelerator);
std::string_view network_profile_key(const InstanceType& instance);

}  // namespace smplan
