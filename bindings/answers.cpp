#include <optional>

#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/clock.hpp"
#include "base/json_writer.hpp"
#include "bindings/catalog_handle.hpp"
#include "bindings/errors.hpp"
#include "bindings/export.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/parts.hpp"
#include "bindings/request.hpp"
#include "planner/analysis/explain.hpp"
#include "planner/analysis/whatif.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/answer/plan_lock.hpp"
#include "planner/export/folder.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/report_checks.hpp"
#include "planner/search/estimate.hpp"
#include "planner/search/search.hpp"
#include "planner/trace/chrome_trace.hpp"

namespace py = pybind11;

namespace smplan::python {
namespace {

/// A search's own answer. Plans point into the catalog, so the two live together.
struct Answer {
  std::shared_ptr<const Catalog> catalog;
  PlanSet set;
};
using SharedAnswer = std::shared_ptr<const Answer>;

enum class Question { Plan, Estimate };

SharedAnswer ask(Question question, const CatalogHandle& handle, const Arguments& arguments,
                 const std::optional<std::string>& environment_region, const py::object& progress) {
  const RequestSpec spec = spec_of(arguments);
  const auto work = [question, spec, environment_region, catalog = handle.catalog](Monitor& monitor) -> SharedAnswer {
    const bool one = question == Question::Estimate;
    const WallClock clock = value_or_throw(wall_clock());
    const PlanRequest request =
        value_or_throw(resolve(spec, *catalog, environment_region, one ? Purpose::Estimate : Purpose::Plan, clock.now));
    const Stopwatch watch;
    const SearchOptions options{.monitor = &monitor};
    PlanSet set = one ? value_or_throw(estimate(request, *catalog, options)) : search(request, *catalog, options);
    set.search.seconds = watch.seconds();
    return std::make_shared<const Answer>(Answer{catalog, std::move(set)});
  };
  return interruptible(work, progress);
}

const Plan& plan_of(const Answer& answer, std::size_t rank) {
  if (rank < 1 || rank > answer.set.plans.size()) {
    throw Refused{
        {{"out-of-range", "rank", fmt::format("the list has {} plans, there is no {}", answer.set.plans.size(), rank),
          "choose a smaller rank, or a larger top"}}};
  }
  return answer.set.plans[rank - 1];
}

std::vector<std::string> why(const SharedAnswer& answer, std::size_t rank) {
  if (!answer->set.plans.empty()) plan_of(*answer, rank);
  return interruptible(
      [answer, rank](Monitor& monitor) { return explain(answer->set, *answer->catalog, rank, {.monitor = &monitor}); });
}

std::vector<std::string> sensitivity(const SharedAnswer& answer) {
  plan_of(*answer, 1);
  return interruptible(
      [answer](Monitor& monitor) { return explain_sensitivity(answer->set, *answer->catalog, {.monitor = &monitor}); });
}

std::string trace_of(const SimulatedJob& job, const std::string& title) {
  return chrome_trace(value_or_throw(simulate_step(job)), title);
}

std::string trace(const SharedAnswer& answer, std::size_t rank, const std::string& title) {
  plan_of(*answer, rank);
  return interruptible([answer, rank, title](Monitor&) {
    return trace_of(value_or_throw(simulated_job(answer->set.request, plan_of(*answer, rank), *answer->catalog)),
                    title);
  });
}

std::string page_of(ReportData data, const Catalog& catalog) {
  value_or_throw(add_checks(data, catalog));
  data.made = today();
  return report_html(data);
}

std::string report(const SharedAnswer& answer) {
  return interruptible([answer](Monitor& monitor) {
    return page_of(report_data(answer->set, *answer->catalog, {.monitor = &monitor}), *answer->catalog);
  });
}

/// The same three from the text of a plan file.
TrainingPlan read_plan(const CatalogHandle& handle, const std::string& text, std::int64_t rank) {
  return value_or_throw(read_training_plan(value_or_throw(parse_json(text, "plan")), rank, *handle.catalog));
}

std::string trace_of_text(const CatalogHandle& handle, const std::string& text, std::int64_t rank,
                          const std::string& title) {
  const py::gil_scoped_release without_lock;
  return trace_of(value_or_throw(simulated_job(read_plan(handle, text, rank), *handle.catalog)), title);
}

std::string report_of_text(const CatalogHandle& handle, const std::string& text) {
  const py::gil_scoped_release without_lock;
  return page_of(value_or_throw(report_data(text, "plan", *handle.catalog)), *handle.catalog);
}

/// (files as (path, content), placeholders as (text, meaning), notes, plan id)
py::tuple export_of_text(const CatalogHandle& handle, const std::string& text, std::int64_t rank,
                         const std::string& target, const std::map<std::string, std::string>& given) {
  const TrainingPlan plan = read_plan(handle, text, rank);
  const ExportOptions options = export_options_of(given);
  const std::string lock = plan_lock(value_or_throw(parse_json(text, "plan")), plan.rank);
  const Export done = value_or_throw(export_plan({plan, options, *handle.catalog, lock}, target));
  return python_export(done);
}

void write_files(const std::string& folder, const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<ExportFile> all;
  for (const auto& [path, content] : files) all.push_back({path, content});
  if (Result<void> written = write_export(folder, all); !written) throw Refused{std::move(written.error())};
}

/// JSON text as this library writes it: of the same values, the same bytes. (Python may shorten a number further.)
std::string normal_json(const std::string& text) {
  value_or_throw(parse_json(text, "plan"));
  return Json::parse(text).dump(2) + "\n";
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const ExportTarget& target : export_targets()) names.emplace_back(target.name);
  return names;
}

}  // namespace

void bind_answers(py::module_& module) {
  const auto time = [] { return value_or_throw(wall_clock()).now; };
  module.def(
      "now", [time] { return time().time_since_epoch().count(); },
      "Seconds since 1970: the clock, or SMPLAN_NOW or SOURCE_DATE_EPOCH.");
  module.def(
      "today", [time] { return utc_date(time()); }, "The date that answers carry, YYYY-MM-DD in UTC.");
  py::class_<Answer, std::shared_ptr<Answer>>(module, "Answer",
                                              "The native side of a PlanSet: its search's own answer.")
      .def(
          "to_json", [](const Answer& a) { return to_json(a.set); }, "What the command line prints as JSON.")
      .def(
          "to_csv", [](const Answer& a) { return to_csv(a.set); }, "What the command line prints as CSV.")
      .def(
          "explain", [](const std::shared_ptr<Answer>& a, std::size_t rank) { return why(a, rank); }, py::arg("rank"),
          "Why this plan, in sentences.")
      .def(
          "sensitivity", [](const std::shared_ptr<Answer>& a) { return sensitivity(a); },
          "What would change the answer, in sentences.")
      .def(
          "trace",
          [](const std::shared_ptr<Answer>& a, std::size_t rank, const std::string& title) {
            return trace(a, rank, title);
          },
          py::arg("rank"), py::arg("title"), "The simulated step as Chrome trace events.")
      .def(
          "report", [](const std::shared_ptr<Answer>& a) { return report(a); }, "The HTML page.");
  const auto question = [&](const char* name, Question which, const char* doc) {
    module.def(
        name,
        [which](const CatalogHandle& c, const Arguments& a, const std::optional<std::string>& region,
                const py::object& progress) {
          return std::const_pointer_cast<Answer>(ask(which, c, a, region, progress));
        },
        py::arg("catalog"), py::arg("arguments"), py::arg("environment_region"), py::arg("progress") = py::none(), doc);
  };
  question("plan", Question::Plan, "Searches the space of a request.");
  question("estimate", Question::Estimate, "Predicts one exact configuration.");
  module.def("trace_of_text", &trace_of_text, py::arg("catalog"), py::arg("text"), py::arg("rank"), py::arg("title"),
             "The simulated step of a plan file.");
  module.def("report_of_text", &report_of_text, py::arg("catalog"), py::arg("text"), "The HTML page of a plan file.");
  module.def("export_of_text", &export_of_text, py::arg("catalog"), py::arg("text"), py::arg("rank"), py::arg("target"),
             py::arg("options"), "A plan of a plan file in the words of a target.");
  module.def("write_export", &write_files, py::arg("folder"), py::arg("files"),
             "Writes the files of an export, (path, content) each, into a folder that holds no other job.");
  module.def("normal_json", &normal_json, py::arg("text"), "JSON text as the command line would have written it.");
  module.attr("keywords") = py::tuple(py::cast(keyword_names()));
  module.attr("export_targets") = py::tuple(py::cast(target_names()));
}

}  // namespace smplan::python
