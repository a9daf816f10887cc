#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "base/csv_reader.hpp"
#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "catalogs/dates.hpp"
#include "cli/command.hpp"
#include "cli/commands/measured_files.hpp"
#include "cli/render/calibration_page.hpp"
#include "planner/calibration/calibration_overlay.hpp"
#include "planner/calibration/probe.hpp"
#include "planner/calibration/run_groups.hpp"

namespace smplan::cli {
namespace {

struct CalibrateFlags {
  std::vector<std::string> paths;
  std::string scope = "stacks";
  std::string prior_width;
  std::string intervals = "fit";
  std::string cross_validate;
  std::string as_of;
  std::string not_fitted;
  std::string probe, instances;
  bool fit_report = false;
};

/// What a probe moved, for standard error.
std::vector<std::string> probe_notes(const ProbeFit& fit) {
  std::vector<std::string> notes = fit.assumptions;
  for (const ProbedNumber& n : fit.numbers) {
    notes.push_back(
        n.after == n.before
            ? fmt::format("{}: stays at {:.3g}, which {} records leave with a mean error of {:.1f}%", n.name, n.before,
                          n.records, 100 * n.error_before)
            : fmt::format("{}: {:.3g} becomes {:.3g}, and the mean error of {} records {:.1f}% instead of {:.1f}%",
                          n.name, n.before, n.after, n.records, 100 * n.error_after, 100 * n.error_before));
  }
  return notes;
}

Result<Answer> calibrate_by_probe(const CalibrateFlags& flags, const Context& context) {
  if (!flags.paths.empty()) {
    return fail("conflict", "--probe", "measures kernels and links, tables measure runs",
                "calibrate with the probe first, then with the runs and --calibration of its answer");
  }
  const Result<JsonValue> document = read_json_file(flags.probe);
  if (!document) return tl::unexpected<Diagnostics>(document.error());
  Result<Probe> probe = read_probe(*document);
  if (!probe) return tl::unexpected<Diagnostics>(probe.error());
  probe->machine.instance = flags.instances;
  const Result<ProbeFit> fit = fit_probe(*probe, context.catalog);
  if (!fit) return tl::unexpected<Diagnostics>(fit.error());
  return Answer{ExitCode::Done, probe_overlay(*fit, *probe), probe_notes(*fit)};
}

/// Everything about the flags that can be wrong before a file is read.
Result<CalibrationOptions> understand(const CalibrateFlags& flags) {
  Diagnostics faults;
  CalibrationOptions options;
  if (flags.scope == "devices") {
    options = calibration_options(CalibrationScope::StacksAndDevices);
  } else if (flags.scope != "stacks") {
    faults.push_back(unknown_name("scope", flags.scope, "--scope", {"stacks", "devices"}));
  }
  const auto check_grouping = [&](const std::string& name, std::string_view flag, std::string_view other) {
    if (name == other) return;
    const std::vector<std::string>& known = run_groupings();
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    faults.push_back(unknown_name("grouping", name, flag, known));
  };
  check_grouping(flags.cross_validate, "--cross-validate", "");
  check_grouping(flags.intervals, "--intervals", "fit");
  if (!flags.as_of.empty() && !is_day(flags.as_of)) {
    faults.push_back({"bad-date", "--as-of", fmt::format("{} is no date", quote(flags.as_of)), "write YYYY-MM-DD"});
  }
  if (!flags.prior_width.empty()) {
    const Result<double> width = parse_count(flags.prior_width, "--prior-width");
    if (!width) {
      faults.insert(faults.end(), width.error().begin(), width.error().end());
    } else if (*width > 10) {
      faults.push_back(
          {"out-of-range", "--prior-width", fmt::format("{} is more than 10", *width), "1 is wide already"});
    } else {
      options.prior_scale = *width;
    }
  }
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return options;
}

/// Ids of a table of doubtful runs.
Result<std::vector<std::string>> ids_of(const std::string& path) {
  const Result<CsvTable> table = read_csv_file(path);
  if (!table) return tl::unexpected<Diagnostics>(table.error());
  if (!table->column("id")) {
    return fail("missing-column", path, "there is no column 'id'", "list the ids of runs, one a line, under that name");
  }
  std::vector<std::string> ids;
  for (const CsvRow& row : table->rows) ids.emplace_back(table->field(row, "id"));
  return ids;
}

std::string table_names(const MeasuredFiles& measured) {
  std::string names;
  for (std::size_t i = 0; i < measured.files.size(); ++i) {
    if (i > 0 && measured.files[i] == measured.files[i - 1]) continue;
    names += (names.empty() ? "" : ", ") + measured.files[i];
  }
  return names;
}

std::string pages(const CalibrateFlags& flags, const CalibrationResult& result, const LeftOutReport* left_out,
                  const Context& context) {
  const auto render = [&](const Table& table) {
    return context.format == Format::Markdown ? render_markdown(table) : render_text(table, context.style);
  };
  std::string text;
  if (flags.fit_report) text += fit_summary(result) + "\n\n" + render(fitted_table(result));
  if (left_out != nullptr) {
    text += (text.empty() ? "" : "\n") + left_out_summary(*left_out) + "\n\n" + render(left_out_table(*left_out));
  }
  return text;
}

/// What was asked for beside the overlay; empty if nothing was.
std::string reports(const CalibrateFlags& flags, const CalibrationResult& result, const LeftOutReport* left_out,
                    const MeasuredFiles& measured, const Context& context) {
  if (!flags.fit_report && left_out == nullptr) return {};
  switch (context.format) {
    case Format::Json:
      return calibration_json(result, left_out, measured.runs);
    case Format::Csv:
      return left_out != nullptr ? left_out_csv(*left_out, measured.runs) : fitted_csv(result);
    case Format::Table:
    case Format::Markdown:
      return pages(flags, result, left_out, context);
  }
  return {};
}

Result<Answer> run_calibrate(const CalibrateFlags& flags, const Context& context) {
  if (!flags.probe.empty()) return calibrate_by_probe(flags, context);
  if (!flags.instances.empty()) {
    return fail("conflict", "--instances", "goes only with --probe", "tables of runs have a column for it");
  }
  if (flags.paths.empty()) {
    return fail("missing-name", "calibrate", "needs a table of measured runs, or --probe",
                "docs/validation.md lists the columns of a table; `smplan probe` prints the script");
  }
  Result<CalibrationOptions> options = understand(flags);
  if (!options) return tl::unexpected<Diagnostics>(options.error());
  const Result<MeasuredFiles> measured = read_measured_files(flags.paths);
  if (!measured) return tl::unexpected<Diagnostics>(measured.error());

  if (!flags.not_fitted.empty()) {
    Result<std::vector<std::string>> ids = ids_of(flags.not_fitted);
    if (!ids) return tl::unexpected<Diagnostics>(ids.error());
    options->not_fitted = std::move(*ids);
  }

  const Catalog& catalog = context.catalog;
  const auto groups = [&](const std::string& by) { return run_groups(by, measured->runs, measured->files, catalog); };
  std::optional<LeftOutReport> left_out;
  if (!flags.cross_validate.empty()) {
    const auto errors = cross_validate(measured->runs, catalog, *options, groups(flags.cross_validate));
    if (!errors) return tl::unexpected<Diagnostics>(errors.error());
    left_out = summarise_left_out(flags.cross_validate, *errors);
  }
  if (flags.intervals != "fit") options->interval_groups = groups(flags.intervals);
  const Result<CalibrationResult> result = calibrate(measured->runs, catalog, *options);
  if (!result) return tl::unexpected<Diagnostics>(result.error());

  Answer answer;
  answer.notes = measured_notes(*measured);
  answer.text = calibration_overlay(*result, table_names(*measured), flags.as_of.empty() ? today() : flags.as_of);
  answer.aside = reports(flags, *result, left_out ? &*left_out : nullptr, *measured, context);
  answer.notes.push_back(fit_summary(*result));
  return answer;
}

}  // namespace

Command calibrate_command() {
  auto flags = std::make_shared<CalibrateFlags>();
  return {
      "calibrate", "Fit profiles to measured runs or to a probe; the answer is an overlay for --calibration",
      "smplan calibrate runs.csv --output overlay.json\n  smplan plan --params 13B --calibration overlay.json\n  "
      "smplan calibrate runs/*.csv --cross-validate source\n  smplan calibrate --probe probe.json --output mine.json",
      [flags](Flags& app) {
        add_measured_files(app, flags->paths, false);
        app.add_option("--probe", flags->probe, "What the script of `smplan probe` measured, instead of runs")
            ->type_name("FILE");
        app.add_option("--instances", flags->instances,
                       "With --probe: the instance type [the system most like the devices that it names]")
            ->type_name("NAME");
        app.add_option("--scope", flags->scope,
                       "What may move: stack profiles, or what accelerators sustain too [stacks]")
            ->type_name("stacks|devices");
        app.add_option("--prior-width", flags->prior_width,
                       "How freely numbers leave the catalog's values [0.3, with devices 1]")
            ->type_name("FACTOR");
        app.add_option("--not-fitted", flags->not_fitted,
                       "Table whose column id names doubtful runs: reported, not fitted on")
            ->type_name("FILE");
        app.add_option("--intervals", flags->intervals,
                       "Whose errors give the width of P10-P90: the fit's, or of groups left out [fit]")
            ->type_name(fmt::format("fit|{}", fmt::join(run_groupings(), "|")));
        app.add_option("--cross-validate", flags->cross_validate,
                       "Report the errors of each group under a fit without it")
            ->type_name(fmt::format("{}", fmt::join(run_groupings(), "|")));
        app.add_flag("--fit-report", flags->fit_report, "List the fitted numbers: meaning, before, after, spread");
        app.add_option("--as-of", flags->as_of, "Date that the overlay carries [today]")->type_name("YYYY-MM-DD");
      },
      [flags](const Context& context) { return run_calibrate(*flags, context); }};
}

}  // namespace smplan::cli
