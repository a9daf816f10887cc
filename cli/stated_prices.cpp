#include "cli/stated_prices.hpp"

#include <set>

#include <fmt/format.h>

#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "catalogs/refreshed_facts.hpp"
#include "catalogs/regions.hpp"
#include "planner/request/fields.hpp"

namespace smplan::cli {
namespace {

constexpr std::string_view kForm = "write TYPE=USD, TYPE@REGION=USD or TYPE@REGION=USD/MARKET";
constexpr double kMostDiscount = 0.95;

struct StatedPrice {
  std::string type;
  std::string region;  ///< empty: wherever the type is
  Market market = Market::OnDemand;
  double usd_per_hour = 0;
};

/// One entry of --price; nullopt where it has a fault, which is added.
std::optional<StatedPrice> read_stated(std::string_view text, const Catalog& catalog, Diagnostics& out) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    out.push_back({"bad-price", "--price", fmt::format("'{}' states no price", text), std::string(kForm)});
    return std::nullopt;
  }
  StatedPrice price;
  const std::string_view name = text.substr(0, equals);
  const std::size_t at = name.find('@');
  const Result<const InstanceType*> type = catalog.instance(std::string(trim(name.substr(0, at))), "--price");
  if (!type) {
    out.insert(out.end(), type.error().begin(), type.error().end());
    return std::nullopt;
  }
  price.type = (*type)->name;
  if (at != std::string_view::npos) {
    const std::vector<std::string> regions = known_regions(catalog);
    const std::string region(trim(name.substr(at + 1)));
    price.region = known_spelling(region, regions).value_or("");
    if (price.region.empty()) {
      out.push_back(unknown_name("region", region, "--price", regions));
      return std::nullopt;
    }
  }
  const std::string_view figure = text.substr(equals + 1);
  const std::size_t slash = figure.find('/');
  const Result<Usd> usd = parse_usd(figure.substr(0, slash), "--price");
  if (!usd) {
    out.insert(out.end(), usd.error().begin(), usd.error().end());
    return std::nullopt;
  }
  price.usd_per_hour = usd->value();
  if (!(price.usd_per_hour > 0)) {
    out.push_back({"out-of-range", "--price",
                   fmt::format("'{}': a price above 0 is wanted, nothing costs nothing", text), std::string(kForm)});
    return std::nullopt;
  }
  if (slash == std::string_view::npos) return price;
  const std::string word(trim(figure.substr(slash + 1)));
  const auto market = market_from(lower_case(word));
  if (!market) {
    out.push_back(unknown_name("market", word, "--price", market_names()));
    return std::nullopt;
  }
  price.market = *market;
  return price;
}

/// Where AWS offers the type, or sells it in any market; everywhere where neither is known.
std::vector<std::string> regions_of(const std::string& type, const Catalog& catalog) {
  std::set<std::string> regions;
  if (const InstanceType* known = catalog.find_instance(type)) {
    regions.insert(known->regions.begin(), known->regions.end());
  }
  for (const Price& p : catalog.prices()) {
    if (p.instance == type) regions.insert(p.region);
  }
  if (regions.empty()) return known_regions(catalog);
  return {regions.begin(), regions.end()};
}

Json row(const std::string& type, const std::string& region, Market market, double usd_per_hour) {
  Json out;
  out["instance"] = type;
  out["region"] = region;
  out["market"] = std::string(to_string(market));
  out["usd_per_hour"] = usd_per_hour;
  return out;
}

double per_hour(UsdPerSecond rate) { return rate.value() * 3600; }

Json discounted(const Price& p, double part, const std::string& words) {
  Json out = row(p.instance, p.region, p.market, per_hour(p.rate) * (1 - part));
  out["basis"] = std::string(to_string(p.basis));
  if (!p.formula.empty()) out["formula"] = p.formula + words;
  if (p.low > UsdPerSecond()) {
    out["low_usd_per_hour"] = per_hour(p.low) * (1 - part);
    out["high_usd_per_hour"] = per_hour(p.high) * (1 - part);
  }
  out["source"] = p.provenance.source + words;
  out["as_of"] = p.provenance.as_of;
  return out;
}

void merge_rows(Catalog& catalog, Json rows, Diagnostics& out) {
  Json overlay;
  overlay["schema"] = "smplan.catalog/1";
  overlay["prices"] = std::move(rows);
  const Result<JsonValue> document = parse_json(overlay.dump(), "--price");
  const Result<void> merged = document ? catalog.merge(*document) : tl::unexpected<Diagnostics>(document.error());
  if (!merged) out.insert(out.end(), merged.error().begin(), merged.error().end());
}

void merge_discount(Catalog& catalog, const std::string& text, Diagnostics& out) {
  const Result<double> part = parse_fraction(text, "--discount");
  if (!part) {
    out.insert(out.end(), part.error().begin(), part.error().end());
    return;
  }
  if (*part > kMostDiscount) {
    out.push_back(
        {"out-of-range", "--discount", fmt::format("{} off leaves no price", text), "give a part such as 12%"});
    return;
  }
  Json rows = Json::array();
  const std::string words = fmt::format(", less {:g} % (--discount)", 100 * *part);
  for (const Price& p : catalog.prices()) rows.push_back(discounted(p, *part, words));
  merge_rows(catalog, std::move(rows), out);
}

}  // namespace

void merge_stated_prices(Catalog& catalog, const StatedPrices& stated, Diagnostics& out) {
  if (stated.discount) merge_discount(catalog, *stated.discount, out);
  const std::string newest = newest_price(catalog);
  Json rows = Json::array();
  std::set<std::string> seen;
  for (const std::string& list : stated.prices) {
    for (const std::string_view entry : split_list(list, "--price", out)) {
      const std::optional<StatedPrice> price = read_stated(entry, catalog, out);
      if (!price) continue;
      const std::string what = fmt::format("{}@{}/{}", price->type, price->region, to_string(price->market));
      if (!seen.insert(what).second) {
        out.push_back({"duplicate", "--price", fmt::format("'{}' states a price that is stated already", entry),
                       "give each type, region and market one price"});
        continue;
      }
      const std::vector<std::string> regions =
          price->region.empty() ? regions_of(price->type, catalog) : std::vector<std::string>{price->region};
      for (const std::string& region : regions) {
        Json one = row(price->type, region, price->market, price->usd_per_hour);
        one["basis"] = "measured";
        one["source"] = "--price";
        one["as_of"] = newest;
        rows.push_back(std::move(one));
      }
    }
  }
  if (!rows.elements().empty()) merge_rows(catalog, std::move(rows), out);
}

}  // namespace smplan::cli
