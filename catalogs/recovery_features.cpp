#include "catalogs/recovery_features.hpp"

#include "catalogs/shipped_rows.hpp"

namespace smplan {

std::span<const EmbeddedFile> shipped_hyperpod_files();

namespace {

std::vector<std::string> names_of(ObjectReader& reader, std::string_view key, Diagnostics& out) {
  std::vector<std::string> names;
  for (const JsonValue& value : reader.optional_array(key)) names.push_back(value.as_string(out));
  return names;
}

RecoveryFeature read_feature(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  RecoveryFeature feature;
  feature.name = read_name(reader, "name");
  feature.title = read_text(reader, "title");
  feature.platforms = names_of(reader, "platforms", out);
  feature.stacks = names_of(reader, "stacks", out);
  feature.excludes = names_of(reader, "excludes", out);
  feature.validated = names_of(reader, "validated", out);
  feature.needs = read_text(reader, "needs");
  feature.provenance = read_provenance(reader);
  reader.finish();
  return feature;
}

}  // namespace

const std::vector<RecoveryFeature>& recovery_features() {
  static const std::vector<RecoveryFeature> kFeatures =
      shipped_rows(shipped_hyperpod_files(), "recovery_features", read_feature);
  return kFeatures;
}

const RecoveryFeature* recovery_feature(std::string_view name) { return row_named(recovery_features(), name); }

}  // namespace smplan
