#include "base/clock.hpp"

#include <gtest/gtest.h>

#include "tests/support/environment.hpp"

namespace smplan {
namespace {

using test::EnvironmentVariable;

TEST(WallClock, IsTheMachinesUnlessAVariableSetsIt) {
  const EnvironmentVariable none("SMPLAN_NOW", nullptr);
  const EnvironmentVariable no_epoch("SOURCE_DATE_EPOCH", nullptr);
  const Instant before = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto clock = wall_clock();
  ASSERT_TRUE(clock);
  EXPECT_FALSE(clock->fixed);
  EXPECT_GE(clock->now, before);
  EXPECT_GT(Stopwatch().seconds(), 0);
}

TEST(WallClock, StandsStillWhereItIsSet) {
  const EnvironmentVariable zone("TZ", "America/Los_Angeles");
  const EnvironmentVariable epoch("SOURCE_DATE_EPOCH", "1795219200");
  EXPECT_EQ(today(), "2026-11-21");
  EXPECT_EQ(Stopwatch().seconds(), 0);
  EXPECT_TRUE(wall_clock()->fixed);
  struct Case {
    const char* set;
    const char* local;
  };
  constexpr Case kCases[] = {{"2026-11-26T17:00:00-08:00", "2026-11-26T17:00:00-08:00"},
                             {"2026-11-26T17:00", "2026-11-26T17:00:00-08:00"},
                             {"2026-07-01", "2026-07-01T00:00:00-07:00"},
                             {"2026-11-27T01:00Z", "2026-11-26T17:00:00-08:00"}};
  for (const Case& c : kCases) {
    const EnvironmentVariable time("SMPLAN_NOW", c.set);
    EXPECT_EQ(iso_local(now()), c.local) << c.set;
  }
  const EnvironmentVariable time("SMPLAN_NOW", "2026-11-26T17:00-08:00");
  EXPECT_EQ(today(), "2026-11-27") << "ages are counted in UTC";
}

TEST(WallClock, RefusesAVariableThatIsNoTime) {
  for (const char* bad : {"yesterday", "2026-02-30", "17:00", "1795219200"}) {
    const EnvironmentVariable time("SMPLAN_NOW", bad);
    const auto clock = wall_clock();
    ASSERT_FALSE(clock) << bad;
    EXPECT_EQ(clock.error().front().location, "SMPLAN_NOW");
  }
  const EnvironmentVariable time("SMPLAN_NOW", nullptr);
  for (const char* bad : {"-1", "1795219200.5", "2026-11-21", "999999999999999", "99999999999999999999"}) {
    const EnvironmentVariable epoch("SOURCE_DATE_EPOCH", bad);
    const auto clock = wall_clock();
    ASSERT_FALSE(clock) << bad;
    EXPECT_EQ(clock.error().front().location, "SOURCE_DATE_EPOCH");
  }
}

}  // namespace
}  // namespace smplan
