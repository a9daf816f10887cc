#include "models/machine/cluster.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

const Catalog& catalog() {
  static const Result<Catalog> shipped = Catalog::shipped();
  if (!shipped) ADD_FAILURE() << to_string(shipped.error());
  return *shipped;
}

TEST(MakeCluster, EveryTypeWithAcceleratorsFindsItsProfiles) {
  int clusters = 0;
  for (const InstanceType& instance : catalog().instances()) {
    if (instance.accelerator_count < 1) continue;
    if (!catalog().find_accelerator(instance.accelerator)->supports(Precision::Fp16)) continue;  // no compute facts
    const auto cluster = make_cluster(catalog(), instance, 1);
    EXPECT_TRUE(cluster) << to_string(cluster.error());
    ++clusters;
  }
  EXPECT_GT(clusters, 50);
}

TEST(MakeCluster, KnowsHostsThatLaunchSlowerOrFasterThanDgxH100s) {
  const auto speed = [](const char* name) {
    return make_cluster(catalog(), *catalog().find_instance(name), 1)->host_speed;
  };
  EXPECT_EQ(speed("dgx-h100"), 1);
  EXPECT_NEAR(speed("ml.p5.48xlarge"), 3.6 * 1.19 / (3.8 * 1.2 * 1.19), 0.001);
  EXPECT_EQ(speed("ml.p5en.48xlarge"), 1);
  EXPECT_NEAR(speed("ml.p6-b200.48xlarge"), 4 / 3.8, 0.003);
  EXPECT_NEAR(speed("ml.p6-b300.48xlarge"), 4.6 / 3.8, 0.001);
}

TEST(MakeCluster, ReadsLocalDisksAsFastAsTheirKindWhereNobodyMeasuredThem) {
  const auto cluster = [](const char* name) { return make_cluster(catalog(), *catalog().find_instance(name), 1); };
  EXPECT_NEAR(cluster("ml.p4d.24xlarge")->local_nvme_read / gb_per_s(16), 1, 1e-9) << "stated";
  const double tib = cluster("ml.g5.xlarge")->local_nvme / Bytes(kTiB);
  EXPECT_NEAR(cluster("ml.g5.xlarge")->local_nvme_read / gb_per_s(tib), 1, 1e-9) << "1 GB/s a TiB";
  EXPECT_EQ(cluster("ml.p3.2xlarge")->local_nvme_read, BytesPerSecond()) << "has none";
}

TEST(MakeCluster, PicksFabricByGenerationAndNetworkByVersion) {
  struct Case {
    const char* instance;
    const char* fabric;
    const char* network;
  };
  for (const Case& c :
       {Case{"ml.p3dn.24xlarge", "nvlink-mesh-v100", "efa-host"}, Case{"ml.p4de.24xlarge", "nvswitch-a100", "efa-v1"},
        Case{"ml.p5e.48xlarge", "nvswitch-h100", "efa-v2"}, Case{"ml.p5en.48xlarge", "nvswitch-h100", "efa-v3"},
        Case{"ml.p6-b300.48xlarge", "nvswitch-b200", "efa-v3"}, Case{"ml.p6e-gb200.36xlarge", "nvl72-gb200", "efa-v3"},
        Case{"ml.g5.xlarge", "pcie", "ethernet"}, Case{"ml.g5.48xlarge", "pcie", "efa-host"},
        Case{"ml.trn1.32xlarge", "neuronlink", "efa-v1"}, Case{"dgx-2-v100", "nvswitch-v100", "infiniband"},
        Case{"opa-a100-80gb", "nvswitch-a100", "omnipath"}, Case{"oam-mi300x", "full-mesh-mi300x", "roce"}}) {
    const InstanceType* instance = catalog().find_instance(c.instance);
    ASSERT_NE(instance, nullptr) << c.instance;
    const Accelerator* accelerator = catalog().find_accelerator(instance->accelerator);
    ASSERT_NE(accelerator, nullptr) << c.instance;
    EXPECT_EQ(fabric_profile_key(*instance, *accelerator), c.fabric) << c.instance;
    EXPECT_EQ(network_profile_key(*instance), c.network) << c.instance;
  }
}

TEST(MakeCluster, RefusesTypesWithoutAccelerator) {
  const auto cluster = make_cluster(catalog(), *catalog().find_instance("ml.m5.large"), 1);
  ASSERT_FALSE(cluster);
  EXPECT_EQ(cluster.error().front().code, "no-accelerator");
}

TEST(MakeCluster, RefusesNoNodes) {
  EXPECT_FALSE(make_cluster(catalog(), *catalog().find_instance("ml.p4d.24xlarge"), 0));
}

TEST(MakeCluster, RefusesAMeshWiderThanTheModel) {
  InstanceType wide = *catalog().find_instance("ml.p3.16xlarge");
  wide.accelerator_count = 9;
  const auto cluster = make_cluster(catalog(), wide, 1);
  ASSERT_FALSE(cluster);
  EXPECT_EQ(cluster.error().front().code, "unsupported-fabric");
}

TEST(Cluster, ADomainIsANodeOrARackAndNeverMoreThanTheCluster) {
  Cluster hgx;
  hgx.gpus_per_node = 8;
  hgx.fabric.domain_size = 8;
  hgx.nodes = 4;
  EXPECT_EQ(hgx.domain(), 8);
  Cluster rack;
  rack.gpus_per_node = 4;
  rack.fabric.domain_size = 72;
  rack.nodes = 4;
  EXPECT_EQ(rack.domain(), 16);
  rack.nodes = 18;
  EXPECT_EQ(rack.domain(), 72);
  rack.nodes = 36;
  EXPECT_EQ(rack.domain(), 64) << "two racks: groups of powers of two do not straddle";
}

}  // namespace
}  // namespace smplan
