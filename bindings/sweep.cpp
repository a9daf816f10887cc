#include "planner/analysis/sweep.hpp"

#include <chrono>
#include <cstdint>
#include <tuple>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/catalog_handle.hpp"
#include "bindings/errors.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/parts.hpp"
#include "bindings/request.hpp"

namespace py = pybind11;

namespace smplan::python {
namespace {

/// Trials, how many at once, early stopping: each as text or not given.
using TrialTuple = std::tuple<std::optional<std::string>, std::optional<std::string>, std::optional<std::string>>;

SweepOptions options_of(const TrialTuple& trials, const std::optional<std::string>& environment_region,
                        std::int64_t now) {
  const auto& [count, at_once, early_stopping] = trials;
  SweepOptions options;
  options.trials = value_or_throw(read_trials({count, at_once, early_stopping}));
  options.environment_region = environment_region;
  options.now = Instant(std::chrono::seconds(now));
  return options;
}

/// A question with what it points into.
class Question {
 public:
  Question(const CatalogHandle& handle, const Arguments& arguments, const TrialTuple& trials,
           const std::optional<std::string>& environment_region, std::int64_t now)
      : catalog_(handle.catalog),
        options_(options_of(trials, environment_region, now)),
        question_(sweep_question(spec_of(arguments), *catalog_, options_)) {}

  const std::string& identity() const { return question_.identity; }

  std::string line() const {
    return interruptible([held = *this](Monitor& monitor) mutable {
      held.options_.search.monitor = &monitor;
      return sweep_line(held.question_, *held.catalog_, held.options_).text;
    });
  }

 private:
  decltype(CatalogHandle::catalog) catalog_;
  SweepOptions options_;
  SweepQuestion question_;
};

}  // namespace

void bind_sweep(py::module_& module) {
  py::class_<Question>(module, "SweepQuestion", "One request of a sweep, resolved.")
      .def(py::init<const CatalogHandle&, const Arguments&, const TrialTuple&, const std::optional<std::string>&,
                    std::int64_t>(),
           py::arg("catalog"), py::arg("arguments"), py::arg("trials"), py::arg("environment_region"), py::arg("now"))
      .def_property_readonly("identity", &Question::identity, "What the line of the request is known by.")
      .def("line", &Question::line, "The request planned, as the line of JSON that `smplan sweep` prints.");
  module.def(
      "sweep_line_identity", [](const std::string& text) { return sweep_identity(text); }, py::arg("line"),
      "The same of a line that was read back; None if it is none.");
}

}  // namespace smplan::python
