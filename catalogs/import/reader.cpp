#include "catalogs/import/reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace smplan {
namespace {

constexpr double kMaxUsdPerHour = 10000;

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

}  // namespace

void ImportReader::begin_file() {
  offer_code.clear();
  version.clear();
  published.clear();
  bands.clear();
  has_products = false;
  recognised = false;
}

void ImportReader::add_price(Price price) {
  if (options_.region && price.region != *options_.region) {
    ++facts_.other;
    return;
  }
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
  facts_.notes.push_back(fmt::format("{} {} {} has two prices, {} and {}: the higher is taken", price.instance,
                                     price.region, to_string(price.market), format_usd_per_hour(known.rate),
                                     format_usd_per_hour(price.rate)));
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
    add_price(std::move(price));
  }
  for (const auto& [key, usd] : blocks) {
    add_price({key.first,
               key.second,
               Market::CapacityBlock,
               usd_per_hour(usd),
               PriceBasis::Measured,
               {},
               {"lowest upfront fee over instances and hours on offer", options_.as_of}});
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
