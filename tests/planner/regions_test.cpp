#include "planner/analysis/regions.hpp"

#include <gmock/gmock.h>

#include "tests/planner/fixtures.hpp"

namespace smplan {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const RegionCell& cell(const RegionAnswer& answer, std::string_view region, Market market) {
  for (const RegionRow& row : answer.rows) {
    if (row.region != region) continue;
    for (const RegionCell& c : row.cells) {
      if (c.market == market) return c;
    }
  }
  throw std::out_of_range(std::string(region));
}

RequestSpec small() {
  RequestSpec spec;
  spec.model = "llama-3.1-8b";
  spec.tokens = "1B";
  spec.instances = "ml.p4d.24xlarge,ml.g5.48xlarge";
  spec.count = "1,2";
  return spec;
}

TEST(Regions, EachCellIsTheBestPlanOfItsRegionAndMarket) {
  RequestSpec spec = small();
  spec.region = "us-east-1,eu-west-1";
  spec.market = "on-demand,spot";
  const auto answer = compare_regions(spec, test::catalog());
  ASSERT_TRUE(answer) << to_string(answer.error());
  ASSERT_EQ(answer->rows.size(), 2U);
  for (const RegionRow& row : answer->rows) {
    for (const RegionCell& c : row.cells) {
      if (!c.plan) continue;
      RequestSpec one = small();
      one.region = row.region;
      one.market = to_string(c.market);
      const auto request = resolve(one, test::catalog(), std::nullopt);
      ASSERT_TRUE(request);
      const PlanSet set = search(*request, test::catalog());
      EXPECT_TRUE(c.plan->same_as(set.plans.front())) << row.region << ' ' << to_string(c.market);
      EXPECT_EQ(c.plan->cost.total().value(), set.plans.front().cost.total().value());
    }
  }
}

TEST(Regions, TheCheapestComesFirstAndThoseWithoutAPlanLast) {
  RequestSpec spec = small();
  spec.market = "on-demand";
  const auto answer = compare_regions(spec, test::catalog());
  ASSERT_TRUE(answer) << to_string(answer.error());
  double last = 0;
  bool ended = false;
  for (const RegionRow& row : answer->rows) {
    const RegionCell* best = row.cheapest();
    if (best == nullptr) {
      ended = true;
      continue;
    }
    EXPECT_FALSE(ended) << row.region;
    EXPECT_GE(best->plan->cost.total().value(), last);
    last = best->plan->cost.total().value();
  }
  EXPECT_GT(last, 0);
}

TEST(Regions, KeepOneTimeAndPutWhatIsLaterBehind) {
  RequestSpec spec = small();
  spec.tokens = "200B";
  spec.count = "1..4";
  spec.market = "on-demand";
  const auto answer = compare_regions(spec, test::catalog());
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->horizon, days(kMaxJobDays));
  bool late = false;
  for (const RegionRow& row : answer->rows) {
    for (const RegionCell& c : row.cells) {
      if (c.plan) EXPECT_EQ(c.late, c.plan->cost.time_to_train() > answer->horizon) << row.region;
    }
    const RegionCell* best = row.cheapest();
    if (best == nullptr) continue;
    EXPECT_GE(best->late, late) << row.region << ": none in time behind one that is not";
    late = best->late;
  }
}

TEST(Regions, WithoutAPriceSaySo) {
  const auto answer = compare_regions(small(), test::catalog());
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_THAT(answer->unpriced, Contains("ca-central-1"));
  EXPECT_EQ(cell(*answer, "us-west-1", Market::OnDemand).why_not, "no price");
  EXPECT_TRUE(cell(*answer, "us-east-1", Market::OnDemand).plan);
  RequestSpec one = small();
  one.region = "ca-central-1";
  const auto none = compare_regions(one, test::catalog());
  ASSERT_TRUE(none) << to_string(none.error());
  EXPECT_TRUE(none->rows.empty());
  EXPECT_FALSE(none->request);
}

TEST(Regions, AFaultOfTheRequestIsOneWhateverTheRegion) {
  RequestSpec spec = small();
  spec.model = "llama-9";
  EXPECT_THAT(to_string(compare_regions(spec, test::catalog()).error()), HasSubstr("llama-9"));
  spec = small();
  spec.region = "us-east-1,mars-1";
  EXPECT_THAT(to_string(compare_regions(spec, test::catalog()).error()), HasSubstr("mars-1"));
  spec = small();
  spec.market = "gift";
  EXPECT_THAT(to_string(compare_regions(spec, test::catalog()).error()), HasSubstr("gift"));
}

}  // namespace
}  // namespace smplan
