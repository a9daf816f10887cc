#pragma once

#include <string>
#include <vector>

#include "base/json_reader.hpp"
#include "base/result.hpp"
#include "planner/analysis/explain.hpp"
#include "planner/search/search.hpp"

namespace smplan {

/// One plan of the page beside what its JSON says.
struct ReportedPlan {
  std::vector<std::string> why;  ///< sentences of explain(); empty where only a file is known
  std::string timeline;          ///< JSON, see timeline_json(); `null` where the step cannot be drawn
  std::string no_timeline;       ///< why not
  std::string checks = "null";   ///< JSON, see add_checks(); `null` where nobody checked
};

/// Everything that the page holds.
struct ReportData {
  std::string made;       ///< the day, for the reader; the caller asks the clock
  std::string plan_json;  ///< as `plan --format json` writes it: the page's figures are read from it
  std::vector<ReportedPlan> plans;
  std::vector<std::string> why_nothing;  ///< sentences of explain() where there is no plan
};

ReportData report_data(const PlanSet& set, const Catalog& catalog, const SearchOptions& options = {});
/// From a plan file: without explanations, which need the search. Refuses what is no plan file.
Result<ReportData> report_data(const std::string& text, const std::string& name, const Catalog& catalog);

/// One HTML file that needs nothing else: style, scripts, the chart library and the data are inside it.
std::string report_html(const ReportData& data);

}  // namespace smplan
