#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

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

TEST(JsonOutput, SaysWhereAndWhatOfEachFinding) {
  const Findings found = test::check_text("{\n\"class\": \"PyTorch\",\n\"max_wait\": 5\n}", JobKind::Estimator);
  const Json all = Json::parse(to_json(found))["findings"];
  const auto row = std::find_if(all.begin(), all.end(), [](const Json& f) { return f["rule"] == "C029"; });
  ASSERT_NE(row, all.end());
  EXPECT_EQ((*row)["severity"], "error");
  EXPECT_EQ((*row)["path"], "/max_wait");
  EXPECT_EQ((*row)["line"], 3);
  EXPECT_EQ((*row)["fix"], find_rule("C029")->fix);
  EXPECT_EQ((*row)["source"], find_rule("C029")->source);
  Findings nowhere = found;
  nowhere.findings.front().where.line = 0;
  EXPECT_TRUE(Json::parse(to_json(nowhere))["findings"][0]["line"].is_null());
}

TEST(JsonOutput, HoldsWhatIsIgnoredWithItsReason) {
  CheckOptions options;
  options.ignored = {{"C116", "", "documents the need"}};
  const Json out = Json::parse(
      to_json(test::check_text(test::read_test_file("samples/07_cli_smddp_bogus_fields.json"), std::nullopt, options)));
  ASSERT_EQ(out["ignored"].size(), 1U);
  EXPECT_EQ(out["ignored"][0]["rule"], "C116");
  EXPECT_EQ(out["ignored"][0]["ignored_because"], "documents the need");
  EXPECT_FALSE(Json::parse(to_json(sample())).contains("ignored"));
}

TEST(JsonOutput, OfALengthThatIsNotKnownHasNoTimeAndNoMoney) {
  CheckOptions options;
  options.request =
      test::request_from({{"model", "llama-3.1-8b"}, {"instances", "ml.p5.48xlarge"}, {"region", "ap-south-1"}});
  Json job = test::rule_cases()["bases"]["recipe"];
  job["trainer"]["max_epochs"] = 3;
  Findings found = test::check_text(job.dump(), JobKind::HyperpodRecipe, options);
  ASSERT_TRUE(found.prediction);
  found.prediction->better = found.prediction->plan;
  const Json out = Json::parse(to_json(found))["prediction"];
  EXPECT_TRUE(out["time_to_train_s"].is_null());
  EXPECT_TRUE(out["total_usd"].is_null());
  EXPECT_EQ(out["length_unknown"], "the file says 3 epochs and not of how much data: give --tokens");
  EXPECT_FALSE(out.contains("left_open"));
  EXPECT_FALSE(out.contains("better"));
}

TEST(Sarif, SaysLevelPlaceAndRuleOfEachFinding) {
  Findings found = test::check_text(
      "{\n\"class\": \"PyTorch\",\n\"max_wait\": 5, \"max_retry_attempts\": 3, \"train_max_run\": 9\n}",
      JobKind::Estimator);
  found.file = "a b/\xC3\xA4{0}~Z9-._.json";
  found.findings.front().where.line = 0;
  const Json run = Json::parse(to_sarif(found))["runs"][0];
  std::set<std::string> levels;
  std::set<std::string> used;
  for (std::size_t i = 0; i < found.findings.size(); ++i) {
    const Finding& f = found.findings[i];
    const Json& result = run["results"][i];
    EXPECT_EQ(result["ruleId"], f.rule);
    EXPECT_EQ(result["message"]["text"], f.message + ". " + f.fix);
    EXPECT_EQ(result["partialFingerprints"]["smplanRuleAndPath/v1"], f.rule + ":" + f.where.path);
    const Json& location = result["locations"][0];
    EXPECT_EQ(location["physicalLocation"]["artifactLocation"]["uri"], "a%20b/%C3%A4%7B0%7D~Z9-._.json");
    EXPECT_EQ(location["physicalLocation"]["region"]["startLine"], std::max(1, f.where.line));
    EXPECT_EQ(location.contains("logicalLocations"), !f.where.path.empty());
    levels.insert(result["level"].get<std::string>());
    used.insert(f.rule);
  }
  EXPECT_EQ(levels, (std::set<std::string>{"error", "note", "warning"}));
  const Json& rules = run["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), used.size());
  for (const Json& rule : rules) {
    const Rule& known = *find_rule(rule["id"].get<std::string>());
    EXPECT_EQ(rule["name"], known.title);
    EXPECT_EQ(rule["shortDescription"]["text"], known.title);
    EXPECT_EQ(rule["fullDescription"]["text"], known.condition);
    EXPECT_EQ(rule["help"]["text"], std::string(known.fix) + " (source: " + std::string(known.source) + ")");
    const char* level = known.severity == Severity::Error  ? "error"
                        : known.severity == Severity::Info ? "note"
                                                           : "warning";
    EXPECT_EQ(rule["defaultConfiguration"]["level"], level);
  }
}

TEST(Skipped, RulesSayWhatTheyNeed) {
  const auto reasons = [](const std::string& base, const CheckOptions& options) {
    std::map<std::string, std::string> all;
    const Json& job = test::rule_cases()["bases"][base];
    for (const SkippedRule& s : test::check_text(job.dump(), test::kind_of_base(base), options).skipped) {
      all.emplace(s.rule, s.reason);
    }
    return all;
  };
  const auto request = reasons("request", {});
  for (const auto& [rule, reason] : std::initializer_list<std::pair<const char*, const char*>>{
           {"C202", "needs the account's quotas: facts.quotas"},
           {"C206", "needs the regions of the buckets: facts.buckets"},
           {"C186", "needs the size of the data: facts.datasets"},
           {"C126", "needs the zones of the subnets: facts.subnets"},
           {"C124", "needs the rules of the security groups: facts.security_groups"},
           {"C043", "needs the job whose warm pool is to be used: facts.previous_job"},
           {"C191", "needs to know what the training script does: facts.script"},
           {"C210", "needs the rate of submissions: facts.jobs_per_second"},
           {"C045", "needs how long the pool is to live: facts.warm_pool_total_s"},
           {"C207", "needs --budget beside a model; no model is given"},
           {"C214", "needs --deadline beside a model; no model is given"},
           {"C215", "needs --max-hourly"},
           {"C158", "does not apply to a CreateTrainingJob request"},
           {"C195",
            "needs a model, hardware and the length of the run: --model or --params, --instances, --count, --tokens; "
            "no model is given"},
           {"C144",
            "needs a model and hardware to predict with: --model or --params, --instances, --count; no model is "
            "given"}}) {
    ASSERT_TRUE(request.contains(rule)) << rule;
    EXPECT_EQ(request.at(rule), reason) << rule;
  }
  EXPECT_FALSE(request.contains("C001"));
  EXPECT_EQ(reasons("estimator", {}).at("C072"), "needs the version of the SDK that launches: facts.sagemaker_sdk");
  EXPECT_EQ(reasons("torchtitan", {}).at("C179"), "needs the version of TorchTitan: facts.torchtitan");
}

// A rule that meets a value that only the user knows has not run; one that finds a fault anyway has.
TEST(Skipped, RulesNameTheValueThatIsNotKnown) {
  Json job = test::rule_cases()["bases"]["request"];
  job["StoppingCondition"]["MaxRuntimeInSeconds"] = "<run>";
  const Findings found = test::check_text(job.dump(), JobKind::CreateTrainingJob);
  std::map<std::string, std::string> reasons;
  for (const SkippedRule& s : found.skipped) reasons.emplace(s.rule, s.reason);
  EXPECT_EQ(reasons.at("C023"), "the value of /StoppingCondition/MaxRuntimeInSeconds is not known");
  EXPECT_FALSE(reasons.contains("C025"));
}

TEST(Findings, StandByLineThenRule) {
  const Findings found = test::check_text(
      "{\n\"class\": \"PyTorch\", \"train_max_run\": 1,\n\"max_wait\": 5,\n\"volume_size\": 4, "
      "\"instance_type\": \"ml.p4d.24xlarge\"}",
      JobKind::Estimator);
  EXPECT_GT(found.findings.size(), 2U);
  EXPECT_TRUE(std::is_sorted(found.findings.begin(), found.findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.where.line, a.rule) < std::tie(b.where.line, b.rule);
  }));
}

TEST(Ignored, FindingsAreThoseOfTheRuleAndThePlace) {
  const Json job = {{"class", "PyTorch"}, {"tags", {{{"Key", "a"}}, {{"Key", "b"}}}}};
  const auto left = [&](const std::vector<Ignored>& ignored) {
    CheckOptions options;
    options.ignored = ignored;
    std::vector<std::string> places;
    for (const Finding& f : test::check_text(job.dump(), JobKind::Estimator, options).findings) {
      if (f.rule == "C017") places.push_back(f.where.path);
    }
    return places;
  };
  EXPECT_EQ(left({}), (std::vector<std::string>{"/tags/0", "/tags/1"}));
  EXPECT_EQ(left({{"C017", "/tags/0", "x"}}), (std::vector<std::string>{"/tags/1"}));
  EXPECT_EQ(left({{"C017", "", "x"}}), (std::vector<std::string>{}));
  EXPECT_EQ(left({{"C018", "/tags/0", "x"}, {"C017", "/tags", "x"}}), (std::vector<std::string>{"/tags/0", "/tags/1"}));
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
