#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/render/calibration_page.hpp"
#include "cli/render/comparison_page.hpp"
#include "cli/render/validation_page.hpp"
#include "tests/cli/made_up.hpp"

namespace smplan::cli {
namespace {

using test::columns_of;
using test::expect_page;

ErrorSummary summary(const std::string& name) {
  ErrorSummary s;
  s.name = name;
  s.n = 12;
  s.mape = 0.1;
  s.median = 0.05;
  s.p90 = 0.2;
  s.max = 0.3;
  s.bias = -0.025;
  return s;
}

TEST(LeftOutTable, ListsAllBeforeTheGroups) {
  LeftOutReport report;
  report.by = "a-z";
  report.all = summary("all");
  report.groups = {summary("one\ttwo"), summary("three")};
  expect_page("left_out.txt", render_text(left_out_table(report), {}));
}

TEST(LeftOutSummary, CountsLargeGroups) {
  LeftOutReport report;
  EXPECT_EQ(left_out_summary(report), "no group of ten runs or more was left out");
  report.large_groups = 2;
  report.mean_of_large = 0.1;
  report.worst_of_large = 0.25;
  EXPECT_EQ(left_out_summary(report), "2 groups of ten runs or more: mean error 10.0% over groups, 25.0% in the worst");
}

TEST(FittedTable, ListsWhatTheRunsTell) {
  CalibrationResult result;
  result.runs = 1;
  result.mape_before = 0.5;
  result.mape_after = 0.25;
  result.stacks = {"sail"};
  result.parameters = {{"sail", "drag", "how it drags", 1.23456, 0.5, 2.34567, 0.25, 7, true},
                       {"sail", "mast", "how high", 1, 1, 1, 1, 0, false}};
  expect_page("fitted.txt", render_text(fitted_table(result), {}));
  EXPECT_EQ(fit_summary(result),
            "fitted on 1 run: mean error 50.0% before, 25.0% after; the runs tell 1 number of 1 "
            "stack");
  result.accelerators = {"A", "B"};
  result.runs = 2;
  EXPECT_EQ(fit_summary(result),
            "fitted on 2 runs: mean error 50.0% before, 25.0% after; the runs tell 1 number of 1 "
            "stack and 2 accelerators");
}

TEST(ComparisonListing, TakesTheUnitFromTheName) {
  Comparison c;
  c.choices = {{"stack", "sail", ""}, {"count", "", "4"}};
  c.outcomes = {{"cost/total_usd", 100, 80},
                {"cost/bill_usd/compute", 0, 5},
                {"time_to_train_s", 3600, 7200},
                {"memory/components_gib/x", 2, 1},
                {"step/tokens_per_s", 1000, 1500},
                {"mfu", 0.4, 0.5},
                {"wait_s/first", 0, 0}};
  c.parts = {{"cost/idle_usd", 5, 0}, {"pause_s", 90, 30}};
  const Listing listing = comparison_listing(c);
  expect_page("comparison.txt", render_text(listing.table, {}) + '\n' + listing.rows.dump(1) + '\n');
}

TEST(Reports, KeepTheirColumnsWhereTheWidthIsShort) {
  expect_page("report_columns.txt", columns_of(error_columns("ERRORS")) + columns_of(fitted_table({})) +
                                        columns_of(comparison_listing({}).table));
}

ComparedRun run(const std::string& id, double measured) {
  ComparedRun r;
  r.run.id = id;
  r.prediction.stack = "sail";
  r.prediction.step.components.compute = Seconds(6);
  r.prediction.step.components.host = Seconds(2);
  r.prediction.step.components.optimizer = Seconds(1);
  r.prediction.step.components.straggler = Seconds(0.95);
  r.prediction.step.components.offload = Seconds(0.05);
  r.prediction.step.p10 = Seconds(9);
  r.prediction.step.p90 = Seconds(11);
  r.measured_time = Seconds(measured);
  return r;
}

TEST(ValidationText, ShowsTheFourLongestPartsOfTheWorstRuns) {
  std::vector<ComparedRun> runs = {run("a\tb", 10), run("c", 20)};
  runs[1].prediction.step.components = {Seconds(9.96)};
  runs[1].prediction.step.components.host = Seconds(0.04);
  runs[0].run.peak_mem_gib_per_gpu = 10;
  runs[0].prediction.peak = gib(9);
  runs[0].prediction.peak_interval = {gib(8), gib(10)};
  expect_page("validation.txt", validation_text(runs, {GroupBy::Stack, 2}, {}));
  expect_page("validation.md", validation_markdown(runs, {GroupBy::All, 1}));
}

TEST(ValidationText, CountsReasonsBeyondTwelve) {
  std::vector<ComparedRun> runs;
  const auto refuse = [&](int reason) {
    ComparedRun r;
    r.run.id = "r" + std::to_string(reason);
    r.prediction.status = reason % 2 == 0 ? RunStatus::Invalid : RunStatus::Unsupported;
    r.prediction.message = "reason " + std::string(1, static_cast<char>('a' + reason));
    runs.push_back(r);
  };
  for (int i = 0; i < 12; ++i) refuse(i);
  expect_page("validation_refused.txt", validation_text(runs, {}, {}));
  refuse(12);
  EXPECT_THAT(validation_text(runs, {}, {}), testing::HasSubstr("other           1 "));
  refuse(13);
  EXPECT_THAT(validation_text(runs, {}, {}),
              testing::HasSubstr("other           2         --format csv gives the reason of each row\n"));
}

TEST(Printable, BlanksControlCharacters) { EXPECT_EQ(printable("a\x1f\x20\x7e\x7f\xc3\xa9\n"), "a  ~ \xc3\xa9 "); }

TEST(Counted, IsOneOrMany) {
  EXPECT_EQ(counted(0, "run"), "0 runs");
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(2, "run"), "2 runs");
}

}  // namespace
}  // namespace smplan::cli
