#include "cli/arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(NormaliseArguments, RefusesAnUnknownCommandWithTheNearest) {
  const auto result = normalise_arguments({"modles", "list"}, kCommands);
  ASSERT_FALSE(result);
  ASSERT_EQ(result.error().size(), 1U);
  EXPECT_THAT(result.error()[0].hint, testing::HasSubstr("models"));
}

}  // namespace
}  // namespace smplan::cli
