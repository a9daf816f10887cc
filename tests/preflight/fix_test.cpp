#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using test::Json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Fixed fixed(const std::string& text, JobKind kind) {
  const Job job = read_job(text, "job", kind).value();
  return apply_fixes(text, job, check_job(job, test::shipped_catalog(), test::shipped_limits(), {})->findings).value();
}

TEST(Fix, TouchesOnlyWhatItChanges) {
  const std::string text =
      "{\n  \"ResourceConfig\": {\"InstanceType\": \"p4d.24xlarge\",   \"VolumeSizeInGB\": 400},\n"
      "  \"HyperParameters\": { \"epochs\" : 3 }\n}\n";
  EXPECT_EQ(fixed(text, JobKind::CreateTrainingJob).text,
            "{\n  \"ResourceConfig\": {\"InstanceType\": \"ml.p4d.24xlarge\"},\n"
            "  \"HyperParameters\": { \"epochs\" : \"3\" }\n}\n");
}

// Text is true for the SDK, "False" as well: what that switches on is not switched off.
TEST(Fix, QuotesNoSwitchThatIsOnByMistake) {
  const auto fixed_value = [](const std::string& argument, const std::string& value) {
    const std::string text = R"({"class": "PyTorch", ")" + argument + R"(": )" + value + "}";
    return Json::parse(fixed(text, JobKind::Estimator).text)[argument];
  };
  EXPECT_EQ(fixed_value("encrypt_inter_container_traffic", R"("true")"), Json(true));
  EXPECT_EQ(fixed_value("encrypt_inter_container_traffic", R"("false")"), Json("false"));
  EXPECT_EQ(fixed_value("instance_count", R"("2")"), Json(2));
}

TEST(Fix, MovesAMisspeltDistribution) {
  const Fixed f = fixed(R"({"class": "PyTorch", "distribution": {"smdistributed_dataparallel": {"enabled": true}}})",
                        JobKind::Estimator);
  EXPECT_EQ(Json::parse(f.text)["distribution"],
            Json::parse(R"({"smdistributed": {"dataparallel": {"enabled": true}}})"));
}

/// The fix of C046 and the distribution after --fix, for a misspelt SMDDP on a machine and an image.
std::pair<std::string, Json> corrected(const std::string& key, const Json& job) {
  Json all = job;
  all["class"] = all.value("class", "PyTorch");
  all["distribution"] = {{key, {{"enabled", true}}}};
  const std::string text = all.dump();
  for (const Finding& f : test::check_text(text, JobKind::Estimator).findings) {
    if (f.rule == "C046") return {f.fix, Json::parse(fixed(text, JobKind::Estimator).text)["distribution"]};
  }
  return {};
}

TEST(Fix, NamesSmddpOnlyWhereItWouldStart) {
  const Json torchrun = {{"torch_distributed", {{"enabled", true}}}};
  const Json smddp = {{"smdistributed", {{"dataparallel", {{"enabled", true}}}}}};
  const Json p4d = {{"instance_type", "ml.p4d.24xlarge"}, {"instance_count", 2}, {"framework_version", "2.2.0"}};
  EXPECT_EQ(corrected("smdistributed_dataparallel", p4d).second, smddp);

  Json other = p4d;
  other["instance_type"] = "ml.g5.48xlarge";
  EXPECT_EQ(corrected("smdistributed_dataparallel", other).second, torchrun);
  EXPECT_THAT(corrected("smdistributed_dataparallel", other).first, HasSubstr("no kernels for ml.g5.48xlarge"));

  other = p4d;
  other["framework_version"] = "2.4.0";
  EXPECT_EQ(corrected("dataparallel", other).second, torchrun);

  other = p4d;
  other["image_uri"] = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.4.0-gpu-py311";
  EXPECT_EQ(corrected("smdistributed_dataparallel", other).second, torchrun);
  other["image_uri"] = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.3.0-gpu-py311";
  EXPECT_EQ(corrected("smdistributed_dataparallel", other).second, smddp);
  // What an image of one's own holds is not known.
  other["image_uri"] = "111122223333.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.4.0-gpu-py311";
  EXPECT_EQ(corrected("smdistributed_dataparallel", other).second, smddp);
}

TEST(Fix, LeavesAScriptOfAnotherLibraryToItsAuthor) {
  const Json job = {{"instance_type", "ml.p5.48xlarge"}, {"instance_count", 2}, {"framework_version", "2.8.0"}};
  const auto [fix, distribution] = corrected("smdistributed_modelparallel", job);
  EXPECT_THAT(fix, HasSubstr("no image holds it for PyTorch 2.8.0"));
  EXPECT_TRUE(distribution.contains("smdistributed_modelparallel"));

  const Json tensorflow = {{"class", "TensorFlow"}, {"instance_type", "ml.p3.2xlarge"}, {"instance_count", 2}};
  EXPECT_THAT(corrected("smdistributed_dataparallel", tensorflow).first, HasSubstr("multi_worker_mirrored_strategy"));
}

TEST(Fix, AddsAMemberInTheStyleOfTheFile) {
  const std::string text = "{\n  \"class\": \"PyTorch\",\n  \"framework_version\": \"2.8.0\"\n}\n";
  EXPECT_EQ(
      fixed(text, JobKind::Estimator).text,
      "{\n  \"class\": \"PyTorch\",\n  \"framework_version\": \"2.8.0\",\n  \"debugger_hook_config\": false\n}\n");
}

// The comma that goes is the one behind the member, else the one before; blanks stay as the neighbours had them.
TEST(Fix, RemovesAMemberWithItsComma) {
  const auto removed = [](const std::string& resources) {
    return fixed("{\"ResourceConfig\": " + resources + "}", JobKind::CreateTrainingJob).text;
  };
  const std::string volume = "\"VolumeSizeInGB\": 4";
  const std::string type = "\"InstanceType\": \"ml.p4d.24xlarge\"";
  EXPECT_EQ(removed("{" + volume + ",  " + type + "}"), "{\"ResourceConfig\": {" + type + "}}");
  EXPECT_EQ(removed("{" + type + " , " + volume + "}"), "{\"ResourceConfig\": {" + type + " }}");
  EXPECT_EQ(removed("{" + type + ",\n " + volume + "\n}"), "{\"ResourceConfig\": {" + type + "\n}}");
  EXPECT_EQ(removed("{" + type + ",\n " + volume + " ,\n \"InstanceCount\": 1}"),
            "{\"ResourceConfig\": {" + type + ",\n \"InstanceCount\": 1}}");
}

TEST(Fix, OfTheOnlyMemberLeavesAnEmptyObject) {
  const std::string text = R"({"class": "PyTorch", "distribution": { "mpi": {"nonsense": 1} }})";
  EXPECT_THAT(fixed(text, JobKind::Estimator).text, HasSubstr(R"("distribution": { "mpi": {} })"));
}

TEST(Fix, SaysWhatItChanged) {
  const Fixed f =
      fixed(R"({"class": "PyTorch", "framework_version": "2.8.0", "instance_type": "p4d.24xlarge", "volume_size": 4,
                           "train_max_run": 5})",
            JobKind::Estimator);
  EXPECT_EQ(f.changes, (std::vector<std::string>{
                           "C015: set /instance_type to \"ml.p4d.24xlarge\"", "C116: removed /volume_size",
                           "C198: added \"debugger_hook_config\": false", "C038: renamed /train_max_run to max_run"}));
  EXPECT_THAT(f.left, IsEmpty());
  EXPECT_EQ(Json::parse(f.text), Json::parse(R"({"class": "PyTorch", "framework_version": "2.8.0",
      "instance_type": "ml.p4d.24xlarge", "max_run": 5, "debugger_hook_config": false})"));
}

TEST(Fix, AddsAMemberOnTheLineOfAFileOfOneLine) {
  EXPECT_EQ(fixed("\n{\"class\": \"PyTorch\",  \"framework_version\": \"2.8.0\"}", JobKind::Estimator).text,
            "\n{\"class\": \"PyTorch\",  \"framework_version\": \"2.8.0\", \"debugger_hook_config\": false}");
}

// Of two edits that meet the first is made; the other is for the next run.
TEST(Fix, MakesOneOfTwoEditsThatMeet) {
  const std::string text = R"({"zero_optimization": {"cpu_offload": true, "cpu_offload_param": false}})";
  EXPECT_EQ(fixed(text, JobKind::DeepSpeed).text,
            R"({"zero_optimization": {"offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "none"}}})");
  const Job job = read_job(text, "job", JobKind::DeepSpeed).value();
  Finding first;
  first.rule = "C001";
  first.edits = {{Edit::Kind::Set, "/zero_optimization/cpu_offload", "1"}};
  Finding second = first;
  second.rule = "C002";
  second.edits = {{Edit::Kind::Rename, "/zero_optimization/cpu_offload_param", "x"},
                  {Edit::Kind::Set, "/zero_optimization/cpu_offload", "2"}};
  Finding third = second;
  third.edits.pop_back();
  const Fixed f = apply_fixes(text, job, {first, second, third}).value();
  EXPECT_EQ(f.text, R"({"zero_optimization": {"cpu_offload": 1, "x": false}})");
  EXPECT_EQ(f.changes.size(), 2U);
}

TEST(Fix, LeavesACleanJobAlone) {
  for (const auto& [base, job] : test::rule_cases()["bases"].items()) {
    if (base == "megatron" || base == "verl") continue;
    const std::string text = test::job_text(base, job);
    const Fixed f = fixed(text, test::kind_of_base(base));
    EXPECT_EQ(f.text, text) << base;
    EXPECT_THAT(f.changes, IsEmpty());
  }
}

/// For every planted fault with an edit: what is left is JSON, the rule is quiet, and no new error appears.
TEST(Fix, RepairsWhatItClaims) {
  int repaired = 0;
  for (const Json& row : test::rule_cases()["rows"]) {
    const std::string base = row["base"];
    if (base == "megatron" || base == "verl") continue;
    Json plant = test::rule_cases()["bases"][base];
    plant.merge_patch(row["plant"]);
    const std::string text = test::job_text(base, plant);
    const JobKind kind = test::kind_of_base(base);
    const CheckOptions options = test::options_of(row, "plant");
    const Findings before = test::check_text(text, kind, options);
    const Fixed f = apply_fixes(text, read_job(text, "job", kind).value(), before.findings).value();
    if (f.changes.empty()) continue;
    ++repaired;
    ASSERT_TRUE(Json::accept(f.text)) << row["rule"] << f.text;
    const Findings after = test::check_text(f.text, kind, options);
    EXPECT_LE(after.count(Severity::Error), before.count(Severity::Error)) << row["rule"] << f.text;
    EXPECT_LT(after.findings.size(), before.findings.size()) << row["rule"] << f.text;
    // A second run finds nothing left to do.
    EXPECT_THAT(apply_fixes(f.text, read_job(f.text, "job", kind).value(), after.findings)->changes, IsEmpty())
        << row["rule"];
  }
  EXPECT_GE(repaired, 15);
}

TEST(Fix, ReplacesValuesOfYaml) {
  const std::string text =
      "# the request of July\nTrainingJobName: 'llama_1'  # by hand\nResourceConfig:\n"
      "  InstanceType: p4d.24xlarge # 8 GPUs\n  InstanceCount: \"2\"\nHyperParameters: {epochs: 3}\n";
  const Fixed f = fixed(text, JobKind::CreateTrainingJob);
  EXPECT_EQ(f.text,
            "# the request of July\nTrainingJobName: \"llama-1\"  # by hand\nResourceConfig:\n"
            "  InstanceType: \"ml.p4d.24xlarge\" # 8 GPUs\n  InstanceCount: 2\nHyperParameters: {epochs: \"3\"}\n");
  EXPECT_EQ(f.changes.size(), 4U);
}

TEST(Fix, LeavesWhatIsMoreThanAValueOfYaml) {
  const std::string text =
      "ResourceConfig: {InstanceType: ml.p4d.24xlarge, VolumeSizeInGB: 400}\n"
      "HyperParameters:\n  epochs: &n 3\n  steps: *n\n";
  const Fixed f = fixed(text, JobKind::CreateTrainingJob);
  EXPECT_EQ(f.text, text);
  EXPECT_THAT(f.left, Contains(HasSubstr("C116: /ResourceConfig/VolumeSizeInGB is left to you")));
  EXPECT_THAT(f.left, Contains(HasSubstr("/HyperParameters/epochs is left to you")));
}

TEST(Fix, FindsValuesOfYamlByTheirBytes) {
  const std::string text = "\xC3\xBC: \"\xC3\xA4\"\nResourceConfig:\r\n  InstanceType: p4d.24xlarge\r\n";
  EXPECT_THAT(fixed(text, JobKind::CreateTrainingJob).text, HasSubstr("\n  InstanceType: \"ml.p4d.24xlarge\"\r\n"));
}

TEST(Fix, FindsValuesOfToml) {
  const std::string text = "[compute]  # of SDK 3\ninstance_type = 'p4d.24xlarge' # 8 GPUs\ninstance_count = 2\n";
  const Job job = read_job(text, "job.toml", JobKind::ModelTrainer).value();
  const Findings findings = check_job(job, test::shipped_catalog(), test::shipped_limits(), {}).value();
  EXPECT_EQ(apply_fixes(text, job, findings.findings)->text,
            "[compute]  # of SDK 3\ninstance_type = \"ml.p4d.24xlarge\" # 8 GPUs\ninstance_count = 2\n");
}

TEST(Fix, RefusesArgumentLists) {
  const std::string text = "--num-layers 32\n";
  const Result<Fixed> f = apply_fixes(text, read_job(text, "job", JobKind::Megatron).value(), {});
  ASSERT_FALSE(f);
  EXPECT_EQ(f.error().front().code, "fix-arguments");
}

}  // namespace
}  // namespace smplan
