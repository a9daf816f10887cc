#include <optional>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/catalog_handle.hpp"
#include "bindings/errors.hpp"
#include "bindings/interruptible.hpp"
#include "bindings/parts.hpp"
#include "bindings/request.hpp"
#include "planner/preflight/beside.hpp"
#include "planner/preflight/check.hpp"

namespace py = pybind11;

namespace smplan::python {
namespace {

/// The findings of one job's text as JSON and as SARIF; `facts` is the text of a facts file, or empty.
std::pair<std::string, std::string> check_text(const CatalogHandle& handle, const std::string& text,
                                               const std::string& name, const std::optional<std::string>& kind,
                                               const Arguments& arguments, const std::string& facts,
                                               const std::vector<std::string>& ignored,
                                               const std::optional<std::string>& environment_region) {
  std::optional<JobKind> wanted;
  if (kind) {
    wanted = job_kind_from(*kind);
    if (!wanted) throw Refused{{unknown_name("kind of job", *kind, "kind", job_kind_names())}};
  }
  CheckOptions options;
  options.request = spec_of(arguments);
  options.environment_region = environment_region;
  if (!facts.empty()) options.facts = value_or_throw(read_facts(value_or_throw(parse_json(facts, "facts"))));
  for (const std::string& rule : ignored) {
    if (find_rule(rule) == nullptr) throw Refused{{unknown_rule(rule, "ignore")}};
    options.ignored.push_back({rule, "", ""});
  }
  return interruptible([catalog = handle.catalog, text, name, wanted, options](Monitor& monitor) mutable {
    options.search.monitor = &monitor;
    const SagemakerLimits limits = value_or_throw(SagemakerLimits::shipped());
    Job job = value_or_throw(read_job(text, name, wanted));
    read_beside(job);
    const Findings findings = value_or_throw(check_job(job, *catalog, limits, options));
    return std::pair(to_json(findings), to_sarif(findings));
  });
}

/// What the SDK's class or function at an import path takes: its name, the arguments in order, those of its methods,
/// and which of these make such an object again; None for what is in no table.
py::object sdk_callable(const std::string& path) {
  static const SagemakerLimits limits = value_or_throw(SagemakerLimits::shipped());
  const SdkCallable* found = limits.find_callable(path);
  if (found == nullptr) return py::none();
  py::dict methods;
  py::list makers;
  for (const SdkSignature& method : found->methods) {
    methods[py::str(method.name)] = method.arguments;
    if (method.returns_itself) makers.append(method.name);
  }
  return py::make_tuple(found->made.name, found->made.arguments, methods, makers);
}

}  // namespace

void bind_checks(py::module_& module) {
  module.def(
      "job_file", [](const std::string& path) { return value_or_throw(job_file_of(path)); }, py::arg("path"),
      "The job's file of a folder that an export wrote; any other path as it is.");
  module.def("check", &check_text, py::arg("catalog"), py::arg("text"), py::arg("name"), py::arg("kind"),
             py::arg("arguments"), py::arg("facts"), py::arg("ignored"), py::arg("environment_region"),
             "Checks the text of a job; (JSON, SARIF).");
  module.def(
      "sdk_callable", &sdk_callable, py::arg("path"),
      "(name, arguments, arguments of the methods, methods that make such an object again) of a class or function "
      "of the SageMaker SDKs; None for one that is not known.");
  module.attr("job_kinds") = py::tuple(py::cast(job_kind_names()));
}

}  // namespace smplan::python
