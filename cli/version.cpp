#include "cli/version.hpp"
#include "base/json_writer.hpp"

#include <algorithm>

namespace smplan::cli {
namespace {

template <typename Facts>
void add_dates(const Facts& facts, std::vector<std::string>& dates) {
  for (const auto& fact : facts) dates.push_back(fact.provenance.as_of);
}

}  // namespace

std::string catalog_date(const Catalog& catalog) {
  std::vector<std::string> dates;
  add_dates(catalog.accelerators(), dates);
  add_dates(catalog.instances(), dates);
  add_dates(catalog.prices(), dates);
  add_dates(catalog.models(), dates);
  add_dates(catalog.stacks(), dates);
  return dates.empty() ? std::string() : *std::max_element(dates.begin(), dates.end());
}

std::string version_text(bool json, const Catalog& catalog) {
  if (!json) return "smplan " SMPLAN_VERSION;
  Json out;
  out["smplan_version"] = SMPLAN_VERSION;
  out["schema_version"] = 1;
  auto& facts = out["catalog"];
  facts["date"] = catalog_date(catalog);
  facts["instance_types"] = catalog.instances().size();
  facts["prices"] = catalog.prices().size();
  std::vector<std::string> dates;
  add_dates(catalog.prices(), dates);
  const auto [oldest, newest] = std::minmax_element(dates.begin(), dates.end());
  facts["oldest_price"] = *oldest;
  facts["newest_price"] = *newest;
  return out.dump(2);
}

}  // namespace smplan::cli
