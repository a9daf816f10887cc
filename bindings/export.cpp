#include "bindings/export.hpp"

#include <pybind11/stl.h>

#include "bindings/errors.hpp"

namespace py = pybind11;

namespace smplan::python {

ExportOptions export_options_of(const std::map<std::string, std::string>& given) {
  ExportOptions options;
  const auto take = [&](const char* name, auto& field) {
    if (const auto found = given.find(name); found != given.end()) field = found->second;
  };
  take("role", options.role);
  take("bucket", options.bucket);
  take("script", options.script);
  take("job_name", options.job_name);
  take("input_mode", options.input_mode);
  take("file_system", options.file_system);
  if (const auto found = given.find("warm_pool"); found != given.end()) {
    options.warm_pool = value_or_throw(parse_duration(found->second, "warm_pool"));
  }
  if (Diagnostics faults = check(options); !faults.empty()) throw Refused{std::move(faults)};
  return options;
}

py::tuple python_export(const Export& done) {
  py::list files;
  for (const ExportFile& file : done.files) files.append(py::make_tuple(file.path, file.content));
  py::list placeholders;
  for (const Placeholder& p : done.placeholders) placeholders.append(py::make_tuple(p.text, p.meaning));
  return py::make_tuple(files, placeholders, done.notes, done.plan_id);
}

}  // namespace smplan::python
