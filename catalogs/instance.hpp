#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "catalogs/provenance.hpp"

namespace smplan {

/// How the accelerators of one node reach each other.
enum class FabricKind {
  None,        ///< a single accelerator
  Pcie,        ///< through the host's PCIe switches
  NvlinkMesh,  ///< direct NVLink pairs without a switch (V100 hybrid cube mesh)
  FullMesh,    ///< a link between any two (Infinity Fabric of MI300X)
  Nvswitch,    ///< all-to-all at full rate
  NeuronLink,  ///< Trainium chip-to-chip torus
};
std::string_view to_string(FabricKind kind);

struct IntraNodeFabric {
  FabricKind kind = FabricKind::None;
  std::string generation;  ///< `NVLink 3 (12 links)`
  /// Per accelerator, one direction (half of the marketed bidirectional figure).
  BytesPerSecond bandwidth_per_accelerator;
  /// Accelerators in one all-to-all domain: 8 on HGX, 72 on GB200 NVL72 (spans nodes).
  int domain_size = 1;
  friend bool operator==(const IntraNodeFabric&, const IntraNodeFabric&) = default;
};

/// What leaves the node.
enum class NetworkKind { Ethernet, Efa, Infiniband, RoCE, OmniPath };
std::string_view to_string(NetworkKind kind);

struct Network {
  NetworkKind kind = NetworkKind::Ethernet;
  std::string version;  ///< `EFA v2`
  /// Whole node, one direction, sustained (the baseline where AWS says "up to").
  BytesPerSecond bandwidth_per_node;
  int interfaces = 1;  ///< network cards that a job can use at once
  bool gpudirect_rdma = false;
  friend bool operator==(const Network&, const Network&) = default;
};

/// Whether SageMaker training takes the type, and if not, why.
enum class TrainingSupport {
  OnDemand,      ///< can be ordered by the hour
  PlanOnly,      ///< only through training plans or capacity blocks
  Retired,       ///< was taken, is no more
  NotSupported,  ///< never taken
  Reference,     ///< a measured system that is not an AWS type (validation only)
};
std::string_view to_string(TrainingSupport support);

struct InstanceType {
  std::string name;  ///< `ml.p4d.24xlarge`
  int vcpus = 0;
  Bytes host_memory;
  std::string accelerator;  ///< key into the accelerators
  int accelerator_count = 0;
  /// Per accelerator as reported on this type; differs between hosts of one accelerator.
  Bytes accelerator_memory;
  IntraNodeFabric fabric;
  Network network;
  /// Host to device, per accelerator, one direction, achievable; zero where unknown.
  BytesPerSecond host_link;
  Bytes local_nvme;
  BytesPerSecond local_nvme_read;
  BytesPerSecond local_nvme_write;
  BytesPerSecond ebs_bandwidth;
  TrainingSupport support = TrainingSupport::NotSupported;
  std::string support_reason;  ///< why it is not OnDemand; empty if it is
  /// CUDA_LAUNCH_BLOCKING is set there: the host waits for every kernel, so that its own time adds to the device's.
  bool blocking_launches = false;
  /// Speed at which its host launches layers, by that of a DGX H100, of whose like the stack profiles mostly tell:
  /// clock times work per clock of one thread. Grace and the hosts of cards before Hopper count as 1: by their clocks
  /// left-out sources come no nearer.
  double host_speed = 1;
  bool smddp = false;
  bool smp_v2 = false;
  bool scarce = false;         ///< several are rarely free together on spot, though no fabric shows it: is_scarce()
  bool training_plan = false;  ///< flexible training plans / capacity blocks offer it
  /// Instances of each size that is sold (UltraServers of 9 or 18), ascending; empty where one is sold by itself.
  std::vector<std::int32_t> sold_in;
  std::vector<std::string> regions;  ///< where EC2 offers it; empty where unknown
  std::string note;
  Provenance provenance;
  friend bool operator==(const InstanceType&, const InstanceType&) = default;

  /// Several are rarely free together on spot: the types for training at scale, whose devices a switch or NeuronLink
  /// ties together, and those whose entries say so.
  [[nodiscard]] bool is_scarce() const;
  /// Whether so many can be bought: a sum of the sizes that are sold.
  [[nodiscard]] bool sells(std::int32_t count) const;
};

InstanceType read_instance(const JsonValue& value, Diagnostics& out);

}  // namespace smplan
