// What Hugging Face's Trainer took on an H200 (scripts/measure_trainer.py): peaks of memory in
// tests/measured/trainer_runs.csv, and in trainer_limits.csv whether a run went on with so many percent of memory
// above its own peak. No profile is fitted on these runs.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/csv_reader.hpp"
#include "planner/validation/report.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

constexpr const char* kRuns = SMPLAN_TEST_DATA "/measured/trainer_runs.csv";
constexpr const char* kLimits = SMPLAN_TEST_DATA "/measured/trainer_limits.csv";

std::map<std::string, ComparedRun> compared() {
  const CsvTable table = read_csv_file(kRuns).value();
  std::map<std::string, ComparedRun> out;
  for (ComparedRun& run : compare_runs(read_measured_runs(table, kRuns).value(), test::shipped_catalog())) {
    const std::string id = run.run.id;
    out.emplace(id, std::move(run));
  }
  return out;
}

TEST(TrainerOnAnH200, PeaksAreWithinAFewPercent) {
  double sum = 0;
  const std::map<std::string, ComparedRun> runs = compared();
  ASSERT_GE(runs.size(), 65U);
  for (const auto& [id, run] : runs) {
    ASSERT_TRUE(run.has_memory_error()) << id << ": " << run.prediction.message;
    // A compiled GPT-2 does norms and activations again in the backward pass; that is not modelled.
    const bool compiled_gpt2 = id.starts_with("gpt2-") && id.ends_with("-compile");
    EXPECT_NEAR(run.memory_ratio(), 1, compiled_gpt2 ? 0.5 : 0.11) << id;
    sum += std::abs(run.memory_ratio() - 1);
  }
  EXPECT_LT(sum / static_cast<double>(runs.size()), 0.03);
}

// The host of that machine is not that of an instance, and small models wait for it.
TEST(TrainerOnAnH200, StepTimesAreWhatAStrangerMayExpect) {
  std::vector<double> errors;
  for (const auto& [id, run] : compared()) {
    ASSERT_TRUE(run.has_time_error()) << id;
    errors.push_back(std::abs(run.time_ratio() - 1));
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 0.17);
  EXPECT_LT(std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size()), 0.21);
}

/// Percent above its own peak with which a run went on, and the most with which it ran out.
struct Need {
  double ran_out = 0;
  double ran = 100;
};

std::map<std::string, Need> needs() {
  const CsvTable table = read_csv_file(kLimits).value();
  std::map<std::string, Need> out;
  for (const CsvRow& row : table.rows) {
    const auto cell = [&](std::string_view name) { return std::string(table.field(row, name)); };
    if (cell("limit_pct").empty()) continue;
    Need& need = out[cell("id")];
    const double limit = std::stod(cell("limit_pct"));
    if (cell("oom") == "1") {
      need.ran_out = std::max(need.ran_out, limit);
    } else {
      need.ran = std::min(need.ran, limit);
    }
  }
  return out;
}

TEST(TrainerOnAnH200, NeedsLittleMoreThanItAllocatesWhereMemoryEnds) {
  const std::map<std::string, ComparedRun> runs = compared();
  const std::map<std::string, Need> measured = needs();
  ASSERT_GE(measured.size(), 25U);
  constexpr double kContext = 0.9;  // GiB, outside of the allocator that was limited
  double difference = 0;
  for (const auto& [id, need] : measured) {
    const MemoryEstimate& memory = runs.at(id).prediction.memory;
    const double percent = 100 * ((memory.wanted - gib(kContext)) / memory.peak_allocated - 1);
    EXPECT_GT(percent, 0) << id;
    EXPECT_LT(percent, std::min(need.ran, 25.0) + 10) << id;
    EXPECT_GT(percent, need.ran_out - 15) << id;
    difference += percent - (need.ran_out + std::min(need.ran, need.ran_out + 6)) / 2;
  }
  EXPECT_NEAR(difference / static_cast<double>(measured.size()), 0, 1.5);
}

}  // namespace
}  // namespace smplan
