// The errors on the measured runs of tests/measured/runs against tests/measured/bounds.json. A bound is what was
// reached when it was last written; SMPLAN_UPDATE_BOUNDS=1 writes what is reached now, and the diff is reviewed.
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
#include "planner/calibration/calibrate.hpp"
#include "planner/validation/report.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kBounds = SMPLAN_TEST_DATA "/measured/bounds.json";
/// Below this a source's mean says little about the model.
constexpr std::size_t kLargeSource = 10;
/// Rounding of bounds, in the same unit as the errors: a tenth of a percentage point.
constexpr double kSlack = 0.001;

const std::vector<ComparedRun>& compared() {
  static const std::vector<ComparedRun> runs = compare_runs(test::measured_runs(), test::shipped_catalog());
  return runs;
}

double rounded(double x) { return std::round(x * 1e4) / 1e4; }

Json bound_of(const ErrorSummary& s) {
  return {{"runs", s.n}, {"mean", rounded(s.mape)}, {"median", rounded(s.median)}, {"p90", rounded(s.p90)}};
}

/// What is reached now, in the form of bounds.json.
Json reached() {
  Json bounds = {{"step_time", Json::object()}, {"peak_memory", Json::object()}};
  for (const GroupBy by : {GroupBy::All, GroupBy::Source}) {
    for (const ErrorSummary& s : summarise_time(compared(), by)) {
      if (s.n >= kLargeSource) bounds["step_time"][s.name] = bound_of(s);
    }
  }
  for (const ErrorSummary& s : summarise_memory(compared())) {
    if (s.n >= kLargeSource) bounds["peak_memory"][s.name] = bound_of(s);
  }
  return bounds;
}

Json stored() {
  std::ifstream file(kBounds);
  return Json::parse(file);
}

bool updates_bounds() {
  const char* update = std::getenv("SMPLAN_UPDATE_BOUNDS");
  return update != nullptr && std::string(update) == "1";
}

void expect_within(const Json& bounds, const Json& now, const std::string& what) {
  for (const auto& [name, bound] : bounds.items()) {
    if (!now.contains(name)) {
      ADD_FAILURE() << what << " of '" << name << "': no longer compared";
      continue;
    }
    // Refusing the hard runs is no way to a smaller error.
    EXPECT_GE(now[name]["runs"].get<int>(), bound["runs"].get<int>()) << what << " of '" << name << "': fewer runs";
    for (const char* figure : {"mean", "median", "p90"}) {
      EXPECT_LE(now[name][figure].get<double>(), bound[figure].get<double>() + kSlack)
          << what << " of '" << name << "': " << figure << " error rose";
    }
  }
}

TEST(MeasuredRuns, ErrorsDoNotRise) {
  const Json now = reached();
  if (updates_bounds()) {
    Json bounds = now;
    bounds["users"] = stored()["users"];
    ASSERT_TRUE(write_text_file(kBounds, bounds.dump(2) + "\n"));
    return;
  }
  const Json bounds = stored();
  expect_within(bounds["step_time"], now["step_time"], "step time");
  expect_within(bounds["peak_memory"], now["peak_memory"], "peak memory");
}

/// Mean over sources, so that one with many runs counts no more than another.
double mean_over_sources(const std::vector<ErrorSummary>& sources) {
  double sum = 0;
  for (const ErrorSummary& s : sources) sum += s.mape;
  return sources.empty() ? 0 : sum / static_cast<double>(sources.size());
}

/// Errors of a user's other runs of one program after a calibration with each of its runs alone, mean by program.
double error_after_one_run() {
  std::map<std::string, std::vector<MeasuredRun>> programs;
  for (const MeasuredRun& run : test::user_runs()) {
    const RunPrediction p = predict_run(run, test::shipped_catalog());
    const bool timed = p.status == RunStatus::Ok && measured_step_time(run, test::shipped_catalog());
    if (timed) programs[run.source + "|" + p.stack + "|" + run.framework].push_back(run);
  }
  double sum = 0;
  double n = 0;
  for (const auto& [name, runs] : programs) {
    if (runs.size() < 3) continue;
    double errors = 0;
    double pairs = 0;
    for (const MeasuredRun& told : runs) {
      const Result<CalibrationResult> calibrated = calibrate({told}, test::shipped_catalog(), {});
      EXPECT_TRUE(calibrated) << told.id;
      if (!calibrated) continue;
      for (const MeasuredRun& other : runs) {
        if (other.id == told.id) continue;
        const auto time = measured_step_time(other, calibrated->catalog);
        errors += std::abs(predict_run(other, calibrated->catalog).step.time() / *time - 1);
        pairs += 1;
      }
    }
    sum += errors / pairs;
    n += 1;
  }
  return sum / n;
}

/// Runs that users reported, of their own programs: no profile is fitted on them.
Json reached_by_users() {
  const std::vector<ComparedRun> runs = compare_runs(test::user_runs(), test::shipped_catalog());
  const ErrorSummary all = summarise_time(runs, GroupBy::All).at(0);
  const ErrorSummary memory = summarise_memory(runs).at(0);
  const VerdictSummary verdicts = summarise_verdicts(runs).at(0);
  return {{"step_time",
           {{"runs", all.n},
            {"mean_over_sources", rounded(mean_over_sources(summarise_time(runs, GroupBy::Source)))},
            {"median", rounded(all.median)},
            {"coverage", rounded(all.coverage)},
            {"after_one_run", rounded(error_after_one_run())}}},
          {"peak_memory", {{"runs", memory.n}, {"mean", rounded(memory.mape)}}},
          {"out_of_memory",
           {{"ran_out", verdicts.ran_out},
            {"recognised", verdicts.recognised},
            {"ran", verdicts.ran},
            {"false_alarms", verdicts.false_alarms}}}};
}

TEST(UserRuns, ErrorsDoNotRise) {
  const Json now = reached_by_users();
  if (updates_bounds()) {
    Json bounds = stored();
    bounds["users"] = now;
    ASSERT_TRUE(write_text_file(kBounds, bounds.dump(2) + "\n"));
    return;
  }
  const Json bounds = stored()["users"];
  const auto number = [](const Json& of, const char* part, const char* figure) {
    return of[part][figure].get<double>();
  };
  const auto rose = [&](const char* part, const char* figure) {
    EXPECT_LE(number(now, part, figure), number(bounds, part, figure) + kSlack) << part << ": " << figure << " rose";
  };
  const auto fell = [&](const char* part, const char* figure) {
    EXPECT_GE(number(now, part, figure), number(bounds, part, figure)) << part << ": " << figure << " fell";
  };
  rose("step_time", "mean_over_sources");
  rose("step_time", "median");
  rose("step_time", "after_one_run");
  rose("peak_memory", "mean");
  rose("out_of_memory", "false_alarms");
  fell("out_of_memory", "recognised");
  fell("step_time", "runs");
  fell("peak_memory", "runs");
  EXPECT_GE(number(now, "step_time", "coverage"), 0.72);
  EXPECT_LE(number(now, "step_time", "coverage"), 0.88);
}

TEST(MeasuredRuns, NewLargeSourcesHaveABound) {
  const Json bounds = stored();
  const Json now = reached();
  for (const char* what : {"step_time", "peak_memory"}) {
    for (const auto& [name, unused] : now[what].items()) {
      EXPECT_TRUE(bounds[what].contains(name)) << what << " of '" << name << "': SMPLAN_UPDATE_BOUNDS=1 adds it";
    }
  }
}

TEST(MeasuredRuns, EveryRowSaysWhereItComesFrom) {
  std::vector<MeasuredRun> runs = test::measured_runs();
  runs.insert(runs.end(), test::user_runs().begin(), test::user_runs().end());
  for (const MeasuredRun& run : runs) {
    EXPECT_FALSE(run.id.empty()) << run.source << " line " << run.line;
    EXPECT_FALSE(run.source.empty()) << run.id;
    EXPECT_TRUE(run.faults.empty()) << run.id << ": " << to_string(run.faults);
  }
}

}  // namespace
}  // namespace smplan
