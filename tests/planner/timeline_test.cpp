#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "planner/answer/plan_file.hpp"
#include "planner/trace/chrome_trace.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan {
namespace {

using test::catalog;

SimulatedJob job_of(const RequestSpec& spec) {
  const PlanRequest request = test::request_of(spec);
  const PlanSet set = search(request, catalog());
  if (set.plans.empty()) {
    ADD_FAILURE() << "no plan";
    return {};
  }
  Result<SimulatedJob> job = simulated_job(request, set.plans.front(), catalog());
  if (!job) ADD_FAILURE() << to_string(job.error());
  return std::move(*job);
}

struct Case {
  const char* name;
  const char* model;
  const char* instances;
  const char* count;
  const char* pp;
  const char* vpp;
};

class StepTimeline : public testing::TestWithParam<Case> {};

RequestSpec spec_of(const Case& c) {
  RequestSpec spec;
  spec.model = c.model;
  spec.instances = c.instances;
  spec.count = c.count;
  spec[Dimension::Pipeline] = c.pp;
  spec[Dimension::VirtualPipeline] = c.vpp;
  spec.global_batch = "256";
  return spec;
}

TEST_P(StepTimeline, EveryRankIsBusyOrWaitsForTheWholeStep) {
  const SimulatedJob job = job_of(spec_of(GetParam()));
  const Result<Timeline> timeline = simulate_step(job);
  ASSERT_TRUE(timeline) << to_string(timeline.error());
  const StepEstimate estimate = estimate_step(job.workload, job.strategy, job.cluster, job.stack);
  EXPECT_EQ(timeline->step, estimate.time());
  std::map<std::int32_t, Seconds> end;
  for (const Stretch& s : timeline->stretches) {
    EXPECT_EQ(s.start, end[s.rank]) << "a gap or an overlap on rank " << s.rank;
    EXPECT_GT(s.end, s.start);
    end[s.rank] = s.end;
  }
  EXPECT_EQ(end.size(), static_cast<std::size_t>(job.strategy.pipeline_parallel));
  for (const auto& rank : end)
    EXPECT_NEAR(rank.second.value(), estimate.time().value(), 1e-9 * estimate.time().value());
}

TEST_P(StepTimeline, TheBusiestRankSpendsWhatTheEstimateSays) {
  const SimulatedJob job = job_of(spec_of(GetParam()));
  const Result<Timeline> timeline = simulate_step(job);
  ASSERT_TRUE(timeline) << to_string(timeline.error());
  StepComponents spent;
  for (const Stretch& s : timeline->stretches) {
    if (s.rank == timeline->busiest) spent.*step_parts()[s.part].time += s.end - s.start;
  }
  const StepEstimate estimate = estimate_step(job.workload, job.strategy, job.cluster, job.stack);
  for (const StepPart& part : step_parts()) {
    EXPECT_NEAR((spent.*part.time).value(), (estimate.components.*part.time).value(), 1e-9 * estimate.time().value())
        << part.key;
  }
}

TEST_P(StepTimeline, BackwardFollowsForward) {
  const Result<Timeline> timeline = simulate_step(job_of(spec_of(GetParam())));
  ASSERT_TRUE(timeline) << to_string(timeline.error());
  std::map<std::pair<std::int32_t, std::int64_t>, Seconds> forward_end;
  for (const Stretch& s : timeline->stretches) {
    const std::pair key{s.rank, s.micro_batch * 1000 + s.chunk};
    if (s.phase == Phase::Forward) forward_end[key] = s.end;
    if (s.phase == Phase::Backward) {
      ASSERT_TRUE(forward_end.contains(key));
      EXPECT_GE(s.start, forward_end[key]);
    }
  }
}

TEST_P(StepTimeline, TraceDurationsOfARankSumToTheStepInWholeNanoseconds) {
  const Result<Timeline> timeline = simulate_step(job_of(spec_of(GetParam())));
  ASSERT_TRUE(timeline) << to_string(timeline.error());
  const auto trace = nlohmann::json::parse(chrome_trace(*timeline, "a \"plan\""));
  EXPECT_EQ(trace["otherData"]["plan"], "a \"plan\"");
  std::map<int, double> sum;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "X") sum[event["pid"].get<int>()] += event["dur"].get<double>();
  }
  for (const auto& rank : sum) EXPECT_NEAR(rank.second / 1e6, timeline->step.value(), 2e-9);
}

INSTANTIATE_TEST_SUITE_P(Schedules, StepTimeline,
                         testing::Values(Case{"OneStage", "llama-2-7b", "ml.p5.48xlarge", "1", "1", "1"},
                                         Case{"OneFOneB", "llama-2-13b", "ml.p4d.24xlarge", "4", "4", "1"},
                                         Case{"UnevenStages", "llama-2-13b", "ml.p4d.24xlarge", "3", "3", "1"},
                                         Case{"Interleaved", "llama-2-70b", "ml.p4d.24xlarge", "16", "8", "2"}),
                         [](const auto& tested) { return tested.param.name; });

TEST(StepTimelineLimit, RefusesWhatNoViewerOpens) {
  SimulatedJob job = job_of(spec_of({"", "llama-2-13b", "ml.p4d.24xlarge", "4", "4", "1"}));
  job.workload.global_batch = kMaxSimulatedPasses;
  job.strategy.micro_batch = 1;
  job.strategy.data_parallel = 1;
  const Result<Timeline> timeline = simulate_step(job);
  ASSERT_FALSE(timeline);
  EXPECT_EQ(timeline.error().front().code, "too-large");
}

TEST(StepTimelineTeacher, IsTheSameFromAPlanFile) {
  RequestSpec spec;
  spec.model = "qwen2.5-7b";
  spec.teacher = "qwen2.5-72b";
  spec.loss = "distillation";
  spec.instances = "ml.p5.48xlarge";
  spec.count = "2";
  spec.stack = "fsdp";
  spec.launchable = "any";
  spec.tokens = "10M";
  const PlanRequest request = test::request_of(spec);
  const PlanSet set = search(request, catalog());
  ASSERT_FALSE(set.plans.empty());
  const Result<SimulatedJob> drawn = simulated_job(training_plan_of(request, set.plans.front()), catalog());
  ASSERT_TRUE(drawn) << to_string(drawn.error());
  const Result<Timeline> timeline = simulate_step(*drawn);
  ASSERT_TRUE(timeline);
  EXPECT_NEAR(timeline->step / set.plans.front().step.time(), 1, 1e-9);
}

}  // namespace
}  // namespace smplan
