// Peaks of memory that Megatron-LM's functional tests recorded, byte for byte the framework's own ledger: tiny models,
// so that every term shows. Of its cases on eight devices those are here whose settings have columns. Whether attention
// was fused is not recorded; its scores are most of a peak, so that the peak says it. Nothing is fitted on them.
#include <cmath>

#include <gtest/gtest.h>

#include "base/csv_reader.hpp"
#include "planner/validation/report.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

constexpr const char* kTable = SMPLAN_TEST_DATA "/measured/megatron_functional_tests.csv";

std::vector<ComparedRun> compared() {
  const Result<CsvTable> table = read_csv_file(kTable);
  if (!table) {
    ADD_FAILURE() << to_string(table.error());
    return {};
  }
  const Result<std::vector<MeasuredRun>> runs = read_measured_runs(*table, kTable);
  if (!runs) {
    ADD_FAILURE() << to_string(runs.error());
    return {};
  }
  return compare_runs(*runs, test::shipped_catalog());
}

TEST(MegatronFunctionalTests, PeaksAreWithinAFewPercent) {
  const std::vector<ComparedRun> runs = compared();
  ASSERT_GE(runs.size(), 20U);
  double sum = 0;
  for (const ComparedRun& run : runs) {
    ASSERT_TRUE(run.has_memory_error()) << run.run.id << ": " << run.prediction.message;
    EXPECT_NEAR(run.memory_ratio(), 1, 0.06) << run.run.id;
    sum += std::abs(run.memory_ratio() - 1);
  }
  EXPECT_LT(sum / static_cast<double>(runs.size()), 0.025);
}

}  // namespace
}  // namespace smplan
