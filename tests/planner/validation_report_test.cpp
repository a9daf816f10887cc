#include <array>
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "planner/validation/report.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

/// A run that was predicted and measured, in seconds.
ComparedRun timed(const std::string& id, double predicted, double measured, const std::string& split = "") {
  ComparedRun r;
  r.run.id = r.prediction.id = id;
  r.run.source = "s";
  r.prediction.step.components.compute = Seconds(predicted);
  r.prediction.step.p10 = Seconds(predicted / 1.2);
  r.prediction.step.p90 = Seconds(predicted * 1.2);
  r.measured_time = Seconds(measured);
  r.comparable_group = "g";
  r.split = split.empty() ? id : split;
  return r;
}

ErrorSummary all_of(const std::vector<ComparedRun>& runs) { return summarise_time(runs, GroupBy::All).at(0); }

// 1.1, 0.8 and 1.0 of the measured time: errors 10 %, 20 % and 0 %.
TEST(TimeErrors, AreThoseOfAWorkedExample) {
  const ErrorSummary s = all_of({timed("a", 1.1, 1), timed("b", 1.6, 2), timed("c", 3, 3)});
  EXPECT_EQ(s.n, 3U);
  EXPECT_NEAR(s.mape, 0.1, 1e-12);
  EXPECT_NEAR(s.median, 0.1, 1e-12);
  EXPECT_NEAR(s.p90, 0.18, 1e-12);
  EXPECT_NEAR(s.max, 0.2, 1e-12);
  EXPECT_NEAR(s.bias, std::cbrt(1.1 * 0.8) - 1, 1e-12);
  EXPECT_NEAR(s.under, 1.0 / 3, 1e-12);
  EXPECT_NEAR(s.coverage, 2.0 / 3, 1e-12);  // 2 s is beyond 1.6 x 1.2
}

// Measured 1 < 2 < 3 < 4, predicted 1 < 3 < 2 < 4: five pairs agree, one does not; the first choice is the best.
TEST(Ranking, CountsPairsInOrder) {
  const ErrorSummary s = all_of({timed("a", 1, 1), timed("b", 3, 2), timed("c", 2, 3), timed("d", 4, 4)});
  EXPECT_EQ(s.ranked_groups, 1U);
  EXPECT_NEAR(s.kendall_tau, 4.0 / 6, 1e-12);
  EXPECT_EQ(s.top1_regret, 0);
}

// We choose c (measured 3 s), the best is a (1 s): two thirds of the time lost at first, none within three.
TEST(Ranking, RegretIsTheTimeLostByOurChoice) {
  const ErrorSummary s = all_of({timed("a", 3, 1), timed("b", 2, 2), timed("c", 1, 3), timed("d", 4, 4)});
  EXPECT_NEAR(s.top1_regret, 2, 1e-12);
  EXPECT_NEAR(s.top3_regret, 0, 1e-12);
}

TEST(Ranking, GroupsCountAlikeInTheMeanAndByPairsInTheTotal) {
  std::vector<ComparedRun> runs = {timed("a", 1, 1), timed("b", 2, 2), timed("c", 3, 3)};  // tau 1, three pairs
  runs.push_back(timed("d", 2, 1));
  runs.push_back(timed("e", 1, 2));  // tau -1, one pair
  runs[3].comparable_group = runs[4].comparable_group = "h";
  const ErrorSummary s = all_of(runs);
  EXPECT_NEAR(s.kendall_tau, 0.5, 1e-12);
  EXPECT_NEAR(s.mean_tau, 0, 1e-12);
}

TEST(Ranking, RepeatsOfASplitAreNoAlternatives) {
  const ErrorSummary s = all_of({timed("a", 1, 1, "tp8"), timed("b", 1, 2, "tp8")});
  EXPECT_EQ(s.ranked_groups, 0U);
  EXPECT_EQ(s.kendall_tau, 0);
}

TEST(MemoryErrors, AreReportedOverAllByKindAndBySource) {
  std::vector<ComparedRun> runs = {timed("a", 1, 1), timed("b", 1, 1), timed("c", 1, 1)};
  const auto measure = [](ComparedRun& r, MemoryKind kind, double predicted, double measured) {
    r.run.memory_kind = kind;
    r.run.peak_mem_gib_per_gpu = measured;
    r.prediction.peak = gib(predicted);
    r.prediction.peak_interval = {gib(predicted / 1.105), gib(predicted * 1.105)};
  };
  measure(runs[0], MemoryKind::Allocated, 9, 10);
  measure(runs[1], MemoryKind::Allocated, 10, 10);
  measure(runs[2], MemoryKind::Unstated, 11, 10);
  const std::vector<ErrorSummary> list = summarise_memory(runs);
  std::vector<std::string> names;
  for (const ErrorSummary& s : list) names.push_back(s.name);
  EXPECT_EQ(names, (std::vector<std::string>{"all", "allocated", "unknown", "allocated, s", "unknown, s"}));
  EXPECT_NEAR(list[0].mape, 0.2 / 3, 1e-12);
  EXPECT_NEAR(list[1].under, 0.5, 1e-12);
  EXPECT_NEAR(list[0].coverage, 2.0 / 3, 1e-12);  // 10 GiB are beyond 9 x 1.105
  EXPECT_NEAR(list[1].coverage, 0.5, 1e-12);
}

TEST(MemoryErrors, WithoutMeasuredMemoryThereAreNone) { EXPECT_TRUE(summarise_memory({timed("a", 1, 1)}).empty()); }

// A run that has a figure ran, whatever its row leaves open.
TEST(Verdicts, CountWhatRanOutAndWhatRanByStack) {
  const auto judged = [](const char* stack, double chance, std::optional<bool> ran_out, bool has_time) {
    ComparedRun r = timed("x", 1, 1);
    if (!has_time) r.measured_time.reset();
    r.run.ran_out = ran_out;
    r.prediction.stack = stack;
    r.prediction.out_of_memory_probability = chance;
    return r;
  };
  std::vector<ComparedRun> runs = {judged("b", 0.9, true, false), judged("b", 0.2, true, false),
                                   judged("b", 0.6, false, true), judged("a", 0.1, std::nullopt, true),
                                   judged("a", 0.7, std::nullopt, false)};
  runs.push_back(judged("a", 0.9, true, false));
  runs.back().prediction.status = RunStatus::Unsupported;
  const std::vector<VerdictSummary> list = summarise_verdicts(runs);
  ASSERT_EQ(list.size(), 3U);
  const auto expect = [&](std::size_t i, const char* name, std::array<std::size_t, 4> counts) {
    const VerdictSummary& s = list[i];
    EXPECT_EQ(s.name, name);
    EXPECT_EQ((std::array{s.ran_out, s.recognised, s.ran, s.false_alarms}), counts) << name;
  };
  expect(0, "all", {2, 1, 2, 1});
  expect(1, "b", {2, 1, 1, 1});
  expect(2, "a", {0, 0, 1, 0});
}

TEST(Verdicts, AreInTheReportWithThePartsOfThePeak) {
  const auto runs =
      compare_runs(test::runs_from("id,model,gpu,n_gpus,stack,seq_len,micro_batch,method,optimizer,oom\na,llama-2-"
                                   "7b,A100-80GB,1,deepspeed,512,1,full,adamw,1\n"),
                   test::shipped_catalog());
  const auto run = nlohmann::json::parse(report_json(runs, 0))["runs"][0];
  EXPECT_EQ(run["verdict"], "does not fit");
  EXPECT_EQ(run["ran_out"], true);
  double sum = 0;
  for (const auto& part : run["memory_components_gib"]) sum += part.get<double>();
  EXPECT_NEAR(sum, run["wanted_mem_gib"].get<double>(), 1e-9 * sum);
  EXPECT_GT(run["wanted_mem_gib"], run["mem_limit_gib"]);
}

TEST(WorstRuns, AreOrderedByRatioEitherWay) {
  const std::vector<ComparedRun> runs = {timed("a", 1.1, 1), timed("b", 1, 3), timed("c", 2, 1)};
  EXPECT_EQ(worst_runs(runs, 2), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(worst_runs(runs, 99).size(), 3U);
  EXPECT_TRUE(worst_runs(runs, 0).empty());
}

TEST(Refusals, CountEachReasonOnce) {
  const auto runs = test::runs_from("id,gpu,n_gpus\na,A100-40GB,\nb,A100-40GB,\nc,abacus,8\n");
  const std::vector<Refusal> list = refusals(compare_runs(runs, test::shipped_catalog()));
  std::size_t rows = 0;
  for (const Refusal& r : list) rows += r.rows;
  EXPECT_EQ(rows, 3U);
  EXPECT_GE(list.front().rows, list.back().rows);
}

TEST(ReportCsv, HasTheContractsColumns) {
  const std::string csv = report_csv(compare_runs(test::runs_from("id\nx\n"), test::shipped_catalog()));
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "id,status,message,predicted_step_time_s,predicted_tokens_per_s_per_gpu,"
            "predicted_tokens_per_s_per_gpu_p10,predicted_tokens_per_s_per_gpu_p90,predicted_peak_mem_gib,"
            "predicted_peak_mem_gib_p10,predicted_peak_mem_gib_p90,out_of_memory_probability,fits,verdict,"
            "wanted_mem_gib,mem_limit_gib");
}

TEST(ReportCsv, ReadsBackWithOneRowARunInOrder) {
  const auto& runs = test::measured_runs();
  const std::string csv = report_csv(compare_runs(runs, test::shipped_catalog()));
  const Result<CsvTable> table = parse_csv(csv, "predicted.csv");
  ASSERT_TRUE(table) << to_string(table.error());
  ASSERT_EQ(table->rows.size(), runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const CsvRow& row = table->rows[i];
    ASSERT_EQ(table->field(row, "id"), runs[i].id);
    const bool ok = table->field(row, "status") == "ok";
    EXPECT_EQ(ok, !table->field(row, "predicted_step_time_s").empty()) << runs[i].id;
    if (!ok) {
      EXPECT_FALSE(table->field(row, "message").empty()) << runs[i].id;
      continue;
    }
    const auto number = [&](const char* column) { return std::stod(std::string(table->field(row, column))); };
    EXPECT_LE(number("predicted_tokens_per_s_per_gpu_p10"), number("predicted_tokens_per_s_per_gpu")) << runs[i].id;
    EXPECT_GE(number("predicted_tokens_per_s_per_gpu_p90"), number("predicted_tokens_per_s_per_gpu")) << runs[i].id;
    EXPECT_GT(number("predicted_peak_mem_gib"), 0) << runs[i].id;
  }
}

TEST(ReportJson, CountsAddUpAndComponentsSumToTheStep) {
  const auto runs = compare_runs(test::measured_runs(), test::shipped_catalog());
  const auto report = nlohmann::json::parse(report_json(runs, 7));
  const auto& counts = report["counts"];
  EXPECT_EQ(counts["rows"], runs.size());
  EXPECT_EQ(counts["rows"].get<int>(),
            counts["predicted"].get<int>() + counts["unsupported"].get<int>() + counts["invalid"].get<int>());
  EXPECT_EQ(report["worst"].size(), 7U);
  EXPECT_EQ(report["runs"].size(), runs.size());
  for (const auto& run : report["runs"]) {
    if (run["status"] != "ok") continue;
    double sum = 0;
    for (const auto& part : run["step_components_s"]) sum += part.get<double>();
    const double step = run["predicted_step_time_s"].get<double>();
    ASSERT_NEAR(sum, step, 1e-9 * step) << run["id"];
  }
}

TEST(GroupBy, NamesReadBack) {
  for (const GroupBy by : {GroupBy::All, GroupBy::Source, GroupBy::Model, GroupBy::Accelerator, GroupBy::Stack,
                           GroupBy::Parallelism, GroupBy::Precision}) {
    EXPECT_EQ(group_by_from(to_string(by)), by);
  }
  EXPECT_FALSE(group_by_from("colour"));
}

TEST(GroupBy, EveryGroupingKeepsEveryRun) {
  const auto runs = compare_runs(test::measured_runs(), test::shipped_catalog());
  for (const GroupBy by : {GroupBy::Source, GroupBy::Model, GroupBy::Accelerator, GroupBy::Stack, GroupBy::Parallelism,
                           GroupBy::Precision}) {
    std::size_t n = 0;
    for (const ErrorSummary& s : summarise_time(runs, by)) n += s.n;
    EXPECT_EQ(n, all_of(runs).n) << to_string(by);
  }
}

}  // namespace
}  // namespace smplan
