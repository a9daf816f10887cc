#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/csv_reader.hpp"
#include "planner/validation/measured_run.hpp"
#include "tests/support/shipped_catalog.hpp"

namespace smplan::test {

/// Rows of a table written in a test.
inline std::vector<MeasuredRun> runs_from(std::string_view csv) {
  const Result<CsvTable> table = parse_csv(csv, "runs.csv");
  if (!table) {
    ADD_FAILURE() << to_string(table.error());
    return {};
  }
  Result<std::vector<MeasuredRun>> runs = read_measured_runs(*table, "runs.csv");
  if (!runs) {
    ADD_FAILURE() << to_string(runs.error());
    return {};
  }
  return std::move(*runs);
}

/// Every run of the tables of a folder, in the order of their names.
inline std::vector<MeasuredRun> runs_of_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> tables;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") tables.push_back(entry.path());
  }
  std::sort(tables.begin(), tables.end());
  std::vector<MeasuredRun> runs;
  for (const auto& path : tables) {
    const Result<CsvTable> table = read_csv_file(path.string());
    if (!table) {
      ADD_FAILURE() << to_string(table.error());
      continue;
    }
    Result<std::vector<MeasuredRun>> some = read_measured_runs(*table, path.filename().string());
    if (!some) {
      ADD_FAILURE() << to_string(some.error());
      continue;
    }
    std::move(some->begin(), some->end(), std::back_inserter(runs));
  }
  return runs;
}

/// What vendors and benchmarks published.
inline const std::vector<MeasuredRun>& measured_runs() {
  static const std::vector<MeasuredRun> all = runs_of_folder(SMPLAN_TEST_DATA "/measured/runs");
  return all;
}

/// What users reported of programs of their own.
inline const std::vector<MeasuredRun>& user_runs() {
  static const std::vector<MeasuredRun> all = runs_of_folder(SMPLAN_TEST_DATA "/measured/users");
  return all;
}

}  // namespace smplan::test
