#include "models/run/cost.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "catalogs/catalog.hpp"
#include "models/layers/layers.hpp"
#include "models/run/markets.hpp"
#include "run_simulation.hpp"
#include "tests/support/step_fixture.hpp"

namespace smplan {
namespace {

using testing::step_catalog;

StepEstimate step_of(double seconds) {
  StepEstimate step;
  step.components.compute = Seconds(seconds);
  return step;
}

Workload work_of(double tokens) {
  Workload w;
  w.architecture = step_catalog().find_model("llama-2-7b")->architecture;
  w.seq_len = 1000;
  w.global_batch = 10;
  w.tokens = tokens;
  return w;
}

const InstanceType& type_of(const char* name) { return *step_catalog().find_instance(name); }

RunSetup setup_of(Market market = Market::OnDemand) {
  return run_setup(step_catalog().operations(), market, "us-east-1");
}

RunCost cost_of(const RunSetup& setup, double step_s, double tokens, const char* instance, std::int32_t count,
                double usd_an_hour) {
  const Workload w = work_of(tokens);
  return estimate_cost(step_of(step_s), w, run_terms(setup, w, type_of(instance), count, usd_per_hour(usd_an_hour)));
}

TEST(EstimateCost, CountsWholeSteps) {
  // 10,000 tokens a step: 25,000 tokens take 3 steps of 2 s.
  EXPECT_EQ(cost_of(setup_of(), 2, 25000, "ml.p4d.24xlarge", 2, 36).productive, Seconds(6));
}

TEST(EstimateCost, InAnIdealWorldIsPriceTimesTime) {
  const RunCost cost = cost_of(RunSetup{}, 3.6, 1e7, "ml.p4d.24xlarge", 2, 10);
  // 1000 steps of 3.6 s are one hour; two instances at 10 USD an hour cost 20 USD.
  EXPECT_DOUBLE_EQ(cost.total().value(), 20);
  EXPECT_EQ(cost.goodput, 1);
}

// 10,000 sequences of 1 MB are read; 1000 steps of 2 s need 5 MB/s.
TEST(EstimateCost, WaitsForDataThatComesSlower) {
  const Workload w = work_of(1e7);
  RunTerms terms = run_terms(RunSetup{}, w, type_of("ml.p4d.24xlarge"), 1, usd_per_hour(10));
  terms.sequence_bytes = Bytes(1e6);
  const auto at = [&](double mb_per_s) {
    terms.input = InputPlan{.delivered = BytesPerSecond(mb_per_s * 1e6)};
    return estimate_cost(step_of(2), w, terms);
  };
  EXPECT_DOUBLE_EQ(at(10).productive.value(), 2000);
  EXPECT_DOUBLE_EQ(at(10).input->needed.value(), 5e6);
  EXPECT_DOUBLE_EQ(at(2.5).productive.value(), 4000);
  EXPECT_DOUBLE_EQ(at(2.5).input->needed.value(), 5e6) << "at the speed of the plan";
  EXPECT_DOUBLE_EQ(at(0).productive.value(), 2000) << "nothing is known of the source";
}

/// One instance at 10 USD an hour that is sought for 390 s, then started for 210 s.
RunTerms sought_then_started() {
  RunTerms terms = run_terms(RunSetup{}, work_of(1e7), type_of("ml.p4d.24xlarge"), 1, usd_per_hour(10));
  terms.provisioning = Seconds(390);
  terms.startup = Seconds(210);
  return terms;
}

TEST(EstimateCost, VolumesArePaidWithTheirInstancesFileSystemsFromTheBeginning) {
  RunTerms terms = sought_then_started();
  terms.volume = UsdPerSecond(1);
  terms.file_system = UsdPerSecond(2);
  terms.checkpoint_storage = UsdPerSecond(3);
  // 1000 steps of 2 s: 2210 s on instances of 2600 s in all.
  const RunCost cost = estimate_cost(step_of(2), work_of(1e7), terms);
  EXPECT_DOUBLE_EQ(cost.bill.startup.value(), 210 * 10.0 / 3600);
  EXPECT_DOUBLE_EQ(cost.bill.volume.value(), 2210);
  EXPECT_DOUBLE_EQ(cost.bill.file_system.value(), 2 * 2600);
  EXPECT_DOUBLE_EQ(cost.bill.checkpoint_storage.value(), 3 * 2600);
}

TEST(CapacityBlock, HoldsARunOfADayLessTheLastHalfHourAndTheSearchForInstances) {
  RunTerms terms = sought_then_started();
  terms.market = Market::CapacityBlock;
  terms.plan_reclaim = Seconds(1800);
  // A day without its last half hour has 84,600 s: 84,510 s on instances fit, though the run takes 84,900.
  const RunCost cost = estimate_cost(step_of(2), work_of(84300 / 2 * 1e4), terms);
  EXPECT_DOUBLE_EQ(cost.time_to_train().value(), 84900);
  EXPECT_NEAR(cost.total().value(), 240, 1e-9);
}

TEST(EstimateCost, PartsSumToTimeAndMoney) {
  const RunCost cost = cost_of(setup_of(), 5, 1e10, "ml.p5.48xlarge", 128, 98.32);
  EXPECT_DOUBLE_EQ(
      cost.time_to_train().value(),
      (cost.productive + cost.startup + cost.loss.checkpoints + cost.loss.rework + cost.loss.restarts).value());
  EXPECT_DOUBLE_EQ(cost.goodput, cost.productive / cost.time_to_train());
  Usd sum;
  for (const BillPart& part : bill_parts()) sum += cost.bill.*part.amount;
  EXPECT_DOUBLE_EQ(sum.value(), cost.total().value());
  // Instances are paid from their start to the end of the run.
  const Usd instances = cost.hourly * (cost.time_to_train() - cost.provisioning);
  const Bill& b = cost.bill;
  EXPECT_DOUBLE_EQ((b.compute + b.startup + b.checkpoints + b.rework + b.restarts).value(), instances.value());
  EXPECT_GT(b.checkpoint_storage + b.requests, Usd());
  EXPECT_LT(b.checkpoint_storage + b.requests, 0.01 * instances);
}

TEST(EstimateCost, MoreInstancesLoseMoreToFailures) {
  double last = 0;
  for (const std::int32_t count : {1, 8, 64, 512, 2048}) {
    const RunCost cost = cost_of(setup_of(), 5, 1e10, "ml.p5.48xlarge", count, 1);
    EXPECT_GT(cost.failures, last);
    EXPECT_EQ(cost.reclaims, 0);
    last = cost.failures;
  }
}

TEST(EstimateCost, TimeAndCostGrowWithTheStep) {
  // The search relies on it: within a group the fastest step is best for every goal.
  for (const Market market : {Market::OnDemand, Market::Spot, Market::CapacityBlock}) {
    for (const CheckpointTarget target : {CheckpointTarget::None, CheckpointTarget::S3, CheckpointTarget::FsxLustre}) {
      RunSetup setup = setup_of(market);
      setup.checkpoint_target = target;
      RunCost last;
      for (double step = 0.01; step < 1000; step *= 1.07) {
        const RunCost cost = cost_of(setup, step, 1e8, "ml.p4d.24xlarge", 16, 20);
        EXPECT_GE(cost.time_to_train(), last.time_to_train()) << step;
        EXPECT_GE(cost.total(), last.total()) << step;
        last = cost;
      }
    }
  }
}

TEST(EstimateCost, ScalesWithThePriceOfInstances) {
  // Without requests to pay for a save, its interval does not depend on the price.
  RunSetup setup = setup_of();
  setup.checkpoint_target = CheckpointTarget::FsxLustre;
  const RunCost once = cost_of(setup, 5, 1e10, "ml.p5.48xlarge", 8, 10);
  const RunCost twice = cost_of(setup, 5, 1e10, "ml.p5.48xlarge", 8, 20);
  EXPECT_DOUBLE_EQ(twice.bill.compute.value(), 2 * once.bill.compute.value());
  EXPECT_EQ(twice.bill.file_system, once.bill.file_system);
  EXPECT_EQ(twice.time_to_train(), once.time_to_train());
}

TEST(EstimateCost, AStartTakesThirteenMinutesAndLessOnAWarmPool) {
  RunSetup setup = setup_of();
  const RunCost cold = cost_of(setup, 1, 1e5, "ml.p4d.24xlarge", 1, 1);
  EXPECT_EQ(cold.startup, Seconds(13 * 60));
  EXPECT_EQ(cold.provisioning, Seconds(390)) << "takes time and is not billed";
  setup.warm_pool = true;
  setup.series = {10, Seconds(60)};
  const RunCost warm = cost_of(setup, 1, 1e5, "ml.p4d.24xlarge", 1, 10);
  EXPECT_NEAR((cold.startup - warm.startup).value(), 0.9 * (390 + 240 - 20), 1e-9) << "nine starts of ten are warm";
  // Nine gaps of a minute at 10 USD an hour, shared by ten jobs.
  EXPECT_NEAR(warm.bill.warm_pool.value(), 9 * 10.0 / 60 / 10, 1e-12);
}

// Llama-2-7B in 16 bits is 13.5 GB; File mode copies 50 GB in five minutes.
TEST(EstimateCost, AdaptersFetchTheirBaseAtEachStart) {
  Workload w = work_of(1e9);
  const auto terms = [&](const RunSetup& setup, std::int32_t count) {
    return run_terms(setup, w, type_of("ml.p4d.24xlarge"), count, usd_per_hour(10));
  };
  const RunTerms all = terms(setup_of(), 4);
  EXPECT_EQ(all.base_weights, Seconds()) << "training from scratch has none";
  w.finetune = FineTune::Lora;
  const RunTerms lora = terms(setup_of(), 4);
  EXPECT_NEAR(lora.base_weights.value(), 13.48 * 6, 0.1);
  EXPECT_EQ(terms(setup_of(), 64).base_weights, lora.base_weights) << "each instance by itself";
  EXPECT_NEAR((lora.startup - all.startup).value(), lora.base_weights.value(), 1e-9);
  const Seconds saved = all.checkpoint->load - lora.checkpoint->load;
  EXPECT_NEAR((lora.interruptions.restart - all.interruptions.restart + saved).value(), lora.base_weights.value(), 1e-6)
      << "and again at each restart";
  EXPECT_EQ(terms(RunSetup{}, 4).base_weights, Seconds()) << "in an ideal world";
}

TEST(EstimateCost, BaseWeightsComeFromTheFileSystemThatIsMounted) {
  Workload w = work_of(1e9);
  w.finetune = FineTune::Qlora;
  RunSetup setup = setup_of();
  setup.data = InputData{Bytes(1e12), 0, {}, InputMode::Efs, false};
  const RunTerms terms = run_terms(setup, w, type_of("ml.p4d.24xlarge"), 4, usd_per_hour(10));
  EXPECT_NEAR(terms.base_weights.value(), 13.48e9 / 0.5e9, 0.05) << "0.5 GB/s to each instance";
}

/// 80 GB of 80,000 sequences in S3, which each of 4 instances copies or all stream together.
RunTerms reading(InputMode mode, double sequences, std::int64_t files = 0, bool other_region = false) {
  RunSetup setup = setup_of();
  setup.checkpoint_target = CheckpointTarget::None;
  setup.data = InputData{Bytes(80e9), files, Bytes(1e6), mode, other_region};
  return run_terms(setup, work_of(1000 * sequences), type_of("ml.p4d.24xlarge"), 4, usd_per_hour(10));
}

// 0.0004 USD for 1000 requests of 8 MiB parts: 9537 of them hold 80 GB.
TEST(EstimateCost, PaysTheRequestsOfEveryCopyAndOfEveryEpochOfAStream) {
  constexpr double kOnce = 9537 * 0.0004 / 1000;
  EXPECT_NEAR(reading(InputMode::File, 240'000).requests_for_data.value(), 4 * kOnce, 1e-9) << "copied once, by each";
  EXPECT_NEAR(reading(InputMode::FastFile, 240'000).requests_for_data.value(), 3 * kOnce, 1e-9) << "three epochs";
  EXPECT_NEAR(reading(InputMode::Pipe, 120'000).requests_for_data.value(), 1.5 * kOnce, 1e-9);
  EXPECT_NEAR(reading(InputMode::FastFile, 40'000).requests_for_data.value(), kOnce, 1e-9) << "an epoch at least";
  EXPECT_NEAR(reading(InputMode::File, 240'000, 100'000).requests_for_data.value(), 4 * 100'000 * 0.0004 / 1000, 1e-9)
      << "a request a file";
  EXPECT_EQ(reading(InputMode::Efs, 240'000).requests_for_data, Usd());
}

// 0.02 USD a GB that leaves the bucket's region: 1.60 USD for all of it.
TEST(EstimateCost, PaysTheWayFromAnotherRegionForEveryCopyAndEveryEpochOfAStream) {
  EXPECT_EQ(reading(InputMode::FastFile, 240'000).transfer, Usd());
  EXPECT_NEAR(reading(InputMode::File, 240'000, 0, true).transfer.value(), 4 * 1.60, 1e-9);
  EXPECT_NEAR(reading(InputMode::FastFile, 240'000, 0, true).transfer.value(), 3 * 1.60, 1e-9);
  EXPECT_NEAR(reading(InputMode::FastFile, 40'000, 0, true).transfer.value(), 1.60, 1e-9);
}

TEST(EstimateCost, LowAndHighEncloseTheCost) {
  StepEstimate step = step_of(5);
  step.p10 = Seconds(4);
  step.p90 = Seconds(6.25);
  const Workload w = work_of(1e10);
  const RunCost cost = estimate_cost(step, w, run_terms(setup_of(), w, type_of("ml.p5.48xlarge"), 8, usd_per_hour(60)));
  EXPECT_LT(cost.low, cost.total());
  EXPECT_GT(cost.high, cost.total());
  // The step's own interval is a factor of 1.25; chance in failures widens it little on 64 devices.
  EXPECT_NEAR(cost.spread.at(0.9) / cost.time_to_train(), 1.25, 0.01);
  EXPECT_NEAR(cost.high / cost.total(), 1.25, 0.01);
}

struct Fleet {
  const char* name;
  Market market;
  const char* instance;
  std::int32_t count;
  double days;
  CheckpointTarget target;
  CheckpointMode mode;
};
/// Runs at the catalog's own figures of failures, reclaimed capacity, starts and storage, played event by event.
class WholeRun : public ::testing::TestWithParam<Fleet> {};

TEST_P(WholeRun, TakesWhatSimulatedRunsTakeOnTheMean) {
  const Fleet& f = GetParam();
  RunSetup setup = setup_of(f.market);
  setup.checkpoint_target = f.target;
  setup.checkpoint_mode = f.mode;
  const Workload w = work_of(f.days * 86400 / 10 * 10000);
  const RunTerms terms = run_terms(setup, w, type_of(f.instance), f.count, usd_per_hour(30));
  const RunCost cost = estimate_cost(step_of(10), w, terms);
  const test::SimulatedRuns runs =
      test::simulate_runs(cost.productive, cost.loss.interval, *cost.checkpoint, terms.interruptions, 4000);
  EXPECT_NEAR((cost.productive + cost.lost()).value(), runs.mean.value(), 0.01 * runs.mean.value());
  EXPECT_GT(cost.loss.interruptions, 0.1) << "or there is nothing to see";
}
INSTANTIATE_TEST_SUITE_P(
    Fleets, WholeRun,
    ::testing::Values(
        Fleet{"one_gpu_on_spot", Market::Spot, "ml.g5.xlarge", 1, 20, CheckpointTarget::S3, CheckpointMode::Sync},
        Fleet{"p4d_on_spot", Market::Spot, "ml.p4d.24xlarge", 16, 60, CheckpointTarget::S3, CheckpointMode::Sync},
        Fleet{"p5_in_s3", Market::OnDemand, "ml.p5.48xlarge", 128, 30, CheckpointTarget::S3, CheckpointMode::Async},
        Fleet{"p5_as_llama3", Market::OnDemand, "ml.p5.48xlarge", 2048, 54, CheckpointTarget::FsxLustre,
              CheckpointMode::Sync},
        Fleet{"p5_on_efs", Market::OnDemand, "ml.p5.48xlarge", 32, 100, CheckpointTarget::Efs, CheckpointMode::Async}),
    [](const auto& test) { return test.param.name; });

TEST(Spot, PaysNothingWhileItWaits) {
  const RunCost spot = cost_of(setup_of(Market::Spot), 5, 1e10, "ml.p5.48xlarge", 16, 20);
  // 35 % of the instances a month in us-east-1: 16 of them lose one every four days.
  const Seconds with_instances = spot.time_to_train() - spot.loss.waiting;
  EXPECT_NEAR(spot.reclaims / (with_instances / days(30)), 16 * -std::log1p(-0.35), 0.05);
  EXPECT_GT(spot.loss.waiting, Seconds());
  EXPECT_NEAR(spot.bill.restarts.value(), (spot.hourly * (spot.loss.restarts - spot.loss.waiting)).value(), 1e-6);
  const RunCost on_demand = cost_of(setup_of(), 5, 1e10, "ml.p5.48xlarge", 16, 20);
  EXPECT_GT(spot.time_to_train(), on_demand.time_to_train());
}

TEST(Spot, WithoutCheckpointsIsUnsafeBeyondAnHour) {
  RunSetup setup = setup_of(Market::Spot);
  setup.checkpoint_target = CheckpointTarget::None;
  EXPECT_FALSE(cost_of(setup, 3.5, 1e7, "ml.p4d.24xlarge", 1, 1).unsafe);
  EXPECT_TRUE(cost_of(setup, 3.7, 1e7, "ml.p4d.24xlarge", 1, 1).unsafe);
  setup.checkpoint_target = CheckpointTarget::S3;
  EXPECT_FALSE(cost_of(setup, 3.7, 1e7, "ml.p4d.24xlarge", 1, 1).unsafe);
  RunSetup kept = setup_of();
  kept.checkpoint_target = CheckpointTarget::None;
  EXPECT_FALSE(cost_of(kept, 3.7, 1e7, "ml.p4d.24xlarge", 1, 1).unsafe) << "on-demand capacity is not taken away";
}

TEST(CapacityBlock, IsPaidInWholeDaysAndBlocks) {
  // 5 h of work on 3 instances: 4 instances for a day.
  const RunCost cost = cost_of(setup_of(Market::CapacityBlock), 18, 1e7, "ml.p5.48xlarge", 3, 10);
  const Bill& b = cost.bill;
  const Usd instances = b.compute + b.startup + b.checkpoints + b.rework + b.restarts + b.idle;
  EXPECT_NEAR(instances.value(), 4 * 24 * 10, 1e-9);
  EXPECT_GT(b.idle, 0.5 * instances);
}

TEST(CapacityBlock, OfUltraServersHasNoMoreThanTheirInstances) {
  const Workload w = work_of(1e7);
  const RunSetup setup = setup_of(Market::CapacityBlock);
  EXPECT_EQ(run_terms(setup, w, type_of("ml.p6e-gb200.36xlarge"), 9, usd_per_hour(42)).paid_instances, 9);
  EXPECT_EQ(run_terms(setup, w, type_of("ml.p5.48xlarge"), 9, usd_per_hour(42)).paid_instances, 16);
}

TEST(Markets, RoundUpToWhatIsSold) {
  EXPECT_EQ(purchasable_instances(Market::OnDemand, 3), 3);
  EXPECT_EQ(purchasable_instances(Market::CapacityBlock, 1), 1);
  EXPECT_EQ(purchasable_instances(Market::CapacityBlock, 33), 64);
  EXPECT_EQ(purchasable_instances(Market::CapacityBlock, 65), 128);
  EXPECT_EQ(paid_time(Market::CapacityBlock, hours(23), Seconds(1800)), days(1));
  EXPECT_EQ(paid_time(Market::CapacityBlock, hours(23.6), Seconds(1800)), days(2)) << "gone 30 minutes early";
  EXPECT_EQ(paid_time(Market::Spot, hours(23), Seconds(1800)), hours(23));
}

TEST(CheckpointTimes, OneWriterTakesAsLongAsOneInstance) {
  const OperationFacts& facts = step_catalog().operations();
  const InstanceType& p4d = type_of("ml.p4d.24xlarge");
  const auto times = [&](std::int32_t nodes, bool one_writer) {
    return checkpoint_times(Bytes(1e11), CheckpointTarget::S3, CheckpointMode::Sync, p4d, nodes, one_writer, {}, facts);
  };
  EXPECT_EQ(times(8, true).drain, times(1, false).drain);
  EXPECT_NEAR(times(8, true).drain / times(8, false).drain, 8, 1e-9);
  EXPECT_NEAR(times(8, true).load / times(8, false).load, 8, 1e-9) << "every instance reads all of it";
  EXPECT_TRUE(save_format(Workload{}, *step_catalog().find_stack("ddp")).one_writer);
  EXPECT_FALSE(save_format(Workload{}, *step_catalog().find_stack("deepspeed")).one_writer);
}

TEST(CheckpointSize, MatchesPublishedRuns) {
  Workload w;
  const auto size_of = [&](const char* model, const char* stack = "megatron") {
    w.architecture = step_catalog().find_model(model)->architecture;
    return checkpoint_size(w, save_format(w, *step_catalog().find_stack(stack))) / Bytes(1e12);
  };
  EXPECT_NEAR(size_of("llama-2-7b", "fsdp") / size_of("llama-2-7b"), 12.0 / 14, 1e-12) << "fp32 weights are the master";
  EXPECT_NEAR(size_of("bloom-176b"), 2.3, 0.08 * 2.3);     // BLOOM-176B: 2.3 TB, 13.1 bytes a parameter
  EXPECT_NEAR(size_of("llama-3-70b"), 0.85, 0.17 * 0.85);  // NeuronX Distributed: 850 GB, 12 bytes a parameter
  w.finetune = FineTune::Lora;
  EXPECT_LT(size_of("llama-3-70b"), 0.005) << "adapters only";
}

TEST(CheckpointTimes, AreSharedByTheInstances) {
  const OperationFacts& facts = step_catalog().operations();
  const InstanceType& p4d = type_of("ml.p4d.24xlarge");
  const auto times = [&](CheckpointTarget target, CheckpointMode mode, std::int32_t nodes) {
    return checkpoint_times(Bytes(1e12), target, mode, p4d, nodes, false, Bytes(10 * kTiB), facts);
  };
  const CheckpointTimes one = times(CheckpointTarget::S3, CheckpointMode::Sync, 1);
  const CheckpointTimes ten = times(CheckpointTarget::S3, CheckpointMode::Sync, 10);
  EXPECT_NEAR(one.stall / ten.stall, 10, 1e-9);
  EXPECT_NEAR(one.drain / ten.drain, 10, 1e-9);
  // 1 TB to S3 from ten instances at 1.1 GB/s each.
  EXPECT_NEAR(ten.drain.value(), 1e12 / (10 * 1.1e9), 1e-6);
  const CheckpointTimes async = times(CheckpointTarget::S3, CheckpointMode::Async, 10);
  EXPECT_LT(async.stall, ten.stall);
  EXPECT_GE(async.drain, ten.drain);
  // 10 TiB of FSx for Lustre take 2 GB/s from however many.
  const CheckpointTimes lustre = times(CheckpointTarget::FsxLustre, CheckpointMode::Sync, 10);
  EXPECT_NEAR(lustre.stall.value(), 1e12 / 2e9, 1e-6);
  EXPECT_EQ(lustre.drain, Seconds());
}

// EFS takes 5 GiB/s and gives 60 in us-east-1, however many clients: 1 TB from 64 instances is no faster than from 11.
TEST(CheckpointTimes, OfEfsEndAtTheThroughputOfTheFileSystem) {
  const auto times = [&](std::int32_t nodes) {
    return checkpoint_times(Bytes(1e12), CheckpointTarget::Efs, CheckpointMode::Sync, type_of("ml.p4d.24xlarge"), nodes,
                            false, {}, step_catalog().operations());
  };
  EXPECT_NEAR(times(4).stall.value(), 1e12 / (4 * 0.5e9), 1e-6);
  EXPECT_NEAR(times(64).stall.value(), 1e12 / (5 * 1.073741824e9), 0.1);
  EXPECT_NEAR(times(64).load.value(), 1e12 / (64 * 0.5e9), 1e-6) << "reading ends later";
  EXPECT_NEAR(times(512).load.value(), 1e12 / (60 * 1.073741824e9), 0.01);
}

TEST(CheckpointTimes, AreNotFreeWhereTheLinkToTheHostIsUnknown) {
  const InstanceType& trainium = type_of("ml.trn1.32xlarge");
  ASSERT_EQ(trainium.host_link, BytesPerSecond());
  const CheckpointTimes async = checkpoint_times(Bytes(1e12), CheckpointTarget::S3, CheckpointMode::Async, trainium, 4,
                                                 false, Bytes(), step_catalog().operations());
  EXPECT_GT(async.stall, Seconds());
}

TEST(EstimateCost, SavesLessOftenWhereRequestsCostMoreThanTheStall) {
  // The same run on instances that cost nothing next to the requests.
  const RunCost dear = cost_of(setup_of(), 5, 1e9, "ml.p5.48xlarge", 8, 60);
  const RunCost cheap = cost_of(setup_of(), 5, 1e9, "ml.p5.48xlarge", 8, 0.01);
  EXPECT_GT(cheap.loss.interval, 2 * dear.loss.interval);
}

TEST(FileSystem, IsBoughtInStepsForCapacityAndSpeed) {
  const StorageService& lustre = *step_catalog().operations().storage("fsx-lustre");
  EXPECT_EQ(file_system_capacity(lustre, Bytes(1e9), Bytes()), gib(1200));
  EXPECT_EQ(file_system_capacity(lustre, gib(1300), Bytes()), gib(2400));
  // 240 GB in two minutes are 2 GB/s: 10 TiB at 0.2 GB/s each.
  EXPECT_EQ(file_system_capacity(lustre, Bytes(), Bytes(240e9)), gib(12000));
}

}  // namespace
}  // namespace smplan
