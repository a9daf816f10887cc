#include "cli/render/calibration_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/render/validation_page.hpp"

namespace smplan::cli {
namespace {

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

}  // namespace

Table left_out_table(const LeftOutReport& report) {
  Table table;
  table.columns = {{"LEFT OUT " + upper(report.by), Align::Left, 0, 24},
                   {"N", Align::Right},
                   {"MEAN ERROR", Align::Right},
                   {"MEDIAN", Align::Right, 2},
                   {"P90", Align::Right},
                   {"MAX", Align::Right, 1},
                   {"BIAS", Align::Right}};
  const auto add = [&](const ErrorSummary& s) {
    table.rows.push_back({printable(s.name), std::to_string(s.n), plain_percent(s.mape), plain_percent(s.median),
                          plain_percent(s.p90), plain_percent(s.max), signed_percent(s.bias)});
  };
  add(report.all);
  for (const ErrorSummary& s : report.groups) add(s);
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
