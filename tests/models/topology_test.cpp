#include "models/machine/topology.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/edmonds_karp_max_flow.hpp>

#include "catalogs/catalog.hpp"
#include "models/machine/cluster.hpp"
#include "models/machine/collectives.hpp"

namespace smplan {
namespace {

double gb(BytesPerSecond rate) { return rate.value() / 1e9; }

double rings(FabricKind kind, double gb_a_second, int accelerators, int ranks) {
  IntraNodeFabric fabric;
  fabric.kind = kind;
  fabric.bandwidth_per_accelerator = gb_per_s(gb_a_second);
  return gb(ring_bandwidth(fabric, accelerators, ranks));
}

TEST(V100Mesh, RingsDropWhereLinksFormNone) {
  const auto mesh = [](int ranks) { return rings(FabricKind::NvlinkMesh, 150, 8, ranks); };
  EXPECT_DOUBLE_EQ(mesh(2), 25);   // one link
  EXPECT_DOUBLE_EQ(mesh(3), 50);   // one ring, both ways
  EXPECT_DOUBLE_EQ(mesh(4), 100);  // two
  EXPECT_DOUBLE_EQ(mesh(5), 25);   // none: device 4 touches the quad by one device
  EXPECT_DOUBLE_EQ(mesh(6), 50);
  EXPECT_DOUBLE_EQ(mesh(7), 100);  // two: 0-4-5-6-2-1-3 and 0-4-6-5-1-2-3
  EXPECT_DOUBLE_EQ(mesh(8), 150);  // three: all six links of an accelerator are used
}

TEST(V100Mesh, FourOfP38xlargeAreItsFirstQuad) { EXPECT_DOUBLE_EQ(rings(FabricKind::NvlinkMesh, 150, 4, 4), 100); }

TEST(FullMesh, GivesAGroupTheLinksBetweenItsRanks) {
  EXPECT_DOUBLE_EQ(rings(FabricKind::FullMesh, 448, 8, 2), 64);
  EXPECT_DOUBLE_EQ(rings(FabricKind::FullMesh, 448, 8, 4), 3 * 64);
  EXPECT_DOUBLE_EQ(rings(FabricKind::FullMesh, 448, 8, 8), 448);
}

/// A node's accelerators, cards and network as a graph. With GPUDirect a card sits under the PCIe switch of the
/// accelerators that it serves; else they reach it through the host.
class Egress {
 public:
  explicit Egress(const Cluster& c) {
    for (int i = 0; i < c.gpus_per_node; ++i) boost::add_vertex(graph_);
    const std::size_t host = boost::add_vertex(graph_);
    network_ = boost::add_vertex(graph_);
    const int cards = std::max(1, c.network.interfaces);
    const double rate = c.network.bandwidth_per_node.value() / cards;
    for (int i = 0; i < c.gpus_per_node; ++i) connect(static_cast<std::size_t>(i), host, kWide);
    for (int card = 0; card < cards; ++card) {
      const std::size_t vertex = boost::add_vertex(graph_);
      connect(vertex, network_, rate);
      const int first = card * c.gpus_per_node / cards;
      const int last = std::max(first + 1, (card + 1) * c.gpus_per_node / cards);
      if (!c.network.gpudirect_rdma) connect(host, vertex, kWide);
      for (int i = first; c.network.gpudirect_rdma && i < last; ++i)
        connect(static_cast<std::size_t>(i), vertex, kWide);
    }
    source_ = boost::add_vertex(graph_);
    for (int i = 0; i < c.gpus_per_node; ++i) connect(source_, static_cast<std::size_t>(i), kWide);
  }

  /// Minimum cut between all accelerators and the network.
  double bytes_per_second() { return boost::edmonds_karp_max_flow(graph_, source_, network_); }

 private:
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using Graph = boost::adjacency_list<
      boost::vecS, boost::vecS, boost::directedS, boost::no_property,
      boost::property<boost::edge_capacity_t, double,
                      boost::property<boost::edge_residual_capacity_t, double,
                                      boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;
  static constexpr double kWide = 1e15;

  void connect(std::size_t a, std::size_t b, double rate) {
    const auto there = boost::add_edge(a, b, graph_).first;
    const auto back = boost::add_edge(b, a, graph_).first;
    for (const auto& edge : {there, back}) boost::put(boost::edge_capacity, graph_, edge, rate);
    boost::put(boost::edge_reverse, graph_, there, back);
    boost::put(boost::edge_reverse, graph_, back, there);
  }

  Graph graph_;
  std::size_t network_ = 0;
  std::size_t source_ = 0;
};

TEST(CardShare, OfEveryAcceleratorAtOnceIsTheMinimumCut) {
  const auto catalog = Catalog::shipped();
  ASSERT_TRUE(catalog);
  int seen = 0;
  for (const InstanceType& type : catalog->instances()) {
    if (type.accelerator_count < 1 || !(type.network.bandwidth_per_node > BytesPerSecond())) continue;
    const auto cluster = make_cluster(*catalog, type, 2);
    if (!cluster) continue;  // a type without a measured accelerator
    // One rank of a group on each node, and as many groups as accelerators.
    const GroupShape lone{.ranks = 2, .per_domain = 1, .concurrent_per_node = cluster->gpus_per_node};
    EXPECT_NEAR(gb(card_share(lone, *cluster)), Egress(*cluster).bytes_per_second() / cluster->gpus_per_node / 1e9,
                1e-6)
        << type.name;
    ++seen;
  }
  EXPECT_GT(seen, 30);
}

}  // namespace
}  // namespace smplan
