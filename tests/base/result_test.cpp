#include "base/result.hpp"

#include <gmock/gmock.h>

namespace smplan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> kTypes = {"ml.p4d.24xlarge", "ml.p4de.24xlarge", "ml.p5.48xlarge", "ml.g5.xlarge"};

TEST(NearestNames, FindsTypingErrors) {
  EXPECT_THAT(nearest_names("ml.p4.24xlarge", kTypes, 1), ElementsAre("ml.p4d.24xlarge"));
  EXPECT_THAT(nearest_names("ml.p5.48xlrage", kTypes, 1), ElementsAre("ml.p5.48xlarge"));
  EXPECT_THAT(nearest_names("ML.P5.48XLARGE", kTypes, 1), ElementsAre("ml.p5.48xlarge"));
}

TEST(NearestNames, BreaksTiesAlphabetically) {
  EXPECT_THAT(nearest_names("ax", {"ad", "ac", "ab"}), ElementsAre("ab", "ac", "ad"));
  EXPECT_THAT(nearest_names("ax", {"ad", "ac", "ab"}, 2), ElementsAre("ab", "ac"));
}

TEST(NearestNames, CountsASwapAsOneMistake) {
  EXPECT_THAT(nearest_names("ab", {"ba"}), ElementsAre("ba"));  // 1 of 2 letters; 2 without the swap rule
  EXPECT_THAT(nearest_names("abc", {"cab"}), IsEmpty());        // no neighbours: 2 of 3 letters
}

TEST(NearestNames, LeavesOutWhatIsUnlike) {
  EXPECT_THAT(nearest_names("zebra", kTypes), IsEmpty());
  EXPECT_THAT(nearest_names("", kTypes), IsEmpty());
  EXPECT_THAT(nearest_names(std::string(1 << 20, 'a'), kTypes), IsEmpty());
  EXPECT_THAT(nearest_names("a", {}), IsEmpty());
}

TEST(UnknownName, SuggestsOrLists) {
  const Diagnostic typo = unknown_name("instance type", "ml.p4.24xlarge", "--instances", kTypes);
  EXPECT_EQ(typo.code, "unknown-instance-type");
  EXPECT_EQ(typo.message, "unknown instance type 'ml.p4.24xlarge'");
  EXPECT_EQ(typo.hint, "did you mean ml.p4d.24xlarge, ml.p4de.24xlarge, ml.p5.48xlarge?");
  EXPECT_EQ(unknown_name("stack", "zebra", "--stack", {"fsdp", "ddp"}).hint, "known: fsdp, ddp");
}

TEST(Quote, MakesHostileTextHarmless) {
  EXPECT_EQ(quote("plain"), "'plain'");
  EXPECT_EQ(quote("\x1b[31mred\n"), "'?[31mred?'");
  EXPECT_EQ(quote("\xff-\xfe"), "'?-?'");
  EXPECT_EQ(quote("é"), "'é'");
  EXPECT_EQ(quote(std::string(1000, 'a')), "'" + std::string(80, 'a') + "...'");
  // 79 letters and a two-byte character: cut before the character, not through it.
  EXPECT_EQ(quote(std::string(79, 'a') + "é and more"), "'" + std::string(79, 'a') + "...'");
}

TEST(ToString, JoinsLocationMessageAndHint) {
  const Diagnostic full{"c", "--tp", "must be even", "try 8"};
  EXPECT_EQ(to_string(full), "--tp: must be even (try 8)");
  EXPECT_EQ(to_string(Diagnostic{"c", "", "must be even", ""}), "must be even");
  EXPECT_EQ(to_string(Diagnostics{full, full}), "--tp: must be even (try 8)\n--tp: must be even (try 8)\n");
}

TEST(Fail, IsAResultOfOneDiagnostic) {
  const Result<int> failed = fail("bad", "here", "is wrong", "mend it");
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error(), ElementsAre(Diagnostic{"bad", "here", "is wrong", "mend it"}));
}

}  // namespace
}  // namespace smplan
