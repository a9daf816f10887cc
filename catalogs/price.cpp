#include "catalogs/price.hpp"

#include <fmt/format.h>

#include "catalogs/reading.hpp"

namespace smplan {
namespace {

constexpr EnumNames<Market, 4> kMarkets = {{{Market::OnDemand, "on-demand"},
                                            {Market::Spot, "spot"},
                                            {Market::CapacityBlock, "capacity-block"},
                                            {Market::SavingsPlan, "savings-plan"}}};
/// What SageMaker calls capacity bought ahead.
constexpr std::string_view kTrainingPlan = "training-plan";
constexpr EnumNames<PriceBasis, 2> kBases = {{{PriceBasis::Measured, "measured"}, {PriceBasis::Derived, "derived"}}};

// One instance never costs more: catches prices in cents, per month or per UltraServer fleet.
constexpr double kMaxUsdPerHour = 10000;

}  // namespace

std::string_view to_string(Market market) { return name_of(kMarkets, market); }
std::optional<Market> market_from(std::string_view name) {
  return value_of(kMarkets, name == kTrainingPlan ? to_string(Market::CapacityBlock) : name);
}
std::vector<std::string> market_names() {
  std::vector<std::string> names;
  for (const auto& entry : kMarkets) names.emplace_back(entry.second);
  names.emplace_back(kTrainingPlan);
  return names;
}
std::string_view to_string(PriceBasis basis) { return name_of(kBases, basis); }

Price read_price(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  Price price;
  price.instance = read_name(reader, "instance");
  price.region = read_name(reader, "region");
  price.market = read_enum(reader, "market", kMarkets);
  const std::size_t faults = out.size();
  const double usd = reader.number("usd_per_hour", 0, kMaxUsdPerHour);
  if (usd == 0 && out.size() == faults) {
    out.push_back({"bad-price", reader.location("usd_per_hour"),
                   fmt::format("{} in {} costs nothing", price.instance, price.region),
                   "leave the price out where it is unknown"});
  }
  price.rate = usd_per_hour(usd);
  price.basis = read_enum(reader, "basis", kBases);
  price.formula = reader.optional_string("formula").value_or("");
  if (price.basis == PriceBasis::Derived && price.formula.empty()) {
    out.push_back({"missing-formula", reader.location("formula"), "a derived price needs its formula",
                   "say what was multiplied with what"});
  }
  const auto zone = [&](const char* key) {
    const double price_there = read_number_or(reader, key, 0, kMaxUsdPerHour, kMaxUsdPerHour);
    if (price_there == 0) {
      out.push_back(
          {"bad-price", reader.location(key), "a zone costs nothing", "leave the range out where it is unknown"});
    }
    return usd_per_hour(reader.has(key) ? price_there : 0);
  };
  const bool seen = reader.has("low_usd_per_hour") || reader.has("high_usd_per_hour");
  price.low = zone("low_usd_per_hour");
  price.high = zone("high_usd_per_hour");
  if (seen && out.size() == faults &&
      !(UsdPerSecond() < price.low && price.low <= price.rate && price.rate <= price.high)) {
    out.push_back({"bad-range", reader.location("low_usd_per_hour"),
                   fmt::format("{} in {}: the price is not between its lowest and its highest zone", price.instance,
                               price.region),
                   "give low_usd_per_hour <= usd_per_hour <= high_usd_per_hour, or neither end"});
  }
  price.provenance = read_provenance(reader);
  reader.finish();
  return price;
}

}  // namespace smplan
