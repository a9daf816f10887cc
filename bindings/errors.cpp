#include "bindings/errors.hpp"

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace smplan::python {
namespace {

/// The exception types live in Python, where their bases and texts read best.
void raise_input_error(const Refused& refused) {
  const py::object type = py::module_::import("smplan._errors").attr("InputError");
  PyErr_SetObject(type.ptr(), type(python_diagnostics(refused.diagnostics)).ptr());
}

}  // namespace

py::list python_diagnostics(const Diagnostics& diagnostics) {
  const py::object type = py::module_::import("smplan._errors").attr("Diagnostic");
  py::list out;
  for (const Diagnostic& d : diagnostics) out.append(type(d.code, d.location, d.message, d.hint));
  return out;
}

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
