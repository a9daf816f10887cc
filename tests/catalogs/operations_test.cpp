#include "catalogs/operations.hpp"

#include "fixture.hpp"

namespace smplan {
namespace {

TEST(Operations, ShippedFactsHaveEveryFigureOnce) {
  const OperationFacts& facts = test::shipped().operations();
  EXPECT_EQ(facts.figures.size(), operation_parameters().size());
  for (const OperationParameter& parameter : operation_parameters()) {
    const auto n = std::count_if(facts.figures.begin(), facts.figures.end(),
                                 [&](const OperationFact& f) { return f.key == parameter.key; });
    EXPECT_EQ(n, 1) << parameter.key;
  }
  for (const char* key : {"s3", "fsx-lustre", "efs", "volume", "nvme"}) EXPECT_NE(facts.storage(key), nullptr) << key;
}

TEST(Operations, FailOncePer50677DeviceHours) {
  // 419 unexpected interruptions in 54 days on 16,384 H100: every 3.09 hours.
  const Operations o = test::shipped().operations().values();
  EXPECT_NEAR(o.failures_apart_per_gpu / hours(1), 16384 * 54 * 24 / 419.0, 1);
}

TEST(Operations, AnOverlayReplacesAFigureByItsKey) {
  const Catalog mine = test::with("operations", R"({"key": "provisioning_s", "value": 60, "source": "our cluster",
                                                    "as_of": "2026-11-21"})");
  EXPECT_EQ(mine.operations().values().provisioning, Seconds(60));
  EXPECT_EQ(mine.operations().values().image_pull, test::shipped().operations().values().image_pull);
}

TEST(Operations, RefuseUnknownFiguresAndRangesThatDoNotHold) {
  Diagnostics out;
  read_operation_fact(test::json(R"({"key": "provisioning", "value": 1, "source": "s", "as_of": "2026"})"), out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_NE(out[0].hint.find("provisioning_s"), std::string::npos) << to_string(out);
  out.clear();
  read_operation_fact(test::json(R"({"key": "provisioning_s", "value": 5, "low": 6, "source": "s", "as_of": "2026"})"),
                      out);
  EXPECT_TRUE(test::has_code(out, "bad-range")) << to_string(out);
}

TEST(SpotInterruptions, AreThoseOfTheFamilyElseTheGeneralFigure) {
  const OperationFacts& facts = test::shipped().operations();
  EXPECT_EQ(facts.spot_monthly("ml.p5.48xlarge"), 0.15);
  EXPECT_EQ(facts.spot_monthly("ml.p5en.48xlarge"), facts.values().spot_monthly) << "p5en is not p5";
}

}  // namespace
}  // namespace smplan
