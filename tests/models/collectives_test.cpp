#include "models/machine/collectives.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/json_reader.hpp"
#include "models/job/strategy.hpp"

namespace smplan {
namespace {

constexpr Bytes kBuffer(1e9);

/// Round numbers, no latency, full efficiency: 100 GB/s inside a node of 8, 80 GB/s out of it.
Cluster ideal(std::int32_t nodes) {
  Cluster c;
  c.fabric.kind = FabricKind::Nvswitch;
  c.fabric.bandwidth_per_accelerator = gb_per_s(100);
  c.fabric.domain_size = 8;
  c.fabric_profile.bandwidth_efficiency = 1;
  c.fabric_profile.alltoall_efficiency = 1;
  c.network.bandwidth_per_node = gb_per_s(80);
  c.network.interfaces = 8;
  c.network_profile = c.fabric_profile;
  c.gpus_per_node = 8;
  c.nodes = nodes;
  return c;
}

Seconds time_of(CollectiveKind kind, const GroupShape& group, const Cluster& cluster, Bytes buffer = kBuffer) {
  return collective_time(kind, buffer, group, cluster, Collectives::Nccl).time;
}

TEST(Collectives, RingMovesTextbookVolumesInsideANode) {
  const Cluster c = ideal(1);
  const GroupShape four{.ranks = 4, .per_domain = 4};
  // 1 GB at 100 GB/s is 10 ms: 2 * 3/4 of it, and once 3/4.
  EXPECT_DOUBLE_EQ(time_of(CollectiveKind::AllReduce, four, c).value(), 0.015);
  EXPECT_DOUBLE_EQ(time_of(CollectiveKind::AllGather, four, c).value(), 0.0075);
  EXPECT_DOUBLE_EQ(time_of(CollectiveKind::ReduceScatter, four, c).value(), 0.0075);
  EXPECT_DOUBLE_EQ(time_of(CollectiveKind::AllToAll, four, c).value(), 0.0075);
  EXPECT_DOUBLE_EQ(time_of(CollectiveKind::PointToPoint, {.ranks = 2, .per_domain = 2}, c).value(), 0.01);
}

TEST(Collectives, NetworkCarriesTextbookVolumesBetweenNodes) {
  const Cluster c = ideal(4);
  const GroupShape all{.ranks = 32, .per_domain = 8};
  // A node sends 2 * 31/32 GB (ring; trees 2 GB) at 80 GB/s.
  EXPECT_DOUBLE_EQ(time_of(CollectiveKind::AllReduce, all, c).value(), 2 * 31.0 / 32 / 80);
  EXPECT_DOUBLE_EQ(time_of(CollectiveKind::AllGather, all, c).value(), 31.0 / 32 / 80);
  // Each rank sends 24/32 GB through its own 10 GB/s card.
  EXPECT_DOUBLE_EQ(time_of(CollectiveKind::AllToAll, all, c).value(), 24.0 / 32 / 10);
  EXPECT_DOUBLE_EQ(
      time_of(CollectiveKind::PointToPoint, {.ranks = 2, .per_domain = 1, .concurrent_per_node = 8}, c).value(), 0.1);
}

TEST(Collectives, BetweenTwoNodesATreeCrossesOnce) {
  const Cluster c = ideal(2);
  const auto result =
      collective_time(CollectiveKind::AllReduce, kBuffer, {.ranks = 16, .per_domain = 8}, c, Collectives::Nccl);
  // Inside: 2 * 7/8 at 100 GB/s = 17.5 ms; across: 1 GB at 80 GB/s = 12.5 ms; they overlap.
  EXPECT_DOUBLE_EQ(result.time.value(), 0.0175);
  EXPECT_EQ(result.algorithm, CollectiveAlgorithm::Hierarchical);
}

TEST(Collectives, LatencyCountsTheStepsOfEachAlgorithm) {
  Cluster c = ideal(4);
  c.fabric_profile.base_latency = microseconds(10);
  c.fabric_profile.step_latency = microseconds(1);
  c.network_profile.base_latency = microseconds(20);
  c.network_profile.step_latency = microseconds(5);
  const Bytes byte(1e-9);  // nothing on the wire
  EXPECT_NEAR(time_of(CollectiveKind::AllReduce, {.ranks = 8, .per_domain = 8}, c, byte).value(), 24e-6, 1e-12);
  EXPECT_NEAR(time_of(CollectiveKind::AllGather, {.ranks = 8, .per_domain = 8}, c, byte).value(), 17e-6, 1e-12);
  // Four nodes: two levels of tree up and down, 14 steps inside: 20 + 14 + 4 * 5.
  EXPECT_NEAR(time_of(CollectiveKind::AllReduce, {.ranks = 32, .per_domain = 8}, c, byte).value(), 54e-6, 1e-12);
  // Ring all-gather: 28 steps inside and 3 across.
  EXPECT_NEAR(time_of(CollectiveKind::AllGather, {.ranks = 32, .per_domain = 8}, c, byte).value(), 63e-6, 1e-12);
}

TEST(Collectives, SmallMessagesRunAtHalfRateAndLargeAtFull) {
  Cluster c = ideal(1);
  c.fabric_profile.half_size = Bytes(1e6);
  const GroupShape two{.ranks = 2, .per_domain = 2};  // the wire carries as much as the buffer holds
  EXPECT_NEAR(time_of(CollectiveKind::AllReduce, two, c, Bytes(1)).value(), 2 * 1 / 100e9, 1e-16);
  EXPECT_NEAR(time_of(CollectiveKind::AllReduce, two, c, Bytes(1e12)).value(), 10, 1e-4);
}

TEST(Collectives, OneRankOrNoBytesCostNothing) {
  const Cluster c = ideal(2);
  for (const auto kind : {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
                          CollectiveKind::AllToAll, CollectiveKind::PointToPoint}) {
    EXPECT_EQ(time_of(kind, {}, c), Seconds(0)) << to_string(kind);
    EXPECT_EQ(time_of(kind, {.ranks = 8, .per_domain = 8}, c, Bytes(0)), Seconds(0)) << to_string(kind);
  }
}

TEST(Collectives, InSwitchReductionMovesTheBufferOnce) {
  Cluster c = ideal(1);
  c.fabric_profile.switch_reduction_efficiency = 0.8;
  const GroupShape eight{.ranks = 8, .per_domain = 8};
  const auto result = collective_time(CollectiveKind::AllReduce, kBuffer, eight, c, Collectives::Nccl);
  EXPECT_DOUBLE_EQ(result.time.value(), 0.0125);
  EXPECT_EQ(result.algorithm, CollectiveAlgorithm::InSwitch);
  // Two ranks pass 1 GB each in a ring at 100 GB/s: faster than the switch at 80.
  EXPECT_EQ(collective_time(CollectiveKind::AllReduce, kBuffer, {.ranks = 2, .per_domain = 2}, c, Collectives::Nccl)
                .algorithm,
            CollectiveAlgorithm::Ring);
}

TEST(Collectives, GroupsThatShareANodeShareItsCards) {
  const Cluster c = ideal(2);
  const GroupShape alone{.ranks = 2, .per_domain = 1, .concurrent_per_node = 1};
  const GroupShape eighth{.ranks = 2, .per_domain = 1, .concurrent_per_node = 8};
  // Eight cards of 10 GB/s: a lone rank has its own card, and so have eight at once.
  EXPECT_EQ(time_of(CollectiveKind::AllReduce, alone, c), time_of(CollectiveKind::AllReduce, eighth, c));
  Cluster one_card = c;
  one_card.network.interfaces = 1;
  EXPECT_DOUBLE_EQ(time_of(CollectiveKind::AllReduce, alone, one_card).value(), 1.0 / 80);
  EXPECT_DOUBLE_EQ(time_of(CollectiveKind::AllReduce, eighth, one_card).value(), 1.0 / 10);
}

TEST(Collectives, NeverFasterWithMoreBytesOrLessBandwidth) {
  Cluster c = ideal(4);
  c.fabric_profile.base_latency = microseconds(10);
  c.fabric_profile.half_size = Bytes(1e7);
  c.network_profile.half_size = Bytes(3e6);
  c.network_profile.step_latency = microseconds(15);
  Cluster slower = c;
  slower.fabric.bandwidth_per_accelerator *= 0.9;
  slower.network.bandwidth_per_node *= 0.9;
  for (const auto kind :
       {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::AllToAll, CollectiveKind::PointToPoint}) {
    for (const GroupShape& group : {GroupShape{2, 2, 4}, GroupShape{8, 8, 1}, GroupShape{16, 8, 1},
                                    GroupShape{32, 8, 1}, GroupShape{4, 1, 8}, GroupShape{8, 2, 4}}) {
      Seconds last(0);
      for (double bytes = 8; bytes < 1e11; bytes *= 1.7) {
        const Seconds now = time_of(kind, group, c, Bytes(bytes));
        EXPECT_GT(now, last) << to_string(kind) << ' ' << bytes;
        EXPECT_GT(time_of(kind, group, slower, Bytes(bytes)), now) << to_string(kind) << ' ' << bytes;
        last = now;
      }
    }
  }
}

TEST(Collectives, SmddpIsAssumedNoFasterThanNccl) {
  const Cluster c = ideal(2);
  const GroupShape all{.ranks = 16, .per_domain = 8};
  EXPECT_EQ(collective_time(CollectiveKind::AllGather, kBuffer, all, c, Collectives::Smddp).time,
            time_of(CollectiveKind::AllGather, all, c));
}

TEST(GroupShapes, FollowTheRankOrder) {
  const Cluster c = ideal(8);
  const Groups g = group_shapes(
      {.data_parallel = 4, .tensor_parallel = 4, .pipeline_parallel = 2, .context_parallel = 2, .expert_parallel = 8},
      c);
  EXPECT_EQ(g.tensor, (GroupShape{4, 4, 2}));
  EXPECT_EQ(g.context, (GroupShape{2, 2, 4}));
  EXPECT_EQ(g.data, (GroupShape{8, 2, 4}));
  EXPECT_EQ(g.shard, g.data);
  EXPECT_EQ(g.replicate.ranks, 1);
  EXPECT_EQ(g.expert, (GroupShape{8, 8, 1}));       // neighbours: one node
  EXPECT_EQ(g.expert_data, (GroupShape{4, 1, 8}));  // 32 ranks of a stage / 8
  EXPECT_EQ(g.pipeline, (GroupShape{2, 1, 8}));
}

TEST(GroupShapes, ExpertsHaveAnOrderOfTheirOwn) {
  Strategy s{.data_parallel = 4, .tensor_parallel = 4, .pipeline_parallel = 2, .context_parallel = 2};
  EXPECT_EQ(group_shapes(s, ideal(8)).expert_data, group_shapes(s, ideal(8)).data) << "cut like all else";
  s.expert_parallel = 4;
  s.expert_tensor_parallel = 4;
  const Groups g = group_shapes(s, ideal(8));
  EXPECT_EQ(g.expert_tensor, (GroupShape{4, 4, 2}));
  EXPECT_EQ(g.expert, (GroupShape{4, 2, 4}));       // every fourth rank
  EXPECT_EQ(g.expert_data, (GroupShape{2, 1, 8}));  // 32 ranks of a stage / 16
}

TEST(GroupShapes, HybridShardingShardsInsideAndReplicatesAcross) {
  const Groups g = group_shapes({.data_parallel = 32, .sharding = Sharding::FsdpHybrid, .shard_degree = 8}, ideal(4));
  EXPECT_EQ(g.shard, (GroupShape{8, 8, 1}));
  EXPECT_EQ(g.replicate, (GroupShape{4, 1, 8}));
  EXPECT_EQ(g.data, (GroupShape{32, 8, 1}));
}

TEST(GroupShapes, ExpertsOfAHybridShardStayInTheirReplica) {
  const Strategy s{.data_parallel = 32, .expert_parallel = 4, .sharding = Sharding::FsdpHybrid, .shard_degree = 8};
  const Groups g = group_shapes(s, ideal(4));
  EXPECT_EQ(g.expert_data.ranks, 8);
  EXPECT_EQ(g.expert_shard, (GroupShape{2, 2, 4}));  // every fourth of a node's ranks
  EXPECT_EQ(g.expert_replicate, (GroupShape{4, 1, 8}));
  Strategy full = s;
  full.sharding = Sharding::FsdpFull;
  full.shard_degree = 32;
  EXPECT_EQ(group_shapes(full, ideal(4)).expert_shard, group_shapes(full, ideal(4)).expert_data);
  EXPECT_EQ(group_shapes(full, ideal(4)).expert_replicate.ranks, 1);
}

TEST(GroupShapes, StraddlingGroupsAreTakenAtTheirWorst) {
  // Tensor groups of 6 on nodes of 8: the second is ranks 6-7 and 8-11.
  EXPECT_EQ(group_shapes({.data_parallel = 4, .tensor_parallel = 6}, ideal(3)).tensor.domains(), 2);
  // Ranks 0, 3, 6, ... 21 of 24 lie in three nodes.
  EXPECT_EQ(group_shapes({.data_parallel = 8, .tensor_parallel = 3}, ideal(3)).data.domains(), 3);
}

TEST(GroupShapes, PipelineStaysInsideANodeThatHoldsAllStages) {
  EXPECT_EQ(group_shapes({.data_parallel = 2, .tensor_parallel = 2, .pipeline_parallel = 4}, ideal(2)).pipeline,
            (GroupShape{2, 1, 4}));
  EXPECT_EQ(group_shapes({.tensor_parallel = 2, .pipeline_parallel = 4}, ideal(1)).pipeline.per_domain, 2);
}

TEST(GroupShapes, ARackOfOneDomainSpansNodes) {
  Cluster rack = ideal(18);
  rack.gpus_per_node = 4;
  rack.fabric.domain_size = 72;
  const Groups g = group_shapes({.data_parallel = 9, .tensor_parallel = 8}, rack);
  EXPECT_EQ(g.tensor.domains(), 1);
  EXPECT_EQ(g.data.domains(), 1);
}

// The parts say what bounds a collective.
TEST(Collectives, TakeTheirLatencyAndTheSlowerOfTwoWires) {
  const auto catalog = Catalog::shipped();
  ASSERT_TRUE(catalog) << to_string(catalog.error());
  for (const char* name : {"ml.p4d.24xlarge", "ml.p5.48xlarge", "ml.p3.16xlarge", "ml.g5.48xlarge"}) {
    for (const std::int32_t nodes : {1, 2, 16}) {
      const auto cluster = make_cluster(*catalog, **catalog->instance(name, "test"), nodes);
      ASSERT_TRUE(cluster) << to_string(cluster.error());
      for (const CollectiveKind kind : collective_kinds()) {
        for (double mib = 1.0 / 1024; mib <= 1024; mib *= 32) {
          const CollectiveTime t =
              collective_time(kind, Bytes(mib * kMiB), whole_cluster(*cluster), *cluster, Collectives::Nccl);
          EXPECT_DOUBLE_EQ(t.time.value(), (t.latency + std::max(t.inside, t.across)).value())
              << name << to_string(kind);
          EXPECT_GT(t.latency, Seconds());
          EXPECT_EQ(nodes == 1, t.across == Seconds()) << name << to_string(kind);
        }
      }
    }
  }
}

TEST(Collectives, HaveTheNamesOfNcclTests) {
  for (const CollectiveKind kind : collective_kinds()) {
    EXPECT_EQ(collective_kind_from(to_string(kind)), kind);
    EXPECT_EQ(collective_kind_from(nccl_tests_name(kind)), kind);
  }
  EXPECT_EQ(collective_kind_from("All_Reduce"), CollectiveKind::AllReduce);
  EXPECT_EQ(collective_kind_from("broadcast"), std::nullopt);
}

TEST(Collectives, OnTheBusAreAsFastAsTheirHardwareWouldBe) {
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::AllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::AllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::AllToAll, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::PointToPoint, 2), 1);
}

TEST(PublishedCollectives, AreWithinTheirTolerance) {
  const auto catalog = Catalog::shipped();
  ASSERT_TRUE(catalog) << to_string(catalog.error());
  const auto file = read_json_file(SMPLAN_TEST_DATA "/published/collectives.json");
  ASSERT_TRUE(file) << to_string(file.error());
  Diagnostics faults;
  ObjectReader document(*file, faults);
  for (const JsonValue& item : document.array("figures")) {
    ObjectReader figure(item, faults);
    const auto instance = catalog->instance(figure.string("instance"), "test");
    ASSERT_TRUE(instance) << to_string(instance.error());
    const auto nodes = static_cast<std::int32_t>(figure.integer("nodes"));
    const auto cluster = make_cluster(*catalog, **instance, nodes);
    ASSERT_TRUE(cluster) << to_string(cluster.error());
    const std::int64_t ranks = figure.integer("ranks");
    const Seconds predicted =
        time_of(*collective_kind_from(figure.string("collective")), {.ranks = ranks, .per_domain = ranks / nodes},
                *cluster, Bytes(figure.number("mib") * kMiB));
    const double measured = figure.number("time_us") * 1e-6;
    const double error = predicted.value() / measured - 1;
    EXPECT_LE(std::abs(error), figure.number("tolerance")) << figure.string("claim") << ": " << error;
    RecordProperty(figure.string("claim"), std::to_string(error));
  }
  EXPECT_TRUE(faults.empty()) << to_string(faults);
}

}  // namespace
}  // namespace smplan
