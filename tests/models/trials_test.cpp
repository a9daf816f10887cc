#include "models/trials.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

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
