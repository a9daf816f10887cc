#include "base/markdown.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

TEST(MarkdownText, MakesNothingOfItsMarks) {
  EXPECT_EQ(markdown_text("plain text, 1.5 x_y"), "plain text, 1.5 x_y");
  EXPECT_EQ(markdown_text("`a` *b* [c](d) <e> &f; \\"), "\\`a\\` \\*b\\* \\[c\\](d) \\<e> \\&f; \\\\");
  EXPECT_EQ(markdown_text("a\n# b"), "a?# b");
}

TEST(MarkdownCell, IsNotEndedByABar) {
  EXPECT_EQ(markdown_cell("a|b `c`"), "a\\|b `c`");
  EXPECT_EQ(markdown_cell("a\nb"), "a?b");
}

}  // namespace
}  // namespace smplan
