#include "models/run/recovery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "catalogs/catalog.hpp"
#include "catalogs/recovery_features.hpp"
#include "models/run/cost.hpp"
#include "tests/support/step_fixture.hpp"

namespace smplan {
namespace {

using testing::step_catalog;

// Tables of the Erlang loss formula: B(1, 1) = 1/2, B(2, 1) = 1/5, B(5, 3) = 0.11005.
TEST(NoSpare, FollowsErlangsFormula) {
  EXPECT_DOUBLE_EQ(no_spare_probability(0, 0.3), 1);
  EXPECT_DOUBLE_EQ(no_spare_probability(1, 1), 0.5);
  EXPECT_DOUBLE_EQ(no_spare_probability(2, 1), 0.2);
  EXPECT_NEAR(no_spare_probability(5, 3), 0.11005, 1e-5);
  EXPECT_EQ(no_spare_probability(3, 0), 0);
}

/// Mean wait of failures that come at random, each of which takes a spare and sends for its replacement.
double simulated_wait(int spares, double replacement, double apart) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> next(1 / apart);
  std::vector<double> back;  // when replacements come
  double now = 0;
  double waited = 0;
  int idle = spares;
  constexpr int kFailures = 200'000;
  for (int i = 0; i < kFailures; ++i) {
    now += next(random);
    back.push_back(now + replacement);
    std::sort(back.begin(), back.end());
    while (!back.empty() && back.front() <= now) {
      back.erase(back.begin());
      ++idle;
    }
    if (idle > 0) {
      --idle;
      continue;
    }
    waited += back.front() - now;
    now = back.front();
    back.erase(back.begin());
  }
  return waited / kFailures;
}

TEST(WaitForInstance, IsWhatSimulatedClustersWait) {
  for (const int spares : {0, 1, 2}) {
    for (const double load : {0.02, 0.2, 0.5}) {
      const double apart = 1000;
      const double simulated = simulated_wait(spares, load * apart, apart);
      const double wait = wait_for_instance(spares, Seconds(load * apart), Seconds(apart)).value();
      EXPECT_NEAR(wait, simulated, 0.25 * simulated + 0.05) << spares << " spares, load " << load;
    }
  }
}

/// A long run on many devices: failures matter.
struct LongRun {
  RunSetup setup = run_setup(step_catalog().operations(), Market::OnDemand, "us-east-1");
  std::int32_t instances = 128;
  double step_s = 10;
  double days = 60;

  LongRun() { setup.recovery.platform = Platform::HyperPodEks; }
  [[nodiscard]] RunCost cost() const {
    Workload w;
    w.architecture = step_catalog().find_model("llama-2-70b")->architecture;
    w.seq_len = 4096;
    w.global_batch = 1024;
    w.tokens = w.tokens_per_step() * days * 86400 / step_s;
    StepEstimate step;
    step.components.compute = Seconds(step_s);
    const InstanceType& type = *step_catalog().find_instance("ml.p5.48xlarge");
    return estimate_cost(step, w, run_terms(setup, w, type, instances, usd_per_hour(60)));
  }
};

TEST(StandingCluster, StartsWithoutWaitingForInstances) {
  LongRun job;
  job.setup.recovery = {};
  LongRun cluster;
  cluster.setup.checkpoint_target = job.setup.checkpoint_target = CheckpointTarget::FsxLustre;
  const Operations& o = job.setup.operations;
  EXPECT_EQ(job.cost().provisioning, o.provisioning);
  EXPECT_EQ(cluster.cost().provisioning, Seconds());
  EXPECT_NEAR((job.cost().startup - cluster.cost().startup).value(), o.provisioning.value(), 1e-9);
  EXPECT_TRUE(cluster.cost().standing);
  // One without spares waits for a replacement as a training job does.
  EXPECT_NEAR(cluster.cost().loss.restarts.value(), job.cost().loss.restarts.value(), 1e-3);
}

TEST(Spares, ShortenRestartsAndArePaidWhileTheyWait) {
  LongRun none;
  LongRun two;
  two.setup.recovery.spares = 2;
  const RunCost a = none.cost();
  const RunCost b = two.cost();
  EXPECT_LT(b.loss.restarts, a.loss.restarts);
  EXPECT_GT(b.goodput, a.goodput);
  EXPECT_EQ(a.bill.idle, Usd());
  const Seconds running = b.time_to_train() - b.provisioning;
  EXPECT_NEAR(b.bill.idle.value(), (2 * usd_per_hour(60) * running).value(), 1e-6 * b.bill.idle.value());
  EXPECT_NEAR(in_usd_per_hour(b.hourly), 60.0 * 130, 1e-9);
}

TEST(Checkpointless, DoesAtMostAStepAgain) {
  LongRun run;
  run.setup.recovery.mode = RecoveryMode::Checkpointless;
  run.setup.recovery.spares = 4;
  const RunCost cost = run.cost();
  ASSERT_GT(cost.failures, 10);
  EXPECT_LT(cost.loss.rework, Seconds(run.step_s * cost.failures));
  // 120 s each, the wait for an instance aside, which four spares make rare.
  EXPECT_NEAR(cost.loss.restarts.value(), 120 * cost.failures, 0.02 * 120 * cost.failures);
  // Durable saves go on.
  EXPECT_GT(cost.loss.interval, Seconds());
  EXPECT_GT(cost.loss.checkpoints, Seconds());
}

TEST(Elastic, LosesAShareOfTheWaitOnManyInstancesAndAllOfItOnOne) {
  LongRun elastic;
  LongRun restart;
  for (LongRun* run : {&elastic, &restart}) run->setup.operations.provisioning = Seconds(7200);
  elastic.setup.recovery.mode = RecoveryMode::Elastic;
  const RunCost many = elastic.cost();
  // Two hours' wait shared by 128 instances is a minute; two starts with the state take a few.
  EXPECT_LT(many.loss.restarts.value() / many.failures, 120 + 60 + 2 * (150 + many.checkpoint->load.value()) + 1);
  EXPECT_GT(restart.cost().loss.restarts, 5 * many.loss.restarts);
  elastic.instances = restart.instances = 1;
  EXPECT_EQ(elastic.cost().loss.restarts, restart.cost().loss.restarts);
}

TEST(Evictions, ComeAsOftenAsStatedAndAreNotPaid) {
  LongRun run;
  run.setup.recovery.preempted_every = days(2);
  run.setup.recovery.preempted_for = hours(3);
  const RunCost cost = run.cost();
  const RunCost without = LongRun().cost();
  EXPECT_NEAR(cost.evictions / (cost.productive / days(2)), 1, 0.1);
  EXPECT_EQ(without.evictions, 0);
  EXPECT_EQ(cost.reclaims, 0);
  EXPECT_NEAR((cost.failures + cost.evictions) / cost.loss.interruptions, 1, 1e-12);
  // Three hours each go by, and nobody pays for them.
  EXPECT_GT(cost.time_to_train() - without.time_to_train(), hours(3) * (0.9 * cost.evictions));
  EXPECT_LT((cost.total() - without.total()) / without.total(), 0.01);
}

// 70B by 12 bytes, here 14: two saves and two copies of each over the instances.
TEST(MemoryTier, HoldsTheLastSaveAndTheOneUnderWayTwice) {
  EXPECT_DOUBLE_EQ(memory_for_checkpoints(Bytes(1e12), 8, false).value(), 1e12 * 4 / 8);
  EXPECT_DOUBLE_EQ(memory_for_checkpoints(Bytes(1e12), 8, true).value(), 1e12 * 4);
  EXPECT_DOUBLE_EQ(memory_for_checkpoints(Bytes(1e12), 1, false).value(), 1e12 * 2);
}

TEST(MemoryTier, SavesAtTheSpeedOfLinksAndLoadsFromANeighbour) {
  const InstanceType& type = *step_catalog().find_instance("ml.p5.48xlarge");
  const OperationFacts& facts = step_catalog().operations();
  const Bytes size(1e12);
  const CheckpointTimes async = memory_checkpoint_times(size, CheckpointMode::Async, type, 16, false, facts);
  const Seconds copy = size / (type.host_link * (16.0 * 8));
  const Seconds replicate = size / 16.0 / type.network.bandwidth_per_node;
  EXPECT_NEAR(async.stall.value(), copy.value(), 1e-9);
  EXPECT_NEAR(async.drain.value(), replicate.value(), 1e-9);
  EXPECT_NEAR(async.load.value(), (copy + replicate).value(), 1e-9);
  const CheckpointTimes sync = memory_checkpoint_times(size, CheckpointMode::Sync, type, 16, false, facts);
  EXPECT_NEAR(sync.stall.value(), (copy + replicate).value(), 1e-9);
  EXPECT_EQ(sync.drain, Seconds());
  // Alone there is no neighbour: as safe as S3, which is slower.
  const CheckpointTimes alone = memory_checkpoint_times(size, CheckpointMode::Async, type, 1, false, facts);
  EXPECT_GT(alone.drain, 10 * replicate);
}

TEST(MemoryTier, SavesMoreOftenThanS3AndLosesLess) {
  LongRun memory;
  memory.setup.checkpoint_target = CheckpointTarget::Memory;
  LongRun fsx;
  fsx.setup.checkpoint_target = CheckpointTarget::FsxLustre;
  const RunCost a = memory.cost();
  const RunCost b = fsx.cost();
  EXPECT_LT(a.loss.interval, b.loss.interval);
  EXPECT_LT(a.loss.rework + a.loss.checkpoints, b.loss.rework + b.loss.checkpoints);
  EXPECT_GT(a.durable_interval, a.loss.interval);
  EXPECT_GT(a.bill.requests, Usd());
  EXPECT_EQ(a.bill.file_system, Usd());
}

TEST(RecoveryFeatures, NamePlatformsStacksAndEachOther) {
  ASSERT_FALSE(recovery_features().empty());
  for (const RecoveryFeature& feature : recovery_features()) {
    EXPECT_FALSE(feature.platforms.empty()) << feature.name;
    for (const std::string& platform : feature.platforms) EXPECT_TRUE(platform_from(platform)) << platform;
    for (const std::string& stack : feature.stacks) EXPECT_NE(step_catalog().find_stack(stack), nullptr) << stack;
    for (const std::string& other : feature.excludes) EXPECT_NE(recovery_feature(other), nullptr) << other;
    for (const std::string& type : feature.validated) EXPECT_NE(step_catalog().find_instance(type), nullptr) << type;
    const bool known = recovery_mode_from(feature.name) || checkpoint_target_from(feature.name);
    EXPECT_TRUE(known) << feature.name << " is the value of no flag";
  }
}

}  // namespace
}  // namespace smplan
