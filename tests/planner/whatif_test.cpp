#include "planner/analysis/whatif.hpp"

#include <gtest/gtest.h>

#include "planner/search/objective.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan::test {
namespace {

RequestSpec two_types() {
  RequestSpec spec;
  spec.model = "gpt2";
  spec.instances = "ml.p4d.24xlarge,ml.p5.48xlarge";
  spec.count = "1..4";
  spec.launchable = "any";  // tensor ranks divide a batch that data ranks cannot
  return spec;
}

TEST(Sensitivity, SaysWhatASearchInThatWorldSays) {
  const PlanSet set = search(request_of(two_types()), catalog());
  const std::vector<Sensitivity> all = sensitivities(set, catalog());
  ASSERT_FALSE(all.empty());
  for (const Sensitivity& s : all) {
    Scenario changed = set.request.scenario;
    changed.*s.knob->factor = s.factor;
    const PlanRequest world = in_world(set.request, changed);
    const PlanSet again = search(world, catalog());
    ASSERT_TRUE(s.winner) << s.knob->name;
    EXPECT_EQ(s.winner->strategy, again.plans.at(0).strategy);
    EXPECT_EQ(s.winner->cost.total(), again.plans.at(0).cost.total());
    // Whoever stays can do no better than the winner of the changed world, but for what simplicity may cost.
    if (s.kept) {
      EXPECT_GE(s.kept->cost.total() * kSimplerMayCost, s.winner->cost.total()) << s.knob->name << " x " << s.factor;
    }
    if (!s.changes_winner) {
      ASSERT_TRUE(s.kept);
      EXPECT_EQ(s.kept->cost.total(), s.winner->cost.total());
    }
  }
}

TEST(Sensitivity, TriesStrongFactorsOnlyWhereMildOnesChangeNothing) {
  const PlanSet set = search(request_of(two_types()), catalog());
  const std::vector<Sensitivity> all = sensitivities(set, catalog());
  for (const ScenarioKnob& knob : scenario_knobs()) {
    for (const bool up : {false, true}) {
      std::vector<const Sensitivity*> tried;
      for (const Sensitivity& s : all) {
        if (s.knob == &knob && (s.factor > 1) == up) tried.push_back(&s);
      }
      ASSERT_FALSE(tried.empty()) << knob.name;
      EXPECT_EQ(tried.size(), tried.front()->changes_winner ? 1U : 2U) << knob.name;
    }
  }
}

TEST(Neighbours, AreTheBestPlansOfTheirCount) {
  const PlanSet set = search(request_of(two_types()), catalog());
  const Plan& winner = set.plans.at(0);
  for (const Neighbour& n : neighbours_of_count(set, catalog())) {
    EXPECT_EQ(std::abs(n.count - winner.instance_count), 1);
    ASSERT_TRUE(n.plan);
    EXPECT_EQ(n.plan->instance, winner.instance);
    EXPECT_EQ(n.plan->instance_count, n.count);
    EXPECT_GE(n.plan->cost.total(), winner.cost.total()) << "the cheapest plan is the winner";
  }
}

}  // namespace
}  // namespace smplan::test
