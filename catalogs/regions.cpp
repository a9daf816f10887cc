#include "catalogs/regions.hpp"

#include <set>

#include "base/json_reader.hpp"
#include "catalogs/sagemaker_limits.hpp"

namespace smplan {
namespace {

/// Those that have SageMaker, as botocore knows them.
const std::set<std::string>& aws_regions() {
  static const std::set<std::string> kRegions = [] {
    std::set<std::string> regions;
    Diagnostics ignored;
    for (const EmbeddedFile& file : shipped_sagemaker_files()) {
      if (!std::string_view(file.name).ends_with("regions.json")) continue;
      const Result<JsonValue> document = parse_json(file.content, file.name);
      const auto list = document ? document->find("regions") : std::nullopt;
      if (!list) continue;
      for (const JsonValue& name : list->as_array(ignored)) regions.insert(name.as_string(ignored));
    }
    return regions;
  }();
  return kRegions;
}

std::set<std::string> with_prices(const Catalog& catalog) {
  std::set<std::string> regions;
  for (const Price& price : catalog.prices()) regions.insert(price.region);
  return regions;
}

}  // namespace

std::vector<std::string> priced_regions(const Catalog& catalog) {
  const std::set<std::string> regions = with_prices(catalog);
  return {regions.begin(), regions.end()};
}

std::vector<std::string> known_regions(const Catalog& catalog) {
  std::set<std::string> regions = with_prices(catalog);
  regions.insert(aws_regions().begin(), aws_regions().end());
  for (const InstanceType& type : catalog.instances()) regions.insert(type.regions.begin(), type.regions.end());
  return {regions.begin(), regions.end()};
}

}  // namespace smplan
