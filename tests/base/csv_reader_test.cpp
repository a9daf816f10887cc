#include "base/csv_reader.hpp"

#include <gmock/gmock.h>

#include <random>

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace smplan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CsvTable parse(std::string_view text) {
  auto table = parse_csv(text, "t.csv");
  EXPECT_TRUE(table) << (table ? "" : to_string(table.error()));
  return *table;
}

std::string refusal(std::string_view text) {
  const auto table = parse_csv(text, "t.csv");
  EXPECT_FALSE(table) << text;
  return table ? "" : to_string(table.error());
}

TEST(ParseCsv, ReadsQuotesCommasAndLineBreaks) {
  const CsvTable table = parse("a,b\r\n\"x,\"\"y\"\"\",\"line\r\nbreak\"\r\n,last\n");
  EXPECT_THAT(table.header, ElementsAre("a", "b"));
  EXPECT_THAT(table.rows, ElementsAre(CsvRow{2, {"x,\"y\"", "line\r\nbreak"}}, CsvRow{4, {"", "last"}}));
}

TEST(ParseCsv, LooksUpByColumnName) {
  const CsvTable table = parse("\xEF\xBB\xBFid,seq len\n7,4096");
  EXPECT_EQ(table.field(table.rows[0], "seq len"), "4096");
  EXPECT_EQ(table.field(table.rows[0], "id"), "7");  // the byte order mark is no part of the name
  EXPECT_EQ(table.field(table.rows[0], "absent"), "");
  EXPECT_FALSE(table.column("absent"));
  EXPECT_EQ(table.location(table.rows[0], "id"), "t.csv:2:id");
}

TEST(ParseCsv, LooksUpInAnotherCaseWhereNoColumnHasTheVeryName) {
  const Result<CsvTable> table = parse_csv("ID, Model ,model\na,b,c\n", "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->column("id"), 0U);
  EXPECT_EQ(table->column("model"), 2U) << "the very name comes first";
  EXPECT_EQ(table->column("mode"), std::nullopt);
  EXPECT_EQ(table->column(""), std::nullopt);
}

TEST(ParseCsv, SkipsBlankLinesAndKeepsEmptyFields) {
  EXPECT_THAT(parse("a,b\n\n,\n\r\n1,2\n\n").rows, ElementsAre(CsvRow{3, {"", ""}}, CsvRow{5, {"1", "2"}}));
  EXPECT_THAT(parse("a\n\"\"\n").rows, ElementsAre(CsvRow{2, {""}}));
  EXPECT_THAT(parse("a,b").rows, IsEmpty());
}

TEST(ParseCsv, ReportsEveryRaggedRowWithItsLine) {
  EXPECT_EQ(refusal("a,b\n1\n\"x\ny\",2\n1,2,3\n"),
            "t.csv:2: has 1 fields, the header has 2 (fields with commas need quotes)\n"
            "t.csv:5: has 3 fields, the header has 2 (fields with commas need quotes)\n");
}

TEST(ParseCsv, RefusesBadHeaders) {
  EXPECT_EQ(refusal("a,b,a\n"), "t.csv:1: column 'a' appears twice (rename or remove one of them)\n");
  EXPECT_EQ(refusal("a,\n"), "t.csv:1: a column has no name (name it or remove the surplus comma)\n");
  EXPECT_EQ(refusal("\n\n"), "t.csv: has no header line (the first line names the columns)\n");
}

TEST(ParseCsv, RefusesBrokenQuotes) {
  EXPECT_THAT(refusal("a\n1\n\"open\n\n"), ::testing::HasSubstr("t.csv:3: starts a quoted field that never ends"));
  EXPECT_THAT(refusal("a\nx\"y\n"), ::testing::HasSubstr("t.csv:2: has a quote inside an unquoted field"));
  EXPECT_THAT(refusal("a\n\"x\"y\n"), ::testing::HasSubstr("t.csv:2: has text after a closing quote"));
}

TEST(ParseCsv, RefusesBinary) {
  refusal(std::string_view("a\n\0\n", 4));
  refusal("a\n\xff\n");
  refusal(std::string(kMaxCsvFields + 2, ','));
}

TEST(CsvLine, RoundTripsAnyFields) {
  constexpr std::string_view kAlphabet = "ab,\"\r\n ;";
  std::mt19937_64 random(17);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t width = 1 + random() % 4;
    std::vector<std::string> header;
    std::vector<std::string> fields(width);
    for (std::size_t i = 0; i < width; ++i) {
      header.push_back(fmt::format("c{}", i));
      const std::size_t length = random() % 6;
      for (std::size_t k = 0; k < length; ++k) fields[i] += kAlphabet[random() % kAlphabet.size()];
    }
    EXPECT_THAT(parse(csv_line(header) + csv_line(fields)).rows, ElementsAre(CsvRow{2, fields}));
  }
}

TEST(CsvField, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field(" x"), "\" x\"");
}

// Found by tests/fuzz: a file with two marks, of which the second is part of a name.
TEST(CsvLine, KeepsAByteOrderMarkThatIsPartOfAField) {
  const std::string name = "\xEF\xBB\xBFid";
  const auto table = parse_csv(csv_line({name, "b"}), "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->header.front(), name);
}

TEST(IsUtf8, FollowsTheUnicodeTable) {
  for (const char* good :
       {"", "ascii", "\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc2", "\xe1\x80", "\xf1\x80\x80", "a\xff"}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

}  // namespace
}  // namespace smplan
