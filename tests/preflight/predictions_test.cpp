// What is predicted of a job, by its file and the flags, or why nothing is: tests/data/jobs/predictions.json.
#include <gtest/gtest.h>

#include "tests/preflight/predicted.hpp"

namespace smplan {
namespace {

using test::Json;

TEST(PredictionOf, AJobIsOfWhatItSays) {
  const Json document = Json::parse(test::read_test_file("predictions.json"));
  ASSERT_GT(document["predictions"].size(), 100U);
  for (const Json& row : document["predictions"]) {
    EXPECT_EQ(test::prediction_of(row), row["says"].get<std::string>()) << row.dump();
  }
}

}  // namespace
}  // namespace smplan
