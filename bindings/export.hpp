#pragma once

#include <map>
#include <string>

#include <pybind11/pybind11.h>

#include "planner/export/target.hpp"

namespace smplan::python {

/// What `smplan export` takes of a job, by its keywords.
ExportOptions export_options_of(const std::map<std::string, std::string>& given);

/// (files as (path, content), placeholders as (text, meaning), notes, plan id)
pybind11::tuple python_export(const Export& done);

}  // namespace smplan::python
