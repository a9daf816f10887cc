#include "catalogs/import/reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "catalogs/published.hpp"

namespace smplan {
namespace {

constexpr double kMaxUsdPerHour = 10000;
/// Of notes of one kind; the rest is a number.
constexpr std::size_t kShownConflicts = 5;

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

}  // namespace

std::string ImportReader::sourced(std::string what) const {
  return origin.source.empty() ? what : std::move(what) + ", " + origin.source;
}

const std::string& ImportReader::as_of() const { return origin.as_of.empty() ? options_.as_of : origin.as_of; }

void ImportReader::begin_file(std::string_view name) {
  file = name;
  const auto from = options_.origins.find(name);
  origin = from == options_.origins.end() ? ImportOrigin() : from->second;
  plan = {};
  offer_code.clear();
  version.clear();
  published.clear();
  bands.clear();
  has_products = false;
  recognised = false;
}

bool ImportReader::wanted(std::string_view region) {
  if (is_region_name(region) && (!options_.region || region == *options_.region)) return true;
  ++facts_.other;
  return false;
}

void ImportReader::pass_over(std::string_view currency) {
  ++facts_.other;
  if (!currency.empty() && currency.size() <= 3) currencies.emplace(currency);
}

void ImportReader::add_price(Price price) {
  if (!wanted(price.region)) return;
  if (catalog_.find_instance(price.instance) == nullptr) {
    ++facts_.unknown;
    return;
  }
  ++facts_.used;
  const auto [place, fresh] = at_.try_emplace({price.instance, price.region, price.market}, facts_.prices.size());
  if (fresh) {
    facts_.prices.push_back(std::move(price));
    return;
  }
  Price& known = facts_.prices[place->second];
  if (known.rate == price.rate) return;
  if (++conflicts_ <= kShownConflicts) {
    facts_.notes.push_back(fmt::format("{} {} {} has two prices, {} and {}: the higher is taken", price.instance,
                                       price.region, to_string(price.market), format_usd_per_hour(known.rate),
                                       format_usd_per_hour(price.rate)));
  }
  if (price.rate > known.rate) known = std::move(price);
}

void ImportReader::finish() {
  struct Range {
    double low = 0, high = 0;
    std::string last;
    std::size_t zones = 0;
  };
  std::map<std::pair<std::string, std::string>, Range> ranges;
  for (const auto& [key, price] : spot) {
    Range& range = ranges[{key.first, region_of_zone(key.second)}];
    range.low = range.zones == 0 ? price.usd : std::min(range.low, price.usd);
    range.high = std::max(range.high, price.usd);
    range.last = std::max(range.last, price.timestamp);
    ++range.zones;
  }
  for (const auto& [key, range] : ranges) {
    Price price{key.first,
                key.second,
                Market::Spot,
                usd_per_hour((range.low + range.high) / 2),
                PriceBasis::Derived,
                {},
                {"aws ec2 describe-spot-price-history", date_of(range.last)}};
    price.formula = range.zones == 1
                        ? "EC2 spot, the one zone observed as proxy for managed spot training"
                        : fmt::format(
                              "EC2 spot, mean of the lowest ({}) and highest ({}) zone as proxy for managed "
                              "spot training",
                              format_shortest(range.low), format_shortest(range.high));
    if (range.zones > 1) {
      price.low = usd_per_hour(range.low);
      price.high = usd_per_hour(range.high);
    }
    add_price(std::move(price));
  }
  for (const auto& [key, offer] : blocks) {
    add_price({key.first,
               key.second,
               Market::CapacityBlock,
               usd_per_hour(offer.usd),
               PriceBasis::Measured,
               {},
               offer.provenance});
  }
  if (conflicts_ > kShownConflicts) {
    facts_.notes.push_back(fmt::format("{} more have two prices", conflicts_ - kShownConflicts));
  }
  for (const std::string& currency : currencies) {
    facts_.notes.push_back(fmt::format("prices in {} are passed over: only those in USD are taken", currency));
  }
}

std::string training_type(std::string_view instance_name, std::string_view usage_type, std::string_view component,
                          std::string_view platform_type) {
  constexpr std::string_view kTrain = "-Train:";
  const std::size_t usage = usage_type.find(kTrain);
  // Spot SKUs, HyperPod clusters and the free tier are training too, at other rules.
  if (!platform_type.empty() && platform_type != "Training") return {};
  if (!component.empty() && component != "Training") return {};
  if (component.empty() && usage == std::string_view::npos) return {};
  if (starts_with(instance_name, "ml.")) return std::string(instance_name);
  if (usage == std::string_view::npos) return {};
  const std::string_view type = usage_type.substr(usage + kTrain.size());
  return starts_with(type, "ml.") ? std::string(type) : std::string();
}

std::optional<double> read_usd(std::string_view text, std::string_view where, Diagnostics& out) {
  double usd = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), usd);
  const bool number = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && std::isfinite(usd);
  if (number && usd >= 0 && usd <= kMaxUsdPerHour) return usd;
  out.push_back({"bad-price", std::string(where),
                 fmt::format("{} is no price between 0 and {} USD an instance hour", quote(text), kMaxUsdPerHour),
                 "fetch the file again; nothing was taken from it"});
  return std::nullopt;
}

std::optional<double> read_usd(const JsonValue& price, Diagnostics& out) {
  const std::size_t faults = out.size();
  const std::string text = price.as_string(out);
  return out.size() == faults ? read_usd(text, price.location(), out) : std::nullopt;
}

bool has_room(std::size_t entries, std::string_view where, Diagnostics& out) {
  constexpr std::size_t kMost = 500'000;
  if (entries < kMost) return true;
  out.push_back({"too-many-entries", std::string(where), fmt::format("comes after {} others", kMost),
                 "fetch the file again, for one region; nothing was taken from it"});
  return false;
}

std::string region_of_zone(std::string_view zone) {
  // Three parts and a digit: what a local zone adds comes after.
  std::size_t dashes = 0;
  for (std::size_t i = 0; i < zone.size(); ++i) {
    dashes += zone[i] == '-' ? 1 : 0;
    if (dashes >= 2 && zone[i] >= '0' && zone[i] <= '9') return std::string(zone.substr(0, i + 1));
  }
  return {};
}

std::string date_of(std::string_view timestamp) {
  constexpr std::string_view kForm = "0000-00-00";
  if (timestamp.size() < kForm.size()) return {};
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = timestamp[i] >= '0' && timestamp[i] <= '9';
    if (kForm[i] == '0' ? !digit : timestamp[i] != kForm[i]) return {};
  }
  return std::string(timestamp.substr(0, kForm.size()));
}

std::string text_member(const JsonValue& object, std::string_view key, Diagnostics& out) {
  const auto member = object.find(key);
  if (!member || member->is_null()) return {};
  return member->as_string(out);
}

}  // namespace smplan
