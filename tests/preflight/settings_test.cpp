// What each format says, setting by setting, and where: tests/data/jobs/settings.json.
#include <gtest/gtest.h>

#include "tests/preflight/settings_of.hpp"

namespace smplan {
namespace {

using test::Json;

const Json& files() {
  static const Json document = Json::parse(test::read_test_file("settings.json"));
  return document["files"];
}

class SettingsOf : public ::testing::TestWithParam<const char*> {};

TEST_P(SettingsOf, AFormatAreAllReadWhereTheyStand) {
  const std::string base = GetParam();
  int rows = 0;
  for (const Json& row : files()) {
    if (row["format"] != base) continue;
    ++rows;
    SCOPED_TRACE(row["what"].get<std::string>());
    const std::string text =
        row["file"].is_string() ? row["file"].get<std::string>() : test::job_text(base, row["file"]);
    const Result<Job> job = read_job(text, "job", test::kind_of_base(base));
    ASSERT_TRUE(job) << to_string(job.error());
    // Compared member by member, so that a failure names the one that differs.
    const Json found = test::Settings(*job).all;
    for (const auto& [name, value] : row["says"].items()) EXPECT_EQ(found.value(name, Json()), value) << name;
    for (const auto& [name, value] : found.items()) EXPECT_TRUE(row["says"].contains(name)) << name << ": " << value;
  }
  EXPECT_GT(rows, 1);
}

INSTANTIATE_TEST_SUITE_P(All, SettingsOf,
                         ::testing::Values("request", "estimator", "trainer", "recipe", "deepspeed", "accelerate",
                                           "megatron", "torchtitan", "smp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace smplan
