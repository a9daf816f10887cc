#include <memory>

#include "base/clock.hpp"
#include "base/json_reader.hpp"
#include "cli/command.hpp"
#include "cli/commands/plan_source.hpp"
#include "planner/preflight/report_checks.hpp"

namespace smplan::cli {
namespace {

Result<ReportData> data_of(const PlanSource& source, const Catalog& catalog) {
  if (source.file) {
    const Result<std::string> text = read_text_file(*source.file);
    if (!text) return tl::unexpected<Diagnostics>(text.error());
    return report_data(*text, *source.file, catalog);
  }
  const Result<PlanSet> set = searched_plans(source, catalog);
  if (!set) return tl::unexpected<Diagnostics>(set.error());
  return report_data(*set, catalog);
}

Result<Answer> run_report(const PlanSource& source, const Context& context) {
  Diagnostics faults;
  if (context.format != Format::Table) {
    faults.push_back(
        {"bad-format", "--format", "a report is HTML", "leave --format out; `smplan plan` has the others"});
  }
  if (const Result<void> outcome = check_plan_source(source); !outcome) {
    faults.insert(faults.end(), outcome.error().begin(), outcome.error().end());
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  Result<ReportData> data = data_of(source, context.catalog);
  if (!data) return tl::unexpected<Diagnostics>(data.error());
  if (const Result<void> checked = add_checks(*data, context.catalog); !checked) {
    return tl::unexpected<Diagnostics>(checked.error());
  }
  data->made = today();
  Answer answer{data->plans.empty() ? ExitCode::NoAnswer : ExitCode::Done, report_html(*data), {}};
  answer.verbatim = true;
  if (data->plans.empty()) answer.notes.emplace_back("nothing fits; the page says why");
  return answer;
}

}  // namespace

Command report_command() {
  auto source = std::make_shared<PlanSource>();
  return {"report", "Write the plans as one self-contained HTML page: frontier, breakdowns, timeline",
          "smplan report --params 13B --output report.html\n  smplan report --plan plan.json --output report.html",
          [source](Flags& app) { add_plan_source(app, *source); },
          [source](const Context& context) { return run_report(*source, context); }};
}

}  // namespace smplan::cli
