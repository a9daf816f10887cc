#include "planner/preflight/fallbacks.hpp"

#include <gmock/gmock.h>

#include "base/json_writer.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/answer/plan_lock.hpp"
#include "planner/search/search.hpp"
#include "tests/planner/fixtures.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using ::testing::HasSubstr;

RequestSpec two_p4d(const char* stack = "fsdp") {
  RequestSpec spec;
  spec.model = "llama-3.1-8b";
  spec.tokens = "1B";
  spec.stack = stack;
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "2";
  spec.top = "1";
  return spec;
}

Lock lock_of(const RequestSpec& spec) {
  const auto request = resolve(spec, test::catalog(), std::nullopt);
  EXPECT_TRUE(request) << to_string(request.error());
  const PlanSet set = search(*request, test::catalog());
  EXPECT_FALSE(set.plans.empty());
  return read_lock(plan_lock(set, 1), test::catalog()).value();
}

Json parsed(const Lock& lock, std::vector<InstanceChoice> choices, const char* target) {
  ExportOptions options;
  options.fallbacks = std::move(choices);
  const auto out = export_plan({lock.plan, options, test::catalog()}, target);
  EXPECT_TRUE(out) << to_string(out.error());
  for (const ExportFile& file : out->files) {
    if (file.path.ends_with(".json") && file.path.find('/') == std::string::npos) return Json::parse(file.content);
  }
  return {};
}

TEST(Fallbacks, HaveAsManyAcceleratorsAndFit) {
  const Lock lock = lock_of(two_p4d());
  const auto found = fallbacks_of(lock, test::catalog(), std::nullopt);
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_GE(found->plans.size(), 2U);
  double last = 0;
  for (const Plan& plan : found->plans) {
    EXPECT_EQ(plan.gpus(), 16) << plan.instance->name;
    EXPECT_EQ(plan.strategy, lock.plan.strategy) << plan.instance->name;
    EXPECT_NE(plan.instance->name, "ml.p4d.24xlarge");
    EXPECT_TRUE(plan.memory.fits());
    EXPECT_LE(plan.out_of_memory_probability, kDefaultOutOfMemory);
    EXPECT_EQ(plan.instance->support, TrainingSupport::OnDemand);
    EXPECT_NE(plan.price, nullptr);
    EXPECT_GE(plan.cost.total().value(), last);
    last = plan.cost.total().value();
  }
}

TEST(Fallbacks, ThatCannotTakeThePlanSayWhy) {
  const auto found = fallbacks_of(lock_of(two_p4d()), test::catalog(), std::nullopt);
  ASSERT_TRUE(found);
  const auto why = [&](std::string_view type) {
    for (const auto& [name, reason] : found->refused) {
      if (name == type) return reason;
    }
    return std::string("taken");
  };
  EXPECT_THAT(why("ml.g5.xlarge"), HasSubstr("network")) << "sixteen of them have no EFA";
  EXPECT_THAT(why("ml.p5.48xlarge"), "taken");
  EXPECT_EQ(choices_of(*found, 1).size(), 1U);
  EXPECT_EQ(choices_of(*found, 99).size(), found->plans.size());
}

TEST(Fallbacks, AreNoneOfSpotAndTrainingPlans) {
  RequestSpec spec = two_p4d();
  spec.market = "spot";
  EXPECT_THAT(to_string(fallbacks_of(lock_of(spec), test::catalog(), std::nullopt).error()), HasSubstr("spot"));
}

TEST(Fallbacks, AreWrittenInOrderWithACountOfEach) {
  const Lock lock = lock_of(two_p4d());
  const auto found = fallbacks_of(lock, test::catalog(), std::nullopt);
  const std::vector<InstanceChoice> choices = choices_of(*found, 2);
  Json request = parsed(lock, choices, "create-training-job");
  Json resources = request["ResourceConfig"];
  EXPECT_FALSE(resources.contains("InstanceType"));
  const auto& list = resources["InstancePreferences"].elements();
  ASSERT_EQ(list.size(), 3U);
  Json first = list[0];
  EXPECT_EQ(first["InstanceType"].text(), "ml.p4d.24xlarge");
  Json second = list[1];
  EXPECT_EQ(second["InstanceType"].text(), choices[0].type);
  Json trainer = parsed(lock, choices, "sagemaker-sdk-v3");
  EXPECT_EQ(trainer["compute"]["instance_preferences"].elements().size(), 3U);
  EXPECT_FALSE(trainer["distributed"].contains("process_count_per_node"));
  ExportOptions options;
  options.fallbacks = choices;
  const auto refused = export_plan({lock.plan, options, test::catalog()}, "sagemaker-sdk-v2");
  EXPECT_THAT(to_string(refused.error()), HasSubstr("no list of instance types"));
}

TEST(Fallbacks, PassTheRulesOfSuchLists) {
  const Lock lock = lock_of(two_p4d());
  const auto found = fallbacks_of(lock, test::catalog(), std::nullopt);
  const std::vector<InstanceChoice> choices = choices_of(*found, kMaxPreferences - 1);
  for (const auto& [target, kind] : {std::pair("create-training-job", JobKind::CreateTrainingJob),
                                     std::pair("sagemaker-sdk-v3", JobKind::ModelTrainer)}) {
    const Findings findings = test::check_text(parsed(lock, choices, target).dump(2), kind, {});
    EXPECT_EQ(findings.count(Severity::Error), 0) << target << '\n' << to_json(findings);
  }
}

TEST(Fallbacks, MayRunAsLongAsTheSlowestTakes) {
  const Lock lock = lock_of(two_p4d());
  const auto seconds = [&](std::vector<InstanceChoice> choices) {
    Json request = parsed(lock, std::move(choices), "create-training-job");
    return std::stoll(request["StoppingCondition"]["MaxRuntimeInSeconds"].dump());
  };
  const std::int64_t alone = seconds({});
  EXPECT_EQ(seconds({{"ml.p5.48xlarge", 2, Seconds(60), 1}}), alone) << "a faster type needs no more";
  EXPECT_GE(seconds({{"ml.g5.48xlarge", 2, Seconds(3.0 * static_cast<double>(alone)), 1}}), 3 * alone);
}

}  // namespace
}  // namespace smplan
