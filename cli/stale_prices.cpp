#include "cli/stale_prices.hpp"

#include <map>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "catalogs/dates.hpp"

namespace smplan::cli {

std::vector<std::string> stale_price_notes(const std::vector<Plan>& plans) {
  const std::string now = today();
  std::map<std::string, std::string> old;  // type to date
  for (const Plan& plan : plans) {
    if (plan.price == nullptr) continue;
    const std::string& date = plan.price->provenance.as_of;
    const auto age = days_between(date, now);
    if (age && *age > kOldPriceDays)
      old.emplace(plan.instance->name, fmt::format("{} of {}, {} days old", plan.instance->name, date, *age));
  }
  if (old.empty()) return {};
  std::string list;
  for (const auto& entry : old) list += (list.empty() ? "" : "; ") + entry.second;
  return {
      fmt::format("prices older than {} days: {}: `smplan catalog refresh` gets those of today", kOldPriceDays, list)};
}

}  // namespace smplan::cli
