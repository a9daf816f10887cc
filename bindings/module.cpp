#include <pybind11/pybind11.h>

#include "base/printable.hpp"
#include "bindings/errors.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/parts.hpp"

namespace py = pybind11;

namespace {

/// Interrupted work ends within moments; it must not outlive what it reads.
void wait_for_unseen_work() {
  const py::gil_scoped_release without_lock;
  for (int turns = 0; smplan::python::running_work > 0 && turns < 200; ++turns) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

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
  smplan::python::bind_finetune(module);
  smplan::python::bind_rl(module);
  smplan::python::bind_regions(module);
  module.def(
      "printable", [](const std::string& text) { return smplan::printable(text); }, py::arg("text"),
      "Text as one line without control and invisible characters; `?` stands for them.");
  py::module_::import("atexit").attr("register")(py::cpp_function(&wait_for_unseen_work));
}
