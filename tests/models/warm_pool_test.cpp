#include "models/run/warm_pool.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

Operations starts() {
  Operations o;
  o.provisioning = Seconds(400);
  o.image_pull = Seconds(240);
  o.warm_start = Seconds(20);
  return o;
}

TEST(WarmPool, PaysForItselfWhereGapsAreShorterThanTheStartSaved) {
  // 220 s of billed start saved: at 3600 USD an hour a dollar a second.
  const WarmPool shorter = weigh_warm_pool({11, Seconds(100)}, starts(), usd_per_hour(3600), Market::OnDemand);
  ASSERT_TRUE(shorter.possible);
  EXPECT_DOUBLE_EQ(shorter.kept.value(), 1000);
  EXPECT_DOUBLE_EQ(shorter.saved.value(), 2200);
  EXPECT_EQ(shorter.sooner, Seconds(6200));
  EXPECT_LT(shorter.usd_per_hour_gained(), 0);
  const WarmPool longer = weigh_warm_pool({11, Seconds(1000)}, starts(), usd_per_hour(3600), Market::OnDemand);
  EXPECT_DOUBLE_EQ(longer.net().value(), 10000 - 2200);
  EXPECT_GT(longer.usd_per_hour_gained(), 0);
}

TEST(WarmPool, IsImpossibleOnSpotForOneJobAndBeyondSixHours) {
  EXPECT_FALSE(weigh_warm_pool({11, Seconds(1)}, starts(), usd_per_hour(1), Market::Spot).possible);
  EXPECT_FALSE(weigh_warm_pool({1, Seconds(1)}, starts(), usd_per_hour(1), Market::OnDemand).possible);
  EXPECT_FALSE(weigh_warm_pool({9, hours(6.1)}, starts(), usd_per_hour(1), Market::OnDemand).possible);
  const WarmPool reserved = weigh_warm_pool({9, hours(1)}, starts(), usd_per_hour(1), Market::CapacityBlock);
  EXPECT_EQ(reserved.net(), Usd()) << "paid anyway";
}

}  // namespace
}  // namespace smplan
