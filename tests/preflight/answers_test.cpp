// What the rules say of jobs, word by word, and where they are silent: tests/data/jobs/answers.json.
#include <gtest/gtest.h>

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

std::vector<std::string> rules() {
  std::vector<std::string> ids;
  for (const auto& [rule, rows] : answers()) ids.push_back(rule);
  return ids;
}

class AnswerOf : public ::testing::TestWithParam<std::string> {};

TEST_P(AnswerOf, ARuleIsWhatEachJobDeserves) {
  for (const Json& row : answers().at(GetParam())) {
    EXPECT_EQ(test::answer_to(row).dump(1), row["says"].dump(1)) << row.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(All, AnswerOf, ::testing::ValuesIn(rules()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace smplan
