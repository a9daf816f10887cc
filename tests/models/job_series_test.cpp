#include "models/job_series.hpp"

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

TEST(FullRuns, OfSuccessiveHalvingAreFew) {
  EXPECT_EQ(full_runs({27, 1, 1}), 27);
  // 27 trials to 1/27, 9 on to 1/9, 3 on to 1/3, 1 to the end: 1 + 9 x 2/27 + 3 x 2/9 + 2/3 = 3.
  EXPECT_NEAR(full_runs({27, 3, 4}), 3, 1e-12);
}

RunCost run_of(double hours_of_work, double usd) {
  RunCost run;
  run.productive = hours(hours_of_work);
  run.startup = hours(0.25);
  run.bill.compute = Usd(usd);
  run.bill.startup = Usd(1);
  return run;
}

TEST(SizeTrials, RunsOneAtATimeUnlessTheDeadlineAsksForMore) {
  const auto alone = size_trials({12, 1, 1}, run_of(2, 10), 100, std::nullopt, std::nullopt);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->at_a_time, 1);
  EXPECT_EQ(alone->time, hours(24.25));
  EXPECT_EQ(alone->cost, Usd(121));
  const auto four = size_trials({12, 1, 1}, run_of(2, 10), 100, hours(7), std::nullopt);
  ASSERT_TRUE(four);
  EXPECT_EQ(four->at_a_time, 4) << "three rounds of two hours";
  EXPECT_EQ(four->cost, Usd(124));
}

TEST(SizeTrials, SaysNoWhereDeadlineBudgetOrQuotaForbid) {
  EXPECT_FALSE(size_trials({12, 1, 1}, run_of(2, 10), 100, hours(2), std::nullopt)) << "shorter than one trial";
  EXPECT_FALSE(size_trials({12, 1, 1}, run_of(2, 10), 3, hours(7), std::nullopt));
  EXPECT_FALSE(size_trials({12, 1, 1}, run_of(2, 10), 100, hours(7), Usd(122)));
  EXPECT_TRUE(size_trials({12, 1, 1}, run_of(2, 10), 100, std::nullopt, Usd(122)));
}

}  // namespace
}  // namespace smplan
