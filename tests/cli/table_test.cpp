#include "cli/render/table.hpp"

#include <gtest/gtest.h>

namespace smplan::cli {
namespace {

Table fruit() {
  Table table;
  table.columns = {{"NAME"}, {"PIECES", Align::Right}, {"NOTE", Align::Left, 1}, {"FARM", Align::Left, 2}};
  table.rows = {{"apple", "7", "red", "north"}, {"fig", "1200", "", "south"}};
  return table;
}

TEST(RenderText, AlignsColumnsAndTrimsLineEnds) {
  EXPECT_EQ(render_text(fruit(), {}),
            "NAME   PIECES  NOTE  FARM\n"
            "apple       7  red   north\n"
            "fig      1200        south\n");
}

TEST(RenderText, DropsTheLeastNeededColumnsFirstAndSaysSo) {
  EXPECT_EQ(render_text(fruit(), {false, 20}),
            "NAME   PIECES  NOTE\n"
            "apple       7  red\n"
            "fig      1200\n"
            "(left out for width: FARM)\n");
  EXPECT_EQ(render_text(fruit(), {false, 5}),
            "NAME   PIECES\n"
            "apple       7\n"
            "fig      1200\n"
            "(left out for width: FARM, NOTE)\n");
}

TEST(RenderText, FoldsBeforeItDrops) {
  Table table = fruit();
  table.columns[2].fold = 4;
  table.rows[0][2] = "red and round";
  EXPECT_EQ(render_text(table, {false, 29}),
            "NAME   PIECES  NOTE     FARM\n"
            "apple       7  red and  north\n"
            "               round\n"
            "fig      1200           south\n");
}

TEST(RenderText, DropsNothingThatFits) {
  const std::string whole = render_text(fruit(), {});
  EXPECT_EQ(render_text(fruit(), {false, 26}), whole);
  EXPECT_NE(render_text(fruit(), {false, 25}), whole);
  EXPECT_EQ(render_text(fruit(), {false, 1}),
            "NAME   PIECES\napple       7\nfig      1200\n(left out for width: FARM, NOTE)\n");
}

TEST(RenderText, DropsEqualColumnsFromTheLeft) {
  Table table;
  table.columns = {{"A"}, {"B", Align::Left, 1}, {"C", Align::Left, 1}, {"D", Align::Left, 2}};
  table.rows = {{"a", "b", "c", "d"}};
  EXPECT_EQ(render_text(table, {false, 1}), "A\na\n(left out for width: D, B, C)\n");
  EXPECT_EQ(render_text(table, {false, 4}), "A  C\na  c\n(left out for width: D, B)\n");
}

TEST(RenderText, DropsEveryColumnThatMayGo) {
  Table table;
  table.columns = {{"AA", Align::Left, 1}};
  table.rows = {{"a"}};
  EXPECT_EQ(render_text(table, {false, 2}), "AA\na\n");
}

TEST(RenderText, FoldsNoFurtherThanItMust) {
  Table table;
  table.columns = {{"A", Align::Left, 0, 6}, {"B"}};
  table.rows = {{"one two three", "x"}, {"", "y"}};
  EXPECT_EQ(render_text(table, {false, 16}), "A              B\none two three  x\n               y\n");
  EXPECT_EQ(render_text(table, {false, 15}), "A             B\none two       x\nthree\n              y\n");
  EXPECT_EQ(render_text(table, {false, 11}), "A         B\none two   x\nthree\n          y\n");
  EXPECT_EQ(render_text(table, {false, 2}), "A       B\none     x\ntwo\nthree\n        y\n");
  table.columns[0].fold = 1;
  EXPECT_EQ(render_text(table, {false, 2}), "A      B\none    x\ntwo\nthree\n       y\n");
}

TEST(RenderText, FoldsTheColumnsInTheirOrder) {
  Table table;
  table.columns = {{"A", Align::Right, 0, 3}, {"B", Align::Left, 0, 3}};
  table.rows = {{"aaa aaa", "bbb bbb"}};
  EXPECT_EQ(render_text(table, {false, 13}), "   A  B\n aaa  bbb bbb\n aaa\n");
  EXPECT_EQ(render_text(table, {false, 8}), "  A  B\naaa  bbb\naaa  bbb\n");
}

TEST(RenderText, DropsNoColumnThatMustStay) {
  Table table;
  table.columns = {{"NAME"}};
  table.rows = {};
  EXPECT_EQ(render_text(table, {false, 1}), "NAME\n");
}

TEST(RenderText, CountsLettersAndNotBytes) {
  Table table;
  table.columns = {{"A"}, {"B"}};
  table.rows = {{"\xC3\xA9t\xC3\xA9", "x"}, {"abcd", "y"}};
  EXPECT_EQ(render_text(table, {}), "A     B\n\xC3\xA9t\xC3\xA9   x\nabcd  y\n");
}

TEST(RenderText, ColoursTheHeaderAlone) {
  Table table;
  table.columns = {{"A"}};
  table.rows = {{"x"}};
  EXPECT_EQ(render_text(table, {true, 0}), "\x1b[1mA\x1b[0m\nx\n");
}

TEST(RenderRanking, ColoursTheHeaderAndTheBestRowOnlyIfAsked) {
  Table table;
  table.columns = {{"A"}};
  table.rows = {{"x"}, {"y"}};
  EXPECT_EQ(render_ranking(table, {true, 0}), "\x1b[1mA\x1b[0m\n\x1b[32mx\x1b[0m\ny\n");
  EXPECT_EQ(render_ranking(table, {}), "A\nx\ny\n");
}

TEST(RenderMarkdown, EscapesBarsAndKeepsAlignment) {
  Table table;
  table.columns = {{"A|B"}, {"N", Align::Right}};
  table.rows = {{"x|y", "1"}};
  EXPECT_EQ(render_markdown(table), "| A\\|B | N |\n| --- | ---: |\n| x\\|y | 1 |\n");
}

TEST(RenderCsv, QuotesWhatNeedsIt) {
  const auto rows =
      Json::parse(R"([{"name": "a,b", "n": 1.5, "ok": true}, {"name": "say \"hi\"", "n": null, "ok": false}])");
  EXPECT_EQ(render_csv(rows), "name,n,ok\n\"a,b\",1.5,true\n\"say \"\"hi\"\"\",,false\n");
}

TEST(Labelled, BreaksAtBlanksAndIndentsUnderTheText) {
  EXPECT_EQ(labelled("Why:", "one two three four", {false, 14}), "Why: one two\n     three\n     four\n");
  EXPECT_EQ(labelled("Why:", "one two three four", {}), "Why: one two three four\n");
}

TEST(RenderCsv, QuotesWhatARunnerWouldObey) {
  const auto rows = Json::parse(R"([{"a": "::error::x", "b": "x::y", "c": "l\u0001"}, {"b": "", "d": 1}])");
  EXPECT_EQ(render_csv(rows), "a,b,c\n\"::error::x\",x::y,l?\n,,\n");
  EXPECT_EQ(render_csv(Json::array()), "");
}

TEST(RenderMarkdown, EscapesWhatCellsMayMean) {
  Table table;
  table.columns = {{"A"}};
  table.rows = {{"<b>*x*"}};
  EXPECT_EQ(render_markdown(table), "| A |\n| --- |\n| \\<b>\\*x\\* |\n");
}

TEST(Labelled, LeavesOneColumnBesideALongLabel) {
  EXPECT_EQ(labelled("Why:", "a b", {false, 6}), "Why: a\n     b\n");
  EXPECT_EQ(labelled("Why:", "a b", {false, 5}), "Why: a\n     b\n");
  EXPECT_EQ(labelled("Why:", "a b", {false, 1}), "Why: a\n     b\n");
  EXPECT_EQ(labelled("Why:", "a b", {false, 8}), "Why: a b\n");
  EXPECT_EQ(labelled("Why:", "a", {true, 0}), "\x1b[1mWhy:\x1b[0m a\n");
}

TEST(Labelled, KeepsAWordThatIsTooLong) {
  EXPECT_EQ(labelled("A:", "incomprehensible x", {false, 8}), "A: incomprehensible\n   x\n");
}

}  // namespace
}  // namespace smplan::cli
