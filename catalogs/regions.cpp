#include "catalogs/regions.hpp"

#include <set>

#include "catalogs/sagemaker_limits.hpp"

namespace smplan {
namespace {

/// Those that have SageMaker, as botocore knows them.
const std::set<std::string>& aws_regions() {
  static const std::set<std::string> kRegions = [] {
    const Result<SagemakerLimits> limits = SagemakerLimits::shipped();
    return limits ? std::set<std::string>(limits->regions.begin(), limits->regions.end()) : std::set<std::string>();
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
