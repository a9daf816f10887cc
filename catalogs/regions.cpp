#include "catalogs/regions.hpp"

#include <set>

namespace smplan {
namespace {

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
  for (const InstanceType& type : catalog.instances()) regions.insert(type.regions.begin(), type.regions.end());
  return {regions.begin(), regions.end()};
}

}  // namespace smplan
