#include "models/run/trials.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

TEST(FullRuns, WithoutEarlyStoppingAreTheTrials) {
  EXPECT_EQ(full_runs(27, 1), 27);
  EXPECT_EQ(full_runs(1, 3), 1);
}

TEST(FullRuns, OfSuccessiveHalvingAreFew) {
  // 27 trials to 1/27, 9 on to 1/9, 3 on to 1/3, 1 to the end: 1 + 9 x 2/27 + 3 x 2/9 + 2/3 = 3.
  EXPECT_NEAR(full_runs(27, 3), 3, 1e-12);
  // 4 to a quarter, 2 on to a half, 1 to the end: 1 + 1/2 + 1/2 = 2.
  EXPECT_NEAR(full_runs(4, 2), 2, 1e-12);
}

TEST(FullRuns, AreBetweenOneAndAllOfThem) {
  for (std::int64_t trials = 1; trials < 500; trials += 7) {
    for (int keep = 2; keep <= 5; ++keep) {
      EXPECT_GE(full_runs(trials, keep), 1 - 1e-12);
      EXPECT_LE(full_runs(trials, keep), static_cast<double>(trials));
    }
  }
}

}  // namespace
}  // namespace smplan
