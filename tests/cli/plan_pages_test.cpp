#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/render/estimate_page.hpp"
#include "cli/render/no_plan.hpp"
#include "cli/render/plan_table.hpp"
#include "tests/cli/made_up.hpp"

namespace smplan::cli {
namespace {

using test::columns_of;
using test::expect_page;
using test::MadeUpPlans;
using testing::HasSubstr;
using testing::Not;

class PlanPages : public testing::Test {
 protected:
  MadeUpPlans plans;
  PlanSet set = plans.set();
};

TEST_F(PlanPages, ShowTwoPlansInBothFormats) {
  expect_page("plan.txt", plan_text(set, {}));
  expect_page("plan_narrow.txt", plan_text(set, {true, 70}));
  expect_page("plan.md", plan_markdown(set));
}

TEST_F(PlanPages, ShowEveryLimitOfTheRequest) {
  set.request.markets = {Market::OnDemand, Market::Spot};
  set.request.deadline = days(2);
  set.request.budget = Usd(500);
  set.request.confidence = 0.75;
  set.request.max_hourly = usd_per_hour(99);
  set.request.max_oom_probability = 0.02;
  set.request.min_headroom = 0.1;
  set.request.objective = Objective::Balanced;
  set.request.workload.fine_tunes = true;
  set.request.types_priced = 4;
  set.request.types_orderable = 9;
  set.request.markets_without_prices = {Market::CapacityBlock};
  set.request.left_out = {{"ml.a", "retired"}, {"ml.b", "no price"}, {"ml.c", "retired"}};
  set.request.stacks_left_out = {{"row", "no export writes it"}};
  set.request.assumptions = {"one", "two"};
  set.search.exact = false;
  set.rejected[0] = 3;
  set.rejected[kRejectionReasonCount - 1] = 5;
  expect_page("plan_limits.txt", plan_text(set, {}));
  expect_page("plan_limits.md", plan_markdown(set));
  expect_page("estimate_limits.txt", estimate_text(set, {}));
}

TEST_F(PlanPages, NameTheObjective) {
  set.request.objective = Objective::Cost;
  EXPECT_THAT(plan_text(set, {}), testing::StartsWith("Target: lowest cost within 28.0 d"));
  set.request.objective = Objective::Time;
  EXPECT_THAT(plan_text(set, {}), testing::StartsWith("Target: shortest time | small"));
  set.request.objective = Objective::Balanced;
  EXPECT_THAT(plan_text(set, {}), testing::StartsWith("Target: cost x time within 28.0 d"));
  set.request.objective = Objective::Pareto;
  EXPECT_THAT(plan_text(set, {}), testing::StartsWith("Target: the time/cost frontier | "));
}

TEST_F(PlanPages, NameTheWayOfFineTuning) {
  Workload& w = set.request.workload;
  w.lora.rank = 8;
  EXPECT_THAT(work(set.request), testing::EndsWith(", adamw"));
  w.fine_tunes = true;
  EXPECT_THAT(work(set.request), testing::EndsWith(", adamw, fine-tuning, all weights"));
  w.finetune = FineTune::Lora;
  EXPECT_THAT(work(set.request), testing::EndsWith(", adamw, fine-tuning, LoRA of rank 8"));
  w.finetune = FineTune::Qlora;
  EXPECT_THAT(work(set.request), testing::EndsWith(", adamw, fine-tuning, QLoRA of rank 8"));
  w.architecture.moe.n_experts = 1;
  EXPECT_THAT(work(set.request), HasSubstr(" MoE), "));
}

TEST_F(PlanPages, CompareSpotWithOnDemand) {
  Plan plan = plans.first();
  plan.market = Market::Spot;
  const Price dear = [&] {
    Price price = *plan.price;
    price.rate = 2 * price.rate;
    return price;
  }();
  plan.on_demand = &dear;
  EXPECT_THAT(chances(plan, set.request), HasSubstr("$160 to $200, 50.0% below on-demand (P10"));
  const Price cheap = [&] {
    Price price = *plan.price;
    price.rate = 0.5 * price.rate;
    return price;
  }();
  plan.on_demand = &cheap;
  EXPECT_THAT(chances(plan, set.request), HasSubstr("$160 to $200, 100.0% above on-demand (P10"));
}

TEST_F(PlanPages, NameTheSurerPlan) {
  set.request.budget = Usd(190);
  set.request.confidence = 0.5;
  Plan surer = plans.first();
  surer.cost.bill.compute = Usd(155);
  surer.cost.low = surer.cost.high = Usd(185);
  set.plans.push_back(surer);
  set.frontier = {surer};
  EXPECT_THAT(plan_text(set, {}),
              HasSubstr("Surer:  3 x ml.small, sail single costs $185 (+2.78%) and keeps the limits "
                        "with over 99.9% probability\n"));
}

TEST_F(PlanPages, WarnOfFewPricesBelowHalfOfTheTypes) {
  set.request.types_orderable = 9;
  set.request.types_priced = 4;
  EXPECT_THAT(plan_text(set, {}), HasSubstr("Prices: of 9 instance types that can be ordered 4 have a price"));
  set.request.types_orderable = 8;
  EXPECT_THAT(plan_text(set, {}), Not(HasSubstr("that can be ordered")));
}

TEST_F(PlanPages, DropTheFrontierOfOnePlan) {
  EXPECT_THAT(plan_text(set, {}), HasSubstr("Frontier: what more money buys in time (2 of 2"));
  set.frontier.resize(1);
  EXPECT_THAT(plan_text(set, {}), Not(HasSubstr("rontier")));
  EXPECT_THAT(plan_markdown(set), Not(HasSubstr("rontier")));
}

TEST_F(PlanPages, ThinALongFrontierToItsEndsAndEvenSteps) {
  set.frontier.clear();
  for (int i = 0; i < 15; ++i) {
    set.frontier.push_back(plans.first());
    set.frontier.back().instance_count = i;
  }
  const Table table = frontier_table(set);
  std::vector<std::string> counts;
  for (const auto& row : table.rows) counts.push_back(row[3]);
  EXPECT_THAT(counts, testing::ElementsAre("0", "2", "4", "6", "8", "10", "12", "14"));
  EXPECT_THAT(plan_text(set, {}), HasSubstr("(8 of 15 undominated plans)"));
}

TEST_F(PlanPages, ExplainTheStarOnceWhereverItStands) {
  const std::string note = "* longer than 28 days, SageMaker's limit for one job: run as several from checkpoints\n";
  const auto notes = [&](const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = text.find(note); at != std::string::npos; at = text.find(note, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(notes(plan_text(set, {})), 1U);
  set.plans = {plans.first()};
  EXPECT_EQ(notes(plan_text(set, {})), 1U);  // of the frontier
  set.frontier = {plans.first(), plans.first()};
  EXPECT_EQ(notes(plan_text(set, {})), 0U);
  EXPECT_THAT(plan_markdown(set), Not(HasSubstr("longer than 28 days")));
}

TEST_F(PlanPages, KeepTheirColumnsWhereTheWidthIsShort) {
  std::string text = columns_of(plan_table(set)) + columns_of(frontier_table(set)) +
                     columns_of(memory_table(set.plans[0].memory)) + columns_of(step_table(set.plans[0].step)) +
                     columns_of(cost_table(set.plans[0]));
  expect_page("plan_columns.txt", text);
}

TEST_F(PlanPages, RoundSecondsByTheirSize) {
  const auto cells = [&](double seconds) {
    set.plans[0].step.p10 = set.plans[0].step.p90 = Seconds(seconds);
    return plan_table(set).rows[0][9];
  };
  EXPECT_EQ(cells(9.5), "9.50-9.50");
  EXPECT_EQ(cells(10), "10.0-10.0");
  EXPECT_EQ(cells(99.5), "99.5-99.5");
  EXPECT_EQ(cells(100), "100-100");
}

TEST_F(PlanPages, ShowNoMoneyWithoutAPrice) {
  set.plans[0].price = nullptr;
  set.plans.resize(1);
  expect_page("plan_unpriced.txt", plan_text(set, {}));
  expect_page("estimate_unpriced.txt", estimate_text(set, {}));
}

TEST_F(PlanPages, NameSixOfTheTypesThatAreLeftOut) {
  for (int i = 0; i < 6; ++i) set.request.left_out.emplace_back("t" + std::to_string(i), "old");
  EXPECT_THAT(footing(set, {}), HasSubstr("Left out: t0, t1, t2, t3, t4, t5: old\n"));
  set.request.left_out.emplace_back("t6", "old");
  EXPECT_THAT(footing(set, {}), HasSubstr("Left out: t0, t1, t2, t3, t4, t5 and 1 more: old\n"));
}

TEST_F(PlanPages, NameTheRanksOfAWarning) {
  const Plan calm = [&] {
    Plan p = plans.first();
    p.warnings.clear();
    return p;
  }();
  set.plans = {plans.first(), calm, plans.first(), plans.first(), plans.first()};
  EXPECT_THAT(footing(set, {}), HasSubstr("Note: #1, 3-5: the first is odd\n"));
  set.plans = {plans.first()};
  EXPECT_THAT(footing(set, {}), HasSubstr("Note: the first is odd\n"));
}

TEST_F(PlanPages, NamePricesOnceForEachWayTheyCameToBe) {
  set.plans.push_back(plans.first());
  EXPECT_THAT(footing(set, {}),
              HasSubstr("Prices: north-1 on-demand; ml.small (derived 2026-01-02, EC2 x 1.2); ml.large (measured "
                        "2026-03-04, list B)\n"));
  set.request.markets = {Market::OnDemand, Market::Spot};
  EXPECT_THAT(footing(set, {}), HasSubstr("ml.large (spot, measured 2026-03-04, list B)"));
  for (Plan& plan : set.plans) plan.price = nullptr;
  EXPECT_THAT(footing(set, {}), HasSubstr("Prices: north-1 on-demand,spot: none known, no cost is given\n"));
  set.plans.clear();
  EXPECT_THAT(footing(set, {}), Not(HasSubstr("Prices:")));
}

TEST_F(PlanPages, EstimateInBothFormats) {
  expect_page("estimate.txt", estimate_text(set, {}));
  expect_page("estimate.md", estimate_markdown(set));
  set.plans = {plans.second()};
  set.request.run.series = {5, hours(1)};
  expect_page("estimate_second.txt", estimate_text(set, {}));
  set.plans[0].cost.checkpoint.reset();
  EXPECT_THAT(estimate_text(set, {}), HasSubstr("; no checkpoints: an interruption starts the run anew\n"));
}

TEST_F(PlanPages, TellWhatAWarmPoolDoes) {
  set.request.run.series = {5, hours(0.5)};
  set.request.run.operations.provisioning = Seconds(600);
  EXPECT_THAT(estimate_text(set, {}), HasSubstr("5 jobs 30.0 min apart: a warm pool (not used) has them done "));
  set.request.run.warm_pool = true;
  EXPECT_THAT(estimate_text(set, {}), HasSubstr("a warm pool (used) has them done "));
  set.request.run.series.jobs = 1;
  EXPECT_THAT(estimate_text(set, {}), Not(HasSubstr("Series:")));
}

TEST_F(PlanPages, SayHowNearTheEdgeThePlanIs) {
  Plan plan = plans.first();
  plan.out_of_memory_probability = 0.009;
  EXPECT_EQ(verdict(plan), "fits, 24.0 GiB (60.0%) free, 0.9% chance to run out");
  plan.out_of_memory_probability = 0.01;
  EXPECT_EQ(verdict(plan), "at the edge, 24.0 GiB (60.0%) free, 1.0% chance to run out");
  plan.memory.wanted = gib(41);
  EXPECT_EQ(verdict(plan),
            "out of memory: needs 41.0 GiB (15.0 GiB to 17.0 GiB), has 40.0 GiB a device, 1.0% chance to "
            "run out");
  plan.memory.wanted = gib(16);
  plan.memory.host_per_node = gib(65);
  EXPECT_EQ(verdict(plan), host_shortfall(plan.memory));
}

TEST_F(PlanPages, SayWhyThereIsNoPlan) {
  set.plans.clear();
  set.rejected[static_cast<std::size_t>(RejectionReason::Memory)] = 7;
  EXPECT_EQ(no_plan_reason(set, std::nullopt),
            "no plan: small (20.6M): no split of the work fits the request (memory 7)");
  EXPECT_TRUE(is_short_of_memory(set));
  set.nearest_miss = NearestMiss{plans.first(), {RejectionReason::OutOfMemoryRisk, 0.5, 0.25}};
  EXPECT_TRUE(is_short_of_memory(set));
  set.nearest_miss->rejection = {RejectionReason::Deadline, 7200, 3600};
  EXPECT_FALSE(is_short_of_memory(set));
  set.request.confidence = 0.9;
  set.request.counts = {1, 3};
  set.request.counts_defaulted = true;
  set.rejected[static_cast<std::size_t>(RejectionReason::TrainingPlan)] = 1;
  expect_page("no_plan_deadline.txt", no_plan_text(set, WayOut{plans.second()}, {}));
  set.nearest_miss->rejection = {RejectionReason::Budget, 200, 100};
  expect_page("no_plan_budget.txt", no_plan_text(set, std::nullopt, {}));
  set.nearest_miss->rejection = {RejectionReason::Memory, 2e10, 1e10};
  set.request.counts.push_back(4);
  EXPECT_THAT(no_plan_reason(set, std::nullopt), Not(HasSubstr("allows more")));
  EXPECT_THAT(no_plan_reason(set, std::nullopt), Not(HasSubstr("sure")));
}

}  // namespace
}  // namespace smplan::cli
