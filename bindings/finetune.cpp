#include <chrono>
#include <cstdint>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/catalog_handle.hpp"
#include "bindings/errors.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/parts.hpp"
#include "bindings/request.hpp"
#include "planner/analysis/fine_tune.hpp"

namespace py = pybind11;

namespace smplan::python {
namespace {

using Words = std::map<std::string, std::string>;

/// The rows as a text of JSON.
std::string fine_tune_text(const CatalogHandle& handle, const Arguments& arguments, const Words& words,
                           const std::vector<std::int64_t>& lengths,
                           const std::optional<std::string>& environment_region, std::int64_t now) {
  const auto word = [&](const char* name) {
    const auto at = words.find(name);
    return at == words.end() ? std::nullopt : std::optional(at->second);
  };
  FineTuneWords w{word("data"),   word("examples"), word("length"),  word("characters_per_token"),
                  word("epochs"), word("packing"),  word("methods"), word("evaluation"),
                  lengths};
  const FineTuneQuestion question = value_or_throw(read_fine_tune(w, spec_of(arguments)));
  const auto catalog = handle.catalog;
  auto answer = interruptible([&](Monitor& monitor) {
    SearchOptions options;
    options.monitor = &monitor;
    return plan_fine_tune(question, *catalog, environment_region, Instant(std::chrono::seconds(now)), options);
  });
  return fine_tune_rows(value_or_throw(std::move(answer))).dump();
}

}  // namespace

void bind_finetune(py::module_& module) {
  module.def("finetune", &fine_tune_text, py::arg("catalog"), py::arg("arguments"), py::arg("words"),
             py::arg("lengths"), py::arg("environment_region"), py::arg("now"),
             "The rows of `smplan finetune` as JSON.");
}

}  // namespace smplan::python
