#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "bindings/catalog_handle.hpp"
#include "bindings/errors.hpp"
#include "bindings/parts.hpp"
#include "catalogs/hf_config.hpp"
#include "models/layers/architecture_facts.hpp"
#include "models/layers/layers.hpp"

namespace py = pybind11;

namespace smplan::python {
namespace {

py::dict facts_of(const Architecture& a) {
  py::dict out;
  out["name"] = a.name;
  out["family"] = a.family;
  out["model_type"] = std::string(a.model_type());
  out["kind"] = std::string(to_string(a.kind));
  for (const auto& [name, value] : architecture_facts(a)) out[py::str(std::string(name))] = value;
  out["gated_mlp"] = a.gated_mlp;
  out["max_positions"] = a.max_positions;
  out["tied_embeddings"] = a.tied_embeddings;
  out["expert_ffn_hidden"] = a.moe.expert_ffn_hidden;
  out["left_out"] = a.left_out;
  out["aliases"] = py::tuple(0);
  out["source"] = py::none();
  out["as_of"] = py::none();
  return out;
}

py::dict preset(const CatalogHandle& handle, const std::string& name) {
  const ModelPreset& model = *value_or_throw(handle.catalog->model(name, "model"));
  py::dict out = facts_of(model.architecture);
  out["aliases"] = py::tuple(py::cast(model.aliases));
  out["source"] = model.provenance.source;
  out["as_of"] = model.provenance.as_of;
  return out;
}

py::dict of_size(const std::string& parameters) {
  return facts_of(value_or_throw(architecture_of_size(value_or_throw(parse_count(parameters, "params")))));
}

py::dict hugging_face(const std::string& text, const std::string& name) {
  return facts_of(value_or_throw(read_hf_config(value_or_throw(parse_hf_config(text, name)))));
}

py::dict architecture(const std::string& text, const std::string& name) {
  Diagnostics faults;
  const Architecture read = read_architecture(value_or_throw(parse_json(text, name)), faults);
  if (faults.empty()) faults = check(read, name);
  if (!faults.empty()) throw Refused{std::move(faults)};
  return facts_of(read);
}

}  // namespace

void bind_models(py::module_& module) {
  module.def("model_preset", &preset, py::arg("catalog"), py::arg("name"), "Facts of a model of the catalog.");
  module.def("model_of_size", &of_size, py::arg("parameters"), "Facts of the model that a size stands for.");
  module.def("model_of_hf_config", &hugging_face, py::arg("text"), py::arg("name"),
             "Facts of a Hugging Face config.json.");
  module.def("model_of_arch", &architecture, py::arg("text"), py::arg("name"), "Facts of an architecture file.");
}

}  // namespace smplan::python
