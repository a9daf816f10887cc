#include "models/topology.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace smplan {
namespace {

Cluster node(FabricKind kind, int accelerators, double fabric_gb_per_s, double network_gb_per_s, int cards) {
  Cluster c;
  c.fabric.kind = kind;
  c.fabric.bandwidth_per_accelerator = gb_per_s(fabric_gb_per_s);
  c.gpus_per_node = accelerators;
  c.host_link = gb_per_s(12);
  c.network.bandwidth_per_node = gb_per_s(network_gb_per_s);
  c.network.interfaces = cards;
  return c;
}

double gb(BytesPerSecond rate) { return rate.value() / 1e9; }

TEST(V100Mesh, HasSixLinksAnAccelerator) {
  const Topology mesh(node(FabricKind::NvlinkMesh, 8, 150, 12.5, 1));
  for (int i = 0; i < 8; ++i) {
    const std::string name = "accelerator" + std::to_string(i);
    double sum = 0;
    for (const TopologyLink& link : mesh.links()) {
      const std::string other = link.from == name ? link.to : link.to == name ? link.from : "";
      if (other.starts_with("accelerator")) sum += gb(link.bandwidth);
    }
    EXPECT_DOUBLE_EQ(sum, 150) << name;
  }
}

TEST(V100Mesh, RingsDropWhereLinksFormNone) {
  const Topology mesh(node(FabricKind::NvlinkMesh, 8, 150, 12.5, 1));
  EXPECT_DOUBLE_EQ(gb(mesh.ring_bandwidth(2)), 25);   // one link
  EXPECT_DOUBLE_EQ(gb(mesh.ring_bandwidth(3)), 50);   // one ring, both ways
  EXPECT_DOUBLE_EQ(gb(mesh.ring_bandwidth(4)), 100);  // two
  EXPECT_DOUBLE_EQ(gb(mesh.ring_bandwidth(5)), 25);   // none: device 4 touches the quad by one device
  EXPECT_DOUBLE_EQ(gb(mesh.ring_bandwidth(6)), 50);
  EXPECT_DOUBLE_EQ(gb(mesh.ring_bandwidth(7)), 100);  // two: 0-4-5-6-2-1-3 and 0-4-6-5-1-2-3
  EXPECT_DOUBLE_EQ(gb(mesh.ring_bandwidth(8)), 150);  // three: every link is used
}

TEST(V100Mesh, PathsWidenThroughOtherDevices) {
  const Topology mesh(node(FabricKind::NvlinkMesh, 8, 150, 12.5, 1));
  EXPECT_DOUBLE_EQ(gb(mesh.path_bandwidth(0, 3)), 50);
  EXPECT_DOUBLE_EQ(gb(mesh.path_bandwidth(0, 1)), 50);  // 0-3-2-1 is wider than the direct 25
  EXPECT_DOUBLE_EQ(gb(mesh.path_bandwidth(0, 7)), 50);
}

TEST(FullMesh, GivesAGroupTheLinksBetweenItsRanks) {
  const Topology mesh(node(FabricKind::FullMesh, 8, 448, 50, 8));
  EXPECT_DOUBLE_EQ(gb(mesh.ring_bandwidth(2)), 64);
  EXPECT_DOUBLE_EQ(gb(mesh.ring_bandwidth(4)), 3 * 64);
  EXPECT_DOUBLE_EQ(gb(mesh.ring_bandwidth(8)), 448);
  EXPECT_DOUBLE_EQ(gb(mesh.path_bandwidth(0, 5)), 64);
}

TEST(Topology, NamesEveryDeviceOnceAndLinksOnlyThose) {
  for (const FabricKind kind : {FabricKind::NvlinkMesh, FabricKind::FullMesh, FabricKind::Nvswitch, FabricKind::Pcie}) {
    const Topology topology(node(kind, 8, 150, 12.5, 1));
    const std::vector<std::string> names = topology.devices();
    const std::set<std::string> distinct(names.begin(), names.end());
    EXPECT_EQ(distinct.size(), names.size());
    for (int i = 0; i < 8; ++i) EXPECT_EQ(distinct.count("accelerator" + std::to_string(i)), 1U);
    for (const TopologyLink& link : topology.links()) {
      EXPECT_TRUE(distinct.count(link.from) == 1 && distinct.count(link.to) == 1) << link.from << " " << link.to;
      EXPECT_GT(link.bandwidth, BytesPerSecond());
    }
  }
}

TEST(Switch, GivesEveryPairAndRingTheFullRate) {
  const Topology hgx(node(FabricKind::Nvswitch, 8, 300, 50, 4));
  EXPECT_DOUBLE_EQ(gb(hgx.path_bandwidth(1, 6)), 300);
  EXPECT_DOUBLE_EQ(gb(hgx.ring_bandwidth(3)), 300);
}

// Trainium: 16 devices are 4 x 4, 12 are 3 x 4, each with four neighbours; 7 are a ring, with two.
TEST(Torus, SplitsARateBetweenFourNeighbours) {
  struct Case {
    int accelerators;
    double each;
  };
  for (const Case& c : {Case{16, 100}, Case{12, 100}, Case{7, 50}}) {
    const Topology torus(node(FabricKind::NeuronLink, c.accelerators, 100, 50, 4));
    for (int i = 0; i < c.accelerators; ++i) {
      const std::string name = "accelerator" + std::to_string(i);
      double sum = 0;
      for (const TopologyLink& link : torus.links()) {
        const bool inside = link.from.starts_with("accelerator") && link.to.starts_with("accelerator");
        if (inside && (link.from == name || link.to == name)) sum += gb(link.bandwidth);
      }
      EXPECT_DOUBLE_EQ(sum, c.each) << name << " of " << c.accelerators;
    }
  }
  const Topology torus(node(FabricKind::NeuronLink, 12, 100, 50, 4));
  EXPECT_EQ(torus.links()[0].to, "accelerator1");
  EXPECT_EQ(torus.links()[1].to, "accelerator3");
}

TEST(Egress, IsTheMinimumCut) {
  Cluster rdma = node(FabricKind::Nvswitch, 8, 300, 50, 4);
  rdma.network.gpudirect_rdma = true;
  EXPECT_NEAR(gb(Topology(rdma).egress_per_accelerator()), 50.0 / 8, 1e-9);  // the cards bind
  const Cluster staged = node(FabricKind::Pcie, 4, 2, 50, 1);
  EXPECT_NEAR(gb(Topology(staged).egress_per_accelerator()), 2, 1e-9);  // the PCIe links bind
}

TEST(Egress, CardsOutnumberAccelerators) {
  Cluster p5 = node(FabricKind::Nvswitch, 8, 450, 400, 32);
  p5.network.gpudirect_rdma = true;
  const Topology topology(p5);
  EXPECT_EQ(topology.devices().size(), 8U + 1 + 1 + 1 + 32);
  EXPECT_NEAR(gb(topology.egress_per_accelerator()), 48, 1e-9);  // four links of 12 GB/s to four cards of 12.5
}

}  // namespace
}  // namespace smplan
