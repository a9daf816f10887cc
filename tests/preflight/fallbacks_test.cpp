#include "planner/preflight/fallbacks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "base/json_writer.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/answer/plan_lock.hpp"
#include "planner/preflight/check_cache.hpp"
#include "planner/preflight/job_folder.hpp"
#include "planner/search/search.hpp"
#include "tests/planner/fixtures.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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

std::string lock_text(const RequestSpec& spec, const Catalog& catalog = test::catalog()) {
  const auto request = resolve(spec, catalog, std::nullopt);
  EXPECT_TRUE(request) << to_string(request.error());
  const PlanSet set = search(*request, catalog);
  EXPECT_FALSE(set.plans.empty());
  return plan_lock(set, 1);
}

Lock lock_of(const RequestSpec& spec) { return read_lock(lock_text(spec), test::catalog()).value(); }

/// Why this type is not taken in the place of the plan; `taken` where it is.
std::string why_not(const Fallbacks& found, std::string_view type) {
  for (const auto& [name, reason] : found.refused) {
    if (name == type) return reason;
  }
  return "taken";
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
  const auto why = [&](std::string_view type) { return why_not(*found, type); };
  EXPECT_THAT(why("ml.g5.xlarge"), HasSubstr("network")) << "sixteen of them have no EFA";
  EXPECT_THAT(why("ml.p5.48xlarge"), "taken");
  EXPECT_EQ(choices_of(*found, 1).size(), 1U);
  EXPECT_EQ(choices_of(*found, 99).size(), found->plans.size());
}

TEST(Fallbacks, KeepWhatThePlanHadToKeep) {
  const auto with = [](std::optional<std::string> RequestSpec::*goal, const char* value) {
    RequestSpec spec = two_p4d();
    spec.instances = "ml.p5.48xlarge";
    spec.*goal = value;
    return fallbacks_of(lock_of(spec), test::catalog(), std::nullopt).value();
  };
  const Fallbacks late = with(&RequestSpec::deadline, "5h");
  EXPECT_EQ(why_not(late, "ml.p5en.48xlarge"), "taken");
  EXPECT_THAT(why_not(late, "ml.p4de.24xlarge"), HasSubstr("the deadline is 5.00 h, to be kept with 90.0%"));
  EXPECT_THAT(late.refused.front().second, HasSubstr("deadline")) << "first those that only a goal leaves out";
  EXPECT_THAT(why_not(with(&RequestSpec::budget, "400"), "ml.p4de.24xlarge"), HasSubstr("the budget is $400"));
  EXPECT_THAT(why_not(with(&RequestSpec::max_hourly, "130"), "ml.p5en.48xlarge"), HasSubstr("the limit is $130/h"));
  EXPECT_EQ(why_not(with(&RequestSpec::max_hourly, "130"), "ml.p4de.24xlarge"), "taken");
}

TEST(Fallbacks, RunNoLongerThanOneJobMay) {
  RequestSpec spec = two_p4d();
  spec.instances = "ml.p5.48xlarge";
  spec.tokens = "150B";
  const auto found = fallbacks_of(lock_of(spec), test::catalog(), std::nullopt);
  EXPECT_EQ(why_not(*found, "ml.p5en.48xlarge"), "taken");
  EXPECT_THAT(why_not(*found, "ml.p4de.24xlarge"), HasSubstr("one training job runs for 28 days at most"));
  spec.tokens = "1T";
  EXPECT_EQ(why_not(*fallbacks_of(lock_of(spec), test::catalog(), std::nullopt), "ml.p4de.24xlarge"), "taken")
      << "the plan itself is several jobs in a row";
}

TEST(Fallbacks, KnowThatThePlanHadOtherPrices) {
  Catalog own = Catalog::shipped().value();
  const auto overlay = parse_json(R"({"schema": "smplan.catalog/1", "prices": [{"instance": "ml.p5.48xlarge",
      "region": "us-east-1", "market": "on-demand", "usd_per_hour": 20, "basis": "measured", "source": "a contract",
      "as_of": "2026-09-01"}]})",
                                  "own.json");
  ASSERT_TRUE(own.merge(*overlay));
  RequestSpec spec = two_p4d();
  spec.budget = "3000";
  const std::string text = lock_text(spec, own);
  const Lock same = read_lock(text, own).value();
  EXPECT_FALSE(same.other_facts);
  EXPECT_TRUE(same.goals.budget);
  const Lock other = read_lock(text, test::catalog()).value();
  EXPECT_TRUE(other.other_facts);
  EXPECT_FALSE(other.goals.budget) << "other prices judge no money";
}

/// What is said of the plan's own request in a folder with this plan file, by rules of limits.
std::vector<std::string> broken_limits(const Lock& lock, std::string text, const RequestSpec& flags = {}) {
  const auto out = export_plan({lock.plan, ExportOptions{}, test::catalog()}, "create-training-job");
  Job job = read_job(out->files.front().content, "create_training_job.json", JobKind::CreateTrainingJob).value();
  auto folder = std::make_shared<JobFolder>();
  folder->lock = std::move(text);
  folder->files.push_back({"create_training_job.json", job});
  job.folder = std::move(folder);
  CheckOptions options;
  options.request = flags;
  std::vector<std::string> said;
  const Result<Findings> findings = check_job(job, test::catalog(), test::shipped_limits(), options);
  for (const Finding& f : findings->findings) {
    if (f.rule == "C207" || f.rule == "C214" || f.rule == "C215") said.push_back(f.rule + " " + f.message);
  }
  return said;
}

TEST(PlanBesideAJob, HoldsItToWhatThePlanHadToKeep) {
  RequestSpec spec = two_p4d();
  spec.deadline = "12h";
  spec.budget = "500";
  spec.max_hourly = "100";
  const std::string text = lock_text(spec);
  const Lock lock = read_lock(text, test::catalog()).value();
  EXPECT_THAT(broken_limits(lock, text), IsEmpty()) << "as it was planned";
  Json plan = Json::parse(text);
  const auto with = [&](std::string_view goal, Json value) {
    Json changed = plan;
    changed["request"][std::string(goal)] = std::move(value);
    return changed.dump();
  };
  EXPECT_THAT(broken_limits(lock, with("deadline_s", 3600)), ElementsAre(HasSubstr("60.0 min (of plan.json)")));
  EXPECT_THAT(broken_limits(lock, with("budget_usd", 10)), ElementsAre(HasSubstr("$10.0 (of plan.json)")));
  EXPECT_THAT(broken_limits(lock, with("max_hourly_usd", 1)), ElementsAre(HasSubstr("$1.00/h (of plan.json)")));
  EXPECT_THAT(broken_limits(lock, with("deadline_at", "2001-01-01T00:00:00+00:00")), ElementsAre(HasSubstr("C214")))
      << "a day is counted from now";
  RequestSpec flags;
  flags.deadline = "10d";
  EXPECT_THAT(broken_limits(lock, with("deadline_s", 3600), flags), IsEmpty()) << "a flag goes before the plan";
  EXPECT_THAT(broken_limits(lock, with("overlays", "0123456789abcdef")), IsEmpty());
  Json other = Json::parse(with("overlays", "0123456789abcdef"));
  other["request"]["budget_usd"] = 10;
  EXPECT_THAT(broken_limits(lock, other.dump()), IsEmpty()) << "it had other prices";
}

TEST(JobsOfOneCall, AreJudgedAlikeWithWhatOthersFoundOut) {
  const auto job = [](const char* type, int count) {
    Json request = Json::parse(test::rule_cases()["bases"]["request"].dump());
    request["ResourceConfig"]["InstanceType"] = type;
    request["ResourceConfig"]["InstanceCount"] = count;
    return read_job(request.dump(), "job.json", JobKind::CreateTrainingJob).value();
  };
  CheckOptions alone;
  alone.request.model = "llama-3.1-8b";
  alone.request.stack = "fsdp";
  alone.request.tokens = "1B";
  CheckOptions shared = alone;
  shared.cache = std::make_shared<CheckCache>();
  for (const auto& [type, count] : {std::pair("ml.p4d.24xlarge", 2),
                                    {"ml.p5.48xlarge", 1},
                                    {"ml.p4d.24xlarge", 2},
                                    {"ml.p4d.24xlarge", 4},
                                    {"ml.g5.48xlarge", 1}}) {
    const Job one = job(type, count);
    EXPECT_EQ(to_json(check_job(one, test::catalog(), test::shipped_limits(), shared).value()),
              to_json(check_job(one, test::catalog(), test::shipped_limits(), alone).value()))
        << type << " x " << count;
  }
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

TEST(Fallbacks, SayWhichClientsTakeThem) {
  const Lock lock = lock_of(two_p4d());
  const auto exported = [&](const char* target, std::vector<InstanceChoice> choices) {
    ExportOptions options;
    options.fallbacks = std::move(choices);
    return export_plan({lock.plan, options, test::catalog()}, target).value();
  };
  const std::vector<InstanceChoice> one = {{"ml.p5.48xlarge", 2, Seconds(60), 1}};
  EXPECT_THAT(exported("create-training-job", one).notes, Contains(HasSubstr("botocore 1.43.90 or later")));
  EXPECT_THAT(exported("create-training-job", {}).notes, Each(Not(HasSubstr("botocore"))));
  const Export trainer = exported("sagemaker-sdk-v3", one);
  EXPECT_THAT(trainer.notes, Contains(HasSubstr("sagemaker 3.22 or later")));
  EXPECT_THAT(trainer.files.front().content, HasSubstr("'sagemaker>=3.22,<4'"));
  EXPECT_THAT(exported("sagemaker-sdk-v3", {}).files.front().content, HasSubstr("'sagemaker>=3.20,<4'"));
}

TEST(Fallbacks, NeedAQuotaOfEachType) {
  const Lock lock = lock_of(two_p4d());
  ExportOptions options;
  options.fallbacks = {{"ml.p5.48xlarge", 2, Seconds(60), 1}, {"ml.g7e.24xlarge", 40, Seconds(60), 1}};
  const auto out = export_plan({lock.plan, options, test::catalog()}, "create-training-job");
  const std::string notes = fmt::format("{}", fmt::join(out->notes, "\n"));
  EXPECT_THAT(notes, HasSubstr("\"ml.p4d.24xlarge for training job usage\" of 2"));
  EXPECT_THAT(notes, HasSubstr("\"ml.p5.48xlarge for training job usage\" of 2"));
  EXPECT_THAT(notes, HasSubstr("\"ml.g7e.24xlarge for training job usage\" of 40"));
  EXPECT_THAT(notes, HasSubstr("of 40, a new account has 20"));
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
