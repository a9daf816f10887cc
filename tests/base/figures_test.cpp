#include "base/figures.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

TEST(FormatExpected, HasTwoDigitsAndNoExponent) {
  EXPECT_EQ(format_expected(0), "0");
  EXPECT_EQ(format_expected(0.00001), "under 0.0001");
  EXPECT_EQ(format_expected(0.0021), "0.0021");
  EXPECT_EQ(format_expected(0.7), "0.7");
  EXPECT_EQ(format_expected(25.2), "25");
  EXPECT_EQ(format_expected(99.4), "99");
  EXPECT_EQ(format_expected(99.6), "100");
  EXPECT_EQ(format_expected(172.4), "172");
  EXPECT_EQ(format_expected(12345), "12.3k");
}

TEST(FormatChange, IsSignedAndNeverFinerThanAnyoneWouldNotice) {
  EXPECT_EQ(format_change(100, 103.1), "+3.1%");
  EXPECT_EQ(format_change(100, 99.8), "-0.2%");
  EXPECT_EQ(format_change(100, 100), "+0%");
  EXPECT_EQ(format_change(12, 12.0 - 0.0000586), "under 0.001%");
  EXPECT_EQ(format_change(1, 12.34), "+1134%");
}

}  // namespace
}  // namespace smplan
