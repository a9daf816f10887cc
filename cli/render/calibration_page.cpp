#include "cli/render/calibration_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/render/capitals.hpp"
#include "cli/render/validation_page.hpp"

namespace smplan::cli {

Table left_out_table(const LeftOutReport& report) {
  Table table = error_columns("LEFT OUT " + in_capitals(report.by));
  table.rows.push_back(error_cells(report.all));
  for (const ErrorSummary& s : report.groups) table.rows.push_back(error_cells(s));
  return table;
}

std::string left_out_summary(const LeftOutReport& report) {
  if (report.large_groups == 0) return "no group of ten runs or more was left out";
  return fmt::format("{} groups of ten runs or more: mean error {} over groups, {} in the worst", report.large_groups,
                     plain_percent(report.mean_of_large), plain_percent(report.worst_of_large));
}

Table fitted_table(const CalibrationResult& result) {
  Table table;
  table.columns = {{"PROFILE"},
                   {"NUMBER"},
                   {"BEFORE", Align::Right},
                   {"+-", Align::Right, 2},
                   {"AFTER", Align::Right},
                   {"+-", Align::Right, 2},
                   {"RUNS", Align::Right, 3},
                   {"MEANING", Align::Left, 1, 30}};
  for (const FittedParameter& p : result.parameters) {
    if (!p.determined) continue;
    table.rows.push_back({p.owner, p.key, fmt::format("{:.4g}", p.prior), fmt::format("{:.2g}", p.prior_spread),
                          fmt::format("{:.4g}", p.value), fmt::format("{:.2g}", p.spread), std::to_string(p.runs),
                          std::string(p.meaning)});
  }
  return table;
}

std::string fit_summary(const CalibrationResult& result) {
  const auto determined = std::count_if(result.parameters.begin(), result.parameters.end(),
                                        [](const FittedParameter& p) { return p.determined; });
  std::string owners = counted(result.stacks.size(), "stack");
  if (!result.accelerators.empty()) owners += " and " + counted(result.accelerators.size(), "accelerator");
  return fmt::format("fitted on {}: mean error {} before, {} after; the runs tell {} of {}",
                     counted(result.runs, "run"), plain_percent(result.mape_before), plain_percent(result.mape_after),
                     counted(static_cast<std::size_t>(determined), "number"), owners);
}

}  // namespace smplan::cli
