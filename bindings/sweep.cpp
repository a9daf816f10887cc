#include "planner/sweep.hpp"

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

std::string line(const CatalogHandle& handle, const Arguments& arguments, const TrialTuple& trials,
                 const std::optional<std::string>& environment_region, std::int64_t now) {
  SweepOptions options = options_of(trials, environment_region, now);
  return interruptible([catalog = handle.catalog, spec = spec_of(arguments), options](Monitor& monitor) mutable {
    options.search.monitor = &monitor;
    return sweep_line(spec, *catalog, options).text;
  });
}

}  // namespace

void bind_sweep(py::module_& module) {
  module.def("sweep_line", &line, py::arg("catalog"), py::arg("arguments"), py::arg("trials"),
             py::arg("environment_region"), py::arg("now"),
             "One request planned, as the line of JSON that `smplan sweep` prints.");
  module.def(
      "sweep_identity",
      [](const CatalogHandle& handle, const Arguments& arguments, const TrialTuple& trials,
         const std::optional<std::string>& environment_region, std::int64_t now) {
        return sweep_identity(spec_of(arguments), *handle.catalog, options_of(trials, environment_region, now));
      },
      py::arg("catalog"), py::arg("arguments"), py::arg("trials"), py::arg("environment_region"), py::arg("now"),
      "What the line of a request is known by.");
  module.def(
      "sweep_line_identity", [](const std::string& text) { return sweep_identity(text); }, py::arg("line"),
      "The same of a line that was read back; None if it is none.");
}

}  // namespace smplan::python
