#include "models/pipeline/closed_form.hpp"
#include "models/pipeline/simulation.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <tuple>

#include <gtest/gtest.h>

namespace smplan {
namespace {

using Kind = PipelineTask::Kind;

StageTime stage_of(double forward, double input, double weight) {
  return {Seconds(forward), Seconds(input), Seconds(weight)};
}

/// Numbers that add without rounding, so that equal means equal.
double dyadic(std::mt19937_64& random, int low, int high) {
  const auto span = static_cast<std::uint64_t>(high - low + 1);
  return static_cast<double>(low + static_cast<int>(random() % span)) / 16;
}

std::vector<StageTime> equal_stages(int p, StageTime stage) { return std::vector<StageTime>(p, stage); }

std::vector<StageTime> uneven_stages(int p, std::mt19937_64& random) {
  std::vector<StageTime> stages;
  for (int i = 0; i < p; ++i) {
    const double forward = dyadic(random, 8, 64);
    stages.push_back(stage_of(forward, forward, forward * dyadic(random, 8, 16)));
  }
  return stages;
}

/// What simulating every task gives.
PipelineTime critical_path(std::span<const StageTime> stages, std::int64_t micro_batches, std::int32_t chunks,
                           Schedule schedule, Seconds transfer) {
  Seconds total;
  for (const PipelineTask& task : simulate_pipeline(stages, micro_batches, chunks, schedule, transfer)) {
    total = std::max(total, task.end);
  }
  Seconds busy;
  for (const StageTime& stage : stages) busy = std::max(busy, static_cast<double>(micro_batches) * stage.total());
  // The sums of the two are taken in different orders.
  total = std::max(total, busy);
  return {total, busy, total - busy};
}

struct ScheduleCase {
  const char* name;
  Schedule schedule;
  int chunks;
};
const ScheduleCase kSchedules[] = {
    {"gpipe", Schedule::GPipe, 1},
    {"1f1b", Schedule::OneFOneB, 1},
    {"interleaved1", Schedule::Interleaved, 1},
    {"interleaved2", Schedule::Interleaved, 2},
    {"interleaved4", Schedule::Interleaved, 4},
    {"zero_bubble", Schedule::ZeroBubble, 1},
};

class PipelineSchedule : public testing::TestWithParam<ScheduleCase> {};
INSTANTIATE_TEST_SUITE_P(All, PipelineSchedule, testing::ValuesIn(kSchedules),
                         [](const auto& info) { return info.param.name; });

TEST_P(PipelineSchedule, ClosedFormIsTheCriticalPathForEqualStages) {
  std::mt19937_64 random(1);
  for (const int p : {1, 2, 3, 4, 5, 8}) {
    for (int m = 1; m <= 20; ++m) {
      for (int draw = 0; draw < 4; ++draw) {
        const auto stages =
            equal_stages(p, stage_of(dyadic(random, 4, 64), dyadic(random, 4, 64), dyadic(random, 4, 64)));
        const PipelineTime closed = pipeline_closed_form(stages, m, GetParam().chunks, GetParam().schedule, Seconds{});
        const PipelineTime exact = critical_path(stages, m, GetParam().chunks, GetParam().schedule, Seconds{});
        ASSERT_EQ(closed.total, exact.total)
            << "p " << p << " m " << m << " F " << stages[0].forward.value() << " Bi "
            << stages[0].backward_input.value() << " W " << stages[0].backward_weight.value();
        ASSERT_EQ(closed.busy, exact.busy);
        ASSERT_EQ(closed.bubble, closed.total - closed.busy);
      }
    }
  }
}

TEST_P(PipelineSchedule, ClosedFormBoundsUnevenStagesAndTransfers) {
  std::mt19937_64 random(2);
  for (const int p : {2, 3, 4, 6}) {
    for (int m = 1; m <= 16; ++m) {
      for (int draw = 0; draw < 8; ++draw) {
        const auto stages = uneven_stages(p, random);
        const Seconds transfer(draw % 2 == 0 ? 0.0 : dyadic(random, 0, 32));
        const PipelineTime closed = pipeline_closed_form(stages, m, GetParam().chunks, GetParam().schedule, transfer);
        const PipelineTime exact = critical_path(stages, m, GetParam().chunks, GetParam().schedule, transfer);
        ASSERT_GE(closed.total.value(), exact.total.value() * (1 - 1e-12))
            << "p " << p << " m " << m << " t " << transfer.value();
        ASSERT_GE(exact.total, exact.busy);
      }
    }
  }
}

TEST_P(PipelineSchedule, EveryTaskRunsOnceAfterItsInputsAndNoRankDoesTwoAtOnce) {
  std::mt19937_64 random(3);
  for (const int p : {2, 3, 4}) {
    for (const int m : {1, 2, 3, 4, 7, 8}) {
      const int v = GetParam().chunks;
      const Seconds hop(0.25);
      const auto tasks = simulate_pipeline(uneven_stages(p, random), m, v, GetParam().schedule, hop);
      std::map<std::tuple<bool, int, std::int64_t>, std::pair<Seconds, Seconds>> span;
      std::map<int, Seconds> rank_free;
      int weight_gradients = 0;
      for (const PipelineTask& t : tasks) {
        EXPECT_GE(t.start, rank_free[t.stage]);
        rank_free[t.stage] = t.end;
        if (t.kind == Kind::BackwardWeight) {
          ++weight_gradients;
          EXPECT_GE(t.start, (span.at({false, t.stage, t.micro_batch}).second));
          continue;
        }
        const auto key = std::make_tuple(t.kind == Kind::Forward, t.chunk * p + t.stage, t.micro_batch);
        EXPECT_TRUE(span.emplace(key, std::make_pair(t.start, t.end)).second);
      }
      EXPECT_EQ(span.size(), static_cast<std::size_t>(2 * p * v * m));
      EXPECT_EQ(weight_gradients, GetParam().schedule == Schedule::ZeroBubble ? p * m : 0);
      for (int s = 0; s + 1 < p * v; ++s) {
        for (int b = 0; b < m; ++b) {
          EXPECT_GE((span.at({true, s + 1, b}).first), (span.at({true, s, b}).second + hop));
          EXPECT_GE((span.at({false, s, b}).first), (span.at({false, s + 1, b}).second + hop));
        }
      }
    }
  }
}

TEST_P(PipelineSchedule, InFlightIsThePeakThatTheScheduleHolds) {
  const int v = GetParam().chunks;
  for (const int p : {2, 3, 4, 8}) {
    for (int m = 1; m <= 20; ++m) {
      std::vector<int> held(p), peak(p);
      for (const PipelineTask& t :
           simulate_pipeline(equal_stages(p, stage_of(1, 1, 1)), m, v, GetParam().schedule, Seconds{})) {
        if (t.kind == Kind::Forward) peak[t.stage] = std::max(peak[t.stage], ++held[t.stage]);
        if (t.kind == Kind::Backward || t.kind == Kind::BackwardWeight) --held[t.stage];
      }
      for (int stage = 0; stage < p; ++stage) {
        EXPECT_EQ(in_flight_micro_batches(stage, p, m, v, GetParam().schedule) * v, peak[stage])
            << "p " << p << " m " << m << " stage " << stage;
      }
    }
  }
}

TEST(PipelineClosedForm, MatchesThePublishedBubbles) {
  // p = 4, m = 8, F = 1, B = 2 (1 + 1): busy 24. GPipe and 1F1B idle 3 * 3; two chunks halve it; ZB-H1
  // leaves 3 * (1 + 2 - 2).
  const auto stages = equal_stages(4, stage_of(1, 1, 1));
  EXPECT_EQ(pipeline_closed_form(stages, 8, 1, Schedule::GPipe, Seconds{}).bubble, Seconds(9));
  EXPECT_EQ(pipeline_closed_form(stages, 8, 1, Schedule::OneFOneB, Seconds{}).bubble, Seconds(9));
  EXPECT_EQ(pipeline_closed_form(stages, 8, 2, Schedule::Interleaved, Seconds{}).bubble, Seconds(4.5));
  EXPECT_EQ(pipeline_closed_form(stages, 8, 1, Schedule::ZeroBubble, Seconds{}).bubble, Seconds(3));
}

TEST(PipelineClosedForm, OneFOneBWithTransfersIsExactForEqualStages) {
  for (const int p : {2, 3, 4, 7}) {
    for (int m = 1; m <= 30; ++m) {
      const auto stages = equal_stages(p, stage_of(1, 1, 1));
      const Seconds hop(0.125);
      EXPECT_EQ(pipeline_closed_form(stages, m, 1, Schedule::OneFOneB, hop).total,
                critical_path(stages, m, 1, Schedule::OneFOneB, hop).total)
          << "p " << p << " m " << m;
    }
  }
}

TEST(PipelineClosedForm, GPipeIsExactForUnevenStagesWithTransfers) {
  std::mt19937_64 random(4);
  for (int draw = 0; draw < 100; ++draw) {
    const auto stages = uneven_stages(2 + draw % 5, random);
    const Seconds hop(dyadic(random, 0, 32));
    EXPECT_NEAR(pipeline_closed_form(stages, 1 + draw % 9, 1, Schedule::GPipe, hop).total.value(),
                critical_path(stages, 1 + draw % 9, 1, Schedule::GPipe, hop).total.value(), 1e-9);
  }
}

TEST(InFlight, InterleavedFirstRankHoldsMegatronsFactor) {
  // p (1 + (p-1)/(p v)) micro-batches: p = 8, v = 4 gives 8 * (1 + 7/32) = 9.75.
  EXPECT_EQ(in_flight_micro_batches(0, 8, 64, 4, Schedule::Interleaved), 9.75);
  EXPECT_EQ(in_flight_micro_batches(0, 8, 64, 1, Schedule::OneFOneB), 8);
  EXPECT_EQ(in_flight_micro_batches(7, 8, 64, 1, Schedule::OneFOneB), 1);
  EXPECT_EQ(in_flight_micro_batches(0, 8, 64, 1, Schedule::GPipe), 64);
}

}  // namespace
}  // namespace smplan
