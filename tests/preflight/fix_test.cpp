#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using test::Json;
using ::testing::ElementsAre;
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

TEST(Fix, MovesAMisspeltDistribution) {
  const Fixed f = fixed(R"({"class": "PyTorch", "distribution": {"smdistributed_dataparallel": {"enabled": true}}})",
                        JobKind::Estimator);
  EXPECT_EQ(Json::parse(f.text)["distribution"],
            Json::parse(R"({"smdistributed": {"dataparallel": {"enabled": true}}})"));
}

TEST(Fix, AddsAMemberInTheStyleOfTheFile) {
  const std::string text = "{\n  \"class\": \"PyTorch\",\n  \"framework_version\": \"2.8.0\"\n}\n";
  EXPECT_EQ(
      fixed(text, JobKind::Estimator).text,
      "{\n  \"class\": \"PyTorch\",\n  \"framework_version\": \"2.8.0\",\n  \"debugger_hook_config\": false\n}\n");
}

TEST(Fix, LeavesACleanJobAlone) {
  for (const auto& [base, job] : test::rule_cases()["bases"].items()) {
    if (base == "megatron") continue;
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
    if (base == "megatron") continue;
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

TEST(Fix, RefusesOtherSyntaxes) {
  const std::string text = "compute_environment: LOCAL_MACHINE\n";
  const Job job = read_job(text, "job", JobKind::Accelerate).value();
  EXPECT_FALSE(apply_fixes(text, job, {}));
}

}  // namespace
}  // namespace smplan
