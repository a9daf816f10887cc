// Limits that were asked for: kept, broken, or impossible to judge, which is no pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/units.hpp"
#include "planner/export/folder.hpp"
#include "planner/preflight/beside.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

namespace fs = std::filesystem;
using test::Json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Findings check_with(const Json& job, JobKind kind, const Json& flags) {
  CheckOptions options;
  options.request = test::request_from(flags);
  return test::check_text(job.dump(), kind, options);
}

const Finding& only(const Findings& findings, std::string_view rule) {
  for (const Finding& f : findings.findings) {
    if (f.rule == rule) return f;
  }
  throw std::runtime_error("no finding of " + std::string(rule));
}

TEST(Gate, ThatCannotBeJudgedIsAnErrorThatSaysWhy) {
  const Json& request = test::rule_cases()["bases"]["request"];
  for (const auto& [flag, rule] : {std::pair("budget", "C207"), {"deadline", "C214"}}) {
    const Json limit = {{flag, std::string(flag) == "budget" ? "50000" : "30d"}};
    const Findings found = check_with(request, JobKind::CreateTrainingJob, limit);
    EXPECT_EQ(only(found, rule).severity, Severity::Error);
    EXPECT_THAT(only(found, rule).message, HasSubstr("cannot be judged: no model is given"));
  }
  const Findings hourly =
      check_with(test::rule_cases()["bases"]["accelerate"], JobKind::Accelerate, {{"max_hourly", "10"}});
  EXPECT_THAT(only(hourly, "C215").message, HasSubstr("cannot be judged"));
}

TEST(Gate, OfEpochsWithoutTheDataIsNotJudged) {
  const Json recipe = Json::parse(test::read_test_file("recipes.json"))["cases"][0]["recipe"];
  const Findings found = check_with(recipe, JobKind::HyperpodRecipe,
                                    {{"model", "llama-3.1-70b"}, {"instances", "ml.p5.48xlarge"}, {"budget", "1000"}});
  EXPECT_THAT(only(found, "C207").message, HasSubstr("5 epochs"));
  EXPECT_EQ(only(found, "C207").fix, "give --tokens");
}

TEST(Gate, OfADeadlineCountsTheConfidence) {
  const Json& request = test::rule_cases()["bases"]["request"];
  Json flags = {{"model", "llama-2-7b"}, {"stack", "fsdp"}, {"tokens", "1B"}, {"seq_len", "4096"}};
  const Findings free = check_with(request, JobKind::CreateTrainingJob, flags);
  ASSERT_TRUE(free.prediction);
  const Spread& spread = free.prediction->plan.cost.spread;
  // Between the middle and P90: done in time more likely than not, and not with 90 %.
  flags["deadline"] = std::to_string((spread.middle.value() + spread.at(0.9).value()) / 2) + "s";
  EXPECT_THAT(test::rules_of(check_with(request, JobKind::CreateTrainingJob, flags)), Contains("C214"));
  flags["confidence"] = "50%";
  EXPECT_THAT(test::rules_of(check_with(request, JobKind::CreateTrainingJob, flags)), Not(Contains("C214")));
}

TEST(Gate, LimitsThatAreNoneAreRefused) {
  const Job job = read_job(test::rule_cases()["bases"]["request"].dump(), "job", JobKind::CreateTrainingJob).value();
  for (const Json& flags : {Json{{"deadline", "soon"}}, Json{{"confidence", "90%"}}, Json{{"max_hourly", "-1"}}}) {
    CheckOptions options;
    options.request = test::request_from(flags);
    EXPECT_FALSE(check_job(job, test::shipped_catalog(), test::shipped_limits(), options)) << flags;
  }
}

TEST(TooLittleTime, IsAWarningWhereNoJobMayRunLonger) {
  Json job = test::rule_cases()["bases"]["request"];
  job["StoppingCondition"]["MaxRuntimeInSeconds"] = 28 * 86400;
  const Json flags = {{"model", "llama-2-7b"}, {"stack", "fsdp"}, {"tokens", "1T"}, {"seq_len", "4096"}};
  EXPECT_EQ(only(check_with(job, JobKind::CreateTrainingJob, flags), "C026").severity, Severity::Warning);
  job["StoppingCondition"]["MaxRuntimeInSeconds"] = 28 * 86400 - 1;
  EXPECT_EQ(only(check_with(job, JobKind::CreateTrainingJob, flags), "C026").severity, Severity::Error);
  job["StoppingCondition"]["MaxRuntimeInSeconds"] = 28 * 86400;
  job.erase("CheckpointConfig");
  EXPECT_EQ(only(check_with(job, JobKind::CreateTrainingJob, flags), "C026").severity, Severity::Error);
}

TEST(Preferences, AreJudgedOneByOne) {
  Json job = test::rule_cases()["bases"]["request"];
  job["ResourceConfig"] = {{"InstanceCount", 2},
                           {"InstancePreferences",
                            {{{"InstanceType", "ml.p4d.24xlarge"}},
                             {{"InstanceType", "ml.p5.48xlarge"}},
                             {{"InstanceType", "ml.m7i-flex.8xlarge"}}}}};
  const Findings found =
      check_with(job, JobKind::CreateTrainingJob,
                 {{"model", "llama-2-7b"}, {"stack", "fsdp"}, {"tokens", "1B"}, {"seq_len", "4096"}, {"budget", "10"}});
  ASSERT_TRUE(found.prediction);
  EXPECT_EQ(found.prediction->plan.instance->name, "ml.p4d.24xlarge");
  ASSERT_EQ(found.other_predictions.size(), 1U);
  EXPECT_EQ(found.other_predictions[0].plan.instance->name, "ml.p5.48xlarge");
  ASSERT_EQ(found.not_predicted.size(), 1U);
  EXPECT_EQ(found.not_predicted[0].first, "ml.m7i-flex.8xlarge");
  std::vector<std::string> places;
  for (const Finding& f : found.findings) {
    if (f.rule == "C207") places.push_back(f.where.path);
  }
  EXPECT_EQ(places, (std::vector<std::string>{"/ResourceConfig/InstancePreferences/0/InstanceType",
                                              "/ResourceConfig/InstancePreferences/1/InstanceType",
                                              "/ResourceConfig/InstancePreferences/2/InstanceType"}));
  EXPECT_THAT(to_json(found), HasSubstr("not_predicted"));
}

TEST(Preferences, SayOfWhichTypesNothingIsPredicted) {
  Json job = test::rule_cases()["bases"]["request"];
  const auto not_predicted = [&] {
    std::vector<std::string> types;
    for (const auto& [type, why] : test::check_text(job.dump(), JobKind::CreateTrainingJob).not_predicted) {
      types.push_back(type + ": " + why);
    }
    return types;
  };
  EXPECT_EQ(not_predicted(), std::vector<std::string>{}) << "of one type the skipped rules say it";
  job["ResourceConfig"] = {
      {"InstanceCount", 2},
      {"InstancePreferences", {{{"InstanceType", "ml.p4d.24xlarge"}}, {{"InstanceType", "<type>"}}}}};
  EXPECT_EQ(not_predicted(), (std::vector<std::string>{"ml.p4d.24xlarge: no model is given", "?: no model is given"}));
}

TEST(Preferences, SayWhatIsSaidOfAllOnce) {
  Json job = test::rule_cases()["bases"]["request"];
  job["StoppingCondition"]["MaxRuntimeInSeconds"] = 3'000'000;
  job["ResourceConfig"] = {
      {"InstanceCount", 2},
      {"InstancePreferences", {{{"InstanceType", "ml.p4d.24xlarge"}}, {{"InstanceType", "ml.p4de.24xlarge"}}}}};
  const std::vector<std::string> rules = test::rules_of(test::check_text(job.dump(), JobKind::CreateTrainingJob));
  EXPECT_EQ(std::count(rules.begin(), rules.end(), "C023"), 1);
}

// The price of the machines an hour, by the market that the job or the flag names.
TEST(HourlyPrice, IsOfAllMachinesInTheMarketOfTheJob) {
  const Catalog& catalog = test::shipped_catalog();
  const auto price = [&](const char* type, Market market) {
    return catalog.find_price(type, "us-east-1", market)->rate;
  };
  const auto said = [](const Json& patch, Json flags) {
    Json job = test::rule_cases()["bases"]["request"];
    job.merge_patch(patch);
    flags["max_hourly"] = "0.01";
    return only(check_with(job, JobKind::CreateTrainingJob, flags), "C215").message;
  };
  const UsdPerSecond p4d = price("ml.p4d.24xlarge", Market::OnDemand);
  EXPECT_EQ(said(Json::object(), Json::object()),
            "the machines cost " + format_usd_per_hour(p4d * 2.0) + ", the limit is $0.0100/h");
  const UsdPerSecond spot = price("ml.p4d.24xlarge", Market::Spot);
  const Json asks_spot = {{"EnableManagedSpotTraining", true}};
  EXPECT_THAT(said(asks_spot, Json::object()), HasSubstr("cost " + format_usd_per_hour(spot * 2.0) + ","));
  EXPECT_THAT(said(Json::object(), {{"market", "spot"}}), HasSubstr("cost " + format_usd_per_hour(spot * 2.0) + ","));
  EXPECT_THAT(said(asks_spot, {{"market", "on-demand"}}), HasSubstr("cost " + format_usd_per_hour(p4d * 2.0) + ","));
  const Json groups = {{"ResourceConfig",
                        {{"InstanceType", nullptr},
                         {"InstanceCount", nullptr},
                         {"InstanceGroups",
                          {{{"InstanceGroupName", "a"}, {"InstanceType", "ml.p4d.24xlarge"}, {"InstanceCount", 1}},
                           {{"InstanceGroupName", "b"}, {"InstanceType", "ml.g5.48xlarge"}, {"InstanceCount", 3}}}}}}};
  EXPECT_THAT(said(groups, Json::object()),
              HasSubstr("cost " + format_usd_per_hour(p4d + price("ml.g5.48xlarge", Market::OnDemand) * 3.0) + ","));
  const Json unpriced = {{"ResourceConfig", {{"InstanceType", "ml.zzz.xlarge"}}}};
  EXPECT_EQ(said(unpriced, Json::object()),
            "the limit of $0.0100/h cannot be judged: no price of ml.zzz.xlarge is known in us-east-1");
  EXPECT_THAT(said({{"ResourceConfig", {{"InstanceCount", nullptr}}}}, Json::object()),
              HasSubstr("the count of ml.p4d.24xlarge is not known"));
  EXPECT_THAT(said({{"ResourceConfig", {{"InstanceType", nullptr}}}}, Json::object()),
              HasSubstr("no instance type is given"));
}

// What instances cost while they wait for the next job.
TEST(WarmPool, IsBilledByTheSecond) {
  Json job = test::rule_cases()["bases"]["request"];
  job["ResourceConfig"]["KeepAlivePeriodInSeconds"] = 1800;
  const UsdPerSecond rate = test::shipped_catalog().find_price("ml.p4d.24xlarge", "us-east-1", Market::OnDemand)->rate;
  EXPECT_EQ(only(check_with(job, JobKind::CreateTrainingJob, {{"region", "us-east-1"}}), "C044").message,
            "idle instances are billed: 1800 s x 2 x " + format_usd_per_hour(rate) + " = " +
                format_usd(rate * Seconds(1800) * 2.0));
  Json flags = {{"model", "gpt2"}, {"stack", "ddp"}, {"tokens", "1B"}, {"region", "us-east-1"}};
  job["ResourceConfig"].erase("KeepAlivePeriodInSeconds");
  const Usd cost = check_with(job, JobKind::CreateTrainingJob, flags).prediction->cost;
  flags["budget"] = std::to_string((cost + rate * Seconds(1800)).value());  // of one instance, not of both
  EXPECT_THAT(test::rules_of(check_with(job, JobKind::CreateTrainingJob, flags)), Not(Contains("C207")));
  job["ResourceConfig"]["KeepAlivePeriodInSeconds"] = 1800;
  EXPECT_EQ(only(check_with(job, JobKind::CreateTrainingJob, flags), "C207").message,
            "predicted cost " + format_usd(cost + rate * Seconds(3600)) + ", the budget is " +
                format_usd(cost + rate * Seconds(1800)));
}

/// A folder with an export of a Megatron job, away at the end.
class ExportFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "smplan-check-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directory(folder_ / "src");
    Json job = test::rule_cases()["bases"]["estimator"];
    job["entry_point"] = "smplan_entry.py";
    job["instance_type"] = "ml.p5.48xlarge";
    job["instance_count"] = 4;
    job["hyperparameters"] = {{"seq_len", 4096}, {"micro_batch", 2}, {"dtype", "bf16"}};
    write("estimator.json", job.dump(1));
    write("src/megatron_args.txt",
          "--tensor-model-parallel-size 2\n--pipeline-model-parallel-size 1\n"
          "--context-parallel-size 1\n--sequence-parallel\n--use-distributed-optimizer\n"
          "--micro-batch-size 2\n--global-batch-size 1024\n--seq-length 4096\n--bf16\n");
    mark({"estimator.json", "src/megatron_args.txt"});
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  void mark(const std::vector<std::string>& files) const {
    Json marker = {{"schema", "smplan.export/1"}, {"files", Json::array()}};
    for (const std::string& file : files) marker["files"].push_back({{"path", file}, {"hash", "0"}});
    write(std::string(kExportMarker), marker.dump());
  }
  [[nodiscard]] Findings check(const std::string& budget) const {
    const std::string path = job_file_of(folder_.string()).value();
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    Job job = read_job(text.str(), path, std::nullopt).value();
    read_beside(job);
    CheckOptions options;
    options.request = test::request_from({{"model", "llama-2-13b"}, {"tokens", "260B"}, {"budget", budget}});
    return check_job(job, test::shipped_catalog(), test::shipped_limits(), options).value();
  }

  fs::path folder_;
};

TEST_F(ExportFolder, IsJudgedByTheSplitBesideTheJob) {
  const Findings over = check("50000");
  ASSERT_TRUE(over.prediction);
  EXPECT_EQ(over.prediction->plan.stack->id, "megatron");
  EXPECT_EQ(over.prediction->plan.strategy.tensor_parallel, 2);
  EXPECT_THAT(only(over, "C207").message, HasSubstr("predicted cost"));
  EXPECT_THAT(test::rules_of(check("500000")), Not(Contains("C207")));
}

TEST_F(ExportFolder, WithoutItsMarkerTheSplitIsFoundByItsName) {
  fs::remove(folder_ / kExportMarker);
  Job job = read_job(test::rule_cases()["bases"]["estimator"].dump(), (folder_ / "estimator.json").string(),
                     JobKind::Estimator)
                .value();
  read_beside(job);
  EXPECT_TRUE(job.strategy.tensor.is(std::int64_t{2}));
  EXPECT_EQ(job.strategy.tensor.where.name(), "src/megatron_args.txt/tensor-model-parallel-size");
}

/// The strategy of the estimator beside what stands in the folder.
JobStrategy beside(const fs::path& folder, const Json& more = Json::object()) {
  Json estimator = test::rule_cases()["bases"]["estimator"];
  estimator.merge_patch(more);
  Job job = read_job(estimator.dump(), (folder / "estimator.json").string(), JobKind::Estimator).value();
  read_beside(job);
  return job.strategy;
}

TEST_F(ExportFolder, StatesItsSplitWithThePlaceOfEachPart) {
  const JobStrategy s = beside(folder_);
  EXPECT_TRUE(s.stack.is("megatron"));
  EXPECT_EQ(s.stack.where.name(), "src/megatron_args.txt");
  EXPECT_TRUE(s.global_batch.is(std::int64_t{1024}));
  EXPECT_EQ(s.global_batch.where, (Where{"/global-batch-size", 7, "src/megatron_args.txt"}));
  EXPECT_TRUE(s.sharding.is("zero1"));
  EXPECT_TRUE(s.sequence_parallel.is(true));
  EXPECT_FALSE(s.experts.stated);
}

TEST_F(ExportFolder, LeavesWhatTheJobItselfSays) {
  const JobStrategy s = beside(folder_, {{"hyperparameters", {{"tensor_parallel_degree", 4}}}});
  EXPECT_TRUE(s.tensor.is(std::int64_t{4}));
  EXPECT_EQ(s.tensor.where.path, "/hyperparameters/tensor_parallel_degree");
  EXPECT_TRUE(s.pipeline.is(std::int64_t{1})) << "and takes the rest";
}

TEST_F(ExportFolder, WithoutItsMarkerIsSearchedInTheFolderOfTheScript) {
  fs::remove(folder_ / kExportMarker);
  fs::create_directory(folder_ / "code");
  write("code/torchtitan.toml", "[parallelism]\ntensor_parallel_degree = 8\n");
  EXPECT_TRUE(beside(folder_).tensor.is(std::int64_t{2}));
  EXPECT_TRUE(beside(folder_, {{"source_dir", "code"}}).tensor.is(std::int64_t{8}));
  EXPECT_TRUE(
      beside(folder_, {{"source_dir", nullptr}, {"source_code", {{"source_dir", "code"}}}}).tensor.is(std::int64_t{8}));
  for (const char* outside : {"../code", "/code", "s3://b/code", "none"}) {
    EXPECT_FALSE(beside(folder_, {{"source_dir", outside}}).tensor.stated) << outside;
  }
}

TEST_F(ExportFolder, OfNeuronSaysItsOwnSettings) {
  write("src/neuronx_config.json",
        R"({"tensor_parallel_size": 8, "pipeline_parallel_size": 2, "context_parallel_size": 4,
      "pipeline_config": {"virtual_pipeline_size": 3}, "sequence_parallel": true,
      "optimizer_config": {"zero_one_enabled": true}, "activation_checkpoint_config": "full"})");
  mark({"estimator.json", "src/neuronx_config.json"});
  const JobStrategy s = beside(folder_);
  EXPECT_TRUE(s.stack.is("neuron"));
  EXPECT_TRUE(s.tensor.is(std::int64_t{8}));
  EXPECT_TRUE(s.pipeline.is(std::int64_t{2}));
  EXPECT_TRUE(s.virtual_pipeline.is(std::int64_t{3}));
  EXPECT_TRUE(s.context.is(std::int64_t{4}));
  EXPECT_TRUE(s.sequence_parallel.is(true));
  EXPECT_TRUE(s.sharding.is("zero1"));
  EXPECT_TRUE(s.recompute.is("full"));
  write("src/neuronx_config.json", R"({"tensor_parallel_size": 8, "optimizer_config": {"zero_one_enabled": false}})");
  EXPECT_TRUE(beside(folder_).sharding.is("none"));
  EXPECT_TRUE(beside(folder_).recompute.is("none"));
  write("src/neuronx_config.json", "{");
  EXPECT_FALSE(beside(folder_).tensor.stated);
}

TEST_F(ExportFolder, IsReadForADeepSpeedFileAndForNoOtherFormat) {
  write("src/ds_config.json", R"({"train_batch_size": 8, "zero_optimization": {"stage": 2}})");
  mark({"estimator.json", "src/ds_config.json"});
  EXPECT_TRUE(beside(folder_).stack.is("deepspeed"));
  EXPECT_TRUE(beside(folder_).zero_stage.is(std::int64_t{2}));
  write("src/ds_config.json", R"({"num_machines": 8, "num_processes": 2})");
  EXPECT_FALSE(beside(folder_).stack.stated);
  write("src/ds_config.json", "{");
  EXPECT_FALSE(beside(folder_).stack.stated);
}

TEST_F(ExportFolder, NamesItsJobInTheOrderOfTheFormats) {
  mark({"src/megatron_args.txt", "jobs/recipe.yaml"});
  EXPECT_EQ(job_file_of(folder_.string()).value(), (folder_ / "jobs/recipe.yaml").string());
  mark({"accelerate.yaml", "src/megatron_args.txt"});
  EXPECT_EQ(job_file_of(folder_.string()).value(), (folder_ / "src/megatron_args.txt").string());
  mark({"README.md"});
  EXPECT_EQ(job_file_of(folder_.string()).error().front().code, "no-job");
  write(std::string(kExportMarker), "{");
  EXPECT_EQ(job_file_of(folder_.string()).error().front().code, "no-export");
}

TEST_F(ExportFolder, ThatLostItsSplitIsNotJudged) {
  fs::remove(folder_ / "src/megatron_args.txt");
  EXPECT_THAT(only(check("50000"), "C207").message, HasSubstr("cannot be judged"));
}

TEST_F(ExportFolder, OfAnotherHandIsRefused) {
  mark({"../elsewhere/estimator.json", "/etc/estimator.json"});
  EXPECT_FALSE(job_file_of(folder_.string()));
  fs::remove(folder_ / kExportMarker);
  const Result<std::string> file = job_file_of(folder_.string());
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().front().code, "no-export");
  EXPECT_EQ(job_file_of("job.json").value(), "job.json");
}

}  // namespace
}  // namespace smplan
