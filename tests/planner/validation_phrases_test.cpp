// What notes of runs say and what they deny.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner/validation/phrases.hpp"

namespace smplan {
namespace {

struct Note {
  const char* text;
  bool says, denies;  ///< of `liger`
};

TEST(Phrases, AreSaidWhereSomeMentionIsNotDenied) {
  const std::vector<Note> notes = {
      {"", false, false},
      {"flash attention", false, false},
      {"Liger", true, false},
      {"uses liger.", true, false},
      {"ligers", true, false},
      {"liger=1", true, false},
      {"liger: on", true, false},
      {"no liger", false, true},
      {"no-liger", false, true},
      {"not liger", false, true},
      {"without liger", false, true},
      {"packed (w/o liger)", false, true},
      {"non liger", false, true},
      {"nothing; liger", true, false},
      {"nano liger", true, false},
      {"liger=0", false, true},
      {"liger = off", false, true},
      {"liger: 'off'", false, true},
      {"liger:none", false, true},
      {"liger off", false, true},
      {"liger disabled", false, true},
      {"liger no flash", true, false},
      {"liger offload", true, false},
      {"liger=", true, false},
      {"liger ", true, false},
      {"no liger, then liger", true, false},
      {"liger=0 liger", true, false},
      {"no liger, liger off", false, true},
      {"ligliger", true, false},
  };
  for (const Note& note : notes) {
    EXPECT_EQ(Phrases(note.text).say("liger"), note.says) << note.text;
    EXPECT_EQ(Phrases(note.text).deny("liger"), note.denies) << note.text;
    EXPECT_EQ(Phrases(note.text).say_any(std::vector<std::string_view>{"other", "liger"}), note.says) << note.text;
  }
}

TEST(Phrases, OfWordsBeginAWord) {
  const auto says = [](const std::string& text) { return Phrases(text).say_word("int4", {"kv", "cache"}); };
  for (const char* text : {"int4", "weights in int4", "(int4)", "INT4 weights", "int4x", "print4 int4", "int4 kv, int4",
                           "int4-", "no int4; int4"}) {
    EXPECT_TRUE(says(text)) << text;
  }
  for (const char* text : {"", "print4", "1int4", "int4 kv", "int4-kv", "int4 - _cache", "no int4", "int4=0"}) {
    EXPECT_FALSE(says(text)) << text;
  }
}

TEST(Cells, DenyByTheirFirstWordOrTheirLast) {
  for (const char* cell : {"no offload", "not sharded", "none (0 layers)", "without", "AC off", "Disabled",
                           "tp disabled", "(non)", "false", "off: all"}) {
    EXPECT_TRUE(denies(cell)) << cell;
  }
  for (const char* cell : {"", "-", "offload", "all but none of the norms", "sharded no", "nonlinear", "of none"}) {
    EXPECT_FALSE(denies(cell)) << cell;
  }
}

TEST(PlainWords, AreRunsOfLettersAndDigits) {
  EXPECT_EQ(plain_words("FSDP2 (HYBRID_SHARD)"), (std::vector<std::string>{"fsdp2", "hybrid", "shard"}));
  EXPECT_EQ(plain_words("--a"), std::vector<std::string>{"a"});
  EXPECT_TRUE(plain_words("./-").empty());
}

}  // namespace
}  // namespace smplan
