#include "catalogs/image_uris.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/embedded_file.hpp"
#include "base/json_reader.hpp"
#include "catalogs/reading.hpp"

namespace smplan {

std::span<const EmbeddedFile> shipped_image_files();

namespace {

std::vector<ContainerRegistry::Account> read_registry(const JsonValue& value, Diagnostics& out) {
  std::vector<ContainerRegistry::Account> accounts;
  for (const JsonValue& one : value.as_array(out)) {
    ObjectReader reader(one, out);
    accounts.push_back({reader.string("account"), read_strings(reader, "regions")});
    reader.finish();
  }
  return accounts;
}

NamedImage read_version(const JsonValue& value, const NamedImageTables& tables, Diagnostics& out) {
  ObjectReader reader(value, out);
  NamedImage image;
  image.version = reader.string("version");
  image.base = reader.optional_string("base").value_or("");
  image.base_aliases = read_strings(reader, "base_aliases");
  image.pythons = read_strings(reader, "pythons");
  image.processors = read_strings(reader, "processors");
  image.tag = reader.optional_string("tag").value_or("");
  image.repository = reader.string("repository");
  const auto place = reader.integer("registry", 0, static_cast<std::int64_t>(tables.registries.size()) - 1);
  image.accounts = &tables.registries[static_cast<std::size_t>(place)];
  reader.finish();
  return image;
}

NamedImages read_images(const JsonValue& value, const NamedImageTables& tables, Diagnostics& out) {
  ObjectReader reader(value, out);
  NamedImages images;
  images.framework = reader.string("framework");
  images.scopes = read_strings(reader, "scopes");
  if (const auto aliases = reader.optional_value("aliases")) {
    for (const std::string& name : aliases->keys(out)) {
      images.aliases.emplace_back(name, aliases->find(name)->as_string(out));
    }
  }
  for (const JsonValue& one : reader.array("versions")) images.versions.push_back(read_version(one, tables, out));
  reader.finish();
  return images;
}

/// In place: images point into its registries.
void read_tables(NamedImageTables& tables) {
  Diagnostics faults;
  for (const EmbeddedFile& file : shipped_image_files()) {
    const Result<JsonValue> json = parse_json(file.content, file.name);
    if (!json) throw std::logic_error(to_string(json.error()));
    ObjectReader reader(*json, faults);
    reader.string("schema");
    reader.ignore("note");
    tables.provenance = read_provenance(reader);
    for (const JsonValue& one : reader.array("registries")) tables.registries.push_back(read_registry(one, faults));
    for (const JsonValue& one : reader.array("images")) tables.images.push_back(read_images(one, tables, faults));
    reader.finish();
  }
  if (!faults.empty()) throw std::logic_error(to_string(faults));
}

}  // namespace

std::string_view NamedImage::account_in(std::string_view region) const {
  for (const ContainerRegistry::Account& one : *accounts) {
    if (std::find(one.regions.begin(), one.regions.end(), region) != one.regions.end()) return one.account;
  }
  return {};
}

std::string_view NamedImages::full_version(std::string_view version) const {
  const auto alias = std::find_if(aliases.begin(), aliases.end(), [&](const auto& a) { return a.first == version; });
  return alias == aliases.end() ? version : std::string_view(alias->second);
}

std::vector<const NamedImage*> NamedImageTables::of_repository(std::string_view repository) const {
  std::vector<const NamedImage*> found;
  for (const NamedImages& table : images) {
    for (const NamedImage& image : table.versions) {
      if (image.repository == repository) found.push_back(&image);
    }
  }
  return found;
}

const NamedImageTables& named_images() {
  static const NamedImageTables& tables = *[] {
    static NamedImageTables read;
    read_tables(read);
    return &read;
  }();
  return tables;
}

}  // namespace smplan
