#include "base/printable.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace smplan {
namespace {

/// One of each kind of character that must not be shown.
const std::vector<std::string> kHidden = {
    std::string(1, '\0'),
    "\n",
    "\r",
    "\t",
    "\x1b",
    "\x7f",
    "\xC2\x9B",          // U+009B, the control sequence introducer
    "\xC2\xAD",          // soft hyphen
    "\xE2\x80\x8B",      // zero width space
    "\xE2\x80\xA8",      // line separator
    "\xE2\x80\xAE",      // right-to-left override
    "\xE2\x81\xA6",      // left-to-right isolate
    "\xEF\xBB\xBF",      // byte order mark
    "\xEE\x80\x80",      // private use
    "\xEF\xBF\xBF",      // U+FFFF
    "\xF0\x9F\xBF\xBF",  // U+1FFFF
    "\xF3\xA0\x81\x81",  // a tag
    "\xff",
    "\xC3",  // no UTF-8
};

TEST(Printable, IsWhatShowsAsItIs) {
  for (const std::string shown : {"", "plain text", "é", "東京", "\xF0\x9F\x9A\x80", "$(x) `y` <z>"}) {
    EXPECT_TRUE(is_printable(shown)) << shown;
    EXPECT_EQ(printable(shown), shown);
  }
  for (const std::string& hidden : kHidden) {
    EXPECT_FALSE(is_printable("a" + hidden + "b")) << hidden;
    EXPECT_EQ(printable("a" + hidden + "b"), "a?b") << hidden;
  }
}

TEST(Printable, EndsRangesWhereUnicodeDoes) {
  EXPECT_TRUE(is_printable("\xC2\xA0"));      // U+00A0, after the control characters
  EXPECT_FALSE(is_printable("\xC2\x9F"));     // U+009F, the last of them
  EXPECT_TRUE(is_printable("\xE2\x80\xA7"));  // U+2027, before the line separator
  EXPECT_TRUE(is_printable("\xE2\x80\xAF"));  // U+202F, after the overrides
  EXPECT_TRUE(is_printable("\xEF\xBF\xBD"));  // U+FFFD
  EXPECT_TRUE(is_printable("\xEF\xA4\x80"));  // U+F900, after private use
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("aéb", 2), "a...");
  EXPECT_EQ(printable("aéb", 3), "aé...");
  EXPECT_EQ(printable("aéb", 4), "aéb");
}

TEST(PrintableLines, KeepLinesAndColoursOnly) {
  EXPECT_EQ(printable_lines("a\nb\tc\n"), "a\nb\tc\n");
  EXPECT_EQ(printable_lines("\x1b[1;31mred\x1b[0m"), "\x1b[1;31mred\x1b[0m");
  EXPECT_EQ(printable_lines("\x1b]0;title\x07"), "?]0;title?");
  EXPECT_EQ(printable_lines("\x1b[2J"), "?[2J");
  EXPECT_EQ(printable_lines("\x1b[1"), "?[1");
  EXPECT_EQ(printable_lines("a\r\nb"), "a?\nb");
}

TEST(PrintableLines, CutWhatNobodyReads) {
  EXPECT_EQ(printable_lines(std::string(16384, 'a') + "\nb"), std::string(16384, 'a') + "\nb");
  EXPECT_EQ(printable_lines(std::string(16385, 'a') + "\nb"), std::string(16384, 'a') + "...\nb");
  EXPECT_EQ(printable_lines(std::string(16383, 'a') + "é"), std::string(16383, 'a') + "...");
}

TEST(PrintableLines, CommandNothingToARunner) {
  EXPECT_EQ(printable_lines("::error::x\n  ::debug::y"), ": :error::x\n  : :debug::y");
  EXPECT_EQ(printable_lines("a ::error::x"), "a ::error::x") << "the runner looks at the beginning only";
  EXPECT_EQ(printable_lines("a ##[error]x ##[b]"), "a ## [error]x ## [b]");
}

TEST(PrintableJson, KeepsTheValues) {
  EXPECT_EQ(printable_json("{\n \"a\": \"é\x7f\xE2\x80\xAE\"\n}"), "{\n \"a\": \"é\\u007f\\u202e\"\n}");
  EXPECT_EQ(printable_json("\"\xF3\xA0\x81\x81\""), "\"\\udb40\\udc41\"") << "U+E0041 as surrogates";
}

TEST(Identifier, IsWhatOtherFilesCanSay) {
  for (const std::string name : {"ml.p5.48xlarge", "a", "0.1.0", "us-east-1", "hf_trainer"})
    EXPECT_TRUE(is_identifier(name));
  for (const std::string name : {"", ".a", "-a", "a b", "a/b", "a$b", "é", "a\n"})
    EXPECT_FALSE(is_identifier(name)) << name;
  EXPECT_TRUE(is_identifier(std::string(64, 'a')));
  EXPECT_FALSE(is_identifier(std::string(65, 'a')));
}

TEST(Label, IsANameThatPeopleChoose) {
  for (const std::string name :
       {"meta-llama/Llama-2-13b-hf", "/home/josé/ckpt", "gpt2 config", "a:b", "./x", "_x", "c4ai+ (v01)"}) {
    EXPECT_TRUE(is_label(name)) << name;
    EXPECT_EQ(label_of(name), name);
  }
  for (const std::string name :
       {"", " a", "a ", "a  b", "::a", "-a", "=a", "a$b", "a`b", "a\"b", "a'b", "a<b", "a|b", "a[b]"}) {
    EXPECT_FALSE(is_label(name)) << name;
  }
  EXPECT_TRUE(is_label(std::string(96, 'a')));
  EXPECT_FALSE(is_label(std::string(97, 'a')));
}

TEST(LabelOf, IsALabelOrEmptyWhateverTheText) {
  std::vector<std::string> texts = {"::error::x",
                                    "x\nrm -rf /",
                                    "x'; y; '",
                                    "$(y)",
                                    "\xE2\x80\xAE",
                                    "###",
                                    "- -",
                                    "é",
                                    std::string(1000, ' ') + "a",
                                    std::string(500'000, '\n'),
                                    std::string(95, 'a') + "éé"};
  for (const std::string& hidden : kHidden) texts.push_back("a" + hidden + hidden + "b");
  for (const std::string& text : texts) {
    const std::string label = label_of(text);
    EXPECT_TRUE(label.empty() || is_label(label)) << text.substr(0, 80) << " -> " << label;
  }
  EXPECT_EQ(label_of("x\nimport os"), "x-import os");
  EXPECT_EQ(label_of("::error::x"), "error::x");
  EXPECT_EQ(label_of("###"), "");
  EXPECT_EQ(label_of(std::string(500, 'a') + "/llama-2-7b"), std::string(85, 'a') + "/llama-2-7b")
      << "a path ends in its name";
}

}  // namespace
}  // namespace smplan
