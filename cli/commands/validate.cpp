#include <memory>

#include <CLI/CLI.hpp>

#include "base/csv_reader.hpp"
#include "cli/command.hpp"
#include "cli/render/validation_page.hpp"
#include "planner/validation/report.hpp"

namespace smplan::cli {
namespace {

Result<Answer> run_validate(const std::string& path, const Context& context) {
  const Result<CsvTable> table = read_csv_file(path);
  if (!table) return tl::unexpected<Diagnostics>(table.error());
  const Result<std::vector<MeasuredRun>> measured = read_measured_runs(*table, path);
  if (!measured) return tl::unexpected<Diagnostics>(measured.error());
  const std::vector<ComparedRun> runs = compare_runs(*measured, context.catalog);
  switch (context.format) {
    case Format::Json:
      return Answer{ExitCode::Done, report_json(runs), {}};
    case Format::Csv:
      return Answer{ExitCode::Done, report_csv(runs), {}};
    case Format::Markdown:
      return Answer{ExitCode::Done, validation_markdown(runs), {}};
    case Format::Table:
      break;
  }
  return Answer{ExitCode::Done, validation_text(runs, context.style), {}};
}

}  // namespace

Command validate_command() {
  auto path = std::make_shared<std::string>();
  return {"validate", "Predict measured runs from a CSV file and report the errors",
          "smplan validate runs.csv\n  smplan validate runs.csv --format csv --output predicted.csv",
          [path](CLI::App& app) {
            app.add_option("runs", *path, "CSV file of measured runs (- is standard input)")->required()->type_name("");
          },
          [path](const Context& context) { return run_validate(*path, context); }};
}

}  // namespace smplan::cli
