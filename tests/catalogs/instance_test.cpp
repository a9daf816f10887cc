#include "catalogs/instance.hpp"

#include <set>
#include <string>

#include "fixture.hpp"

namespace smplan {
namespace {

using test::has_code;
using test::json;
using test::shipped;

const InstanceType& type(std::string_view name) {
  const InstanceType* found = shipped().find_instance(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

TEST(Instances, OfSageMakerAreAll80) {
  std::size_t count = 0;
  for (const InstanceType& i : shipped().instances()) count += i.support != TrainingSupport::Reference ? 1 : 0;
  EXPECT_EQ(count, 80U);
}

struct Published {
  const char* name;
  const char* accelerator;
  int count;
  int vcpus;
  double host_gib;
  double gbit_per_s;
  double fabric_gb_per_s;  ///< one direction: half of the marketed figure
};

class PublishedInstance : public testing::TestWithParam<Published> {};

TEST_P(PublishedInstance, MatchesTheEc2Documentation) {
  const Published& p = GetParam();
  const InstanceType& i = type(p.name);
  EXPECT_EQ(i.accelerator, p.accelerator);
  EXPECT_EQ(i.accelerator_count, p.count);
  EXPECT_EQ(i.vcpus, p.vcpus);
  EXPECT_EQ(i.host_memory, gib(p.host_gib));
  EXPECT_EQ(i.network.bandwidth_per_node, gbit_per_s(p.gbit_per_s));
  EXPECT_EQ(i.fabric.bandwidth_per_accelerator, gb_per_s(p.fabric_gb_per_s));
}

INSTANTIATE_TEST_SUITE_P(Shipped, PublishedInstance,
                         testing::Values(Published{"ml.p3.16xlarge", "V100-16GB", 8, 64, 488, 25, 150},
                                         Published{"ml.p3dn.24xlarge", "V100-32GB", 8, 96, 768, 100, 150},
                                         Published{"ml.g5.12xlarge", "A10G", 4, 48, 192, 40, 15.75},
                                         Published{"ml.g5.48xlarge", "A10G", 8, 192, 768, 100, 15.75},
                                         Published{"ml.g6e.48xlarge", "L40S", 8, 192, 1536, 400, 15.75},
                                         Published{"ml.p4d.24xlarge", "A100-40GB", 8, 96, 1152, 400, 300},
                                         Published{"ml.p4de.24xlarge", "A100-80GB", 8, 96, 1152, 400, 300},
                                         Published{"ml.p5.48xlarge", "H100-80GB", 8, 192, 2048, 3200, 450},
                                         Published{"ml.p5en.48xlarge", "H200", 8, 192, 2048, 3200, 450},
                                         Published{"ml.p6-b200.48xlarge", "B200", 8, 192, 2048, 3200, 900},
                                         Published{"ml.p6-b300.48xlarge", "B300", 8, 192, 4096, 6400, 900},
                                         Published{"ml.trn1.32xlarge", "Trainium1", 32, 128, 512, 800, 96},
                                         Published{"ml.trn2.48xlarge", "Trainium2", 64, 192, 2048, 3200, 128}));

TEST(Instances, OfAdjustableNetworkCarryTheBaselineNotTheBurst) {
  EXPECT_EQ(type("ml.g5.xlarge").network.bandwidth_per_node, gbit_per_s(2.5));   // "Up to 10 Gigabit"
  EXPECT_EQ(type("ml.p3.2xlarge").network.bandwidth_per_node, gbit_per_s(2.5));  // "Up to 10 Gigabit"
}

TEST(Instances, NotOnDemandSayWhy) {
  for (const InstanceType& i : shipped().instances()) {
    EXPECT_EQ(i.support == TrainingSupport::OnDemand, i.support_reason.empty()) << i.name;
  }
  EXPECT_EQ(type("ml.p3.2xlarge").support, TrainingSupport::Retired);
  EXPECT_EQ(type("ml.p5e.48xlarge").support, TrainingSupport::PlanOnly);
  EXPECT_EQ(type("ml.trn2.48xlarge").support, TrainingSupport::PlanOnly);
  EXPECT_EQ(type("ml.p6e-gb200.36xlarge").support, TrainingSupport::PlanOnly);
  EXPECT_EQ(type("ml.p4d.24xlarge").support, TrainingSupport::OnDemand);
}

TEST(Instances, OfUltraServersShareOneNvlinkDomain) {
  const InstanceType& gb200 = type("ml.p6e-gb200.36xlarge");
  EXPECT_EQ(gb200.accelerator_count, 4);
  EXPECT_EQ(gb200.fabric.domain_size, 72);
  EXPECT_EQ(gb200.fabric.kind, FabricKind::Nvswitch);
}

TEST(Instances, OfUltraServersAreSoldInWholeOnes) {
  const InstanceType& gb200 = type("ml.p6e-gb200.36xlarge");
  for (const std::int32_t count : {9, 18, 27, 36, 45, 72}) EXPECT_TRUE(gb200.sells(count)) << count;
  for (const std::int32_t count : {-9, 0, 1, 4, 8, 10, 17, 20, 64}) EXPECT_FALSE(gb200.sells(count)) << count;
  for (const InstanceType& i : shipped().instances()) {
    EXPECT_EQ(i.sold_in.empty(), i.name != gb200.name) << i.name;
    EXPECT_EQ(i.sells(7), i.name != gb200.name) << i.name;
  }
}

TEST(Instances, WithoutNvlinkStayOnPcie) {
  for (const char* name : {"ml.g4dn.12xlarge", "ml.g5.48xlarge", "ml.g6.48xlarge", "ml.g6e.24xlarge"}) {
    EXPECT_EQ(type(name).fabric.kind, FabricKind::Pcie) << name;
    EXPECT_EQ(type(name).fabric.domain_size, type(name).accelerator_count) << name;
  }
}

TEST(Instances, WithoutAcceleratorAreKnown) {
  EXPECT_EQ(type("ml.m5.large").accelerator_count, 0);
  EXPECT_TRUE(type("ml.m5.large").accelerator.empty());
}

TEST(Instances, OfTheSmddpListAreP4) {
  for (const InstanceType& i : shipped().instances()) {
    EXPECT_EQ(i.smddp, i.name == "ml.p4d.24xlarge" || i.name == "ml.p4de.24xlarge") << i.name;
  }
}

TEST(Instances, OfTheSmpListAreP4AndP5) {
  const std::set<std::string> documented{"ml.p4d.24xlarge", "ml.p4de.24xlarge", "ml.p5.48xlarge"};
  for (const InstanceType& i : shipped().instances()) EXPECT_EQ(i.smp_v2, documented.contains(i.name)) << i.name;
}

TEST(Instances, OfReferenceSystemsHaveNoPriceAndNoPlan) {
  for (const InstanceType& i : shipped().instances()) {
    if (i.support != TrainingSupport::Reference) continue;
    EXPECT_FALSE(i.training_plan) << i.name;
    EXPECT_NE(i.name.compare(0, 3, "ml."), 0) << i.name;
    for (const Price& p : shipped().prices()) EXPECT_NE(p.instance, i.name);
  }
  EXPECT_EQ(type("dgx-a100-80gb").network.bandwidth_per_node, gbit_per_s(8 * 200));
  EXPECT_EQ(type("dgx-h100").network.bandwidth_per_node, gbit_per_s(8 * 400));
  EXPECT_EQ(type("opa-a100-80gb").network.bandwidth_per_node, gbit_per_s(4 * 100));
}

constexpr const char* kGood = R"({"name": "ml.x", "vcpus": 96, "host_memory_gib": 1152, "accelerator": "A100-40GB",
  "accelerator_count": 8, "accelerator_memory_mib": 40335,
  "fabric": {"kind": "nvswitch", "gb_per_s_per_accelerator": 300, "domain_size": 8},
  "network": {"kind": "efa", "gbit_per_s": 400, "interfaces": 4}, "training_support": "on-demand",
  "source": "test", "as_of": "2026"})";

TEST(ReadInstance, TakesUnitsFromTheKeys) {
  Diagnostics out;
  const InstanceType i = read_instance(json(kGood), out);
  EXPECT_TRUE(out.empty()) << to_string(out);
  EXPECT_EQ(i.network.bandwidth_per_node.value(), 50e9);
  EXPECT_EQ(i.fabric.bandwidth_per_accelerator.value(), 300e9);
  EXPECT_EQ(i.network.interfaces, 4);
  EXPECT_EQ(i.local_nvme.value(), 0);
}

TEST(ReadInstance, CountsAreSumsOfTheSizesThatAreSold) {
  std::string text = kGood;
  text.replace(text.find("\"vcpus\": 96"), 11, "\"sold_in\": [4, 6]");
  Diagnostics out;
  const InstanceType i = read_instance(json(text), out);
  EXPECT_TRUE(out.empty()) << to_string(out);
  for (const std::int32_t count : {4, 6, 8, 10, 14}) EXPECT_TRUE(i.sells(count)) << count;
  for (const std::int32_t count : {1, 2, 5, 7, 9}) EXPECT_FALSE(i.sells(count)) << count;
}

TEST(ReadInstance, RefusesWhatCannotBe) {
  struct Case {
    const char* from;
    const char* to;
  };
  for (const Case& c :
       {Case{"\"accelerator_count\": 8", "\"accelerator_count\": 8.5"},
        Case{"\"accelerator_count\": 8", "\"accelerator_count\": -8"},
        Case{"\"kind\": \"nvswitch\"", "\"kind\": \"nvlink9\""},
        Case{"\"kind\": \"efa\"", "\"kind\": \"carrier pigeon\""}, Case{"\"domain_size\": 8", "\"domain_size\": 0"},
        Case{"\"on-demand\"", "\"retired\""},  // without a reason
        Case{"\"accelerator\": \"A100-40GB\",", ""}, Case{"\"interfaces\": 4", "\"interfaces\": 0"},
        // Found by tests/fuzz: rates of nothing made steps without end.
        Case{"\"gbit_per_s\": 400", "\"gbit_per_s\": 0"}, Case{"\"vcpus\": 96", "\"host_speed\": 0"},
        Case{"\"vcpus\": 96", "\"host_link_gb_per_s\": 5e-324"}, Case{"\"vcpus\": 96", "\"sold_in\": []"},
        Case{"\"vcpus\": 96", "\"sold_in\": [18, 9]"}, Case{"\"vcpus\": 96", "\"sold_in\": [9, 9]"},
        Case{"\"vcpus\": 96", "\"sold_in\": [0]"}, Case{"\"vcpus\": 96", "\"sold_in\": [4294967305]"},
        Case{"\"vcpus\": 96", "\"sold_in\": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]"},
        Case{"\"gb_per_s_per_accelerator\": 300", "\"gb_per_s_per_accelerator\": 0"},
        Case{"\"fabric\": {\"kind\": \"nvswitch\", \"gb_per_s_per_accelerator\": 300, \"domain_size\": 8},", ""}}) {
    std::string text = kGood;
    const auto at = text.find(c.from);
    ASSERT_NE(at, std::string::npos) << c.from;
    Diagnostics out;
    read_instance(json(text.replace(at, std::string_view(c.from).size(), c.to)), out);
    EXPECT_FALSE(out.empty()) << c.to;
  }
}

TEST(ReadInstance, NamesEachMemberThatIsMissing) {
  for (const std::string member : {"network", "fabric"}) {
    std::string text = kGood;
    const std::size_t at = text.find("\"" + member + "\"");
    ASSERT_NE(at, std::string::npos) << member;
    Diagnostics out;
    read_instance(json(text.replace(at, member.size() + 2, "\"ignored\"")), out);
    EXPECT_EQ(std::count_if(out.begin(), out.end(),
                            [&](const Diagnostic& d) { return to_string({d}).find(member) != std::string::npos; }),
              1)
        << to_string(out);
  }
}

TEST(ReadInstance, NamesTheNearestKind) {
  std::string text = kGood;
  text.replace(text.find("nvswitch"), 8, "nvswich");
  Diagnostics out;
  read_instance(json(text), out);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_NE(out.front().hint.find("nvswitch"), std::string::npos) << to_string(out);
  EXPECT_NE(out.front().location.find("/fabric/kind"), std::string::npos) << out.front().location;
}

}  // namespace
}  // namespace smplan
