#include <pybind11/pybind11.h>

#include "bindings/errors.hpp"
#include "bindings/parts.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, module) {
  module.doc() = "The native half of smplan: text and numbers in, text and numbers out. Use `smplan` itself.";
  module.attr("version") = SMPLAN_VERSION;
  smplan::python::translate_errors();
  smplan::python::bind_catalog(module);
  smplan::python::bind_models(module);
  smplan::python::bind_answers(module);
  smplan::python::bind_measured_runs(module);
  smplan::python::bind_checks(module);
  smplan::python::bind_batch(module);
  smplan::python::bind_sweep(module);
}
