#include "planner/answer/quotas.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/search/search.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan::test {
namespace {

using ::testing::HasSubstr;

RequestSpec small(const char* market = "on-demand") {
  RequestSpec spec;
  spec.params = "7B";
  spec.tokens = "1B";
  spec.instances = "ml.p5.48xlarge";
  spec.count = "4";
  spec.market = market;
  spec.top = "1";
  return spec;
}

std::vector<QuotaNeed> needs_of(const RequestSpec& spec) {
  const PlanSet set = search(request_of(spec), catalog(), {});
  EXPECT_FALSE(set.plans.empty());
  return set.plans.empty() ? std::vector<QuotaNeed>() : quota_needs(set.request, set.plans.front());
}

TEST(Quotas, AreOfTheTypeAndHowItIsBought) {
  const auto on_demand = needs_of(small());
  ASSERT_EQ(on_demand.size(), 1U);
  EXPECT_EQ(on_demand.front().name, "ml.p5.48xlarge for training job usage");
  EXPECT_EQ(on_demand.front().needed, 4);
  EXPECT_TRUE(on_demand.front().must_be_raised());
  EXPECT_EQ(needs_of(small("spot")).front().name, "ml.p5.48xlarge for spot training job usage");
  // Bought ahead: the purchase has the instances.
  EXPECT_TRUE(needs_of(small("capacity-block")).empty());
}

TEST(Quotas, OfAClusterCountItsSparesAndNotTheJobsLimits) {
  RequestSpec spec = small();
  spec.platform = "hyperpod-eks";
  spec.spare_instances = "2";
  spec.count = "24";
  const auto needs = needs_of(spec);
  ASSERT_EQ(needs.size(), 1U);
  EXPECT_EQ(needs.front().name, "ml.p5.48xlarge for cluster usage");
  EXPECT_EQ(needs.front().needed, 26);
}

TEST(Quotas, OfAJobAreThoseThatANewAccountLacks) {
  RequestSpec spec = small();
  spec.tokens = "1T";
  spec.count = "24";
  spec.jobs = "3";
  spec.warm_pool = "on";
  const std::string words = quota_words(needs_of(spec));
  EXPECT_THAT(words, HasSubstr("\"Number of instances for a training job\" 24 (a new account has 20)"));
  EXPECT_THAT(words, HasSubstr("\"Longest run time for a training job\" "));
  EXPECT_THAT(words, HasSubstr("(a new account has 5.00 d)"));
  EXPECT_THAT(words, HasSubstr("\"ml.p5.48xlarge for training warm pool usage\" 24 (a new account has 0)"));
}

TEST(Quotas, EachHasASourceAndAName) {
  for (const AccountQuota& quota : account_quotas()) {
    EXPECT_FALSE(quota.provenance.source.empty()) << quota.use;
    EXPECT_EQ(quota.name("ml.x").find("{}"), std::string::npos) << quota.use;
  }
}

}  // namespace
}  // namespace smplan::test
