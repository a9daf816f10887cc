#pragma once

namespace pybind11 {
class module_;
}

namespace smplan::python {

// One file each; module.cpp calls them in this order.
void bind_catalog(pybind11::module_& module);
void bind_models(pybind11::module_& module);
void bind_answers(pybind11::module_& module);
void bind_measured_runs(pybind11::module_& module);
void bind_checks(pybind11::module_& module);
void bind_batch(pybind11::module_& module);
void bind_sweep(pybind11::module_& module);
void bind_finetune(pybind11::module_& module);
void bind_rl(pybind11::module_& module);
void bind_regions(pybind11::module_& module);

}  // namespace smplan::python
