#include "catalogs/architecture.hpp"
#include "catalogs/reading.hpp"

namespace smplan {

ModelPreset read_model_preset(const JsonValue& value, Diagnostics& out) {
  constexpr std::int64_t kMaxCount = std::int64_t{1} << 53;
  ObjectReader reader(value, out);
  ModelPreset preset;
  if (const auto architecture = reader.value("architecture")) {
    preset.architecture = read_architecture(*architecture, out);
    if (!architecture->find("name") && architecture->is_object()) {
      out.push_back({"missing-key", architecture->location(), "a preset's architecture needs a name", {}});
    }
  }
  preset.aliases = read_strings(reader, "aliases");
  preset.published_parameters = reader.integer("published_parameters", 1, kMaxCount);
  preset.published_rounding = read_integer_or(reader, "published_rounding", 1, kMaxCount, preset.published_rounding);
  preset.default_seq_len = reader.integer("default_seq_len", 1, std::int64_t{1} << 32);
  preset.trained_tokens = read_number_or(reader, "trained_tokens", 1, 1e18, 0);
  preset.batch_tokens = read_number_or(reader, "batch_tokens", 1, 1e12, 0);
  preset.batch_source = reader.optional_string("batch_source").value_or("");
  if ((preset.batch_tokens > 0) == preset.batch_source.empty()) {
    out.push_back({"missing-key", reader.location("batch_tokens"),
                   "a published batch needs its source, and a source its batch",
                   "give both, batch_tokens and batch_source, or neither"});
  }
  preset.provenance = read_provenance(reader);
  preset.note = reader.optional_string("note").value_or("");
  reader.finish();
  return preset;
}

}  // namespace smplan
