#include "planner/preflight/facts.hpp"

#include <fmt/format.h>

namespace smplan {
namespace {

template <typename Read>
auto read_map(ObjectReader& reader, std::string_view key, Diagnostics& out, Read read)
    -> std::optional<std::map<std::string, decltype(read(std::declval<const JsonValue&>()))>> {
  const auto value = reader.optional_value(key);
  if (!value) return std::nullopt;
  std::map<std::string, decltype(read(*value))> entries;
  for (const std::string& name : value->keys(out)) entries.emplace(name, read(*value->find(name)));
  return entries;
}

std::vector<std::string> read_strings(const std::vector<JsonValue>& values, Diagnostics& out) {
  std::vector<std::string> texts;
  for (const JsonValue& value : values) texts.push_back(value.as_string(out));
  return texts;
}

Facts::Dataset read_dataset(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  Facts::Dataset dataset;
  dataset.bytes = reader.optional_number("bytes");
  dataset.files = reader.optional_integer("files");
  dataset.random_access = reader.optional_bool("random_access").value_or(false);
  reader.finish();
  return dataset;
}

Facts::Script read_script(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  Facts::Script script;
  script.imports = read_strings(reader.optional_array("imports"), out);
  script.saves_to = reader.optional_string("saves_to");
  script.needs_internet = reader.optional_bool("needs_internet");
  script.requirements_file = reader.optional_bool("requirements_file");
  script.rank_in_checkpoint_name = reader.optional_bool("rank_in_checkpoint_name");
  script.activation_checkpointing = reader.optional_bool("activation_checkpointing");
  script.delayed_parameter_init = reader.optional_bool("delayed_parameter_init");
  script.transform_supported = reader.optional_bool("transform_supported");
  script.claims_smddp_amp = reader.optional_bool("claims_smddp_amp");
  script.checkpoint_interval_s = reader.optional_number("checkpoint_interval_s");
  script.parameters = reader.optional_integer("parameters");
  reader.finish();
  return script;
}

}  // namespace

Result<Facts> read_facts(const JsonValue& document) {
  Diagnostics out;
  ObjectReader reader(document, out);
  Facts facts;
  const std::string schema = reader.string("schema");
  if (out.empty() && schema != "smplan.facts/1") {
    out.push_back({"bad-schema", reader.location("schema"), fmt::format("schema is {}", quote(schema)),
                   "write \"smplan.facts/1\""});
  }
  const auto text = [&](const JsonValue& v) { return v.as_string(out); };
  facts.quotas = read_map(reader, "quotas", out, [&](const JsonValue& v) { return v.as_integer(out); });
  facts.buckets = read_map(reader, "buckets", out, text);
  facts.datasets = read_map(reader, "datasets", out, [&](const JsonValue& v) { return read_dataset(v, out); });
  facts.subnets = read_map(reader, "subnets", out, text);
  facts.security_groups = read_map(reader, "security_groups", out, [&](const JsonValue& v) { return v.as_bool(out); });
  facts.previous_job = read_map(reader, "previous_job", out, text);
  if (reader.has("checkpoint_uris_in_use")) {
    facts.checkpoint_uris_in_use = read_strings(reader.optional_array("checkpoint_uris_in_use"), out);
  }
  if (const auto script = reader.optional_value("script")) facts.script = read_script(*script, out);
  facts.sagemaker_sdk = reader.optional_string("sagemaker_sdk");
  facts.torchtitan = reader.optional_string("torchtitan");
  facts.jobs_per_second = reader.optional_number("jobs_per_second");
  facts.warm_pool_total_s = reader.optional_number("warm_pool_total_s");
  facts.hugging_face_trainer = reader.optional_bool("hugging_face_trainer");
  reader.finish();
  if (!out.empty()) return tl::unexpected<Diagnostics>(std::move(out));
  return facts;
}

}  // namespace smplan
