#include <algorithm>
#include <string>

#include "fixtures.hpp"
#include "planner/answer/quotas.hpp"
#include "planner/search/estimate.hpp"

// What practitioners hold for good practice, as plans must show it.

namespace smplan {
namespace {

PlanSet best_of(RequestSpec spec) {
  if (!spec.top) spec.top = "1";
  return search(test::request_of(spec), test::catalog());
}

RequestSpec spec_of(const char* model, const char* instances, const char* count) {
  RequestSpec spec;
  spec.model = model;
  spec.instances = instances;
  spec.count = count;
  spec.region = "us-east-1";
  return spec;
}

TEST(Practice, OneLargeInstanceIsFasterThanManySmallOnesWithTheSameDevices) {
  for (const char* model : {"llama-3.2-1b", "llama-3.2-3b"}) {
    const PlanSet large = best_of(spec_of(model, "ml.g6e.48xlarge", "1"));
    const PlanSet small = best_of(spec_of(model, "ml.g6e.xlarge", "8"));
    ASSERT_FALSE(large.plans.empty());
    ASSERT_FALSE(small.plans.empty());
    EXPECT_EQ(large.plans[0].gpus(), small.plans[0].gpus());
    EXPECT_LT(large.plans[0].cost.time_to_train(), small.plans[0].cost.time_to_train()) << model;
  }
}

TEST(Practice, OneLargeInstanceIsCheaperThanManySmallOnesWhereTheModelFillsIt) {
  const PlanSet large = best_of(spec_of("llama-2-7b", "ml.p4d.24xlarge", "1"));
  const PlanSet small = best_of(spec_of("llama-2-7b", "ml.g5.xlarge", "32"));
  ASSERT_FALSE(large.plans.empty());
  ASSERT_FALSE(small.plans.empty());
  EXPECT_LT(large.plans[0].cost.total(), small.plans[0].cost.total());
  EXPECT_LT(large.plans[0].cost.time_to_train(), small.plans[0].cost.time_to_train());
}

TEST(Practice, SpotWithoutCheckpointsIsRefusedForLongJobs) {
  RequestSpec spec = spec_of("llama-2-7b", "ml.p5.48xlarge", "1..8");
  spec.market = "spot";
  EXPECT_FALSE(best_of(spec).plans.empty());
  spec.checkpoint_storage = "none";
  const PlanSet refused = best_of(spec);
  EXPECT_TRUE(refused.plans.empty());
  ASSERT_TRUE(refused.nearest_miss);
  EXPECT_EQ(refused.nearest_miss->rejection.reason, RejectionReason::NoCheckpoints);
  spec.tokens = "100M";
  EXPECT_FALSE(best_of(spec).plans.empty()) << "minutes of work can be done again";
}

TEST(Practice, RecomputationAndOffloadAreUsedOnlyWhereMemoryBinds) {
  // Whatever the best plan saves memory with, the same plan without it does not fit.
  for (const auto& [model, instances, count] :
       {std::tuple("llama-2-7b", "ml.p5.48xlarge", "1"), std::tuple("llama-2-7b", "ml.p4d.24xlarge", "1..2"),
        std::tuple("llama-2-13b", "ml.p4d.24xlarge", "2,4"), std::tuple("llama-3.2-3b", "ml.g5.48xlarge", "1")}) {
    const PlanSet set = best_of(spec_of(model, instances, count));
    ASSERT_FALSE(set.plans.empty()) << model;
    const Plan& p = set.plans[0];
    Strategy lavish = p.strategy;
    lavish.recompute = Recompute::None;
    lavish.offload = Offload{};
    if (lavish == p.strategy) continue;
    const Result<Plan> without =
        evaluate(set.request, test::catalog(), *p.instance, p.instance_count, *p.stack, lavish);
    ASSERT_TRUE(without.has_value());
    const MemoryEstimate& m = without->memory;
    const bool fits = m.fits() && m.wanted <= m.limit * (1 - set.request.min_headroom);
    EXPECT_FALSE(fits && without->step.time() < p.step.time()) << model << ' ' << to_string(p.strategy);
  }
  const PlanSet roomy = best_of(spec_of("llama-3.2-1b", "ml.p5.48xlarge", "1"));
  ASSERT_FALSE(roomy.plans.empty());
  EXPECT_EQ(roomy.plans[0].strategy.recompute, Recompute::None);
  EXPECT_EQ(roomy.plans[0].strategy.offload, Offload{});
}

TEST(Practice, CertaintyCostsMoneyAndKeepsTheDeadline) {
  RequestSpec spec = spec_of("llama-2-13b", "ml.p5.48xlarge", "1..32");
  spec.deadline = "4d";
  spec.top = "10";
  spec.confidence = "50%";
  const PlanSet even = best_of(spec);
  spec.confidence.reset();
  const PlanSet certain = best_of(spec);
  ASSERT_FALSE(even.plans.empty());
  ASSERT_FALSE(certain.plans.empty());
  EXPECT_LT(even.plans[0].cost.spread.probability(days(4)), 0.9);
  for (const Plan& p : certain.plans) EXPECT_GE(p.cost.spread.probability(days(4)), 0.9) << to_string(p.strategy);
  EXPECT_GT(certain.plans[0].cost.total(), even.plans[0].cost.total());
  // The cheapest that is certain: fewer instances are not, or they cost more.
  spec.count = "1.." + std::to_string(certain.plans[0].instance_count - 1);
  for (const Plan& p : best_of(spec).plans) EXPECT_GT(p.cost.total(), certain.plans[0].cost.total());
}

TEST(Practice, LessRiskOfMemoryLeavesMoreOfItFree) {
  RequestSpec spec = spec_of("llama-2-13b", "ml.p4d.24xlarge", "4");
  double last = 1;
  for (const char* most : {"40%", "5%", "0.1%"}) {
    spec.max_oom_probability = most;
    const PlanSet set = best_of(spec);
    ASSERT_FALSE(set.plans.empty()) << most;
    EXPECT_LE(set.plans[0].out_of_memory_probability, *set.request.max_oom_probability);
    EXPECT_LE(set.plans[0].out_of_memory_probability, last);
    last = set.plans[0].out_of_memory_probability;
  }
  EXPECT_GT(best_of(spec).rejected[static_cast<std::size_t>(RejectionReason::OutOfMemoryRisk)], 0u);
}

TEST(Practice, MarketsAreRankedTogether) {
  RequestSpec spec = spec_of("llama-2-7b", "ml.p5.48xlarge", "2");
  spec.top = "300";
  spec.market = "on-demand,spot,capacity-block";
  const PlanSet mixed = best_of(spec);
  double cheapest = 1e18;
  for (const char* market : {"on-demand", "spot", "capacity-block"}) {
    spec.market = market;
    const PlanSet alone = best_of(spec);
    ASSERT_FALSE(alone.plans.empty()) << market;
    cheapest = std::min(cheapest, alone.plans[0].cost.total().value());
    const auto sold_so = [&](const Plan& p) { return to_string(p.market) == market; };
    const auto first = std::find_if(mixed.plans.begin(), mixed.plans.end(), sold_so);
    ASSERT_NE(first, mixed.plans.end()) << market;
    EXPECT_TRUE(first->same_as(alone.plans[0])) << market;
    EXPECT_EQ(first->cost.total(), alone.plans[0].cost.total()) << market;
  }
  EXPECT_EQ(mixed.plans[0].cost.total().value(), cheapest);
}

TEST(Practice, CapacityBoughtAheadTellsItsRule) {
  RequestSpec spec = spec_of("llama-2-7b", "ml.p5.48xlarge", "48");
  spec.market = "training-plan";
  const PlanSet set = best_of(spec);
  ASSERT_FALSE(set.plans.empty());
  std::string all;
  for (const std::string& warning : set.plans[0].warnings) all += warning + "\n";
  EXPECT_NE(all.find("cannot use EC2 capacity blocks"), std::string::npos) << all;
  EXPECT_GT(set.plans[0].cost.bill.idle, Usd()) << "64 instances are paid";
}

TEST(Practice, NoPlanIsLargerOrLongerThanATrainingPlanOnOffer) {
  RequestSpec spec = spec_of("llama-2-7b", "ml.p5.48xlarge", "64..65");
  spec.market = "training-plan";
  for (const Plan& p : best_of(spec).plans) EXPECT_EQ(p.instance_count, 64);
  spec.count = "65";
  const PlanSet none = best_of(spec);
  EXPECT_TRUE(none.plans.empty());
  EXPECT_GT(none.rejected[static_cast<std::size_t>(RejectionReason::TrainingPlan)], 0U);
  spec.count = "1";
  spec.tokens = "3T";  // about a year on one instance
  EXPECT_TRUE(best_of(spec).plans.empty());
  spec.market = "on-demand";
  EXPECT_FALSE(best_of(spec).plans.empty());
}

TEST(Practice, DataIsCopiedOnlyToDisksThatHoldIt) {
  RequestSpec spec = spec_of("llama-3.2-1b", "ml.p4d.24xlarge,ml.p5.48xlarge", "1");
  spec.input_mode = "file";
  spec.dataset = "12TB";  // p4d has 8 TB, p5 30
  const PlanSet set = best_of(spec);
  ASSERT_FALSE(set.plans.empty());
  EXPECT_EQ(set.plans[0].instance->name, "ml.p5.48xlarge");
  ASSERT_EQ(set.request.left_out.size(), 1u);
  EXPECT_NE(set.request.left_out[0].second.find("do not fit its disk"), std::string::npos);
  spec.dataset = "200TB";
  const Result<PlanRequest> none = resolve(spec, test::catalog(), std::nullopt);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().front().location, "--input-mode") << to_string(none.error());
}

TEST(Practice, DataThatStreamsTooSlowlyIsMounted) {
  RequestSpec spec = spec_of("llama-3.2-1b", "ml.p5.48xlarge", "1");
  spec.dataset = "5TB";
  const PlanSet tokens = best_of(spec);
  ASSERT_FALSE(tokens.plans.empty());
  EXPECT_EQ(tokens.plans[0].cost.input->mode, InputMode::FastFile);
  // 20 MB a sequence, some hundred a second: more than one instance streams from S3.
  spec.sample_size = "20MB";
  const PlanSet images = best_of(spec);
  ASSERT_FALSE(images.plans.empty());
  EXPECT_EQ(images.plans[0].cost.input->mode, InputMode::FsxLustre);
  EXPECT_EQ(images.plans[0].cost.input->reason, InputReason::KeepsFed);
  EXPECT_TRUE(images.plans[0].cost.input->keeps_fed());
}

TEST(Practice, ATrainingPlanStaysPaidAndIsExtended) {
  RequestSpec spec = spec_of("llama-2-7b", "ml.p5.48xlarge", "4");
  spec.market = "training-plan";
  spec.tokens = "100B";
  const PlanSet set = best_of(spec);
  ASSERT_FALSE(set.plans.empty());
  const Plan& p = set.plans[0];
  const RunCost& c = p.cost;
  EXPECT_GE(c.reserved, c.time_to_train());
  EXPECT_LT(c.reserved, c.time_to_train() + days(1.1));
  EXPECT_NEAR(c.bill.compute.value() + c.bill.startup.value() + c.bill.checkpoints.value() + c.bill.rework.value() +
                  c.bill.restarts.value() + c.bill.idle.value(),
              (p.price->rate * 4.0 * c.reserved).value(), 1e-6 * c.total().value());
  // A run that ends sooner costs what was bought: only the price itself may be lower.
  const double sooner = c.spread.at(0.1) / c.time_to_train();
  EXPECT_LT(sooner, 0.9);
  EXPECT_GT(c.low.value(), 0.95 * c.total().value() * (1 - 0.25)) << "the price's spread alone";
  EXPECT_GT(c.high, c.total());
  EXPECT_NE(capacity_words(p).find("days of 4 instances, paid whether used or not"), std::string::npos);
}

TEST(Practice, SpotSaysThatItMayNeverStartAndIsNotHidden) {
  RequestSpec spec = spec_of("llama-2-7b", "", "");
  spec.instances.reset();
  spec.count.reset();
  spec.market = "spot";
  spec.tokens = "100B";
  const PlanSet open = best_of(spec);
  ASSERT_FALSE(open.plans.empty());
  EXPECT_NE(capacity_words(open.plans[0]).find("may never start"), std::string::npos);
  spec.instances = "ml.p5.48xlarge";
  const PlanSet named = best_of(spec);
  ASSERT_FALSE(named.plans.empty());
  EXPECT_LE(open.plans[0].cost.total(), named.plans[0].cost.total()) << "what is named is among all";
}

TEST(Practice, AScheduleWithoutAPipelineSaysSo) {
  RequestSpec spec = spec_of("gpt2", "ml.g5.xlarge", "1");
  spec.tokens = "1B";
  spec[Dimension::Schedule] = "1f1b";
  const PlanSet set = best_of(spec);
  ASSERT_FALSE(set.plans.empty());
  std::string all;
  for (const std::string& warning : set.plans[0].warnings) all += warning + "\n";
  EXPECT_NE(all.find("--schedule has no effect"), std::string::npos) << all;
}

TEST(Practice, AFrameworkWithoutBf16TakesItsOwnFormat) {
  RequestSpec spec = spec_of("bert-large", "ml.g5.xlarge", "1");
  spec.tokens = "1B";
  spec.stack = "parameter-server";
  const auto request = resolve(spec, test::catalog(), std::nullopt);
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_EQ(request->workload.precision, Precision::Fp32);
  EXPECT_FALSE(request->precision_defaulted);
}

}  // namespace
}  // namespace smplan
