#include "cli/render/validation_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/units.hpp"

namespace smplan::cli {
namespace {

constexpr std::size_t kWorstShown = 5;

std::size_t count(const std::vector<ComparedRun>& runs, RunStatus status) {
  return static_cast<std::size_t>(std::count_if(
      runs.begin(), runs.end(), [status](const ComparedRun& r) { return r.prediction.status == status; }));
}

std::string tally(const std::vector<ComparedRun>& runs) {
  const auto timed = std::count_if(runs.begin(), runs.end(), [](const ComparedRun& r) { return r.has_time_error(); });
  return fmt::format("{} runs: {} predicted ({} with a measured time), {} unsupported, {} invalid", runs.size(),
                     count(runs, RunStatus::Ok), timed, count(runs, RunStatus::Unsupported),
                     count(runs, RunStatus::Invalid));
}

std::string percent(double fraction) { return fmt::format("{:.1f}%", 100 * fraction); }

Table error_table(const char* title, const std::vector<ErrorSummary>& summaries, bool ranking) {
  Table table;
  table.columns = {{title},
                   {"N", Align::Right},
                   {"MEAN ERROR", Align::Right},
                   {"MEDIAN", Align::Right, 2},
                   {"P90", Align::Right},
                   {"MAX", Align::Right, 1},
                   {"BIAS", Align::Right}};
  if (ranking) {
    table.columns.push_back({"IN P10-P90", Align::Right, 3});
    table.columns.push_back({"KENDALL", Align::Right, 4});
    table.columns.push_back({"REGRET", Align::Right, 4});
  }
  for (const ErrorSummary& s : summaries) {
    std::vector<std::string> row = {s.name,
                                    std::to_string(s.n),
                                    percent(s.mape),
                                    percent(s.median),
                                    percent(s.p90),
                                    percent(s.max),
                                    fmt::format("{:+.1f}%", 100 * s.bias)};
    if (ranking) {
      row.push_back(percent(s.coverage));
      row.push_back(s.ranked_groups > 0 ? fmt::format("{:.2f}", s.kendall_tau) : "-");
      row.push_back(s.ranked_groups > 0 ? percent(s.top1_regret) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<ErrorSummary> time_errors(const std::vector<ComparedRun>& runs) {
  std::vector<ErrorSummary> summaries = summarise_time(runs, GroupBy::All);
  const std::vector<ErrorSummary> by_source = summarise_time(runs, GroupBy::Source);
  summaries.insert(summaries.end(), by_source.begin(), by_source.end());
  return summaries;
}

Table worst_table(const std::vector<ComparedRun>& runs) {
  Table table;
  table.columns = {
      {"WORST RUNS"}, {"MEASURED s", Align::Right}, {"PREDICTED s", Align::Right}, {"RATIO", Align::Right}};
  for (const std::size_t i : worst_runs(runs, kWorstShown)) {
    const ComparedRun& r = runs[i];
    table.rows.push_back({r.run.id, fmt::format("{:.3f}", r.measured_time->value()),
                          fmt::format("{:.3f}", r.prediction.step.time().value()),
                          fmt::format("{:.2f}", r.time_ratio())});
  }
  return table;
}

/// Why rows were refused, each reason once with its rows counted.
Table refused_table(const std::vector<ComparedRun>& runs) {
  Table table;
  table.columns = {{"REFUSED"}, {"ROWS", Align::Right}, {"WHY"}};
  std::vector<std::size_t> counts;
  for (const ComparedRun& r : runs) {
    if (r.prediction.status == RunStatus::Ok) continue;
    const std::string status(to_string(r.prediction.status));
    const auto same = std::find_if(table.rows.begin(), table.rows.end(),
                                   [&](const auto& row) { return row[0] == status && row[2] == r.prediction.message; });
    if (same != table.rows.end()) {
      ++counts[static_cast<std::size_t>(same - table.rows.begin())];
    } else {
      table.rows.push_back({status, "", r.prediction.message});
      counts.push_back(1);
    }
  }
  for (std::size_t i = 0; i < counts.size(); ++i) table.rows[i][1] = std::to_string(counts[i]);
  return table;
}

template <typename Render>
std::string assemble(const std::vector<ComparedRun>& runs, Render render) {
  std::string text = tally(runs) + "\n";
  for (const Table& table :
       {error_table("STEP TIME", time_errors(runs), true), error_table("PEAK MEMORY", summarise_memory(runs), false),
        worst_table(runs), refused_table(runs)}) {
    if (!table.rows.empty()) text += '\n' + render(table);
  }
  return text;
}

}  // namespace

std::string validation_text(const std::vector<ComparedRun>& runs, const Style& style) {
  return assemble(runs, [&](const Table& table) { return render_text(table, style); });
}

std::string validation_markdown(const std::vector<ComparedRun>& runs) {
  return assemble(runs, [](const Table& table) { return render_markdown(table); });
}

}  // namespace smplan::cli
