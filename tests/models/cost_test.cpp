#include "models/cost.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

Seconds minutes(double n) { return Seconds(60 * n); }

StepEstimate step_of(double seconds) {
  StepEstimate step;
  step.components.compute = Seconds(seconds);
  return step;
}

Workload work_of(double tokens) {
  Workload w;
  w.seq_len = 1000;
  w.global_batch = 10;
  w.tokens = tokens;
  return w;
}

struct DalyCase {
  double failures_apart_min;
  double interval_min;
  double efficiency;
};

// Daly 2006: delta = 5 min, restart 10 min, mean time between failures 24 h, 6 h and 15 min.
class Daly : public testing::TestWithParam<DalyCase> {};

TEST_P(Daly, IntervalAndEfficiencyMatchThePaper) {
  const DalyCase& c = GetParam();
  const Seconds mtbf = minutes(c.failures_apart_min);
  const Seconds interval = checkpoint_interval(mtbf, minutes(5));
  EXPECT_NEAR(interval / minutes(1), c.interval_min, 0.005);
  const Seconds wall = expected_wall_time(hours(1), interval, minutes(5), minutes(10), mtbf);
  EXPECT_NEAR(hours(1) / wall, c.efficiency, 5e-5);
}
INSTANTIATE_TEST_SUITE_P(Published, Daly,
                         testing::Values(DalyCase{1440, 116.69, 0.9126}, DalyCase{360, 56.71, 0.8194},
                                         DalyCase{15, 9.14, 0.1997}));

TEST(CheckpointInterval, IsTheMeanTimeBetweenFailuresOnceTheStallIsTwiceThat) {
  EXPECT_EQ(checkpoint_interval(minutes(2), minutes(4)), minutes(2));
  EXPECT_EQ(checkpoint_interval(minutes(2), minutes(9)), minutes(2));
}

TEST(CheckpointInterval, BeatsItsNeighbours) {
  for (const double mtbf : {60.0, 600.0, 6000.0}) {
    const Seconds best = checkpoint_interval(minutes(mtbf), minutes(1));
    const auto wall = [&](double factor) {
      return expected_wall_time(days(1), best * factor, minutes(1), minutes(5), minutes(mtbf));
    };
    EXPECT_LT(wall(1.0), wall(0.8));
    EXPECT_LT(wall(1.0), wall(1.25));
  }
}

TEST(DefaultReliability, FailsOncePer50677GpuHours) {
  EXPECT_NEAR(default_reliability().mean_time_between_failures_per_gpu / hours(1), 50677, 1);
}

TEST(DefaultReliability, Interrupts16384GpusAboutEveryThreeHours) {
  EXPECT_NEAR(default_reliability().mean_time_between_failures_per_gpu / 16384 / hours(1), 3.09, 0.01);
}

TEST(EstimateCost, CountsWholeSteps) {
  // 10,000 tokens a step: 25,000 tokens take 3 steps of 2 s.
  const RunCost cost = estimate_cost(step_of(2), work_of(25000), 8, usd_per_hour(36), 2, default_reliability());
  EXPECT_EQ(cost.productive, Seconds(6));
}

TEST(EstimateCost, WithoutFailuresStallsAndStartUpIsPriceTimesTime) {
  ReliabilityProfile perfect;
  perfect.mean_time_between_failures_per_gpu = days(1e12);
  const RunCost cost = estimate_cost(step_of(3.6), work_of(1e7), 16, usd_per_hour(10), 2, perfect);
  // 1000 steps of 3.6 s are one hour; two instances at 10 USD an hour cost 20 USD.
  EXPECT_NEAR(cost.total().value(), 20, 1e-6);
  EXPECT_NEAR(cost.goodput, 1, 1e-9);
}

TEST(EstimateCost, PartsSumToTimeTimesRate) {
  const RunCost cost = estimate_cost(step_of(5), work_of(1e10), 1024, usd_per_hour(98.32), 128, default_reliability());
  EXPECT_DOUBLE_EQ(cost.total().value(), (cost.hourly * cost.time_to_train()).value());
  EXPECT_DOUBLE_EQ(cost.goodput, cost.productive / cost.time_to_train());
  EXPECT_GT(cost.lost, Seconds{});
}

TEST(EstimateCost, MoreGpusLoseMoreToFailures) {
  const ReliabilityProfile r = default_reliability();
  Seconds last;
  for (const std::int64_t gpus : {8, 64, 512, 4096, 16384}) {
    const RunCost cost = estimate_cost(step_of(5), work_of(1e10), gpus, usd_per_hour(1), 1, r);
    EXPECT_GT(cost.lost, last);
    last = cost.lost;
  }
}

TEST(EstimateCost, ScalesWithThePrice) {
  const ReliabilityProfile r = default_reliability();
  const RunCost once = estimate_cost(step_of(5), work_of(1e10), 64, usd_per_hour(10), 8, r);
  const RunCost twice = estimate_cost(step_of(5), work_of(1e10), 64, usd_per_hour(20), 8, r);
  EXPECT_DOUBLE_EQ(twice.total().value(), 2 * once.total().value());
  EXPECT_EQ(twice.time_to_train(), once.time_to_train());
}

TEST(EstimateCost, AShortRunPaysOneCheckpointAndTheStartUp) {
  const ReliabilityProfile r = default_reliability();
  const RunCost cost = estimate_cost(step_of(1), work_of(1e5), 8, usd_per_hour(1), 1, r);
  EXPECT_EQ(cost.startup, r.startup);
  EXPECT_NEAR(cost.lost / r.checkpoint_stall, 1, 0.05);
}

}  // namespace
}  // namespace smplan
