#include "base/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smplan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Words, StandBetweenBlanksHoweverMany) {
  EXPECT_THAT(words_of("one  two three "), ElementsAre("one", "two", "three"));
  EXPECT_THAT(words_of(" one"), ElementsAre("one"));
  EXPECT_THAT(words_of(""), IsEmpty());
  EXPECT_THAT(words_of("   "), IsEmpty());
}

TEST(Trim, TakesBlanksFromBothEndsAndNothingFromBetween) {
  EXPECT_EQ(trim(" \t80 GiB\r"), "80 GiB");
  EXPECT_EQ(trim("one"), "one");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(LettersAndDigits, AreWhatSpellingsOfOneWordShare) {
  for (const char* spelling : {"FULL_SHARD", "full shard", "Full-Shard (1)"}) {
    EXPECT_EQ(letters_and_digits(spelling).substr(0, 9), "fullshard") << spelling;
  }
  EXPECT_EQ(letters_and_digits("ZeRO-3"), "zero3");
  EXPECT_EQ(letters_and_digits("\xc3\xa9 _-"), "") << "ASCII only, whatever the locale";
}

TEST(KnownSpelling, IsTheOneNameWithTheSameLettersAndDigits) {
  const std::vector<std::string> known{"PyTorch FSDP", "fsdp-full", "fsdp full 2", "a-b", "ab"};
  EXPECT_EQ(known_spelling("pytorch-fsdp", known), "PyTorch FSDP");
  EXPECT_EQ(known_spelling("FSDP_FULL", known), "fsdp-full");
  EXPECT_EQ(known_spelling("fsdp", known), std::nullopt);
  EXPECT_EQ(known_spelling("A B", known), std::nullopt) << "two names could be meant";
  EXPECT_EQ(known_spelling("--", known), std::nullopt);
  EXPECT_EQ(known_spelling("x", {"X", "X"}), "X") << "a name twice is one name";
}

}  // namespace
}  // namespace smplan
