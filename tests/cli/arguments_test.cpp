#include "cli/arguments.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

namespace smplan::cli {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kCommands = {"plan", "models"};

std::vector<std::string> normal(std::vector<std::string> arguments) {
  return normalise_arguments(std::move(arguments), kCommands).value();
}

TEST(NormaliseArguments, AssumesPlan) {
  EXPECT_THAT(normal({"--params", "13B"}), ElementsAre("plan", "--params", "13B"));
  EXPECT_THAT(normal({"--format", "json", "--params", "13B"}),
              ElementsAre("plan", "--format", "json", "--params", "13B"));
}

TEST(NormaliseArguments, FindsTheCommandBehindCommonFlags) {
  EXPECT_THAT(normal({"--format", "plan", "--quiet", "models", "list"}),
              ElementsAre("models", "--format", "plan", "--quiet", "list"));
  EXPECT_THAT(normal({"--format=json", "models"}), ElementsAre("models", "--format=json"));
}

TEST(NormaliseArguments, LeavesTheProgramsOwnQuestions) {
  EXPECT_THAT(normal({"--help"}), ElementsAre("--help"));
  EXPECT_THAT(normal({"--version"}), ElementsAre("--version"));
}

TEST(NormaliseArguments, JoinsNegativeValuesToTheirFlag) {
  EXPECT_THAT(normal({"plan", "--tp", "-1", "--min-headroom", "-.5"}),
              ElementsAre("plan", "--tp=-1", "--min-headroom=-.5"));
  EXPECT_THAT(normal({"plan", "--hf-config", "-"}), ElementsAre("plan", "--hf-config", "-"));
}

TEST(NormaliseArguments, JoinsOnlyWhatCanBeAValue) {
  EXPECT_THAT(normal({"plan", "--a", "-9", "--b=1", "-2", "c", "-3", "-"}),
              ElementsAre("plan", "--a=-9", "--b=1", "-2", "c", "-3", "-"));
  EXPECT_THAT(normal({"plan", "--a", "-0", "--b", "-x", "--c", "-:", "--d", "-/"}),
              ElementsAre("plan", "--a=-0", "--b", "-x", "--c", "-:", "--d", "-/"));
  EXPECT_THAT(normal({"-1"}), ElementsAre("plan", "-1"));
}

TEST(NormaliseArguments, TakesQuestionsAsWords) {
  EXPECT_THAT(normal({"help"}), ElementsAre("--help"));
  EXPECT_THAT(normal({"help", "models"}), ElementsAre("models", "--help"));
  EXPECT_THAT(normal({"help", "--quiet"}), ElementsAre("--help", "--quiet"));
  EXPECT_THAT(normal({"version"}), ElementsAre("--version"));
  EXPECT_THAT(normal({"-h"}), ElementsAre("-h"));
  EXPECT_THAT(normal({"-V"}), ElementsAre("-V"));
  EXPECT_THAT(normal({"--json"}), ElementsAre("--json"));
  EXPECT_THAT(normal({}), testing::IsEmpty());
}

TEST(NormaliseArguments, SkipsTheValueOfEveryCommonFlag) {
  for (const std::string flag : {"--format", "--output", "--color", "--catalog", "--calibration"}) {
    EXPECT_THAT(normal({flag, "plan", "models"}), ElementsAre("models", flag, "plan"));
    EXPECT_THAT(normal({flag + "=x", "models"}), ElementsAre("models", flag + "=x"));
    EXPECT_THAT(normal({flag}), ElementsAre(flag));
    EXPECT_THAT(normal({flag, "models"}), ElementsAre(flag, "models"));
  }
  EXPECT_THAT(normal({"--quiet"}), ElementsAre("--quiet"));
}

TEST(NormaliseArguments, RefusesAnUnknownCommandWithTheNearest) {
  const auto result = normalise_arguments({"modles", "list"}, kCommands);
  ASSERT_FALSE(result);
  ASSERT_EQ(result.error().size(), 1U);
  EXPECT_THAT(result.error()[0].hint, testing::HasSubstr("models"));
  const std::vector<std::string> many(40, "a");
  EXPECT_EQ(to_string(normalise_arguments({"qqqqqqqq"}, many).error()[0]),
            "unknown command 'qqqqqqqq' (`smplan help` lists the commands)");
}

/// What the parser says of these words, in ours.
std::string complaint(std::vector<std::string> words) {
  CLI::App root("about", "smplan");
  CLI::App* fly = root.add_subcommand("fly", "Fly");
  std::string to;
  int height = 0;
  fly->add_option("--to-place", to)->required();
  fly->add_option("--height", height);
  try {
    std::reverse(words.begin(), words.end());
    root.parse(words);
  } catch (const CLI::ParseError& error) {
    return to_string(explain_parse_error(error, *fly));
  }
  return "";
}

TEST(ExplainParseError, NamesTheFlagAndTheFix) {
  EXPECT_EQ(complaint({"fly", "--to-place", "x", "--to-plce=3"}),
            "unknown flag '--to-plce' (did you mean --to-place?)");
  EXPECT_EQ(complaint({"fly", "--to-place", "x", "--zzzzzzzzz"}),
            "unknown flag '--zzzzzzzzz' (`smplan fly --help` lists the flags)");
  EXPECT_EQ(complaint({"fly", "--to-place", "x", "word", "--zzz"}),
            "unexpected argument 'word' (`smplan fly --help` shows the usage)");
  EXPECT_EQ(complaint({"fly", "--to-place"}), "--to-place: needs a value");
  EXPECT_EQ(complaint({"fly", "--to-place", "x", "--to-place", "y"}),
            "--to-place: was given more than once (give it once)");
  EXPECT_EQ(complaint({"fly"}), "--to-place is required (`smplan fly --help` shows the usage)");
  EXPECT_EQ(complaint({"fly", "--to-place", "x", "--height", "y"}),
            "Could not convert: --height = y (`smplan fly --help` shows the usage)");
  EXPECT_EQ(complaint({"fly", "--to-place", "x"}), "");
}

}  // namespace
}  // namespace smplan::cli
