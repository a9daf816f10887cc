#include "planner/request/scenario.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/planner/fixtures.hpp"

namespace smplan::test {
namespace {

TEST(Scenario, ReadsFactorsAndChanges) {
  const Result<Scenario> s = parse_scenario("price=-20%, efa=2x,memory=+10%,nvlink=0.5x", "--what-if");
  ASSERT_TRUE(s) << to_string(s.error());
  EXPECT_DOUBLE_EQ(s->price, 0.8);
  EXPECT_DOUBLE_EQ(s->efa, 2);
  EXPECT_DOUBLE_EQ(s->memory, 1.1);
  EXPECT_DOUBLE_EQ(s->nvlink, 0.5);
  EXPECT_EQ(s->compute, 1);
  EXPECT_EQ(to_string(*s),
            "instance prices -20%, device memory +10%, bandwidth inside a node -50%, network bandwidth +100%");
}

TEST(Scenario, RefusesWhatItCannotMeanAndNamesAll) {
  const Result<Scenario> s = parse_scenario("efs=2x,price=20%,price=2x,compute=-100%,memory", "--what-if");
  ASSERT_FALSE(s);
  ASSERT_EQ(s.error().size(), 5U) << to_string(s.error());
  EXPECT_NE(to_string(s.error()[0]).find("efa"), std::string::npos) << "suggests the nearest name";
  EXPECT_EQ(s.error()[1].code, "bad-change");  // more by, or to, a fifth?
  EXPECT_EQ(s.error()[2].code, "repeated");
  EXPECT_EQ(s.error()[3].code, "out-of-range");  // no compute at all
  EXPECT_EQ(s.error()[4].code, "bad-change");
}

TEST(Scenario, OfOneChangesNothing) {
  Cluster cluster = make_cluster(catalog(), *catalog().find_instance("ml.p3.16xlarge"), 2).value();
  const Cluster before = cluster;
  apply(Scenario{}, cluster);
  EXPECT_EQ(cluster.device_memory, before.device_memory);
  EXPECT_EQ(cluster.accelerator_profile, before.accelerator_profile);
  EXPECT_EQ(cluster.ring_bandwidth, before.ring_bandwidth);
  EXPECT_EQ(cluster.network.bandwidth_per_node, before.network.bandwidth_per_node);
}

TEST(Scenario, EachAssumptionScalesWhatItNamesAndNothingElse) {
  const struct {
    double Scenario::*factor;
    double (*value)(const Cluster&);
  } knobs[] = {
      {&Scenario::compute, [](const Cluster& c) { return c.accelerator_profile.sustained_fraction; }},
      {&Scenario::memory, [](const Cluster& c) { return c.device_memory.value(); }},
      {&Scenario::memory_bandwidth, [](const Cluster& c) { return c.accelerator.memory_bandwidth.value(); }},
      {&Scenario::nvlink, [](const Cluster& c) { return c.fabric.bandwidth_per_accelerator.value(); }},
      {&Scenario::nvlink, [](const Cluster& c) { return c.ring_bandwidth[4].value(); }},
      {&Scenario::efa, [](const Cluster& c) { return c.network.bandwidth_per_node.value(); }},
      {&Scenario::host_link, [](const Cluster& c) { return c.host_link.value(); }},
  };
  const Cluster before = make_cluster(catalog(), *catalog().find_instance("ml.p3.16xlarge"), 2).value();
  for (const auto& changed : knobs) {
    Scenario scenario;
    scenario.*changed.factor = 3;
    Cluster after = before;
    apply(scenario, after);
    for (const auto& knob : knobs) {
      ASSERT_GT(knob.value(before), 0);
      EXPECT_DOUBLE_EQ(knob.value(after), (knob.factor == changed.factor ? 3 : 1) * knob.value(before));
    }
  }
}

TEST(Scenario, FactorsReachFromAHundredthToAHundred) {
  for (const char* in : {"efa=0.01x", "efa=100x", "efa=-99%"}) EXPECT_TRUE(parse_scenario(in, "--what-if")) << in;
  for (const char* out : {"efa=0.0099x", "efa=100.1x", "efa=-99.1%", "efa=2y", "efa=2xx", "efa=x", "efa=+%"}) {
    EXPECT_FALSE(parse_scenario(out, "--what-if")) << out;
  }
}

// Half the price, half the instances' part of the bill: the same plan wins, for what is billed by the hour.
TEST(Scenario, PricesScaleTheBillAndNotTheTime) {
  RequestSpec spec;
  spec.model = "gpt2";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "1";
  const Plan before = search(request_of(spec), catalog()).plans.at(0);
  spec.what_if = "price=-50%";
  const PlanSet set = search(request_of(spec), catalog());
  const Plan& after = set.plans.at(0);
  EXPECT_EQ(after.strategy, before.strategy);
  EXPECT_EQ(after.cost.productive, before.cost.productive);
  EXPECT_NEAR(after.cost.bill.compute.value(), before.cost.bill.compute.value() / 2,
              1e-9 * before.cost.bill.compute.value());
  const std::vector<std::string>& said = set.request.assumptions;
  EXPECT_NE(std::find(said.begin(), said.end(), "what if: instance prices -50%"), said.end());
}

}  // namespace
}  // namespace smplan::test
