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

}  // namespace
}  // namespace smplan
