#include "planner/analysis/compare.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "planner/answer/plan_json.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan::test {
namespace {

JsonValue answer(const char* instances) {
  RequestSpec spec;
  spec.model = "gpt2";
  spec.instances = instances;
  spec.count = "1..2";
  return parse_json(to_json(search(request_of(spec), catalog())), instances).value();
}

const ComparedNumber& outcome(const Comparison& c, std::string_view name) {
  const auto found =
      std::find_if(c.outcomes.begin(), c.outcomes.end(), [&](const ComparedNumber& n) { return n.name == name; });
  EXPECT_NE(found, c.outcomes.end()) << name;
  return *found;
}

TEST(Compare, FindsNoDifferenceInOnePlan) {
  const JsonValue a = answer("ml.p4d.24xlarge");
  const Result<Comparison> c = compare({a, 1}, {a, 1});
  ASSERT_TRUE(c) << to_string(c.error());
  EXPECT_TRUE(c->choices.empty());
  EXPECT_TRUE(c->parts.empty());
  EXPECT_EQ(c->outcomes.size(), 9U);
}

// Whatever a strategy may have, a comparison sees.
TEST(Compare, SeesEveryDimension) {
  const JsonValue a = answer("ml.p4d.24xlarge");
  for (const DimensionRow& row : dimensions()) {
    nlohmann::ordered_json changed = nlohmann::ordered_json::parse(a.dump());
    changed["plans"][0][nlohmann::ordered_json::json_pointer("/" + std::string(row.path))] = "another";
    const Result<Comparison> c = compare({a, 1}, {parse_json(changed.dump(), "b").value(), 1});
    ASSERT_TRUE(c) << to_string(c.error());
    ASSERT_EQ(c->choices.size(), 1U) << row.keyword;
    EXPECT_EQ(c->choices.front().name, row.path);
    EXPECT_EQ(c->choices.front().b, "another");
  }
}

// Parts are what explains the outcomes: their differences add up to those of the sums.
TEST(Compare, PartsAddUpToTheDifferenceOfTheSums) {
  const Result<Comparison> c = compare({answer("ml.p4d.24xlarge"), 1}, {answer("ml.p5.48xlarge"), 1});
  ASSERT_TRUE(c) << to_string(c.error());
  EXPECT_EQ(c->choices.front().name, "instance_type");
  EXPECT_EQ(c->choices.front().b, "ml.p5.48xlarge");
  const auto sum = [&](std::string_view object) {
    double total = 0;
    for (const ComparedNumber& n : c->parts) {
      if (n.name.starts_with(object)) total += n.difference();
    }
    return total;
  };
  EXPECT_NEAR(sum("step_components_s"), outcome(*c, "step_time_s").difference(), 1e-9);
  EXPECT_NEAR(sum("time_components_s"), outcome(*c, "time_to_train_s").difference(), 1e-6);
  EXPECT_NEAR(sum("cost/components_usd"), outcome(*c, "cost/total_usd").difference(), 1e-6);
  EXPECT_NEAR(sum("memory/components_gib"), outcome(*c, "memory/peak_gib").difference(), 1e-9);
}

TEST(Compare, PartsOfEachSumComeLargestDifferenceFirst) {
  const Result<Comparison> c = compare({answer("ml.p4d.24xlarge"), 1}, {answer("ml.p5.48xlarge"), 1});
  ASSERT_TRUE(c);
  for (std::size_t i = 1; i < c->parts.size(); ++i) {
    const auto object = [](const ComparedNumber& n) { return n.name.substr(0, n.name.rfind('/')); };
    if (object(c->parts[i]) != object(c->parts[i - 1])) continue;
    EXPECT_GE(std::abs(c->parts[i - 1].difference()), std::abs(c->parts[i].difference()));
  }
}

TEST(Compare, NamesEveryFaultOfBothFiles) {
  const JsonValue list = parse_json("[]", "list.json").value();
  const Result<Comparison> c = compare({list, 1}, {answer("ml.p4d.24xlarge"), 99});
  ASSERT_FALSE(c);
  ASSERT_EQ(c.error().size(), 2U);
  EXPECT_EQ(c.error()[0].code, "no-plans");
  EXPECT_EQ(c.error()[1].code, "out-of-range");
}

}  // namespace
}  // namespace smplan::test
