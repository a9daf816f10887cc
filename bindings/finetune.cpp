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

/// Counts with a function of Python, from a list of texts to a list of numbers; called by the caller's thread alone.
TextMeasure measure_of(const py::object& count, std::int64_t added) {
  TextMeasure measure;
  measure.threads = 1;
  measure.added_to_a_sequence = added;
  measure.counter = [count]() -> TextMeasure::Count {
    return [count](const std::vector<std::string>& texts) -> Result<std::vector<std::int64_t>> {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      auto tokens = count(texts).cast<std::vector<std::int64_t>>();
      if (tokens.size() == texts.size()) return tokens;
      return fail("wrong-kind", "tokenizer",
                  "gives " + std::to_string(tokens.size()) + " lengths for " + std::to_string(texts.size()) + " texts",
                  "give an object whose encode() takes one text");
    };
  };
  return measure;
}

/// The rows as a text of JSON.
std::string fine_tune_text(const CatalogHandle& handle, const Arguments& arguments, const Words& words,
                           const std::vector<std::int64_t>& lengths, const py::object& count, std::int64_t added,
                           const std::optional<std::string>& environment_region, std::int64_t now) {
  const auto word = [&](const char* name) {
    const auto at = words.find(name);
    return at == words.end() ? std::nullopt : std::optional(at->second);
  };
  FineTuneWords w{word("data"),   word("examples"), word("length"),  word("characters_per_token"),
                  word("epochs"), word("packing"),  word("methods"), word("evaluation"),
                  lengths,        word("tokenizer")};
  const RequestSpec base = spec_of(arguments);
  const auto read = [w, base](Monitor&) { return read_fine_tune(w, base); };
  if (!count.is_none()) w.measure = measure_of(count, added);
  // A function of Python needs the interpreter's lock.
  const FineTuneQuestion question = value_or_throw(count.is_none() ? interruptible(read) : read_fine_tune(w, base));
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
             py::arg("lengths"), py::arg("count"), py::arg("added"), py::arg("environment_region"), py::arg("now"),
             "The rows of `smplan finetune` as JSON.");
}

}  // namespace smplan::python
