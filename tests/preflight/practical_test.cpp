// Jobs of public threads: the broken ones are found, the right ones are left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using test::Json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const Json& jobs() {
  static const Json document = Json::parse(test::read_test_file("practical.json"));
  return document["jobs"];
}

class PracticalJob : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const Json& row() const { return jobs()[GetParam()]; }
  [[nodiscard]] Findings findings() const {
    CheckOptions options;
    if (row().contains("n_gpus")) options.n_gpus = row()["n_gpus"].get<std::int64_t>();
    std::optional<JobKind> kind;
    if (row().contains("kind")) kind = job_kind_from(row()["kind"].get<std::string>());
    return test::check_text(row()["text"], kind, options);
  }
};

TEST_P(PracticalJob, IsFoundIfBrokenAndLeftAloneIfRight) {
  SCOPED_TRACE(row()["what"].get<std::string>());
  const Findings found = findings();
  if (row()["broken"].get<bool>()) {
    const std::string rule = row()["rule"];
    const auto finding =
        std::find_if(found.findings.begin(), found.findings.end(), [&](const Finding& f) { return f.rule == rule; });
    ASSERT_NE(finding, found.findings.end()) << rule;
    EXPECT_NE(finding->severity, Severity::Info);
    if (row().contains("fix")) EXPECT_THAT(finding->fix, HasSubstr(row()["fix"].get<std::string>()));
    return;
  }
  for (const Finding& f : found.findings) EXPECT_NE(f.severity, Severity::Error) << f.rule << ": " << f.message;
  if (row().contains("never")) {
    for (const Json& rule : row()["never"]) {
      EXPECT_THAT(test::rules_of(found), Not(Contains(rule.get<std::string>())));
    }
  }
  if (!row().contains("skips")) return;
  for (const Json& rule : row()["skips"]) {
    const bool skipped = std::any_of(found.skipped.begin(), found.skipped.end(),
                                     [&](const SkippedRule& s) { return s.rule == rule.get<std::string>(); });
    EXPECT_TRUE(skipped) << rule;
  }
}

INSTANTIATE_TEST_SUITE_P(All, PracticalJob, ::testing::Range<std::size_t>(0, jobs().size()));

std::vector<Finding> found_in(const Json& job) { return test::check_text(job.dump(), JobKind::Estimator).findings; }

TEST(Advice, NamesNoRetiredType) {
  for (const InstanceType& type : test::shipped_catalog().instances()) {
    if (type.support != TrainingSupport::Retired) continue;
    Json job = test::rule_cases()["bases"]["estimator"];
    job["instance_type"] = type.name;
    job["instance_count"] = 4;
    bool named = false;
    for (const Finding& f : found_in(job)) {
      named = named || f.rule == "C217";
      for (const InstanceType& other : test::shipped_catalog().instances()) {
        if (other.support != TrainingSupport::Retired || other.name == type.name) continue;
        EXPECT_EQ(f.fix.find(other.name), std::string::npos) << type.name << ": " << f.rule << ": " << f.fix;
        EXPECT_EQ(f.message.find(other.name), std::string::npos) << type.name << ": " << f.rule << ": " << f.message;
      }
    }
    EXPECT_TRUE(named) << type.name;
  }
}

TEST(Advice, WritesAShortVersionInFullAndKeepsSmddp) {
  for (const char* version : {"2.1", "2.2"}) {
    Json job = test::rule_cases()["bases"]["estimator"];
    job.erase("image_uri");
    job["framework_version"] = version;
    job["py_version"] = "py310";
    job["distribution"] = {{"smdistributed", {{"dataparallel", {{"enabled", true}}}}}};
    const std::vector<Finding> found = found_in(job);
    const auto finding = std::find_if(found.begin(), found.end(), [](const Finding& f) { return f.rule == "C082"; });
    ASSERT_NE(finding, found.end()) << version;
    EXPECT_THAT(finding->fix, HasSubstr(std::string(version) + ".0"));
    const std::string text = job.dump(1);
    const Job read = read_job(text, "job", JobKind::Estimator).value();
    const Fixed fixed = apply_fixes(text, read, found).value();
    EXPECT_THAT(fixed.text, HasSubstr("dataparallel"));
    const Findings after = test::check_text(fixed.text, JobKind::Estimator);
    EXPECT_THAT(test::rules_of(after), Not(Contains("C082")));
  }
}

TEST(Advice, OfAMisspeltSmddpKeepsIt) {
  Json job = test::rule_cases()["bases"]["estimator"];
  job.erase("image_uri");
  job["framework_version"] = "2.1";
  job["py_version"] = "py310";
  job["distribution"] = {{"smdistributed_dataparallel", {{"enabled", true}}}};
  const std::string text = job.dump(1);
  const Job read = read_job(text, "job", JobKind::Estimator).value();
  const Fixed fixed = apply_fixes(text, read, test::check_text(text, JobKind::Estimator).findings).value();
  EXPECT_THAT(fixed.text, HasSubstr("\"smdistributed\""));
}

TEST(OtherCalls, AreNamedAndRefused) {
  for (const char* text : {R"({"TrainingSessionName": "s", "RoleArn": "arn:aws:iam::111122223333:role/R"})",
                           R"({"HyperParameterTuningJobName": "t", "HyperParameterTuningJobConfig": {}})"}) {
    const Result<Job> job = read_job(text, "job.json", std::nullopt);
    ASSERT_FALSE(job);
    EXPECT_EQ(job.error().front().code, "other-call");
  }
}

}  // namespace
}  // namespace smplan
