#include "base/escape.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

TEST(EscapePointer, TildesAndSlashesHaveNumbers) {
  EXPECT_EQ(escape_pointer("a/b~c"), "a~1b~0c");
  EXPECT_EQ(escape_pointer("~1"), "~01") << "which reads back as ~1 and not as a slash";
  EXPECT_EQ(escape_pointer(""), "");
}

TEST(EscapeShell, IsOneWordWhateverTheText) {
  for (const char* plain : {"train.py", "a=b", "/opt/ml", "0.1", "-x"}) EXPECT_EQ(escape_shell(plain), plain);
  EXPECT_EQ(escape_shell(""), "''");
  EXPECT_EQ(escape_shell("a b"), "'a b'");
  EXPECT_EQ(escape_shell("$(x) `y` \"z\" \\"), "'$(x) `y` \"z\" \\'");
  EXPECT_EQ(escape_shell("it's"), "'it'\\''s'");
  EXPECT_EQ(escape_shell("~"), "'~'");
}

TEST(EscapeMarkup, NothingOpensAnElementOrEndsAnAttribute) {
  EXPECT_EQ(escape_markup("<a href=\"x\">&amp;</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;amp;&lt;/a&gt;");
  EXPECT_EQ(escape_markup("plain, UTF-8: \xc3\xa9"), "plain, UTF-8: \xc3\xa9");
}

}  // namespace
}  // namespace smplan
