#include "models/run/goodput.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "run_simulation.hpp"

namespace smplan {
namespace {

/// Wall time of `productive` seconds of work with exponential failures, a stall at the end of each interval and a
/// restart after each failure. Source: Daly 2006, eq. 20.
Seconds expected_wall_time(Seconds productive, Seconds interval, Seconds stall, Seconds restart,
                           Seconds mean_time_between_failures) {
  const Seconds m = mean_time_between_failures;
  return m * std::exp(restart / m) * std::expm1((interval + stall) / m) * (productive / interval);
}

Seconds minutes(double n) { return Seconds(60 * n); }

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

TEST(BestInterval, IsNoShorterThanAStepOrADrainAndNoLongerThanTheRun) {
  const CheckpointTimes quick{Bytes(1e9), Seconds(0.01), Seconds(900), Seconds(1)};
  EXPECT_EQ(best_interval(days(1), Seconds(10), quick, hours(1)), Seconds(900));
  const CheckpointTimes tiny{Bytes(1e9), Seconds(1e-9), Seconds(), Seconds(1)};
  EXPECT_EQ(best_interval(days(1), Seconds(10), tiny, hours(1)), Seconds(10));
  EXPECT_EQ(best_interval(minutes(5), Seconds(10), quick, days(1000)), minutes(5));
  EXPECT_EQ(best_interval(days(1), Seconds(10), quick, Seconds()), days(1)) << "nothing fails: one save, at the end";
}

TEST(ExpectedLoss, AddsUpToDalysWallTime) {
  const CheckpointTimes saves{Bytes(1e12), minutes(5), Seconds(), minutes(1)};
  const Interruptions failures{hours(6), minutes(10), Seconds()};
  const LostTime lost = expected_loss(days(10), hours(1), &saves, failures);
  const Seconds wall = expected_wall_time(days(10), hours(1), minutes(5), minutes(10), hours(6));
  EXPECT_NEAR((days(10) + lost.total()) / wall, 1, 1e-12);
  EXPECT_EQ(lost.checkpoints, minutes(5) * 240.0);
}

TEST(ExpectedLoss, WithoutInterruptionsIsTheStallsAlone) {
  const CheckpointTimes saves{Bytes(1e12), minutes(1), minutes(3), minutes(1)};
  const LostTime lost = expected_loss(days(1), hours(2), &saves, {});
  EXPECT_EQ(lost.total(), minutes(12));
  EXPECT_EQ(lost.interruptions, 0);
  EXPECT_EQ(lost.deviation, Seconds());
}

TEST(ExpectedLoss, WithoutCheckpointsStartsAnewEveryTime) {
  // A run as long as the mean time between failures: (e - 1) times as long as without.
  const LostTime lost = expected_loss(days(1), Seconds(), nullptr, {days(1), Seconds(), Seconds()});
  EXPECT_NEAR((days(1) + lost.total()) / days(1), std::exp(1.0) - 1, 1e-12);
  EXPECT_NEAR(lost.interruptions, std::exp(1.0) - 1, 1e-12);
}

TEST(ExpectedLoss, StaysFiniteWhereARunCanNeverEnd) {
  const LostTime lost = expected_loss(days(1000), Seconds(), nullptr, {hours(1), hours(1), Seconds()});
  EXPECT_TRUE(std::isfinite(lost.total().value()));
  EXPECT_TRUE(std::isfinite(lost.deviation.value()));
  EXPECT_GT(lost.total(), days(1e9));
}

TEST(ExpectedLoss, GrowsWithTheWaitsInProportion) {
  // Nothing interrupts a job that has no instances: evicted every hour for 300 days it waits 300 days an hour.
  const CheckpointTimes saves{Bytes(1e12), Seconds(10), Seconds(), minutes(1)};
  const LostTime lost = expected_loss(days(1), minutes(10), &saves, {hours(1), days(300) + minutes(5), days(300)});
  EXPECT_NEAR(lost.waiting / (days(300) * lost.interruptions), 1, 1e-12);
  EXPECT_LT(lost.interruptions, 30);
}

TEST(Interruptions, OfTwoSourcesAddTheirRates) {
  const Interruptions both = combined({hours(10), minutes(10), minutes(1)}, {hours(30), minutes(50), minutes(41)});
  EXPECT_NEAR(both.apart / hours(7.5), 1, 1e-12);
  EXPECT_NEAR(both.restart / minutes(20), 1, 1e-12);  // three quarters of 10, one of 50
  EXPECT_NEAR(both.waiting / minutes(11), 1, 1e-12);  // three quarters of 1, one of 41
  EXPECT_EQ(combined({}, {hours(1), minutes(1), Seconds()}).apart, hours(1));
}

struct SimulatedCase {
  const char* name;
  double productive_h, interval_h, stall_s, drain_s, apart_h, restart_s, waiting_s = 0;
};

// Mean and deviation of thousands of simulated runs, event by event.
class Simulated : public testing::TestWithParam<SimulatedCase> {};

TEST_P(Simulated, MeanIsWithinAPercentAndDeviationWithinFive) {
  const SimulatedCase& c = GetParam();
  const CheckpointTimes saves{Bytes(1e12), Seconds(c.stall_s), Seconds(c.drain_s), Seconds()};
  const Interruptions failures{hours(c.apart_h), Seconds(c.restart_s), Seconds(c.waiting_s)};
  const Seconds productive = hours(c.productive_h);
  const LostTime lost = expected_loss(productive, hours(c.interval_h), &saves, failures);
  const test::SimulatedRuns runs = test::simulate_runs(productive, hours(c.interval_h), saves, failures, 4000);
  EXPECT_NEAR(productive.value() + lost.total().value(), runs.mean.value(), 0.01 * runs.mean.value());
  EXPECT_NEAR(lost.deviation.value(), runs.deviation.value(), 0.05 * runs.deviation.value());
  EXPECT_NEAR(lost.interruptions, runs.interruptions,
              0.03 * runs.interruptions + 3 * std::sqrt(lost.interruptions / 4000));
}
INSTANTIATE_TEST_SUITE_P(Fleets, Simulated,
                         testing::Values(SimulatedCase{"llama3_405b", 1166, 0.08, 3, 0, 3.09, 600},
                                         SimulatedCase{"thirty_two_gpus", 355, 7, 12, 40, 1584, 900},
                                         SimulatedCase{"opt_175b", 792, 1.5, 60, 300, 16, 3600},
                                         SimulatedCase{"long_drain", 500, 2, 5, 1800, 30, 900},
                                         SimulatedCase{"last_interval_is_short", 100, 7, 30, 60, 50, 900},
                                         SimulatedCase{"restless", 200, 0.5, 60, 0, 4, 1200},
                                         SimulatedCase{"waits_as_long_as_it_runs", 900, 1, 30, 60, 24, 87000, 86400},
                                         SimulatedCase{"waits_for_weeks", 900, 1, 30, 60, 12, 1210200, 1209600}),
                         [](const auto& test) { return test.param.name; });

TEST(Simulated, TwoSourcesWithUnlikeRestartsActAsTheirMean) {
  const CheckpointTimes saves{Bytes(1e12), Seconds(20), Seconds(120), Seconds()};
  const Interruptions hardware{hours(50), minutes(15), Seconds()};
  const Interruptions spot{hours(20), minutes(75), minutes(66)};
  const Interruptions both = combined(hardware, spot);
  const LostTime lost = expected_loss(days(20), hours(1), &saves, both);
  // Each interruption draws its source in the simulation.
  const test::SimulatedRuns runs = test::simulate_runs(days(20), hours(1), saves, hardware, 4000, &spot);
  EXPECT_NEAR((days(20) + lost.total()).value(), runs.mean.value(), 0.01 * runs.mean.value());
}

TEST(Published, Llama3405BTrainsMoreThanNineTenthsOfTheTime) {
  // 419 unexpected interruptions in 54 days on 16,384 H100; effective training time over 90 %.
  const Seconds apart = days(54) / 419.0;
  EXPECT_NEAR(apart / hours(1), 3.09, 0.005);
  // 405B x 14 bytes at the 2 TB/s of its storage, one half-way detected and automatic restart of 10 minutes.
  const CheckpointTimes saves{Bytes(405e9 * 14), Seconds(2.8), Seconds(), Seconds(3)};
  const Seconds interval = best_interval(days(54), Seconds(20), saves, apart);
  const LostTime lost = expected_loss(days(54) * 0.9, interval, &saves, {apart, minutes(10), Seconds()});
  const double effective = days(54) * 0.9 / (days(54) * 0.9 + lost.total());
  EXPECT_GT(effective, 0.90);
  EXPECT_LT(effective, 0.95);
}

TEST(Published, Opt175BNeededNearlyTwiceItsIdealTime) {
  // 33 days of ideal training took about 56 to 60, with 40 restarts in two weeks, most by hand: the restarts alone
  // explain half of it if each took the hours that people need.
  const Interruptions restarts{days(14) / 40.0, hours(2.5), Seconds()};
  const CheckpointTimes saves{Bytes(1.6e12), minutes(2), Seconds(), minutes(5)};
  const LostTime lost = expected_loss(days(33), hours(2), &saves, restarts);
  const double stretch = (days(33) + lost.total()) / days(33);
  EXPECT_GT(stretch, 1.4);
  EXPECT_LT(stretch, 1.9);
}

TEST(Published, Bloom176BLosesItsCheckpointsAThirdOfAPercent) {
  // 2.3 TB in 40 s every 3 hours: 0.37 % of the time.
  const CheckpointTimes saves{Bytes(2.3e12), Seconds(40), Seconds(), Seconds(40)};
  const LostTime lost = expected_loss(days(100), hours(3), &saves, {});
  EXPECT_NEAR(lost.checkpoints / days(100), 0.0037, 0.00005);
}

TEST(NormalQuantile, MatchesTheTables) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-9);
  EXPECT_NEAR(normal_quantile(0.9), 1.2815515655, 1e-8);
  EXPECT_NEAR(normal_quantile(0.975), 1.9599639845, 1e-8);
  EXPECT_NEAR(normal_quantile(0.001), -3.0902323062, 1e-7);
  EXPECT_NEAR(normal_quantile(0.999), 3.0902323062, 1e-7);
}

TEST(Spread, QuantileAndProbabilityAreInverse) {
  const Spread spread{days(10), 0.25};
  for (const double p : {0.01, 0.1, 0.5, 0.9, 0.99}) EXPECT_NEAR(spread.probability(spread.at(p)), p, 1e-8);
  EXPECT_EQ(spread.at(0.5), days(10));
  const Spread certain{days(10), 0};
  EXPECT_EQ(certain.probability(days(9)), 0);
  EXPECT_EQ(certain.probability(days(10)), 1);
  EXPECT_EQ(certain.at(0.9), days(10));
}

TEST(Spread, CoversSimulatedRunsWithAnUncertainStep) {
  // The step is known to 20 %, a fleet of a thousand devices fails every two days.
  constexpr double kSigma = 0.2;
  StepEstimate step;
  step.components.compute = Seconds(10);
  step.p90 = Seconds(10 * std::exp(kSigma * 1.2815515655446004));
  const CheckpointTimes saves{Bytes(1e12), Seconds(20), Seconds(100), Seconds()};
  const Interruptions failures{days(2), minutes(20), Seconds()};
  const LostTime lost = expected_loss(days(20), hours(2), &saves, failures);
  const Spread spread = run_spread(step, days(20) + lost.total(), lost.deviation);
  const test::SimulatedRuns runs = test::simulate_runs(days(20), hours(2), saves, failures, 4000, nullptr, kSigma);
  EXPECT_NEAR(runs.part_within(spread.at(0.1)), 0.1, 0.02);
  EXPECT_NEAR(runs.part_within(spread.at(0.5)), 0.5, 0.03);
  EXPECT_NEAR(runs.part_within(spread.at(0.9)), 0.9, 0.02);
}

}  // namespace
}  // namespace smplan
