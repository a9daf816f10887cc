#include <optional>
#include <tuple>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/csv_reader.hpp"
#include "bindings/catalog_handle.hpp"
#include "bindings/errors.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/parts.hpp"
#include "planner/calibration/calibration_overlay.hpp"
#include "planner/calibration/calibration_report.hpp"
#include "planner/calibration/run_groups.hpp"

namespace py = pybind11;

namespace smplan::python {
namespace {

/// Tables as (name, CSV text).
using Tables = std::vector<std::pair<std::string, std::string>>;

/// Runs, and the name of the table that each stands in.
struct TableRuns {
  std::vector<MeasuredRun> runs;
  std::vector<std::string> tables;
};

TableRuns read_tables(const Tables& tables) {
  TableRuns all;
  Diagnostics faults;
  for (const auto& table : tables) {
    const Result<CsvTable> parsed = parse_csv(table.second, table.first);
    Result<std::vector<MeasuredRun>> read =
        parsed ? read_measured_runs(*parsed, table.first) : tl::unexpected<Diagnostics>(parsed.error());
    if (read) {
      all.tables.insert(all.tables.end(), read->size(), table.first);
      std::move(read->begin(), read->end(), std::back_inserter(all.runs));
    } else {
      faults.insert(faults.end(), read.error().begin(), read.error().end());
    }
  }
  if (!faults.empty()) throw Refused{std::move(faults)};
  return all;
}

/// (table, column, the known one that it may mean) of columns that nothing reads; tables that cannot be read have none.
std::vector<std::tuple<std::string, std::string, std::string>> unread(const Tables& tables) {
  std::vector<std::tuple<std::string, std::string, std::string>> all;
  for (const auto& [name, text] : tables) {
    const Result<CsvTable> parsed = parse_csv(text, name);
    if (!parsed) continue;
    for (UnreadColumn& column : unread_columns(*parsed)) {
      all.emplace_back(name, std::move(column.name), std::move(column.nearest));
    }
  }
  return all;
}

/// (CSV, JSON) of `smplan validate`.
std::pair<std::string, std::string> validate(const CatalogHandle& handle, const Tables& tables, std::size_t worst) {
  return interruptible([catalog = handle.catalog, tables, worst](Monitor& monitor) {
    std::vector<ComparedRun> compared;
    for (const MeasuredRun& run : read_tables(tables).runs) {
      if (monitor.stopped()) break;
      compared.push_back(std::move(compare_runs({run}, *catalog).front()));
    }
    return std::pair(report_csv(compared), report_json(compared, worst));
  });
}

/// (overlay, JSON report) of `smplan calibrate`.
std::pair<std::string, std::string> fit(const CatalogHandle& handle, const Tables& tables, bool devices,
                                        std::optional<double> prior_width, const std::vector<std::string>& not_fitted,
                                        const std::optional<std::string>& cross_validated,
                                        const std::optional<std::string>& intervals, const std::string& source,
                                        const std::string& as_of, const py::object& progress) {
  CalibrationOptions options =
      calibration_options(devices ? CalibrationScope::StacksAndDevices : CalibrationScope::Stacks);
  options.prior_scale = prior_width.value_or(options.prior_scale);
  options.not_fitted = not_fitted;
  const auto work = [=, catalog = handle.catalog](Monitor& monitor) mutable {
    options.fit.monitor = &monitor;
    const TableRuns measured = read_tables(tables);
    const std::vector<MeasuredRun>& runs = measured.runs;
    const auto groups = [&](const std::string& by) { return run_groups(by, runs, measured.tables, *catalog); };
    std::optional<LeftOutReport> left_out;
    if (cross_validated) {
      left_out = summarise_left_out(*cross_validated,
                                    value_or_throw(cross_validate(runs, *catalog, options, groups(*cross_validated))));
    }
    if (intervals) options.interval_groups = groups(*intervals);
    const CalibrationResult result = value_or_throw(calibrate(runs, *catalog, options));
    return std::pair(calibration_overlay(result, source, as_of),
                     calibration_json(result, left_out ? &*left_out : nullptr, runs));
  };
  return interruptible(work, progress);
}

}  // namespace

void bind_measured_runs(py::module_& module) {
  module.def("validate", &validate, py::arg("catalog"), py::arg("tables"), py::arg("worst"),
             "Predicts measured runs; (CSV, JSON).");
  module.def("calibrate", &fit, py::arg("catalog"), py::arg("tables"), py::arg("devices"), py::arg("prior_width"),
             py::arg("not_fitted"), py::arg("cross_validate"), py::arg("intervals"), py::arg("source"),
             py::arg("as_of"), py::arg("progress") = py::none(),
             "Fits profiles to measured runs; (overlay, JSON report).");
  module.def("unread_columns", &unread, py::arg("tables"),
             "(table, column, the known one that it may mean) of columns that nothing reads.");
  module.attr("run_groupings") = py::tuple(py::cast(run_groupings()));
}

}  // namespace smplan::python
