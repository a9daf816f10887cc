#include "catalogs/sagemaker_limits.hpp"

#include <algorithm>

#include "base/json_reader.hpp"
#include "catalogs/reading.hpp"

namespace smplan {
namespace {

RequestField::Type type_from(const std::string& name, const std::string& where, Diagnostics& out) {
  using enum RequestField::Type;
  if (name == "string") return String;
  if (name == "integer" || name == "long") return Integer;
  if (name == "boolean") return Boolean;
  if (name == "structure") return Structure;
  if (name == "list") return List;
  if (name == "map") return Map;
  out.push_back(
      unknown_name("field type", name, where, {"string", "integer", "long", "boolean", "structure", "list", "map"}));
  return String;
}

RequestField read_field(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  RequestField field;
  field.path = reader.string("path");
  field.type = type_from(reader.string("type"), reader.location("type"), out);
  field.required = reader.optional_bool("required").value_or(false);
  field.required_unless_serverless = reader.optional_bool("required_unless_serverless").value_or(false);
  field.min = reader.optional_integer("min");
  field.max = reader.optional_integer("max");
  field.pattern = reader.optional_string("pattern").value_or("");
  field.values = read_strings(reader, "values");
  reader.finish();
  return field;
}

SdkSignature read_signature(ObjectReader& reader) {
  SdkSignature one;
  one.name = reader.string("name");
  one.arguments = read_strings(reader, "arguments");
  one.required = read_strings(reader, "required");
  one.open = reader.optional_bool("open").value_or(false);
  one.returns_itself = reader.optional_bool("returns_itself").value_or(false);
  return one;
}

SdkCallable read_callable(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  SdkCallable callable;
  callable.paths = read_strings(reader, "paths");
  callable.made = read_signature(reader);
  for (const JsonValue& method : reader.optional_array("methods")) {
    ObjectReader one(method, out);
    callable.methods.push_back(read_signature(one));
    one.finish();
  }
  callable.attributes = read_strings(reader, "attributes");
  reader.finish();
  return callable;
}

std::vector<ArgumentNeed> read_needs(ObjectReader& reader, std::string_view key, Diagnostics& out) {
  std::vector<ArgumentNeed> needs;
  for (const JsonValue& entry : reader.optional_array(key)) {
    ArgumentNeed& need = needs.emplace_back();
    for (const JsonValue& way : entry.as_array(out)) need.push_back(strings_of(way.as_array(out), out));
  }
  return needs;
}

SdkModule read_module(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  SdkModule module{reader.string("name"), read_strings(reader, "names")};
  reader.finish();
  return module;
}

void read_file(const JsonValue& document, SagemakerLimits& limits, Diagnostics& out) {
  ObjectReader reader(document, out);
  reader.string("schema");
  reader.ignore("note");
  reader.string("source");
  reader.string("as_of");
  for (const JsonValue& field : reader.optional_array("fields")) limits.fields.push_back(read_field(field, out));
  for (const JsonValue& entry : reader.optional_array("estimator_classes")) {
    ObjectReader one(entry, out);
    EstimatorClass known;
    known.name = one.string("name");
    known.arguments = strings_of(one.array("arguments"), out);
    known.needs = read_needs(one, "needs", out);
    limits.estimator_classes.push_back(std::move(known));
    one.finish();
  }
  for (ArgumentNeed& need : read_needs(reader, "estimator_needs", out))
    limits.estimator_needs.push_back(std::move(need));
  const auto types = [&](std::string_view key, std::vector<ArgumentTypes>& into) {
    for (const JsonValue& entry : reader.optional_array(key)) {
      ObjectReader one(entry, out);
      ArgumentTypes row;
      for (const std::string& name : strings_of(one.array("types"), out)) {
        row.types.push_back(type_from(name, one.location("types"), out));
      }
      row.arguments = strings_of(one.array("arguments"), out);
      one.finish();
      into.push_back(std::move(row));
    }
  };
  types("estimator_types", limits.estimator_types);
  types("model_trainer_types", limits.model_trainer_types);
  const auto pairs = [&](std::string_view key, std::vector<std::pair<std::string, std::string>>& into) {
    const auto object = reader.optional_value(key);
    if (!object) return;
    for (const std::string& name : object->keys(out)) into.emplace_back(name, object->find(name)->as_string(out));
  };
  pairs("renamed", limits.renamed);
  pairs("smddp_images", limits.smddp_images);
  const auto list = [&](std::string_view key, std::vector<std::string>& into) {
    if (reader.has(key)) into = read_strings(reader, key);
  };
  list("training_types", limits.training_types);
  list("cluster_types", limits.cluster_types);
  list("regions", limits.regions);
  list("estimator_base", limits.estimator_base);
  list("distribution", limits.distribution);
  list("torchrun_versions", limits.torchrun_versions);
  list("smp_v2_versions", limits.smp_v2_versions);
  list("smp_v1", limits.smp_v1);
  list("smp_v2", limits.smp_v2);
  list("model_trainer", limits.model_trainer);
  list("sdk3_trainers", limits.sdk3_trainers);
  list("smddp_instances", limits.smddp_instances);
  list("smddp_legacy_instances", limits.smddp_legacy_instances);
  list("smp_v1_instances", limits.smp_v1_instances);
  list("smp_v2_instances", limits.smp_v2_instances);
  list("no_debugger_regions", limits.no_debugger_regions);
  list("toolkit_efa_instances", limits.toolkit_efa_instances);
  list("compiler_families", limits.compiler_families);
  list("torchrun_families", limits.torchrun_families);
  list("cpu_families", limits.cpu_families);
  list("gpu_families", limits.gpu_families);
  list("disk_families", limits.disk_families);
  for (const JsonValue& row : reader.optional_array("sdk_callables")) {
    limits.sdk_callables.push_back(read_callable(row, out));
  }
  for (const JsonValue& row : reader.optional_array("sdk_modules")) limits.sdk_modules.push_back(read_module(row, out));
  reader.finish();
}

}  // namespace

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const RequestField* SagemakerLimits::find(std::string_view path) const {
  const auto at = std::find_if(fields.begin(), fields.end(), [&](const RequestField& f) { return f.path == path; });
  return at == fields.end() ? nullptr : &*at;
}

std::vector<std::string> SagemakerLimits::members_of(std::string_view path) const {
  const std::string prefix = path.empty() ? "" : std::string(path) + '.';
  std::vector<std::string> names;
  for (const RequestField& field : fields) {
    if (!field.path.starts_with(prefix)) continue;
    const std::string rest = field.path.substr(prefix.size());
    if (rest.find_first_of(".[<") == std::string::npos) names.push_back(rest);
  }
  return names;
}

bool SagemakerLimits::is_training_type(std::string_view name) const {
  return std::binary_search(training_types.begin(), training_types.end(), name);
}

bool SagemakerLimits::is_cluster_type(std::string_view name) const {
  return std::binary_search(cluster_types.begin(), cluster_types.end(), name);
}

const SdkCallable* SagemakerLimits::find_callable(std::string_view path) const {
  const auto at = std::find_if(sdk_callables.begin(), sdk_callables.end(),
                               [&](const SdkCallable& one) { return contains(one.paths, path); });
  return at == sdk_callables.end() ? nullptr : &*at;
}

const SdkModule* SagemakerLimits::find_module(std::string_view name) const {
  const auto at =
      std::find_if(sdk_modules.begin(), sdk_modules.end(), [&](const SdkModule& one) { return one.name == name; });
  return at == sdk_modules.end() ? nullptr : &*at;
}

Result<SagemakerLimits> SagemakerLimits::shipped() {
  SagemakerLimits limits;
  Diagnostics faults;
  for (const EmbeddedFile& file : shipped_sagemaker_files()) {
    const Result<JsonValue> document = parse_json(file.content, file.name);
    if (document) {
      read_file(*document, limits, faults);
    } else {
      faults.insert(faults.end(), document.error().begin(), document.error().end());
    }
  }
  std::sort(limits.training_types.begin(), limits.training_types.end());
  std::sort(limits.cluster_types.begin(), limits.cluster_types.end());
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  return limits;
}

}  // namespace smplan
