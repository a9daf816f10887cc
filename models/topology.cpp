#include "models/topology.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/edmonds_karp_max_flow.hpp>
#include <boost/property_map/function_property_map.hpp>

#include "base/assert.hpp"

namespace smplan {
namespace {

/// NVLinks between the V100s of DGX-1V, p3.16xlarge and p3dn.24xlarge (`nvidia-smi topo -m`): two
/// fully connected quads joined by a cube; six links a GPU. p3.8xlarge is the first quad.
/// Source: NVIDIA DGX-1 With Tesla V100 System Architecture, WP-08437-002.
constexpr std::array<std::array<int, kMaxMeshNode>, kMaxMeshNode> kHybridCubeMesh{{{0, 1, 1, 2, 2, 0, 0, 0},
                                                                                   {1, 0, 2, 1, 0, 2, 0, 0},
                                                                                   {1, 2, 0, 2, 0, 0, 1, 0},
                                                                                   {2, 1, 2, 0, 0, 0, 0, 1},
                                                                                   {2, 0, 0, 0, 0, 1, 1, 2},
                                                                                   {0, 2, 0, 0, 1, 0, 2, 1},
                                                                                   {0, 0, 1, 0, 1, 2, 0, 2},
                                                                                   {0, 0, 0, 1, 2, 1, 2, 0}}};
constexpr int kLinksPerV100 = 6;

/// PCIe 3.0 x16 after encoding: the slowest host link of the types whose own figure is unknown.
constexpr BytesPerSecond kUnknownHostLink = gb_per_s(15.75);

using LinkTable = std::array<std::array<int, kMaxMeshNode>, kMaxMeshNode>;
using RingOrder = std::vector<int>;

bool take_ring(const RingOrder& ring, LinkTable& free, int links) {
  const std::size_t n = ring.size();
  bool fits = true;
  for (std::size_t i = 0; i < n; ++i) {
    const int a = ring[i];
    const int b = ring[(i + 1) % n];
    free[a][b] -= links;
    free[b][a] = free[a][b];
    fits = fits && free[a][b] >= 0;
  }
  return fits;
}

/// Most rings that share no link, by exhaustive choice: a V100 has six links, so at most three.
int most_rings(const std::vector<RingOrder>& rings, std::size_t first, LinkTable& free) {
  int best = 0;
  for (std::size_t i = first; i < rings.size(); ++i) {
    if (take_ring(rings[i], free, 1)) best = std::max(best, 1 + most_rings(rings, i, free));
    take_ring(rings[i], free, -1);
  }
  return best;
}

/// Hamiltonian cycles over accelerators 0..ranks-1 by direct links, each in one of its directions.
std::vector<RingOrder> direct_rings(int ranks) {
  std::vector<RingOrder> rings;
  RingOrder order(static_cast<std::size_t>(ranks));
  for (int i = 0; i < ranks; ++i) order[i] = i;
  do {
    if (order[1] > order.back()) continue;  // the same cycle backwards
    bool linked = true;
    for (int i = 0; i < ranks && linked; ++i) linked = kHybridCubeMesh[order[i]][order[(i + 1) % ranks]] > 0;
    if (linked) rings.push_back(order);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return rings;
}

}  // namespace

struct Topology::Impl {
  struct Device {
    DeviceKind kind = DeviceKind::Accelerator;
    std::string name;
  };
  struct Wire {
    double capacity = 0;
    double residual = 0;
  };
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Device, Wire>;

  Graph graph;
  std::vector<TopologyLink> links;
  FabricKind fabric = FabricKind::None;
  double fabric_rate = 0;
  int accelerators = 1;
  std::size_t network = 0;

  std::size_t add(DeviceKind kind, std::string name) { return boost::add_vertex(Device{kind, std::move(name)}, graph); }

  void connect(std::size_t a, std::size_t b, double rate) {
    boost::add_edge(a, b, Wire{rate}, graph);
    boost::add_edge(b, a, Wire{rate}, graph);
    links.push_back({graph[a].name, graph[b].name, BytesPerSecond(rate)});
  }

  void wire_fabric() {
    if (fabric == FabricKind::Nvswitch) {
      const std::size_t hub = add(DeviceKind::Switch, "nvswitch");
      for (int i = 0; i < accelerators; ++i) connect(i, hub, fabric_rate);
    } else if (fabric == FabricKind::NvlinkMesh) {
      SMPLAN_ASSERT(accelerators <= kMaxMeshNode);
      for (int i = 0; i < accelerators; ++i) {
        for (int j = i + 1; j < accelerators; ++j) {
          if (kHybridCubeMesh[i][j] > 0) connect(i, j, kHybridCubeMesh[i][j] * fabric_rate / kLinksPerV100);
        }
      }
    } else if (fabric == FabricKind::FullMesh) {
      for (int i = 0; i < accelerators; ++i) {
        for (int j = i + 1; j < accelerators; ++j) connect(i, j, fabric_rate / (accelerators - 1));
      }
    } else if (fabric == FabricKind::NeuronLink && accelerators > 1) {
      wire_torus();
    }
  }

  /// Trainium: a 2-D torus of the devices that the framework sees; each splits its rate between four
  /// neighbours.
  void wire_torus() {
    int width = 1;
    while ((width + 1) * (width + 1) <= accelerators) ++width;
    while (accelerators % width != 0) --width;
    const int height = accelerators / width;
    constexpr double kNeighbours = 4;
    for (int i = 0; i < accelerators; ++i) {
      const int right = i / width * width + (i + 1) % width;
      const int down = (i / width + 1) % height * width + i % width;
      if (right != i) connect(i, right, fabric_rate / kNeighbours);
      if (down != i) connect(i, down, fabric_rate / kNeighbours);
    }
  }

  void wire_host(const Cluster& cluster) {
    const std::size_t host = add(DeviceKind::Host, "host");
    const bool pcie_fabric = fabric == FabricKind::Pcie;
    const double link = pcie_fabric                     ? fabric_rate
                        : cluster.host_link.value() > 0 ? cluster.host_link.value()
                                                        : kUnknownHostLink.value();
    for (int i = 0; i < accelerators; ++i) connect(i, host, link);
    network = add(DeviceKind::Network, "network");
    const int cards = std::max(1, cluster.network.interfaces);
    const double rate = cluster.network.bandwidth_per_node.value() / cards;
    for (int c = 0; c < cards; ++c) {
      const std::size_t card = add(DeviceKind::NetworkCard, fmt::format("nic{}", c));
      // With GPUDirect a card sits under the PCIe switch of the accelerators that it serves.
      if (cluster.network.gpudirect_rdma) {
        connect_card(card, c, cards, link);
      } else {
        connect(card, host, rate);
      }
      connect(card, network, rate);
    }
  }

  void connect_card(std::size_t card, int index, int cards, double link) {
    if (cards >= accelerators) {
      connect(index * accelerators / cards, card, link);
      return;
    }
    const int first = index * accelerators / cards;
    const int last = (index + 1) * accelerators / cards;
    for (int i = first; i < last; ++i) connect(i, card, link);
  }

  /// Dijkstra in the (max, min) semiring: the width of a path is its narrowest wire.
  double widest(std::size_t from, std::size_t to) const {
    std::vector<double> width(boost::num_vertices(graph), 0);
    const double infinity = std::numeric_limits<double>::infinity();
    const auto narrower = [](double path, double wire) { return std::min(path, wire); };
    boost::dijkstra_shortest_paths(
        graph, from,
        boost::weight_map(boost::get(&Wire::capacity, graph))
            .distance_map(boost::make_iterator_property_map(width.begin(), boost::get(boost::vertex_index, graph)))
            .distance_compare(std::greater<>())
            .distance_combine(narrower)
            .distance_inf(0.0)
            .distance_zero(infinity));
    return width[to];
  }
};

Topology::Topology(const Cluster& cluster) : impl_(std::make_unique<Impl>()) {
  impl_->fabric = cluster.fabric.kind;
  impl_->fabric_rate = cluster.fabric.bandwidth_per_accelerator.value();
  impl_->accelerators = cluster.gpus_per_node;
  for (int i = 0; i < cluster.gpus_per_node; ++i) impl_->add(DeviceKind::Accelerator, fmt::format("accelerator{}", i));
  impl_->wire_fabric();
  impl_->wire_host(cluster);
}
Topology::~Topology() = default;
Topology::Topology(Topology&&) noexcept = default;
Topology& Topology::operator=(Topology&&) noexcept = default;

std::vector<std::string> Topology::devices() const {
  std::vector<std::string> names;
  for (std::size_t v = 0; v < boost::num_vertices(impl_->graph); ++v) names.push_back(impl_->graph[v].name);
  return names;
}

std::vector<TopologyLink> Topology::links() const { return impl_->links; }

BytesPerSecond Topology::path_bandwidth(int from_accelerator, int to_accelerator) const {
  SMPLAN_ASSERT(from_accelerator < impl_->accelerators && to_accelerator < impl_->accelerators);
  return BytesPerSecond(
      impl_->widest(static_cast<std::size_t>(from_accelerator), static_cast<std::size_t>(to_accelerator)));
}

BytesPerSecond Topology::egress_per_accelerator() const {
  Impl::Graph flow = impl_->graph;
  const std::size_t source = boost::add_vertex(flow);
  double unbounded = 0;
  for (const TopologyLink& link : impl_->links) unbounded += link.bandwidth.value();
  for (int i = 0; i < impl_->accelerators; ++i) {
    boost::add_edge(source, i, Impl::Wire{unbounded}, flow);
    boost::add_edge(i, source, Impl::Wire{0}, flow);
  }
  using Edge = boost::graph_traits<Impl::Graph>::edge_descriptor;
  const auto reverse = [&flow](const Edge& e) {
    return boost::edge(boost::target(e, flow), boost::source(e, flow), flow).first;
  };
  const double total =
      boost::edmonds_karp_max_flow(flow, source, impl_->network,
                                   boost::capacity_map(boost::get(&Impl::Wire::capacity, flow))
                                       .residual_capacity_map(boost::get(&Impl::Wire::residual, flow))
                                       .reverse_edge_map(boost::make_function_property_map<Edge, Edge>(reverse)));
  return BytesPerSecond(total / impl_->accelerators);
}

BytesPerSecond Topology::ring_bandwidth(int ranks) const {
  SMPLAN_ASSERT(ranks <= impl_->accelerators);
  if (ranks < 2) return BytesPerSecond(0);
  if (impl_->fabric == FabricKind::FullMesh) {
    return BytesPerSecond(impl_->fabric_rate * (ranks - 1) / (impl_->accelerators - 1));
  }
  if (impl_->fabric != FabricKind::NvlinkMesh) return BytesPerSecond(impl_->fabric_rate);
  const double link = impl_->fabric_rate / kLinksPerV100;
  if (ranks == 2) return BytesPerSecond(kHybridCubeMesh[0][1] * link);
  LinkTable free = kHybridCubeMesh;
  constexpr int kDirections = 2;
  const int rings = most_rings(direct_rings(ranks), 0, free);
  // Where direct links form no ring, hops take detours that share wires with the direct ones: one link's worth.
  return BytesPerSecond(rings > 0 ? kDirections * rings * link : link);
}

}  // namespace smplan
