#include "cli/render/table.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

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

TEST(RenderText, CountsLettersAndNotBytes) {
  Table table;
  table.columns = {{"A"}, {"B"}};
  table.rows = {{"\xC3\xA9t\xC3\xA9", "x"}, {"abcd", "y"}};
  EXPECT_EQ(render_text(table, {}), "A     B\n\xC3\xA9t\xC3\xA9   x\nabcd  y\n");
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
  const auto rows = nlohmann::ordered_json::parse(
      R"([{"name": "a,b", "n": 1.5, "ok": true}, {"name": "say \"hi\"", "n": null, "ok": false}])");
  EXPECT_EQ(render_csv(rows), "name,n,ok\n\"a,b\",1.5,true\n\"say \"\"hi\"\"\",,false\n");
}

TEST(Labelled, BreaksAtBlanksAndIndentsUnderTheText) {
  EXPECT_EQ(labelled("Why:", "one two three four", {false, 14}), "Why: one two\n     three\n     four\n");
  EXPECT_EQ(labelled("Why:", "one two three four", {}), "Why: one two three four\n");
}

TEST(Labelled, KeepsAWordThatIsTooLong) {
  EXPECT_EQ(labelled("A:", "incomprehensible x", {false, 8}), "A: incomprehensible\n   x\n");
}

}  // namespace
}  // namespace smplan::cli
