#include "catalogs/price.hpp"

#include "fixture.hpp"

namespace smplan {
namespace {

using test::json;
using test::shipped;

const Price& price(std::string_view instance, std::string_view region, Market market) {
  const Price* found = shipped().find_price(instance, region, market);
  EXPECT_NE(found, nullptr) << instance << ' ' << region;
  return *found;
}

TEST(Prices, OfSageMakerTrainingAreThePublishedOnes) {
  EXPECT_NEAR(in_usd_per_hour(price("ml.p4d.24xlarge", "us-west-2", Market::OnDemand).rate), 25.251286, 1e-9);
  EXPECT_NEAR(in_usd_per_hour(price("ml.p5.48xlarge", "us-west-2", Market::OnDemand).rate), 63.296, 1e-9);
  EXPECT_NEAR(in_usd_per_hour(price("ml.g5.48xlarge", "us-west-2", Market::OnDemand).rate), 20.36, 1e-9);
  EXPECT_NEAR(in_usd_per_hour(price("ml.g5.xlarge", "us-east-1", Market::OnDemand).rate), 1.408, 1e-9);
  EXPECT_EQ(price("ml.g5.xlarge", "us-east-1", Market::OnDemand).basis, PriceBasis::Measured);
}

TEST(Prices, BeforeTheCutOfJune2025AreNotShipped) {
  EXPECT_LT(in_usd_per_hour(price("ml.p4d.24xlarge", "us-east-1", Market::OnDemand).rate), 30);  // was 37.688
  EXPECT_LT(in_usd_per_hour(price("ml.p5.48xlarge", "us-east-1", Market::OnDemand).rate), 70);   // was 113.068
}

TEST(Prices, ThatAreDerivedSayFromWhat) {
  std::size_t derived = 0;
  for (const Price& p : shipped().prices()) {
    EXPECT_EQ(p.basis == PriceBasis::Derived, !p.formula.empty()) << p.instance << ' ' << p.region;
    EXPECT_FALSE(p.provenance.source.empty());
    derived += p.basis == PriceBasis::Derived ? 1 : 0;
  }
  EXPECT_GT(derived, 0U);
  EXPECT_LT(derived, shipped().prices().size());
}

TEST(Prices, OfSpotAndCapacityBlocksAreProxies) {
  for (const Price& p : shipped().prices()) {
    EXPECT_TRUE(p.market == Market::OnDemand || p.basis == PriceBasis::Derived) << p.instance;
  }
}

TEST(Prices, InUsEast1ExistForEveryOrderableAcceleratedType) {
  for (const InstanceType& i : shipped().instances()) {
    if (i.support != TrainingSupport::OnDemand || i.accelerator_count == 0) continue;
    EXPECT_NE(shipped().find_price(i.name, "us-east-1", Market::OnDemand), nullptr) << i.name;
  }
}

TEST(Prices, OfUltraServersAreDividedByTheirInstances) {
  // 761.904 USD/h for 72 GPUs on 18 instances.
  EXPECT_NEAR(in_usd_per_hour(price("ml.p6e-gb200.36xlarge", "us-east-1", Market::CapacityBlock).rate) * 18, 761.904,
              0.001);
}

TEST(Prices, OfAMarketWithoutThemAreAbsent) {
  EXPECT_EQ(shipped().find_price("ml.p5e.48xlarge", "us-east-2", Market::OnDemand), nullptr);
  EXPECT_EQ(shipped().find_price("ml.p4d.24xlarge", "mars-1", Market::OnDemand), nullptr);
  EXPECT_EQ(shipped().find_price("", "", Market::Spot), nullptr);
}

std::string entry(std::string_view usd, std::string_view basis = "measured", std::string_view more = "") {
  return std::string(R"({"instance": "ml.x", "region": "us-east-1", "market": "on-demand", "usd_per_hour": )") +
         std::string(usd) + R"(, "basis": ")" + std::string(basis) + "\"" + std::string(more) +
         R"(, "source": "test", "as_of": "2026-09-01"})";
}

TEST(ReadPrice, KeepsDollarsPerHour) {
  Diagnostics out;
  const Price p = read_price(json(entry("36")), out);
  EXPECT_TRUE(out.empty()) << to_string(out);
  EXPECT_DOUBLE_EQ(p.rate.value(), 0.01);  // 36 USD/h is one cent a second
}

TEST(ReadPrice, RefusesNothingNegativeAndInfinite) {
  for (const char* usd : {"0", "-1", "1e6", "\"25\"", "null"}) {
    Diagnostics out;
    read_price(json(entry(usd)), out);
    EXPECT_FALSE(out.empty()) << usd;
  }
  EXPECT_FALSE(parse_json(entry("1e999"), "test.json").has_value());
  EXPECT_FALSE(parse_json(entry("NaN"), "test.json").has_value());
}

TEST(ReadPrice, RefusesADerivedPriceWithoutFormula) {
  Diagnostics out;
  read_price(json(entry("25", "derived")), out);
  EXPECT_TRUE(test::has_code(out, "missing-formula"));
  out.clear();
  read_price(json(entry("25", "derived", R"(, "formula": "20 x 1.25")")), out);
  EXPECT_TRUE(out.empty()) << to_string(out);
}

TEST(Market, NamesReadBack) {
  for (const Market m : {Market::OnDemand, Market::Spot, Market::CapacityBlock}) {
    EXPECT_EQ(market_from(to_string(m)), m);
  }
  EXPECT_FALSE(market_from("ondemand").has_value());
}

}  // namespace
}  // namespace smplan
