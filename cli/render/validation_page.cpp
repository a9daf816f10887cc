#include "cli/render/validation_page.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/units.hpp"
#include "planner/validation/advice.hpp"

namespace smplan::cli {
namespace {

constexpr std::size_t kReasonsShown = 12;
constexpr std::size_t kPartsShown = 4;
constexpr std::size_t kRunsDiscussed = 3;

std::string signed_percent(double fraction) { return fmt::format("{:+.1f}%", 100 * fraction); }

std::string tally(const std::vector<ComparedRun>& runs) {
  const RunCounts c = count_runs(runs);
  return fmt::format(
      "{}: {} predicted ({} with a measured step time, {} with measured memory), {} unsupported, {} invalid",
      counted(c.rows, "run"), c.predicted, c.timed, c.with_memory, c.unsupported, c.invalid);
}

Table time_table(const std::vector<ComparedRun>& runs, GroupBy by) {
  Table table = error_columns("STEP TIME");
  table.columns.push_back({"IN P10-P90", Align::Right, 3});
  table.columns.push_back({"KENDALL", Align::Right, 4});
  table.columns.push_back({"REGRET", Align::Right, 4});
  std::vector<ErrorSummary> summaries = summarise_time(runs, GroupBy::All);
  if (by != GroupBy::All) {
    for (ErrorSummary& s : summarise_time(runs, by)) summaries.push_back(std::move(s));
  }
  for (const ErrorSummary& s : summaries) {
    std::vector<std::string> row = error_cells(s);
    row.push_back(plain_percent(s.coverage));
    row.push_back(s.ranked_groups > 0 ? fmt::format("{:.2f}", s.kendall_tau) : "-");
    row.push_back(s.ranked_groups > 0 ? plain_percent(s.top1_regret) : "-");
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table memory_table(const std::vector<ComparedRun>& runs) {
  Table table = error_columns("PEAK MEMORY");
  table.columns.push_back({"IN P10-P90", Align::Right, 3});
  table.columns.push_back({"UNDER BY >5%", Align::Right, 3});
  for (const ErrorSummary& s : summarise_memory(runs)) {
    std::vector<std::string> row = error_cells(s);
    row.push_back(plain_percent(s.coverage));
    row.push_back(plain_percent(s.under));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Nothing where no run ran out and none was called so.
Table verdict_table(const std::vector<ComparedRun>& runs) {
  Table table;
  table.columns = {{"OUT OF MEMORY", Align::Left, 0, 24},
                   {"RAN OUT", Align::Right},
                   {"RECOGNISED", Align::Right},
                   {"RAN", Align::Right},
                   {"FALSE ALARMS", Align::Right}};
  const auto part = [](std::size_t n, std::size_t of) {
    return of == 0 ? std::string("-")
                   : fmt::format("{} ({})", n, plain_percent(static_cast<double>(n) / static_cast<double>(of)));
  };
  for (const VerdictSummary& s : summarise_verdicts(runs)) {
    if (s.ran_out + s.false_alarms == 0) continue;
    table.rows.push_back({s.name, std::to_string(s.ran_out), part(s.recognised, s.ran_out), std::to_string(s.ran),
                          part(s.false_alarms, s.ran)});
  }
  return table;
}

/// The largest parts of a predicted step: `compute 61%, pipeline bubble 18%, ...`.
std::string breakdown(const StepEstimate& step) {
  const std::vector<StepPart> parts = longest_parts(step.components);
  std::string text;
  for (std::size_t i = 0; i < std::min(kPartsShown, parts.size()); ++i) {
    const double share = step.components.*parts[i].time / step.time();
    if (share < 0.005) break;
    text += fmt::format("{}{} {:.0f}%", text.empty() ? "" : ", ", parts[i].key, 100 * share);
  }
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

Table worst_table(const std::vector<ComparedRun>& runs, std::size_t limit) {
  Table table;
  table.columns = {{"WORST RUNS"},
                   {"STACK", Align::Left, 2},
                   {"MEASURED s", Align::Right},
                   {"PREDICTED s", Align::Right},
                   {"RATIO", Align::Right},
                   {"PREDICTED STEP", Align::Left, 1, 30}};
  for (const std::size_t i : worst_runs(runs, limit)) {
    const ComparedRun& r = runs[i];
    table.rows.push_back({printable(r.run.id), r.prediction.stack, fmt::format("{:.3f}", r.measured_time->value()),
                          fmt::format("{:.3f}", r.prediction.step.time().value()),
                          fmt::format("{:.2f}", r.time_ratio()), breakdown(r.prediction.step)});
  }
  return table;
}

/// A run by its parts, where its program timed them.
Table parts_table(const ComparedRun& run) {
  Table table;
  table.columns = {{"STEP OF " + printable(run.run.id), Align::Left, 0, 24},
                   {"MEASURED s", Align::Right},
                   {"PREDICTED s", Align::Right}};
  for (const PartComparison& part : compare_parts(run)) {
    table.rows.push_back({part.name, fmt::format("{:.3f}", part.measured.value()),
                          part.predicted ? fmt::format("{:.3f}", part.predicted->value()) : std::string("-")});
  }
  return table;
}

/// Why rows were refused, each reason once with its rows counted.
Table refused_table(const std::vector<ComparedRun>& runs) {
  Table table;
  table.columns = {{"REFUSED"}, {"ROWS", Align::Right}, {"FIRST", Align::Left, 1}, {"WHY", Align::Left, 0, 40}};
  const std::vector<Refusal> reasons = refusals(runs);
  std::size_t rest = 0;
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    const Refusal& r = reasons[i];
    if (i >= kReasonsShown) {
      rest += r.rows;
      continue;
    }
    table.rows.push_back(
        {std::string(to_string(r.status)), std::to_string(r.rows), printable(r.first), printable(r.message)});
  }
  if (rest > 0) table.rows.push_back({"other", std::to_string(rest), "", "--format csv gives the reason of each row"});
  return table;
}

template <typename Render>
std::string assemble(const std::vector<ComparedRun>& runs, const ValidationView& view, Render render) {
  std::string text = tally(runs) + "\n";
  for (const Table& table : {time_table(runs, view.by), memory_table(runs), verdict_table(runs),
                             worst_table(runs, view.worst), refused_table(runs)}) {
    if (!table.rows.empty()) text += '\n' + render(table);
  }
  if (runs.size() > kRunsDiscussed) return text;
  for (const ComparedRun& run : runs) {
    const Table parts = parts_table(run);
    if (parts.rows.empty()) continue;
    text += '\n' + render(parts);
    for (const std::string& sentence : run_advice(run)) text += "- " + sentence + '\n';
  }
  return text;
}

}  // namespace

std::string validation_text(const std::vector<ComparedRun>& runs, const ValidationView& view, const Style& style) {
  return assemble(runs, view, [&](const Table& table) { return render_text(table, style); });
}

std::string validation_markdown(const std::vector<ComparedRun>& runs, const ValidationView& view) {
  return assemble(runs, view, [](const Table& table) { return render_markdown(table); });
}

std::vector<std::string> error_cells(const ErrorSummary& s) {
  return {printable(s.name),    std::to_string(s.n),  plain_percent(s.mape), plain_percent(s.median),
          plain_percent(s.p90), plain_percent(s.max), signed_percent(s.bias)};
}

Table error_columns(const std::string& title) {
  Table table;
  table.columns = {{title, Align::Left, 0, 24}, {"N", Align::Right},   {"MEAN ERROR", Align::Right},
                   {"MEDIAN", Align::Right, 2}, {"P90", Align::Right}, {"MAX", Align::Right, 1},
                   {"BIAS", Align::Right}};
  return table;
}

std::string printable(std::string_view text) {
  std::string shown(text);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return shown;
}

std::string counted(std::size_t n, std::string_view noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }
std::string plain_percent(double fraction) { return fmt::format("{:.1f}%", 100 * fraction); }

}  // namespace smplan::cli
