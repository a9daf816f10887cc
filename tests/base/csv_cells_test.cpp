#include "base/csv_cells.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smplan {
namespace {

using testing::HasSubstr;

/// One row under a header of columns a and b, and what its cells are read as.
class Row {
 public:
  explicit Row(const std::string& cells)
      : table_(parse_csv("a,b\n" + cells + "\n", "t.csv").value()),
        columns_(table_, [](const CsvTable& t, std::string_view column) { return t.column(column); }),
        cells_(columns_, table_.rows.at(0), "t.csv") {}
  CsvCells* operator->() { return &cells_; }

 private:
  CsvTable table_;
  CsvColumns columns_;
  CsvCells cells_;
};

TEST(CsvCells, ReadNumbersAndRefuseOthersByLineAndColumn) {
  Row row("1.5,eight");
  EXPECT_EQ(row->number("a"), 1.5);
  EXPECT_EQ(row->number("b"), std::nullopt);
  EXPECT_EQ(row->number("c"), std::nullopt) << "no such column";
  ASSERT_EQ(row->faults.size(), 1U);
  EXPECT_EQ(to_string(row->faults[0]), "t.csv:2: b is 'eight' (expected a number that is not negative)");
}

TEST(CsvCells, KeepTheirBounds) {
  const auto faults = [](const std::string& cell, double most) {
    Row row(cell + ",");
    return row->positive("a", most).has_value() ? std::string("taken") : to_string(row->faults);
  };
  EXPECT_EQ(faults("7", 7), "taken");
  EXPECT_THAT(faults("8", 7), HasSubstr("at most 7"));
  EXPECT_THAT(faults("0", 7), HasSubstr("a positive whole number"));
  EXPECT_THAT(faults("1.5", 7), HasSubstr("a whole number"));
  for (const char* cell : {"-1", "1e999", "inf", "0x10", "1 2", "1,5"}) {
    EXPECT_NE(faults("\"" + std::string(cell) + "\"", 7), "taken") << cell;
  }
  EXPECT_EQ(Row("0,")->integer("a", 7), 0);
}

TEST(CsvCells, ReadSwitchesHoweverTheyAreWritten) {
  for (const char* on : {"1", "yes", "Yes", "TRUE", "on", "y", "enabled", "✓"}) {
    EXPECT_EQ(Row(std::string(on) + ",")->flag("a"), true) << on;
  }
  for (const char* off : {"0", "no", "False", "off", "n", "disabled", "none", "✗"}) {
    EXPECT_EQ(Row(std::string(off) + ",")->flag("a"), false) << off;
  }
  Row row("maybe,");
  EXPECT_EQ(row->flag("a"), std::nullopt);
  EXPECT_EQ(row->faults.size(), 1U);
}

TEST(CsvCells, SayThatTheyKnowNothing) {
  for (const char* cell : {"n/a", "N/A", "-", "--", "?", "unknown", "nan", "null", "tbd", "not stated", ""}) {
    Row row(std::string(cell) + ",");
    EXPECT_EQ(row->number("a"), std::nullopt) << cell;
    EXPECT_EQ(row->flag("a"), std::nullopt) << cell;
    EXPECT_TRUE(row->faults.empty()) << cell;
  }
}

}  // namespace
}  // namespace smplan
