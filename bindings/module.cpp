#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/json_reader.hpp"
#include "catalogs/catalog.hpp"
#include "planner/plan_json.hpp"
#include "planner/preflight/check.hpp"
#include "planner/request.hpp"
#include "planner/search.hpp"

namespace py = pybind11;

namespace smplan {
namespace {

/// Carries refused input to the translator, which raises smplan.InputError.
struct Refused {
  Diagnostics diagnostics;
};

template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw Refused{std::move(result.error())};
  return std::move(*result);
}

struct Keyword {
  const char* name;
  std::optional<std::string> RequestSpec::*field;
};

/// The request's names in Python: those of INTERFACE's flags with `_` for `-`.
constexpr Keyword kKeywords[] = {
    {"params", &RequestSpec::params},
    {"model", &RequestSpec::model},
    {"hf_config", &RequestSpec::hf_config},
    {"arch", &RequestSpec::arch},
    {"tokens", &RequestSpec::tokens},
    {"seq_len", &RequestSpec::seq_len},
    {"global_batch", &RequestSpec::global_batch},
    {"global_batch_tokens", &RequestSpec::global_batch_tokens},
    {"dtype", &RequestSpec::dtype},
    {"optimizer", &RequestSpec::optimizer},
    {"finetune", &RequestSpec::finetune},
    {"lora_rank", &RequestSpec::lora_rank},
    {"instances", &RequestSpec::instances},
    {"count", &RequestSpec::count},
    {"max_gpus", &RequestSpec::max_gpus},
    {"region", &RequestSpec::region},
    {"market", &RequestSpec::market},
    {"stack", &RequestSpec::stack},
    {"collectives", &RequestSpec::collectives},
    {"dp", &RequestSpec::dp},
    {"tp", &RequestSpec::tp},
    {"pp", &RequestSpec::pp},
    {"vpp", &RequestSpec::vpp},
    {"cp", &RequestSpec::cp},
    {"ep", &RequestSpec::ep},
    {"zero_stage", &RequestSpec::zero_stage},
    {"sharding", &RequestSpec::sharding},
    {"shard_degree", &RequestSpec::shard_degree},
    {"micro_batch", &RequestSpec::micro_batch},
    {"recompute", &RequestSpec::recompute},
    {"offload", &RequestSpec::offload},
    {"sequence_parallel", &RequestSpec::sequence_parallel},
    {"checkpoint_storage", &RequestSpec::checkpoint_storage},
    {"checkpoint_mode", &RequestSpec::checkpoint_mode},
    {"dataset", &RequestSpec::dataset},
    {"dataset_files", &RequestSpec::dataset_files},
    {"input_mode", &RequestSpec::input_mode},
    {"data_region", &RequestSpec::data_region},
    {"jobs", &RequestSpec::jobs},
    {"job_gap", &RequestSpec::job_gap},
    {"warm_pool", &RequestSpec::warm_pool},
    {"deadline", &RequestSpec::deadline},
    {"confidence", &RequestSpec::confidence},
    {"budget", &RequestSpec::budget},
    {"max_hourly", &RequestSpec::max_hourly},
    {"min_headroom", &RequestSpec::min_headroom},
    {"objective", &RequestSpec::objective},
    {"cost_weight", &RequestSpec::cost_weight},
    {"what_if", &RequestSpec::what_if},
    {"top", &RequestSpec::top},
};

using Arguments = std::map<std::string, std::string>;

RequestSpec spec_of(const Arguments& arguments) {
  RequestSpec spec;
  Diagnostics faults;
  for (const auto& argument : arguments) {
    const Keyword* match = nullptr;
    for (const Keyword& keyword : kKeywords) {
      if (argument.first == keyword.name) match = &keyword;
    }
    if (match != nullptr) {
      spec.*match->field = argument.second;
      continue;
    }
    std::vector<std::string> known;
    for (const Keyword& keyword : kKeywords) known.emplace_back(keyword.name);
    faults.push_back(unknown_name("keyword", argument.first, argument.first, known));
  }
  if (!faults.empty()) throw Refused{std::move(faults)};
  return spec;
}

enum class Question { Plan, Estimate };

std::string answer(Question question, const Catalog& catalog, const Arguments& arguments,
                   const std::optional<std::string>& environment_region) {
  const py::gil_scoped_release without_gil;
  const bool one = question == Question::Estimate;
  const PlanRequest request =
      value_or_throw(resolve(spec_of(arguments), catalog, environment_region, one ? Purpose::Estimate : Purpose::Plan));
  const auto start = std::chrono::steady_clock::now();
  PlanSet set = one ? value_or_throw(estimate(request, catalog)) : search(request, catalog);
  set.search.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return to_json(set);
}

/// The findings of one job's text as JSON or SARIF; `facts` is the text of a facts file, or empty.
std::string check_text(const Catalog& catalog, const std::string& text, const std::string& name,
                       const std::optional<std::string>& kind, const Arguments& arguments, const std::string& facts,
                       const std::vector<std::string>& ignored, const std::optional<std::string>& environment_region,
                       bool sarif) {
  const py::gil_scoped_release without_gil;
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
    if (find_rule(rule) == nullptr) {
      throw Refused{{{"unknown-rule", "ignore", "there is no rule " + quote(rule), "rules are C001 to C210"}}};
    }
    options.ignored.push_back({rule, "", ""});
  }
  const SagemakerLimits limits = value_or_throw(SagemakerLimits::shipped());
  const Job job = value_or_throw(read_job(text, name, wanted));
  const Findings findings = value_or_throw(check_job(job, catalog, limits, options));
  return sarif ? to_sarif(findings) : to_json(findings);
}

Catalog with_overlay(const Catalog& catalog, const std::string& path) {
  const py::gil_scoped_release without_gil;
  Catalog merged = catalog;
  const Result<void> outcome = merged.merge(value_or_throw(read_json_file(path)));
  if (!outcome) throw Refused{outcome.error()};
  return merged;
}

/// The exception types live in Python, where their bases and texts read best.
void raise_input_error(const Refused& refused) {
  py::list diagnostics;
  for (const Diagnostic& d : refused.diagnostics) {
    diagnostics.append(py::module_::import("smplan._errors").attr("Diagnostic")(d.code, d.location, d.message, d.hint));
  }
  const py::object type = py::module_::import("smplan._errors").attr("InputError");
  PyErr_SetObject(type.ptr(), type(diagnostics).ptr());
}

PYBIND11_MODULE(_core, module) {
  module.attr("version") = SMPLAN_VERSION;
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Refused& refused) {
      raise_input_error(refused);
    }
  });
  py::class_<Catalog>(module, "Catalog", "Instance types, prices, models and stacks; immutable.")
      .def_static(
          "shipped", [] { return value_or_throw(Catalog::shipped()); }, "The catalog built into smplan.")
      .def("with_overlay", &with_overlay, py::arg("path"), "A copy with the facts of an overlay file in place.")
      .def_property_readonly("instances",
                             [](const Catalog& catalog) {
                               std::vector<std::string> names;
                               for (const InstanceType& instance : catalog.instances()) names.push_back(instance.name);
                               return names;
                             })
      .def_property_readonly("models",
                             [](const Catalog& catalog) {
                               std::vector<std::string> names;
                               for (const ModelPreset& model : catalog.models()) {
                                 names.push_back(model.architecture.name);
                               }
                               return names;
                             })
      .def_property_readonly("stacks", [](const Catalog& catalog) {
        std::vector<std::string> names;
        for (const Stack& stack : catalog.stacks()) names.push_back(stack.id);
        return names;
      });
  module.def("plan", [](const Catalog& c, const Arguments& a, const std::optional<std::string>& region) {
    return answer(Question::Plan, c, a, region);
  });
  module.def("estimate", [](const Catalog& c, const Arguments& a, const std::optional<std::string>& region) {
    return answer(Question::Estimate, c, a, region);
  });
  module.def("check", &check_text, py::arg("catalog"), py::arg("text"), py::arg("name"), py::arg("kind"),
             py::arg("arguments"), py::arg("facts"), py::arg("ignored"), py::arg("environment_region"),
             py::arg("sarif"));
}

}  // namespace
}  // namespace smplan
