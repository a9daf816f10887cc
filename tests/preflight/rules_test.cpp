#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using test::Json;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> all_rule_ids() {
  std::vector<std::string> ids;
  for (const RuleFamily& family : rule_families()) {
    for (const Rule& rule : family.rules) ids.emplace_back(rule.id);
  }
  return ids;
}

TEST(RuleTable, HoldsEveryRuleOnce) {
  std::vector<std::string> ids = all_rule_ids();
  std::sort(ids.begin(), ids.end());
  std::vector<std::string> expected;
  for (std::size_t i = 1; i <= ids.size(); ++i) expected.push_back("C" + std::to_string(1000 + i).substr(1));
  EXPECT_EQ(ids, expected);
}

TEST(RuleTable, SaysWhatAndWhyAndWhatToDo) {
  for (const RuleFamily& family : rule_families()) {
    for (const Rule& rule : family.rules) {
      EXPECT_FALSE(rule.title.empty() || rule.condition.empty() || rule.message.empty() || rule.fix.empty() ||
                   rule.source.empty())
          << rule.id;
      EXPECT_NE(rule.kinds, 0U) << rule.id;
    }
  }
}

TEST(RuleCases, CoverEveryRule) {
  std::set<std::string> covered;
  for (const Json& row : test::rule_cases()["rows"]) covered.insert(row["rule"].get<std::string>());
  for (const RuleFamily& family : rule_families()) {
    for (const Rule& rule : family.rules) {
      // What takes several files is in job_folder_test.cpp and nemo_rl_test.cpp, directives of scripts in
      // scripts_test.cpp.
      if (rule.id == "C248") continue;
      if (rule.need.kind == Need::Folder || rule.need.kind == Need::Files || rule.need.kind == Need::Lock) continue;
      EXPECT_TRUE(covered.count(std::string(rule.id)) == 1) << rule.id << " has no pair of jobs";
    }
  }
}

TEST(CleanJobs, HaveNoFindings) {
  for (const auto& [base, job] : test::rule_cases()["bases"].items()) {
    const Findings findings = test::check_text(test::job_text(base, job), test::kind_of_base(base));
    EXPECT_THAT(test::rules_of(findings), IsEmpty()) << base;
  }
}

TEST(CleanJobs, AreRecognised) {
  for (const auto& [base, job] : test::rule_cases()["bases"].items()) {
    if (base == "torchtitan") continue;  // TOML is told by its syntax, and this one stands as JSON
    const Result<Job> read = read_job(test::job_text(base, job), "job", std::nullopt);
    ASSERT_TRUE(read) << base;
    EXPECT_EQ(read->kind, test::kind_of_base(base)) << base;
  }
}

class RulePair : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RulePair, FindsTheFaultAndSparesTheNeighbour) {
  const Json& row = test::rule_cases()["rows"][GetParam()];
  const std::string rule = row["rule"];
  const std::string base = row["base"];
  for (const std::string which : {"plant", "neighbour"}) {
    Json job = test::rule_cases()["bases"][base];
    job.merge_patch(row[which]);
    const Findings findings =
        test::check_text(test::job_text(base, job), test::kind_of_base(base), test::options_of(row, which));
    if (which == "plant") {
      EXPECT_THAT(test::rules_of(findings), Contains(rule));
    } else {
      EXPECT_THAT(test::rules_of(findings), Not(Contains(rule)));
    }
    EXPECT_EQ(findings.rules_run + static_cast<int>(findings.skipped.size()), static_cast<int>(all_rule_ids().size()));
    for (const Finding& f : findings.findings) {
      EXPECT_FALSE(f.message.empty() || f.fix.empty() || f.source.empty()) << f.rule;
      EXPECT_EQ(f.message.find("{}"), std::string::npos) << f.rule << ": " << f.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RulePair, ::testing::Range<std::size_t>(0, test::rule_cases()["rows"].size()),
                         [](const auto& info) {
                           const Json& rows = test::rule_cases()["rows"];
                           std::size_t before = 0;  // pairs of the same rule
                           while (before < info.param &&
                                  rows[info.param - before - 1]["rule"] == rows[info.param]["rule"]) {
                             ++before;
                           }
                           const std::string rule = rows[info.param]["rule"];
                           return before == 0 ? rule : rule + "_" + std::to_string(before + 1);
                         });

TEST(WrongTypes, AreSaidWhereTheyStand) {
  Json job = test::rule_cases()["bases"]["estimator"];
  job["distribution"] = "torch_distributed";
  std::vector<std::string> said;
  for (const Finding& f : test::check_text(job.dump(), JobKind::Estimator).findings) {
    said.push_back(f.rule + ' ' + f.where.path);
  }
  EXPECT_EQ(said, std::vector<std::string>{"C004 /distribution"});
}

TEST(WrongTypes, OfDeepSpeedsSectionsSparePlaceholdersAndTheOldForm) {
  Json job = test::rule_cases()["bases"]["deepspeed"];
  const auto found = [&](const char* section, const Json& value) {
    Json changed = job;
    changed[section] = value;
    return test::rules_of(test::check_text(changed.dump(), JobKind::DeepSpeed));
  };
  EXPECT_THAT(found("bf16", true), Contains("C004"));
  EXPECT_THAT(found("bf16", "<bf16>"), Not(Contains("C004")));
  EXPECT_THAT(found("zero_optimization", true), Not(Contains("C004")));
  EXPECT_THAT(found("zero_optimization", 3), Contains("C004"));
}

TEST(Samples, GiveTheirExpectedFindings) {
  const Json expected = Json::parse(test::read_test_file("samples/expected.json"));
  ASSERT_EQ(expected.size(), 13U);
  for (const Json& sample : expected) {
    CheckOptions options;
    const std::string flags = sample["flags"];
    if (!flags.empty()) {
      // The one sample with flags: --model llama-2-13b --seq-len 4096 --dtype bf16 --stack ddp.
      ASSERT_EQ(flags, "--model llama-2-13b --seq-len 4096 --dtype bf16 --stack ddp");
      options.request =
          test::request_from({{"model", "llama-2-13b"}, {"seq_len", "4096"}, {"dtype", "bf16"}, {"stack", "ddp"}});
    }
    const std::string text = test::read_test_file("samples/" + sample["file"].get<std::string>());
    const Findings findings = test::check_text(text, std::nullopt, options);
    EXPECT_EQ(to_string(findings.kind), sample["kind"].get<std::string>()) << sample["id"];
    for (const Json& rule : sample["must"]) {
      EXPECT_THAT(test::rules_of(findings), Contains(rule.get<std::string>())) << sample["id"];
    }
  }
}

}  // namespace
}  // namespace smplan
