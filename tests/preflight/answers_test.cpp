// What the rules say of jobs, word by word, and where they are silent: tests/data/jobs/answers.json.
#include <gtest/gtest.h>

#include <cctype>
#include <map>
#include <regex>

#include "tests/preflight/said.hpp"

namespace smplan {
namespace {

using test::Json;

/// Rows by rule.
const std::map<std::string, std::vector<Json>>& answers() {
  static const auto by_rule = [] {
    std::map<std::string, std::vector<Json>> rows;
    const Json document = Json::parse(test::read_test_file("answers.json"));
    for (const Json& row : document["answers"]) {
      rows[row["rule"].get<std::string>()].push_back(row);
    }
    return rows;
  }();
  return by_rule;
}

class AnswersOf : public ::testing::TestWithParam<RuleFamily> {};

TEST_P(AnswersOf, AFamilyOfRulesAreWhatEachJobDeserves) {
  for (const Rule& rule : GetParam().rules) {
    const auto rows = answers().find(std::string(rule.id));
    if (rows == answers().end()) continue;
    for (const Json& row : rows->second) {
      EXPECT_EQ(test::answer_to(row).dump(1), row["says"].dump(1)) << row.dump();
    }
  }
}

// `'lr' is unknown -> did you mean lr?` helps nobody.
TEST(Answers, SuggestNoWordThatTheyRefuse) {
  const std::regex suggested("'([^']*)'.*-> did you mean ([^?]*)\\?");
  std::size_t suggestions = 0;
  for (const auto& [rule, rows] : answers()) {
    for (const Json& row : rows) {
      for (const Json& says : row["says"]) {
        const std::string text = says;
        std::smatch found;
        if (text.size() > 4096 || !std::regex_search(text, found, suggested)) continue;
        ++suggestions;
        EXPECT_NE(found[1], found[2]) << text;
      }
    }
  }
  EXPECT_GT(suggestions, 10U);
}

TEST(UnknownArgument, IsNeverSuggestedItself) {
  const Json& limits = test::rule_cases()["bases"]["estimator"];
  for (const char* name : {"instance_preferences", "InstancePreferences", "InstanceGroups", "instance_placement_config",
                           "volume_size_in_gb", "max_runtime_in_seconds", "training_image", "TrainingInputMode",
                           "maximum_retry_attempts", "max_retries", "volume_kms_key_id", "enable_managed_spot_training",
                           "keep_alive_period", "MaxPendingTimeInSeconds"}) {
    for (const char* one : {"PyTorch", "HuggingFace", "SKLearn", "Estimator"}) {
      Json job = limits;
      job["class"] = one;
      job[name] = 1;
      for (const Finding& f : test::check_text(job.dump(), JobKind::Estimator, {}).findings) {
        if (f.rule == "C068") EXPECT_EQ(f.fix.find("mean " + std::string(name) + "?"), std::string::npos) << f.fix;
      }
    }
  }
}

TEST(Answers, AreOfRulesThatExist) {
  for (const auto& [rule, rows] : answers()) EXPECT_NE(find_rule(rule), nullptr) << rule;
  EXPECT_GT(answers().size(), 200U);
}

INSTANTIATE_TEST_SUITE_P(All, AnswersOf, ::testing::ValuesIn(rule_families().begin(), rule_families().end()),
                         [](const auto& info) {
                           std::string name;
                           for (const char c : info.param.title) {
                             if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
                           }
                           return name;
                         });

}  // namespace
}  // namespace smplan
