#include "planner/calibration/calibration_report.hpp"

#include <algorithm>
#include <map>

#include "base/csv_reader.hpp"
#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"

namespace smplan {
namespace {
Json parameter_json(const FittedParameter& p) {
  return {{"owner", p.owner},
          {"key", p.key},
          {"meaning", p.meaning},
          {"prior", p.prior},
          {"prior_spread", p.prior_spread},
          {"value", p.value},
          {"spread", p.spread},
          {"runs", p.runs},
          {"determined", p.determined}};
}

Json summary_json(const ErrorSummary& s) {
  return {{"name", s.name}, {"n", s.n},     {"mape", s.mape}, {"median", s.median},
          {"p90", s.p90},   {"max", s.max}, {"bias", s.bias}};
}

Json left_out_json(const LeftOutReport& report, const std::vector<MeasuredRun>& runs) {
  Json groups = Json::array();
  for (const ErrorSummary& s : report.groups) groups.push_back(summary_json(s));
  Json rows = Json::array();
  for (const LeftOutError& e : report.errors) {
    rows.push_back({{"id", runs[e.run].id},
                    {"group", e.group},
                    {"stack", e.stack},
                    {"predicted_over_measured", e.ratio},
                    {"in_interval", e.inside},
                    {"fitted", e.fitted}});
  }
  return {{"by", report.by},
          {"all", summary_json(report.all)},
          {"groups_of_ten_or_more", report.large_groups},
          {"mean_of_groups_of_ten_or_more", report.mean_of_large},
          {"worst_of_groups_of_ten_or_more", report.worst_of_large},
          {"groups", groups},
          {"runs", rows}};
}

}  // namespace

LeftOutReport summarise_left_out(std::string by, std::vector<LeftOutError> errors) {
  constexpr std::size_t kLarge = 10;
  LeftOutReport report;
  report.by = std::move(by);
  std::map<std::string, std::vector<double>> groups;
  std::vector<double> all;
  for (const LeftOutError& e : errors) {
    groups[e.group].push_back(e.ratio);
    all.push_back(e.ratio);
  }
  report.all = summarise_ratios("all", all);
  for (const auto& [name, ratios] : groups) {
    report.groups.push_back(summarise_ratios(name, ratios));
    if (ratios.size() < kLarge) continue;
    ++report.large_groups;
    report.mean_of_large += report.groups.back().mape;
    report.worst_of_large = std::max(report.worst_of_large, report.groups.back().mape);
  }
  if (report.large_groups > 0) report.mean_of_large /= static_cast<double>(report.large_groups);
  std::stable_sort(report.groups.begin(), report.groups.end(),
                   [](const ErrorSummary& a, const ErrorSummary& b) { return a.n > b.n; });
  report.errors = std::move(errors);
  return report;
}

std::string calibration_json(const CalibrationResult& result, const LeftOutReport* left_out,
                             const std::vector<MeasuredRun>& runs) {
  Json parameters = Json::array();
  for (const FittedParameter& p : result.parameters) parameters.push_back(parameter_json(p));
  Json report = {{"schema_version", 1},
                 {"runs", result.runs},
                 {"mape_before", result.mape_before},
                 {"mape_after", result.mape_after},
                 {"parameters", parameters}};
  if (left_out != nullptr) report["left_out"] = left_out_json(*left_out, runs);
  return report.dump(2) + "\n";
}

std::string left_out_csv(const LeftOutReport& report, const std::vector<MeasuredRun>& runs) {
  std::string text = "id,group,stack,predicted_over_measured\n";
  for (const LeftOutError& e : report.errors) {
    text += csv_line({printable(runs[e.run].id), printable(e.group), e.stack, format_shortest(e.ratio)});
  }
  return text;
}

std::string fitted_csv(const CalibrationResult& result) {
  std::string text = "owner,key,prior,prior_spread,value,spread,runs,determined,meaning\n";
  for (const FittedParameter& p : result.parameters) {
    text +=
        csv_line({p.owner, p.key, format_shortest(p.prior), format_shortest(p.prior_spread), format_shortest(p.value),
                  format_shortest(p.spread), std::to_string(p.runs), p.determined ? "1" : "0", std::string(p.meaning)});
  }
  return text;
}

}  // namespace smplan
