#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalogs/catalog.hpp"
#include "planner/validation/measured_run.hpp"
#include "planner/validation/prediction.hpp"

namespace smplan {

/// A measured run beside its prediction.
struct ComparedRun {
  MeasuredRun run;
  RunPrediction prediction;
  std::optional<Seconds> measured_time;
  /// Rows that differ only in how the same work is split share a group: there ranking matters.
  std::string comparable_group;

  [[nodiscard]] bool has_time_error() const { return prediction.status == RunStatus::Ok && measured_time.has_value(); }
  [[nodiscard]] bool has_memory_error() const {
    return prediction.status == RunStatus::Ok && run.peak_mem_gib_per_gpu.value_or(0) > 0;
  }
  /// predicted / measured
  [[nodiscard]] double time_ratio() const { return prediction.step.time() / *measured_time; }
  [[nodiscard]] double memory_ratio() const { return in_gib(prediction.peak) / *run.peak_mem_gib_per_gpu; }
};

std::vector<ComparedRun> compare_runs(const std::vector<MeasuredRun>& runs, const Catalog& catalog);

/// Errors of one group of runs; fractions, not percent. NaN-free: empty groups have n = 0.
struct ErrorSummary {
  std::string name;
  std::size_t n = 0;
  double mape = 0;  ///< mean of |predicted / measured - 1|
  double median = 0;
  double p90 = 0;
  double max = 0;
  double bias = 0;                ///< geometric mean of predicted / measured, minus 1
  double coverage = 0;            ///< part of the runs inside P10-P90 (0.8 is right)
  std::size_t ranked_groups = 0;  ///< comparable groups of two or more
  double kendall_tau = 0;         ///< mean over the pairs of all groups
  double top1_regret = 0;         ///< mean over groups: measured time of our choice over the best, minus 1
};

enum class GroupBy { All, Source, Model, Accelerator, Stack, Parallelism, Precision };
std::string_view to_string(GroupBy by);

/// Step-time errors, one summary a group, largest group first.
std::vector<ErrorSummary> summarise_time(const std::vector<ComparedRun>& runs, GroupBy by);
/// Peak-memory errors by the kind of measurement and source.
std::vector<ErrorSummary> summarise_memory(const std::vector<ComparedRun>& runs);
/// Indices of the runs with the largest step-time errors, worst first.
std::vector<std::size_t> worst_runs(const std::vector<ComparedRun>& runs, std::size_t limit);

/// One line a run: the contract's columns.
std::string report_csv(const std::vector<ComparedRun>& runs);
std::string report_json(const std::vector<ComparedRun>& runs);

}  // namespace smplan
