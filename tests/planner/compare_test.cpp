#include "planner/analysis/compare.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "planner/answer/plan_json.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan::test {
namespace {

PlanSet answer(const char* instances) {
  RequestSpec spec;
  spec.model = "gpt2";
  spec.instances = instances;
  spec.count = "1..2";
  return search(request_of(spec), catalog());
}

Json best(const char* instances) { return ranked_plan(answer(instances), "a", 1).value(); }

const ComparedNumber& outcome(const Comparison& c, std::string_view name) {
  const auto found =
      std::find_if(c.outcomes.begin(), c.outcomes.end(), [&](const ComparedNumber& n) { return n.name == name; });
  EXPECT_NE(found, c.outcomes.end()) << name;
  return *found;
}

TEST(Compare, FindsNoDifferenceInOnePlan) {
  const PlanSet set = answer("ml.p4d.24xlarge");
  const Json a = ranked_plan(set, "a", 1).value();
  const Json file = ranked_plan(parse_json(to_json(set), "a.json").value(), 1).value();
  for (const Json& b : {a, file}) {
    const Comparison c = compare(a, b);
    EXPECT_TRUE(c.choices.empty());
    EXPECT_TRUE(c.parts.empty());
    EXPECT_EQ(c.outcomes.size(), 11U);
  }
}

// Whatever a strategy may have, a comparison sees.
TEST(Compare, SeesEveryDimension) {
  const Json a = best("ml.p4d.24xlarge");
  for (const DimensionRow& row : dimensions()) {
    nlohmann::ordered_json changed = nlohmann::ordered_json::parse(a.dump());
    changed[nlohmann::ordered_json::json_pointer("/" + std::string(row.path))] = "another";
    const Comparison c = compare(a, parse_json(changed.dump(), "b").value().copy());
    ASSERT_EQ(c.choices.size(), 1U) << row.keyword;
    EXPECT_EQ(c.choices.front().name, row.path);
    EXPECT_EQ(c.choices.front().b, "another");
  }
}

// Parts are what explains the outcomes: their differences add up to those of the sums.
TEST(Compare, PartsAddUpToTheDifferenceOfTheSums) {
  const Comparison c = compare(best("ml.p4d.24xlarge"), best("ml.p5.48xlarge"));
  EXPECT_EQ(c.choices.front().name, "instance_type");
  EXPECT_EQ(c.choices.front().b, "ml.p5.48xlarge");
  const auto sum = [&](std::string_view object) {
    double total = 0;
    for (const ComparedNumber& n : c.parts) {
      if (n.name.starts_with(object)) total += n.difference();
    }
    return total;
  };
  EXPECT_NEAR(sum("step_components_s"), outcome(c, "step_time_s").difference(), 1e-9);
  EXPECT_NEAR(sum("time_components_s"), outcome(c, "time_to_train_s").difference(), 1e-6);
  EXPECT_NEAR(sum("cost/components_usd"), outcome(c, "cost/total_usd").difference(), 1e-6);
  EXPECT_NEAR(sum("memory/components_gib"), outcome(c, "memory/peak_gib").difference(), 1e-9);
}

TEST(Compare, PartsOfEachSumComeLargestDifferenceFirst) {
  const Comparison c = compare(best("ml.p4d.24xlarge"), best("ml.p5.48xlarge"));
  for (std::size_t i = 1; i < c.parts.size(); ++i) {
    const auto object = [](const ComparedNumber& n) { return n.name.substr(0, n.name.rfind('/')); };
    if (object(c.parts[i]) != object(c.parts[i - 1])) continue;
    EXPECT_GE(std::abs(c.parts[i - 1].difference()), std::abs(c.parts[i].difference()));
  }
}

TEST(Compare, FindsNoPlanWhereThereIsNone) {
  const PlanSet set = answer("ml.p4d.24xlarge");
  const auto code = [](const Result<Json>& plan) { return plan ? std::string() : plan.error().front().code; };
  EXPECT_EQ(code(ranked_plan(parse_json("[]", "list.json").value(), 1)), "no-plans");
  EXPECT_EQ(code(ranked_plan(parse_json(R"({"plans":[{}]})", "empty.json").value(), 1)), "missing-key");
  const auto last = static_cast<std::int64_t>(set.plans.size());
  const JsonValue file = parse_json(to_json(set), "a.json").value();
  for (const std::int64_t rank : {std::int64_t{0}, last + 1}) {
    EXPECT_EQ(code(ranked_plan(set, "a", rank)), "out-of-range") << rank;
    EXPECT_EQ(code(ranked_plan(file, rank)), "out-of-range") << rank;
  }
  EXPECT_TRUE(ranked_plan(set, "a", last));
  EXPECT_TRUE(ranked_plan(file, last));
}

}  // namespace
}  // namespace smplan::test
