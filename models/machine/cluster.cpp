#include "models/machine/cluster.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "models/machine/local_disk.hpp"
#include "models/machine/topology.hpp"

namespace smplan {
namespace {

constexpr std::string_view kTcpProfile = "ethernet";

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Nvswitch generations follow the accelerator's; later ones than the last measured use the last.
std::string_view nvswitch_key(const IntraNodeFabric& fabric, const Accelerator& accelerator) {
  if (contains(accelerator.architecture, "Volta")) return "nvswitch-v100";
  if (contains(accelerator.architecture, "Ampere")) return "nvswitch-a100";
  if (contains(accelerator.architecture, "Hopper")) return "nvswitch-h100";
  constexpr int kHgx = 8;
  return fabric.domain_size > kHgx ? "nvl72-gb200" : "nvswitch-b200";
}

template <typename T>
void require(const T* found, std::string_view kind, std::string_view key, const InstanceType& instance,
             Diagnostics& out) {
  if (found != nullptr) return;
  out.push_back({"missing-profile", instance.name, fmt::format("the catalog has no {} '{}'", kind, key),
                 "add it to an overlay (--catalog)"});
}

/// Facts that the models cannot do without on more than one accelerator or node.
void require_links(const InstanceType& instance, std::int32_t nodes, Diagnostics& out) {
  if (nodes > 1 && !(instance.network.bandwidth_per_node.value() > 0)) {
    out.push_back({"missing-fact", instance.name, "its network bandwidth is not known, so nodes cannot be joined",
                   "use one node, or give the bandwidth in an overlay (--catalog)"});
  }
  if (instance.accelerator_count > 1 && !(instance.fabric.bandwidth_per_accelerator.value() > 0)) {
    out.push_back({"missing-fact", instance.name, "the bandwidth between its accelerators is not known",
                   "give it in an overlay (--catalog)"});
  }
}

/// The instance's own facts; accelerator and profiles are left to the caller.
Cluster from_instance(const InstanceType& instance, std::int32_t nodes) {
  Cluster cluster;
  cluster.fabric = instance.fabric;
  cluster.network = instance.network;
  cluster.gpus_per_node = instance.accelerator_count;
  cluster.nodes = nodes;
  cluster.device_memory = instance.accelerator_memory;
  cluster.host_memory = instance.host_memory;
  cluster.vcpus = instance.vcpus;
  cluster.host_link = instance.host_link;
  cluster.blocking_launches = instance.blocking_launches;
  cluster.host_speed = instance.host_speed;
  cluster.local_nvme = instance.local_nvme;
  return cluster;
}

void measure_mesh(Cluster& cluster) {
  for (int n = 2; n <= cluster.gpus_per_node; ++n) {
    cluster.ring_bandwidth[static_cast<std::size_t>(n)] = ring_bandwidth(cluster.fabric, cluster.gpus_per_node, n);
  }
}

}  // namespace

std::string_view fabric_profile_key(const InstanceType& instance, const Accelerator& accelerator) {
  switch (instance.fabric.kind) {
    case FabricKind::Nvswitch:
      return nvswitch_key(instance.fabric, accelerator);
    case FabricKind::NvlinkMesh:
      return "nvlink-mesh-v100";
    case FabricKind::FullMesh:
      return "full-mesh-mi300x";
    case FabricKind::NeuronLink:
      return "neuronlink";
    case FabricKind::Pcie:
    case FabricKind::None:
      break;
  }
  // A single accelerator has no fabric; it needs a profile for its base latency only.
  return "pcie";
}

std::string_view network_profile_key(const InstanceType& instance) {
  const Network& network = instance.network;
  switch (network.kind) {
    case NetworkKind::Efa:
      if (!network.gpudirect_rdma && instance.fabric.kind != FabricKind::NeuronLink) return "efa-host";
      if (contains(network.version, "v1")) return "efa-v1";
      if (contains(network.version, "v2")) return "efa-v2";
      if (!network.version.empty()) return "efa-v3";
      // Not stated: trn1's cards are of p4d's generation, p5.4xlarge's of p5's.
      return instance.fabric.kind == FabricKind::NeuronLink ? "efa-v1" : "efa-v2";
    case NetworkKind::Infiniband:
      return "infiniband";
    case NetworkKind::RoCE:
      return "roce";
    case NetworkKind::OmniPath:
      return "omnipath";
    case NetworkKind::Ethernet:
      break;
  }
  return kTcpProfile;
}

Cluster used_by(const Stack& stack, Cluster cluster) {
  if (!stack.parameter_server) return cluster;
  const int cards = std::max(1, cluster.network.interfaces);
  cluster.gpus_per_node = stack.devices_used(cluster.gpus_per_node);
  cluster.fabric.domain_size = 1;
  cluster.network.bandwidth_per_node = cluster.network.bandwidth_per_node / cards;
  cluster.network.interfaces = 1;
  cluster.network_profile = cluster.tcp_profile;
  return cluster;
}

Result<Cluster> make_cluster(const Catalog& catalog, const InstanceType& instance, std::int32_t nodes) {
  if (instance.accelerator_count < 1) {
    return fail("no-accelerator", instance.name, "it has no accelerator to train on",
                "choose a type with GPUs or Trainium (smplan catalog list)");
  }
  Diagnostics faults;
  if (nodes < 1) {
    faults.push_back({"bad-count", instance.name, fmt::format("{} nodes is no cluster", nodes), "ask for at least 1"});
  }
  const bool mesh = has_direct_links(instance.fabric.kind);
  if (mesh && instance.accelerator_count > kMaxMeshNode) {
    faults.push_back({"unsupported-fabric", instance.name,
                      fmt::format("a mesh of {} accelerators is not modelled", instance.accelerator_count),
                      fmt::format("meshes have up to {}; name a switched fabric", kMaxMeshNode)});
  }
  require_links(instance, nodes, faults);
  const Accelerator* accelerator = catalog.find_accelerator(instance.accelerator);
  require(accelerator, "accelerator", instance.accelerator, instance, faults);
  if (accelerator == nullptr) return tl::unexpected(std::move(faults));
  const AcceleratorProfile* profile = catalog.find_accelerator_profile(instance.accelerator);
  require(profile, "accelerator profile", instance.accelerator, instance, faults);
  const std::string_view fabric_key = fabric_profile_key(instance, *accelerator);
  const FabricProfile* fabric = catalog.find_fabric_profile(fabric_key);
  require(fabric, "fabric profile", fabric_key, instance, faults);
  const std::string_view network_key = network_profile_key(instance);
  const FabricProfile* network = catalog.find_fabric_profile(network_key);
  require(network, "fabric profile", network_key, instance, faults);
  if (!faults.empty()) return tl::unexpected(std::move(faults));

  Cluster cluster = from_instance(instance, nodes);
  cluster.accelerator = *accelerator;
  cluster.accelerator_profile = *profile;
  cluster.fabric_profile = *fabric;
  cluster.network_profile = *network;
  const FabricProfile* tcp = catalog.find_fabric_profile(kTcpProfile);
  cluster.tcp_profile = tcp != nullptr ? *tcp : *network;
  if (instance.local_nvme > Bytes()) {
    cluster.local_nvme_read = local_read_rate(instance, catalog.operations());
    cluster.local_nvme_write = local_write_rate(instance, catalog.operations());
  }
  if (mesh) measure_mesh(cluster);
  return cluster;
}

}  // namespace smplan
