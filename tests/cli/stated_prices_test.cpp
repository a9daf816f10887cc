#include "cli/stated_prices.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace smplan::cli {
namespace {

using ::testing::HasSubstr;

Catalog with(const StatedPrices& stated) {
  Catalog catalog = Catalog::shipped().value();
  Diagnostics faults;
  merge_stated_prices(catalog, stated, faults);
  EXPECT_EQ(to_string(faults), "");
  return catalog;
}

std::string faults_of(const StatedPrices& stated) {
  Catalog catalog = Catalog::shipped().value();
  Diagnostics faults;
  merge_stated_prices(catalog, stated, faults);
  return to_string(faults);
}

double hourly(const Catalog& catalog, const char* type, const char* region, Market market) {
  const Price* price = catalog.find_price(type, region, market);
  return price == nullptr ? 0 : price->rate.value() * 3600;
}

TEST(StatedPrices, HoldWhereTheTypeIsOrInOneRegionAndMarket) {
  const Catalog catalog = with({{"ml.p5.48xlarge=38,p4d.24xlarge@us-east-2=11.5/spot"}, {}});
  EXPECT_DOUBLE_EQ(hourly(catalog, "ml.p5.48xlarge", "us-east-1", Market::OnDemand), 38);
  EXPECT_DOUBLE_EQ(hourly(catalog, "ml.p5.48xlarge", "ca-central-1", Market::OnDemand), 38);
  EXPECT_DOUBLE_EQ(hourly(catalog, "ml.p5.48xlarge", "af-south-1", Market::OnDemand), 0) << "AWS has none there";
  const Catalog there = with({{"ml.p5.48xlarge@us-gov-west-1=38"}, {}});
  EXPECT_DOUBLE_EQ(hourly(there, "ml.p5.48xlarge", "us-gov-west-1", Market::OnDemand), 38);
  EXPECT_DOUBLE_EQ(hourly(catalog, "ml.p4d.24xlarge", "us-east-2", Market::Spot), 11.5);
  const Catalog shipped = with({});
  EXPECT_DOUBLE_EQ(hourly(catalog, "ml.p4d.24xlarge", "us-east-1", Market::Spot),
                   hourly(shipped, "ml.p4d.24xlarge", "us-east-1", Market::Spot));
  EXPECT_EQ(catalog.find_price("ml.p5.48xlarge", "us-east-1", Market::OnDemand)->provenance.source, "--price");
  EXPECT_NE(catalog.overlays(), shipped.overlays()) << "sweeps and locks see it";
}

TEST(StatedPrices, ADiscountIsOffEveryOtherPrice) {
  const Catalog shipped = with({});
  const Catalog catalog = with({{"ml.p5.48xlarge=38"}, "20%"});
  EXPECT_DOUBLE_EQ(hourly(catalog, "ml.p5.48xlarge", "us-east-1", Market::OnDemand), 38);
  for (const Price& before : shipped.prices()) {
    if (before.instance == "ml.p5.48xlarge") continue;
    const Price* now = catalog.find_price(before.instance, before.region, before.market);
    ASSERT_NE(now, nullptr);
    EXPECT_NEAR(now->rate.value(), 0.8 * before.rate.value(), 1e-12);
    EXPECT_NEAR(now->high.value(), 0.8 * before.high.value(), 1e-12);
    EXPECT_EQ(now->basis, before.basis);
    EXPECT_THAT(now->provenance.source, HasSubstr("less 20 % (--discount)"));
    EXPECT_EQ(now->provenance.as_of, before.provenance.as_of);
  }
}

TEST(StatedPrices, SayWhatIsWrongWithThem) {
  EXPECT_THAT(faults_of({{"ml.p5.48xlarge"}, {}}), HasSubstr("states no price"));
  EXPECT_THAT(faults_of({{"ml.p9.48xlarge=3"}, {}}), HasSubstr("ml.p9.48xlarge"));
  EXPECT_THAT(faults_of({{"ml.p5.48xlarge@mars-1=3"}, {}}), HasSubstr("mars-1"));
  EXPECT_THAT(faults_of({{"ml.p5.48xlarge=3/gift"}, {}}), HasSubstr("gift"));
  EXPECT_THAT(faults_of({{"ml.p5.48xlarge=many"}, {}}), HasSubstr("--price"));
  EXPECT_THAT(faults_of({{"ml.p5.48xlarge=0"}, {}}), HasSubstr("costs nothing"));
  EXPECT_THAT(faults_of({{"ml.p5.48xlarge=38,,"}, {}}), HasSubstr("empty"));
  for (const char* wrong : {"ml.p5.48xlarge=0", "ml.p5.48xlarge=38,ml.p5.48xlarge=39"}) {
    const std::string told = faults_of({{wrong}, {}});
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << "one mistake, one line: " << told;
  }
  EXPECT_THAT(faults_of({{"ml.p5.48xlarge=38,ml.p5.48xlarge=39"}, {}}), HasSubstr("stated already"));
  EXPECT_THAT(faults_of({{}, "99%"}), HasSubstr("leaves no price"));
  EXPECT_THAT(faults_of({{}, "some"}), HasSubstr("--discount"));
}

}  // namespace
}  // namespace smplan::cli
