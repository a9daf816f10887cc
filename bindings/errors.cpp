#include "bindings/errors.hpp"

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace smplan::python {
namespace {

/// The exception types live in Python, where their bases and texts read best.
void raise_input_error(const Refused& refused) {
  const py::module_ errors = py::module_::import("smplan._errors");
  py::list diagnostics;
  for (const Diagnostic& d : refused.diagnostics) {
    diagnostics.append(errors.attr("Diagnostic")(d.code, d.location, d.message, d.hint));
  }
  const py::object type = errors.attr("InputError");
  PyErr_SetObject(type.ptr(), type(diagnostics).ptr());
}

}  // namespace

void translate_errors() {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Refused& refused) {
      raise_input_error(refused);
    }
  });
}

}  // namespace smplan::python
