#include "base/csv_stream.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace smplan {
namespace {

TEST(CsvStream, ReadsQuotesBreaksAndRowsOfAnyLength) {
  std::istringstream in("a,\"b,\"\"c\"\"\nd\",\r\n\"last\"");
  CsvStream rows(in, "f.csv");
  std::vector<std::string> fields;
  ASSERT_EQ(rows.next(fields), true);
  EXPECT_EQ(fields, (std::vector<std::string>{"a", "b,\"c\"\nd", ""}));
  EXPECT_EQ(rows.line(), 1u);
  ASSERT_EQ(rows.next(fields), true);
  EXPECT_EQ(fields, std::vector<std::string>{"last"});
  EXPECT_EQ(rows.line(), 3u) << "the break inside quotes counts";
  EXPECT_EQ(rows.next(fields), false);
}

TEST(CsvStream, RefusesAQuoteThatNeverEndsAndARowWithoutEnd) {
  std::istringstream open("a\n\"b");
  CsvStream rows(open, "f.csv");
  std::vector<std::string> fields;
  ASSERT_EQ(rows.next(fields), true);
  const auto unfinished = rows.next(fields);
  ASSERT_FALSE(unfinished.has_value());
  EXPECT_EQ(unfinished.error().front().location, "f.csv:2");
  std::istringstream endless(std::string(3 << 20, 'x'));
  CsvStream long_row(endless, "f.csv");
  const auto too_long = long_row.next(fields);
  ASSERT_FALSE(too_long.has_value());
  EXPECT_EQ(too_long.error().front().code, "file-too-large");
}

}  // namespace
}  // namespace smplan
