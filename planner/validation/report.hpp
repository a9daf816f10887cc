#pragma once

#include <optional>
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
  /// How this row splits it; rows of one group and split are repeats, not alternatives.
  std::string split;

  [[nodiscard]] bool has_time_error() const { return prediction.status == RunStatus::Ok && measured_time.has_value(); }
  [[nodiscard]] bool has_memory_error() const {
    return prediction.status == RunStatus::Ok && run.peak_mem_gib_per_gpu.value_or(0) > 0;
  }
  /// Whether it ran out of memory, as the row says or as its figures tell; nullopt where neither does.
  [[nodiscard]] std::optional<bool> ran_out() const;
  /// predicted / measured
  [[nodiscard]] double time_ratio() const { return prediction.step.time() / *measured_time; }
  [[nodiscard]] double memory_ratio() const { return in_gib(prediction.peak) / *run.peak_mem_gib_per_gpu; }
  /// The measurement lies in P10 to P90.
  [[nodiscard]] bool time_inside() const {
    return *measured_time >= prediction.step.p10 && *measured_time <= prediction.step.p90;
  }
  [[nodiscard]] bool memory_inside() const {
    const Bytes measured = gib(*run.peak_mem_gib_per_gpu);
    return measured >= prediction.peak_interval.p10 && measured <= prediction.peak_interval.p90;
  }
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
  double under = 0;               ///< part of the runs predicted more than 5 % below the measurement
  double coverage = 0;            ///< part of the runs inside P10-P90 (0.8 is right)
  std::size_t ranked_groups = 0;  ///< comparable groups that hold two different splits or more
  double kendall_tau = 0;         ///< concordant less discordant over all pairs of different splits, all groups
  double mean_tau = 0;            ///< the same by group, averaged over groups
  double top1_regret = 0;         ///< mean over groups: measured time of our choice over the best, minus 1
  double top3_regret = 0;         ///< the same for the best of our first three
};

/// From predicted / measured alone: no intervals, no ranking.
ErrorSummary summarise_ratios(std::string name, const std::vector<double>& ratios);

enum class GroupBy { All, Source, Model, Accelerator, Stack, Parallelism, Precision };
std::string_view to_string(GroupBy by);
std::optional<GroupBy> group_by_from(std::string_view wanted);

/// Step-time errors, one summary a group, largest group first.
std::vector<ErrorSummary> summarise_time(const std::vector<ComparedRun>& runs, GroupBy by);
/// Peak-memory errors: over all runs, by kind of measurement, then by kind and source.
std::vector<ErrorSummary> summarise_memory(const std::vector<ComparedRun>& runs);
/// How the verdicts on memory went.
struct VerdictSummary {
  std::string name;
  std::size_t ran_out = 0;
  std::size_t recognised = 0;  ///< of those that ran out, the verdict was: does not fit
  std::size_t ran = 0;
  std::size_t false_alarms = 0;  ///< of those that ran, the same verdict
};
/// Over all predicted runs of which it is known whether they ran out, then by stack, those with most runs first.
std::vector<VerdictSummary> summarise_verdicts(const std::vector<ComparedRun>& runs);
/// Indices of the runs with the largest step-time errors, worst first.
std::vector<std::size_t> worst_runs(const std::vector<ComparedRun>& runs, std::size_t limit);

/// How many rows there are of each kind.
struct RunCounts {
  std::size_t rows = 0;
  std::size_t predicted = 0;
  std::size_t timed = 0;  ///< predicted, with a measured step time
  std::size_t with_memory = 0;
  std::size_t unsupported = 0;
  std::size_t invalid = 0;
};
RunCounts count_runs(const std::vector<ComparedRun>& runs);

/// A reason for refusing rows and how many it refused; most frequent first.
struct Refusal {
  RunStatus status = RunStatus::Unsupported;
  std::string message;
  std::size_t rows = 0;
  std::string first;  ///< id of the first of them
};
std::vector<Refusal> refusals(const std::vector<ComparedRun>& runs);

/// One line a run: the contract's columns.
std::string report_csv(const std::vector<ComparedRun>& runs);
std::string report_json(const std::vector<ComparedRun>& runs, std::size_t worst);

}  // namespace smplan
