// What the rules say of jobs, word by word, and where they are silent: tests/data/jobs/answers.json.
#include <gtest/gtest.h>

#include <cctype>
#include <map>

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
