#include "catalogs/operations.hpp"

#include <fmt/format.h>

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

/// Guards against slips of a unit: a day of waiting at most, a month for spot, a terabyte a second of one loader.
TEST(Operations, AreReadUpToTheirLimits) {
  struct Range {
    const char* key;
    double min, max;
  };
  constexpr Range kRanges[] = {{"gpu_hours_between_failures", 1, 1e9},
                               {"failure_detection_s", 0, 86400},
                               {"provisioning_s", 0, 86400},
                               {"image_pull_s", 0, 86400},
                               {"model_init_s", 0, 86400},
                               {"first_step_s", 0, 86400},
                               {"warm_start_s", 0, 86400},
                               {"spot_wait_s", 0, 30 * 86400},
                               {"checkpointless_recovery_s", 0, 86400},
                               {"spot_monthly_interruption", 0, 0.999},
                               {"checkpoints_kept", 1, 1e6},
                               {"plan_reclaim_s", 0, 86400},
                               {"price_drift_per_sqrt_year", 0, 10},
                               {"spot_price_spread", 0, 10},
                               {"token_bytes", 0.1, 1e6},
                               {"loader_mb_per_s_per_worker", 1e-3, 1e6},
                               {"jpeg_mb_per_s_per_worker", 1e-3, 1e6},
                               {"text_mb_per_s_per_worker", 1e-3, 1e6},
                               {"jpeg_kb", 0.1, 1e6},
                               {"text_bytes_per_token", 0.1, 100}};
  EXPECT_EQ(std::size(kRanges), operation_parameters().size());
  for (const Range& range : kRanges) {
    const auto is_read = [&](double value) {
      Diagnostics out;
      read_operation_fact(
          test::json(fmt::format(R"({{"key": "{}", "value": {}, "source": "s", "as_of": "2026"}})", range.key, value)),
          out);
      return out.empty();
    };
    EXPECT_TRUE(is_read(range.min) && is_read(range.max)) << range.key;
    EXPECT_FALSE(is_read(range.min - 0.0005) || is_read(range.max * 1.001)) << range.key;
  }
}

TEST(SpotInterruptions, AreThoseOfTheTypeThereElseOfTheFamilyElseTheGeneralFigure) {
  const OperationFacts& facts = test::shipped().operations();
  EXPECT_EQ(facts.spot_monthly("ml.p5.48xlarge", "us-east-1"), 0.35) << "over 20 % in the advisor of June 2025";
  EXPECT_EQ(facts.spot_monthly("ml.p5.48xlarge", "us-west-2"), 0.075);
  EXPECT_EQ(facts.spot_monthly("ml.p5.48xlarge", "mars-1"), 0.15) << "the family's";
  EXPECT_EQ(facts.spot_monthly("ml.p5e.48xlarge", "us-west-2"), facts.values().spot_monthly) << "p5e is not p5";
}

TEST(SpotInterruptions, AnOverlayReplacesOneTypeInOneRegion) {
  const Catalog mine = test::with("spot_interruptions", R"({"instances": ["ml.p5.48xlarge", "ml.p4d.24xlarge"],
    "region": "us-east-1", "monthly": 0.01, "source": "our jobs", "as_of": "2026-11"})");
  EXPECT_EQ(mine.operations().spot_monthly("ml.p5.48xlarge", "us-east-1"), 0.01);
  EXPECT_EQ(mine.operations().spot_monthly("ml.p4d.24xlarge", "us-east-1"), 0.01);
  EXPECT_EQ(mine.operations().spot_monthly("ml.p5.48xlarge", "us-west-2"), 0.075);
  EXPECT_EQ(mine.operations().spot.size(), test::shipped().operations().spot.size());
}

TEST(SpotInterruptions, AreOfAFamilyOrOfTypes) {
  for (const char* scope : {R"("family": "p5", "instances": ["ml.p5.48xlarge"])", R"("region": "us-east-1")"}) {
    Diagnostics out;
    read_spot_interruptions(test::json(fmt::format(R"({{{}, "monthly": 0.1, "source": "s", "as_of": "2026"}})", scope)),
                            out);
    EXPECT_EQ(out.size(), 1u) << to_string(out);
  }
}

}  // namespace
}  // namespace smplan
