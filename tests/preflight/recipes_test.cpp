// HyperPod recipes of every schema: what is trained, by what, for how long, and what is not predicted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using test::Json;
using ::testing::HasSubstr;

const Json& cases() {
  static const Json document = Json::parse(test::read_test_file("recipes.json"));
  return document["cases"];
}

std::string reason_for(const Findings& findings, std::string_view rule) {
  for (const SkippedRule& s : findings.skipped) {
    if (s.rule == rule) return s.reason;
  }
  return {};
}

const Finding* finding_of(const Findings& findings, std::string_view rule) {
  for (const Finding& f : findings.findings) {
    if (f.rule == rule) return &f;
  }
  return nullptr;
}

class RecipeCase : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const Json& row() const { return cases()[GetParam()]; }
  [[nodiscard]] std::string text(const char* key) const { return row().value(key, std::string()); }
  [[nodiscard]] Findings findings() const {
    CheckOptions options;
    if (row().contains("flags")) options.request = test::request_from(row()["flags"]);
    options.request.model = text("model");
    options.request.instances = "ml.p5.48xlarge";
    if (!row()["recipe"].contains("trainer")) options.request.count = "1";
    return test::check_text(row()["recipe"].dump(2), JobKind::HyperpodRecipe, options);
  }
};

TEST_P(RecipeCase, IsPredictedAsItSaysOrNotAtAll) {
  const Findings found = findings();
  SCOPED_TRACE(text("what"));
  for (const Finding& f : found.findings) EXPECT_NE(f.severity, Severity::Error) << f.rule << ": " << f.message;
  if (row().contains("refused")) {
    EXPECT_FALSE(found.prediction);
    for (const char* rule : {"C144", "C207", "C208"}) {
      EXPECT_THAT(reason_for(found, rule), HasSubstr(text("refused"))) << rule;
    }
    return;
  }
  ASSERT_TRUE(found.prediction) << reason_for(found, "C144");
  const Prediction& p = *found.prediction;
  if (row().contains("warns")) {
    const Finding* warning = finding_of(found, text("warns"));
    ASSERT_NE(warning, nullptr);
    EXPECT_EQ(warning->severity, Severity::Warning);
    EXPECT_THAT(warning->message, HasSubstr("the file does not say"));
    return;
  }
  EXPECT_EQ(to_string(p.request.workload.finetune), text("finetune"));
  EXPECT_EQ(p.plan.stack->id, text("stack"));
  const TrainingLoss* loss = p.request.workload.loss;
  EXPECT_EQ(loss != nullptr ? loss->name : "", text("loss"));
  if (row().contains("micro_batch")) EXPECT_EQ(p.plan.strategy.micro_batch, row()["micro_batch"].get<int>());
  if (row().contains("sharding")) EXPECT_EQ(to_string(p.plan.strategy.sharding), text("sharding"));
  EXPECT_TRUE(p.plan.memory.fits());
  if (row().contains("tokens")) {
    EXPECT_EQ(static_cast<std::int64_t>(p.request.workload.tokens), row()["tokens"].get<std::int64_t>());
    EXPECT_EQ(p.length_unknown, "");
  } else {
    EXPECT_THAT(p.length_unknown, HasSubstr(text("length")));
    EXPECT_THAT(reason_for(found, "C208"), HasSubstr(text("length")));
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecipeCase, ::testing::Range<std::size_t>(0, cases().size()));

TEST(RecipeLength, WithTokensGivenTimeAndMoneyAreJudged) {
  CheckOptions options;
  options.request =
      test::request_from({{"model", "llama-3.1-70b"}, {"instances", "ml.p5.48xlarge"}, {"tokens", "50M"}});
  const Findings found = test::check_text(cases()[0]["recipe"].dump(), JobKind::HyperpodRecipe, options);
  ASSERT_TRUE(found.prediction);
  EXPECT_EQ(found.prediction->length_unknown, "");
  EXPECT_EQ(reason_for(found, "C208"), "");
}

}  // namespace
}  // namespace smplan
