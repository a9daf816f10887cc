#include "base/escape.hpp"

#include <gtest/gtest.h>

namespace smplan {
namespace {

TEST(EscapePointer, TildesAndSlashesHaveNumbers) {
  EXPECT_EQ(escape_pointer("a/b~c"), "a~1b~0c");
  EXPECT_EQ(escape_pointer("~1"), "~01") << "which reads back as ~1 and not as a slash";
  EXPECT_EQ(escape_pointer(""), "");
}

TEST(EscapeMarkup, NothingOpensAnElementOrEndsAnAttribute) {
  EXPECT_EQ(escape_markup("<a href=\"x\">&amp;</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;amp;&lt;/a&gt;");
  EXPECT_EQ(escape_markup("plain, UTF-8: \xc3\xa9"), "plain, UTF-8: \xc3\xa9");
}

}  // namespace
}  // namespace smplan
