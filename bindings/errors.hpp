#pragma once

#include <type_traits>
#include <utility>

#include <pybind11/pybind11.h>

#include "base/result.hpp"

namespace smplan::python {

/// Carries refused input to the translator, which raises smplan.InputError.
struct Refused {
  Diagnostics diagnostics;
};

template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw Refused{std::move(result.error())};
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// As a list of smplan.Diagnostic.
pybind11::list python_diagnostics(const Diagnostics& diagnostics);

/// Makes Refused an InputError in Python.
void translate_errors();

}  // namespace smplan::python
