#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using test::Json;

Findings sample() {
  return test::check_text(test::read_test_file("samples/07_cli_smddp_bogus_fields.json"), std::nullopt);
}

TEST(JsonOutput, HasTheDocumentedForm) {
  const Json out = Json::parse(to_json(sample()));
  ASSERT_FALSE(out["findings"].empty());
  for (const Json& f : out["findings"]) {
    for (const char* key : {"rule", "severity", "path", "line", "message", "fix", "source"})
      EXPECT_TRUE(f.contains(key)) << key;
  }
  const Json& s = out["summary"];
  const std::size_t total =
      s["errors"].get<std::size_t>() + s["warnings"].get<std::size_t>() + s["infos"].get<std::size_t>();
  EXPECT_EQ(total, out["findings"].size());
  std::size_t rules = 0;
  for (const RuleFamily& family : rule_families()) rules += family.rules.size();
  EXPECT_EQ(s["rules_run"].get<std::size_t>() + s["rules_skipped"].size(), rules) << "each runs or says why not";
}

TEST(JsonOutput, HoldsThePredictionAndTheBetterPlan) {
  CheckOptions options;
  options.request.model = "llama-2-13b";
  options.request.seq_len = "4096";
  options.request.dtype = "bf16";
  options.request.stack = "ddp";
  options.request.budget = "50000";
  Findings findings =
      test::check_text(test::read_test_file("samples/20h_seed004_llama13b.json"), std::nullopt, options);
  ASSERT_TRUE(findings.prediction.has_value());
  const Plan plan = findings.prediction->plan;
  EXPECT_FALSE(Json::parse(to_json(findings))["prediction"].contains("better")) << "nothing is cheaper and faster";
  findings.prediction->better = plan;
  Plan& better = *findings.prediction->better;
  better.cost.startup += Seconds(60);
  const Json out = Json::parse(to_json(findings))["prediction"];
  EXPECT_EQ(out["instance_type"], "ml.p4d.24xlarge");
  EXPECT_EQ(out["instance_count"], 8);
  EXPECT_EQ(out["stack"], "ddp");
  EXPECT_EQ(out["fits"], false);
  EXPECT_DOUBLE_EQ(out["peak_gib"].get<double>() * 1024 * 1024 * 1024, plan.memory.wanted.value());
  EXPECT_DOUBLE_EQ(out["limit_gib"].get<double>() * 1024 * 1024 * 1024, plan.memory.limit.value());
  EXPECT_EQ(out["step_time_s"], plan.step.time().value());
  EXPECT_EQ(out["time_to_train_s"], findings.prediction->time_to_train.value());
  EXPECT_EQ(out["total_usd"], findings.prediction->cost.value());
  EXPECT_EQ(out["better"]["instance_type"], better.instance->name);
  EXPECT_EQ(out["better"]["stack"], better.stack->id);
  EXPECT_EQ(out["better"]["time_to_train_s"], better.cost.time_to_train().value());
  EXPECT_EQ(out["better"]["total_usd"], better.cost.total().value());
}

/// The members that SARIF 2.1.0 (OASIS, 2020) requires, and those that code scanning reads.
TEST(Sarif, HasTheRequiredShape) {
  const Json out = Json::parse(to_sarif(sample()));
  EXPECT_EQ(out["version"], "2.1.0");
  ASSERT_EQ(out["runs"].size(), 1U);
  const Json& run = out["runs"][0];
  const Json& rules = run["tool"]["driver"]["rules"];
  EXPECT_EQ(run["tool"]["driver"]["name"], "smplan");
  ASSERT_FALSE(run["results"].empty());
  for (const Json& result : run["results"]) {
    EXPECT_FALSE(result["message"]["text"].get<std::string>().empty());
    EXPECT_EQ(rules[result["ruleIndex"].get<std::size_t>()]["id"], result["ruleId"]);
    const std::string level = result["level"];
    EXPECT_TRUE(level == "error" || level == "warning" || level == "note") << level;
    const Json& place = result["locations"][0]["physicalLocation"];
    EXPECT_EQ(place["artifactLocation"]["uri"], "job");
    EXPECT_GE(place["region"]["startLine"].get<int>(), 1);
    EXPECT_TRUE(result["partialFingerprints"].contains("smplanRuleAndPath/v1"));
  }
}

TEST(Findings, AreTheSameEveryTime) { EXPECT_EQ(to_json(sample()), to_json(sample())); }

TEST(Findings, IgnoredOnesAreKeptApartWithTheirReason) {
  CheckOptions options;
  options.ignored = {{"C116", "/ResourceConfig/VolumeSizeInGB", "documents the need"}, {"C004", "/elsewhere", "no"}};
  const Findings findings =
      test::check_text(test::read_test_file("samples/07_cli_smddp_bogus_fields.json"), std::nullopt, options);
  ASSERT_EQ(findings.ignored.size(), 1U);
  EXPECT_EQ(findings.ignored.front().first.rule, "C116");
  EXPECT_EQ(findings.ignored.front().second, "documents the need");
}

TEST(Prediction, IsThereWithAModelAndNamesTheCure) {
  CheckOptions options;
  options.request =
      test::request_from({{"model", "llama-2-13b"}, {"seq_len", "4096"}, {"dtype", "bf16"}, {"stack", "ddp"}});
  Findings findings =
      test::check_text(test::read_test_file("samples/20h_seed004_llama13b.json"), std::nullopt, options);
  ASSERT_TRUE(findings.prediction);
  // 13.0e9 parameters x 16 bytes of states are over 190 GiB a replica.
  EXPECT_GT(in_gib(findings.prediction->plan.memory.wanted), 190);
  EXPECT_GT(findings.prediction->out_of_memory, 0.99);
  EXPECT_EQ(findings.prediction->cures.size(), 3U);
}

TEST(Prediction, InvalidFlagsAreRefused) {
  CheckOptions options;
  options.request.model = "llama-9";
  const Job job = read_job(R"({"class": "PyTorch"})", "job", std::nullopt).value();
  EXPECT_FALSE(check_job(job, test::shipped_catalog(), test::shipped_limits(), options));
}

TEST(RulesPage, IsCurrent) {
  std::ifstream in(std::string(SMPLAN_TEST_DATA) + "/../docs/checks.md");
  ASSERT_TRUE(in);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), rules_page()) << "run scripts/checks_page";
}

}  // namespace
}  // namespace smplan
