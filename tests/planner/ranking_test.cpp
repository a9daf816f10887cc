#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/search/constraints.hpp"
#include "planner/search/objective.hpp"
#include "planner/search/pareto.hpp"

namespace smplan::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParetoFront, KeepsWhatNobodyBeats) {
  const std::vector<TimeCost> points{{10, 1}, {5, 2}, {6, 3}, {1, 9}, {10, 1}, {2, 9}};
  EXPECT_THAT(pareto_front(points), ElementsAre(0, 1, 3));
  EXPECT_THAT(pareto_front({}), IsEmpty());
}

TEST(ParetoFront, EqualsItsDefinitionOnRandomPoints) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<TimeCost> points;
    for (int i = 0; i < 12; ++i) {
      points.push_back({static_cast<double>(random() % 8), static_cast<double>(random() % 8)});
    }
    std::vector<TimeCost> front;
    for (const std::size_t i : pareto_front(points)) front.push_back(points[i]);
    for (const TimeCost& p : points) {
      bool beaten = false;
      for (const TimeCost& o : points) {
        beaten = beaten || (o.time <= p.time && o.cost <= p.cost && (o.time < p.time || o.cost < p.cost));
      }
      EXPECT_EQ(is_dominated(p, front), beaten);
      const bool kept = std::any_of(front.begin(), front.end(),
                                    [&](const TimeCost& f) { return f.time == p.time && f.cost == p.cost; });
      EXPECT_EQ(kept, !beaten);
    }
  }
}

PlanRequest with(Objective objective) {
  PlanRequest r;
  r.objective = objective;
  return r;
}

TEST(Score, FollowsTheObjective) {
  const auto better = [](Objective o, Seconds ta, Usd ca, Seconds tb, Usd cb) {
    return score(with(o), ta, ca) < score(with(o), tb, cb);
  };
  EXPECT_TRUE(better(Objective::Cost, days(9), Usd(10), days(1), Usd(11)));
  EXPECT_TRUE(better(Objective::Cost, days(1), Usd(10), days(2), Usd(10)));
  EXPECT_TRUE(better(Objective::Time, days(1), Usd(99), days(2), Usd(10)));
  EXPECT_TRUE(better(Objective::Balanced, days(3), Usd(3), days(1), Usd(10)));
  EXPECT_FALSE(better(Objective::Balanced, days(3), Usd(4), days(1), Usd(10)));
}

TEST(Score, PlansBeyondTheHorizonComeLast) {
  PlanRequest r = with(Objective::Cost);
  EXPECT_LT(score(r, days(27), Usd(1000)), score(r, days(29), Usd(10)));
  r.horizon = days(60);
  EXPECT_GT(score(r, days(27), Usd(1000)), score(r, days(29), Usd(10)));
  r.horizon = days(7);
  EXPECT_LT(score(r, days(27), Usd(1000)), score(r, days(29), Usd(10))) << "the nearer miss";
}

MemoryEstimate memory_of(double peak, double limit, double host = 0, double nvme = 0) {
  MemoryEstimate m;
  m.peak_device = gib(peak);
  m.wanted = gib(peak);
  m.limit = gib(limit);
  m.host_per_node = gib(host);
  m.nvme_per_node = gib(nvme);
  m.host_limit = gib(100);
  m.nvme_limit = gib(50);
  return m;
}

TEST(Constraints, NameTheFirstThatIsShort) {
  EXPECT_FALSE(memory_rejection(memory_of(60, 80), 0));
  EXPECT_EQ(memory_rejection(memory_of(81, 80, 200), 0)->reason, RejectionReason::Memory);
  EXPECT_EQ(memory_rejection(memory_of(60, 80, 200), 0)->reason, RejectionReason::HostMemory);
  EXPECT_EQ(memory_rejection(memory_of(60, 80, 0, 51), 0)->reason, RejectionReason::HostMemory);
  EXPECT_EQ(memory_rejection(memory_of(77, 80), 0.05)->reason, RejectionReason::Headroom);
  EXPECT_EQ(memory_rejection(memory_of(75, 80), 0.05, 0.9)->reason, RejectionReason::OutOfMemoryRisk);
  EXPECT_FALSE(memory_rejection(memory_of(71, 80), 0.05, 0.9));
  PlanRequest r;
  r.deadline = days(2);
  r.budget = Usd(100);
  r.max_hourly = usd_per_hour(10);
  const auto run_of = [](Seconds time, double usd) {
    RunCost cost;
    cost.productive = time;
    cost.bill.compute = Usd(usd);
    return cost;
  };
  EXPECT_FALSE(limit_rejection(r, run_of(days(2), 100)));
  EXPECT_EQ(limit_rejection(r, run_of(days(3), 900))->reason, RejectionReason::Deadline);
  EXPECT_EQ(limit_rejection(r, run_of(days(1), 101))->reason, RejectionReason::Budget);
  RunCost unsafe = run_of(days(3), 900);
  unsafe.unsafe = true;
  EXPECT_EQ(limit_rejection(r, unsafe)->reason, RejectionReason::NoCheckpoints);
  // A run of two days give or take a third is in time half of the time, and 9 times of 10 in three.
  RunCost uncertain = run_of(days(2), 100);
  uncertain.spread = {days(2), 0.3};
  r.confidence = 0.9;
  EXPECT_EQ(limit_rejection(r, uncertain)->reason, RejectionReason::Deadline);
  r.deadline = days(3);
  EXPECT_FALSE(limit_rejection(r, uncertain));
  EXPECT_EQ(hourly_rejection(r, usd_per_hour(11))->reason, RejectionReason::Hourly);
}

TEST(Constraints, NearerIsPastMoreChecksThenShortByLess) {
  const Rejection far{RejectionReason::Memory, 200, 100};
  const Rejection near{RejectionReason::Memory, 110, 100};
  const Rejection late{RejectionReason::Deadline, 900, 100};
  EXPECT_TRUE(nearer(near, far));
  EXPECT_FALSE(nearer(far, near));
  EXPECT_TRUE(nearer(late, near));
}

}  // namespace
}  // namespace smplan::test
