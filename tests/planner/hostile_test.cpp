// What tests/fuzz found, each with the smallest input that did it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_reader.hpp"
#include "planner/analysis/sweep.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/request/names.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan::test {
namespace {

TEST(RequestWords, RefusesValuesThatAreNoUtf8) {
  const auto spec = read_request_words("params=13B stack=fsdp\xA0", {}, "words");
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().front().code, "bad-encoding");
}

TEST(RequestWords, QuotesWhatSetsNothing) {
  const auto spec = read_request_words("\x1B[2J" + std::string(1000, 'x'), {}, "words");
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().front().message.find('\x1B'), std::string::npos);
  EXPECT_LT(spec.error().front().message.size(), 150U);
}

// Flags come from a shell, which passes any bytes.
TEST(SweepLine, OfARequestThatIsNoUtf8IsInvalidAndJson) {
  RequestSpec spec;
  spec.params = "13B\xFF";
  const SweepQuestion question = sweep_question(spec, catalog(), {});
  const SweepLine line = sweep_line(question, catalog(), {});
  EXPECT_EQ(line.status, SweepLine::Status::Invalid);
  EXPECT_TRUE(parse_json(line.text, "line"));
  EXPECT_EQ(sweep_identity(line.text), question.identity);
}

TEST(SweepIdentity, OfALineThatNestsWithoutEndIsNone) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_EQ(sweep_identity(R"({"request": )" + deep + R"(, "smplan_version": "0", "status": "", "trials": null})"),
            std::nullopt);
}

}  // namespace
}  // namespace smplan::test
