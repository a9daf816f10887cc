// A machine as somebody states it: the accelerator by its names, the system by what is stated of it.
#include "models/machine/stated_machine.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/shipped_catalog.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;
using testing::Contains;
using testing::HasSubstr;

std::string accelerator(const std::string& gpu, const std::string& instance = {}) {
  const Accelerator* found = accelerator_of({.gpu = gpu, .instance = instance}, shipped_catalog());
  return found == nullptr ? "none" : found->key;
}

TEST(StatedMachine, HasAnAcceleratorByItsNameWithMakerAndFormFactor) {
  for (const char* gpu : {"H100", "H100-80GB", "h100-80gb", "H100-SXM5-80GB", "NVIDIA H100 80GB HBM3", "H100 SXM"}) {
    EXPECT_EQ(accelerator(gpu), "H100-80GB") << gpu;
  }
  EXPECT_EQ(accelerator("A100-SXM4-40GB"), "A100-40GB");
  EXPECT_EQ(accelerator("Tesla V100-SXM2-32GB"), "V100-32GB");
  EXPECT_EQ(accelerator("GB200 NVL72"), "GB200");
  EXPECT_EQ(accelerator("H100-80GB-PCIe"), "H100-80GB-PCIe") << "the card is another part";
  EXPECT_EQ(accelerator("NVIDIA H100 NVL"), "H100-94GB-NVL");
  EXPECT_EQ(accelerator("AMD Instinct MI300X OAM"), "MI300X");
  EXPECT_EQ(accelerator("GeForce RTX 4090"), "RTX-4090");
  for (const char* gpu : {"H20-141GB", "A10G-80GB", "80GB", "NVIDIA", "Gaudi2"}) {
    EXPECT_EQ(accelerator(gpu), "none") << gpu;
  }
}

TEST(StatedMachine, HasTheAcceleratorOfItsInstanceWhereNoneIsNamedOrItsMemoryIsOpen) {
  EXPECT_EQ(accelerator("", "p5.48xlarge"), "H100-80GB");
  EXPECT_EQ(accelerator("A100", "ml.p4de.24xlarge"), "A100-80GB");
  EXPECT_EQ(accelerator("A100", "ml.p4d.24xlarge"), "A100-40GB");
  EXPECT_EQ(accelerator("A100-80GB", "ml.p4d.24xlarge"), "A100-80GB") << "the device counts";
  EXPECT_EQ(accelerator("A10", "ml.p4d.24xlarge"), "A10") << "another part";
}

/// The system and the number of its nodes.
std::string system(const StatedMachine& stated) {
  std::vector<std::string> assumptions;
  const Result<Cluster> cluster = cluster_of(stated, shipped_catalog(), assumptions);
  if (!cluster) return to_string(cluster.error());
  return (assumptions.empty() ? "as stated" : assumptions.back()) + " x " + std::to_string(cluster->nodes);
}

TEST(StatedMachine, IsTheSizeOfItsFamilyThatTheAcceleratorsFill) {
  const std::string like = "system is like ";
  EXPECT_EQ(system({.gpu = "A10G", .n_gpus = 8}), like + "ml.g5.48xlarge x 1");
  EXPECT_EQ(system({.gpu = "A10G", .n_gpus = 4}), like + "ml.g5.12xlarge x 1");
  EXPECT_EQ(system({.gpu = "A10G", .n_gpus = 12}), like + "ml.g5.48xlarge x 2") << "6 of 8 each";
  EXPECT_EQ(system({.gpu = "A10G", .n_gpus = 1}), like + "ml.g5.xlarge x 1");
  EXPECT_EQ(system({.gpu = "A10G", .n_gpus = 8, .gpus_per_node = 2}), like + "ml.g5.12xlarge x 4");
  EXPECT_EQ(system({.gpu = "L40S", .n_gpus = 16}), like + "ml.g6e.48xlarge x 2");
  EXPECT_EQ(system({.gpu = "Trainium1", .n_gpus = 64}), like + "ml.trn1.32xlarge x 2");
  EXPECT_EQ(system({.gpu = "Trainium1", .n_gpus = 64, .internode_gbps_per_node = 1600}),
            like + "ml.trn1n.32xlarge x 2");
  EXPECT_EQ(system({.gpu = "H100-80GB", .n_gpus = 16, .network = NetworkKind::Efa}), like + "ml.p5.48xlarge x 2");
  EXPECT_EQ(system({.gpu = "H100-80GB", .n_gpus = 16, .network = NetworkKind::Infiniband}), like + "dgx-h100 x 2");
  EXPECT_EQ(system({.gpu = "H100-80GB", .n_gpus = 16}), like + "dgx-h100 x 2");
  EXPECT_EQ(system({.instance = "p6-b300.48xlarge", .n_gpus = 32}), "as stated x 4");
}

TEST(StatedMachine, HasTheStatedNetworkAndItsShareOfANode) {
  std::vector<std::string> assumptions;
  const Cluster half = cluster_of({.instance = "ml.p5.48xlarge",
                                   .n_gpus = 8,
                                   .gpus_per_node = 4,
                                   .internode_gbps_per_node = 800,
                                   .network = NetworkKind::RoCE},
                                  shipped_catalog(), assumptions)
                           .value();
  EXPECT_EQ(half.nodes, 2);
  EXPECT_EQ(half.gpus_per_node, 4);
  EXPECT_EQ(half.fabric.domain_size, 4);
  EXPECT_DOUBLE_EQ(half.network.bandwidth_per_node / gbit_per_s(1), 800);
  EXPECT_EQ(half.network.kind, NetworkKind::RoCE);
}

TEST(StatedMachine, SaysWhatItTookAndRefusesWhatItDoesNotKnow) {
  std::vector<std::string> told;
  ASSERT_TRUE(cluster_of({.gpu = "A100", .n_gpus = 8}, shipped_catalog(), told));
  EXPECT_THAT(told, Contains("gpu is A100-40GB"));
  told.clear();
  ASSERT_TRUE(cluster_of({.gpu = "A100-80GB", .instance = "p4d.24xlarge", .n_gpus = 8}, shipped_catalog(), told));
  EXPECT_THAT(told, Contains("ml.p4d.24xlarge has A100-40GB, not A100-80GB"));
  EXPECT_THAT(system({.gpu = "H100"}), HasSubstr("n_gpus is not stated"));
  EXPECT_THAT(system({.n_gpus = 8}), HasSubstr("neither gpu nor instance is stated"));
  EXPECT_THAT(system({.gpu = "Gaudi2", .n_gpus = 8}), HasSubstr("unknown accelerator 'Gaudi2'"));
  EXPECT_THAT(system({.instance = "p9.48xlarge", .n_gpus = 8}), HasSubstr("unknown instance type 'p9.48xlarge'"));
  EXPECT_THAT(system({.gpu = "H100", .n_gpus = 12, .gpus_per_node = 8}), HasSubstr("do not fill nodes of 8"));
}

}  // namespace
}  // namespace smplan
