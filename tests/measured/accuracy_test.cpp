// The errors on the measured runs of tests/measured/runs against tests/measured/bounds.json. A bound is what was
// reached when it was last written; SMPLAN_UPDATE_BOUNDS=1 writes what is reached now, and the diff is reviewed.
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json_reader.hpp"
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
  const char* update = std::getenv("SMPLAN_UPDATE_BOUNDS");
  if (update != nullptr && std::string(update) == "1") {
    ASSERT_TRUE(write_text_file(kBounds, now.dump(2) + "\n"));
    return;
  }
  const Json bounds = stored();
  expect_within(bounds["step_time"], now["step_time"], "step time");
  expect_within(bounds["peak_memory"], now["peak_memory"], "peak memory");
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
  for (const MeasuredRun& run : test::measured_runs()) {
    EXPECT_FALSE(run.id.empty()) << run.source << " line " << run.line;
    EXPECT_FALSE(run.source.empty()) << run.id;
    EXPECT_TRUE(run.faults.empty()) << run.id << ": " << to_string(run.faults);
  }
}

}  // namespace
}  // namespace smplan
