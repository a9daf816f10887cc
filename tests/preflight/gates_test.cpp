// Limits that were asked for: kept, broken, or impossible to judge, which is no pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

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

TEST(Preferences, SayWhatIsSaidOfAllOnce) {
  Json job = test::rule_cases()["bases"]["request"];
  job["StoppingCondition"]["MaxRuntimeInSeconds"] = 3'000'000;
  job["ResourceConfig"] = {
      {"InstanceCount", 2},
      {"InstancePreferences", {{{"InstanceType", "ml.p4d.24xlarge"}}, {{"InstanceType", "ml.p4de.24xlarge"}}}}};
  const std::vector<std::string> rules = test::rules_of(test::check_text(job.dump(), JobKind::CreateTrainingJob));
  EXPECT_EQ(std::count(rules.begin(), rules.end(), "C023"), 1);
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
  EXPECT_EQ(job.strategy.tensor.where.path, "src/megatron_args.txt/tensor-model-parallel-size");
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
