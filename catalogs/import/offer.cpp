#include <array>

#include <fmt/format.h>

#include "catalogs/import/reader.hpp"

// The AWS price list: offers of products by SKU, terms that price them, and the query API's mixture of both.

namespace smplan {
namespace {

constexpr std::string_view kSageMaker = "AmazonSageMaker";

Provenance provenance_of(const ImportReader& reader) {
  return {reader.sourced(
              fmt::format("AWS Price List, {}{}{}", kSageMaker, reader.version.empty() ? "" : " ", reader.version)),
          reader.published.empty() ? reader.as_of() : reader.published};
}

void read_offer_code(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.offer_code = piece.value.as_string(out);
  if (!out.empty()) return;
  const bool savings = reader.offer_code.find("SavingsPlans") != std::string::npos;
  if (reader.offer_code != kSageMaker && !savings) {
    out.push_back({"wrong-offer", piece.value.location(), fmt::format("is the offer {}", quote(reader.offer_code)),
                   "fetch the offer AmazonSageMaker"});
  }
}
void read_version(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.version = piece.value.as_string(out);
}
void read_published(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.published = date_of(piece.value.as_string(out));
}

/// Type and region of a training product; empty type for everything else.
std::pair<std::string, std::string> read_product(const JsonValue& product, Diagnostics& out) {
  const auto attributes = product.find("attributes");
  if (!attributes) return {};
  const std::string family = text_member(product, "productFamily", out);
  if (!family.empty() && family != "ML Instance") return {};
  const std::string location_type = text_member(*attributes, "locationType", out);
  if (!location_type.empty() && location_type != "AWS Region") return {};
  std::string type =
      training_type(text_member(*attributes, "instanceName", out), text_member(*attributes, "usagetype", out),
                    text_member(*attributes, "component", out), text_member(*attributes, "platoinstancetype", out));
  return {std::move(type), text_member(*attributes, "regionCode", out)};
}

void read_offer_product(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.recognised = true;
  reader.has_products = true;
  if (const auto attributes = piece.value.find("attributes"); attributes) {
    const std::string payment = text_member(*attributes, "purchaseOption", out);
    if (!payment.empty() && has_room(reader.payments.size(), piece.value.location(), out)) {
      reader.payments.emplace(text_member(piece.value, "sku", out), payment);
    }
  }
  auto product = read_product(piece.value, out);
  if (product.first.empty() || product.second.empty()) {
    ++reader.facts().other;
  } else if (reader.catalog().find_instance(product.first) == nullptr) {
    ++reader.facts().unknown;
  } else if (has_room(reader.skus.size(), piece.value.location(), out)) {
    reader.skus.emplace(piece.key, std::move(product));
  }
}

/// The hourly price of an on-demand term, if it has one in dollars.
std::optional<double> hourly_of(ImportReader& reader, const JsonValue& term, Diagnostics& out) {
  const auto dimensions = term.find("priceDimensions");
  std::optional<double> found;
  const std::vector<std::string> keys = dimensions ? dimensions->keys(out) : std::vector<std::string>();
  for (const std::string& key : keys) {
    const auto dimension = dimensions->find(key);
    const auto price = dimension->find("pricePerUnit");
    const auto usd = price ? price->find("USD") : std::nullopt;
    const std::string unit = text_member(*dimension, "unit", out);
    if (price && !usd) {
      for (const std::string& currency : price->keys(out)) reader.pass_over(currency);
    }
    if (!usd || (unit != "Hrs" && unit != "Hours" && unit != "hrs")) continue;
    found = read_usd(*usd, out);
  }
  return found;
}

void add_term(ImportReader& reader, const std::pair<std::string, std::string>& product, const JsonValue& terms,
              Diagnostics& out) {
  for (const std::string& key : terms.keys(out)) {
    const auto hourly = hourly_of(reader, *terms.find(key), out);
    if (!hourly) continue;
    if (*hourly == 0) {
      ++reader.facts().other;
      continue;
    }
    if (!has_room(reader.facts().prices.size(), terms.location(), out)) return;
    reader.add_price({product.first,
                      product.second,
                      Market::OnDemand,
                      usd_per_hour(*hourly),
                      PriceBasis::Measured,
                      {},
                      provenance_of(reader)});
  }
}

void read_offer_term(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  if (!reader.has_products) {
    out.push_back({"bad-order", piece.value.location(), "has prices before the products that they are for",
                   "fetch the offer file again: AWS writes the products first"});
    return;
  }
  const auto sku = reader.skus.find(piece.key);
  if (sku != reader.skus.end()) add_term(reader, sku->second, piece.value, out);
}

/// One entry of the query API: JSON in a string in older versions of the API, an object in newer ones.
void read_query_product(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.recognised = true;
  JsonValue entry = piece.value;
  if (entry.is_string()) {
    const Result<JsonValue> parsed = parse_json(entry.as_text(out), entry.location());
    if (!parsed) {
      out.insert(out.end(), parsed.error().begin(), parsed.error().end());
      return;
    }
    entry = *parsed;
  }
  if (const std::string service = text_member(entry, "serviceCode", out); !service.empty() && service != kSageMaker) {
    out.push_back({"wrong-offer", entry.location(), fmt::format("is of the service {}", quote(service)),
                   "ask for --service-code AmazonSageMaker"});
    return;
  }
  reader.version = text_member(entry, "version", out);
  reader.published = date_of(text_member(entry, "publicationDate", out));
  const auto product = entry.find("product");
  const auto terms = entry.find("terms");
  const auto on_demand = terms ? terms->find("OnDemand") : std::nullopt;
  const auto found = product ? read_product(*product, out) : std::pair<std::string, std::string>();
  if (found.first.empty() || found.second.empty() || !on_demand) {
    ++reader.facts().other;
    return;
  }
  add_term(reader, found, *on_demand, out);
}

// Savings plans: rates of one are megabytes, so that its parts are read one by one, in the order in which AWS writes
// them.

void read_plan_sku(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.recognised = true;
  reader.plan = {piece.value.as_string(out), {}, {}};
}
void read_plan_description(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  reader.plan.description = piece.value.as_string(out);
}
void read_plan_length(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  const auto duration = piece.value.find("duration");
  if (duration && text_member(piece.value, "unit", out) == "year") reader.plan.years = duration->as_integer(out);
}

/// What is paid at once buys lower rates, at another date than the hours: only rates without are an hourly price.
bool paid_by_the_hour(const ImportReader& reader) {
  const auto payment = reader.payments.find(reader.plan.sku);
  const std::string& text = payment != reader.payments.end() ? payment->second : reader.plan.description;
  return text.find("Upfront") == std::string::npos || text.find("No Upfront") != std::string::npos;
}

/// The type and its region come from the offer's SKU: usage types spell regions in codes of their own.
void read_savings_rate(ImportReader& reader, const JsonPiece& piece, Diagnostics& out) {
  const JsonValue& rate = piece.value;
  if (!reader.plan.years) {
    out.push_back({"bad-order", rate.location(), "is a rate of a savings plan that has not said its years yet",
                   "fetch the file again: AWS writes leaseContractLength first"});
    return;
  }
  const std::string type = training_type({}, text_member(rate, "discountedUsageType", out), {}, {});
  if (*reader.plan.years != reader.options().savings_plan_years || !paid_by_the_hour(reader) || type.empty() ||
      text_member(rate, "unit", out) != "Hrs") {
    ++reader.facts().other;
    return;
  }
  const auto sku = reader.skus.find(text_member(rate, "discountedSku", out));
  if (sku == reader.skus.end()) {
    ++reader.facts().unknown;
    return;
  }
  const auto discounted = rate.find("discountedRate");
  const auto price = discounted ? discounted->find("price") : std::nullopt;
  const std::string currency = discounted ? text_member(*discounted, "currency", out) : std::string();
  if (!price || currency != "USD") {
    reader.pass_over(currency);
    return;
  }
  const auto usd = read_usd(*price, out);
  if (!usd || *usd == 0) return;
  reader.add_price({sku->second.first,
                    sku->second.second,
                    Market::SavingsPlan,
                    usd_per_hour(*usd),
                    PriceBasis::Measured,
                    {},
                    {reader.sourced(fmt::format("AWS Price List, Machine Learning Savings Plans, {} year, no upfront "
                                                "payment",
                                                reader.options().savings_plan_years)),
                     reader.published.empty() ? reader.as_of() : reader.published}});
}

constexpr std::array<PieceReader, 10> kPieces = {{{"/offerCode", read_offer_code},
                                                  {"/version", read_version},
                                                  {"/publicationDate", read_published},
                                                  {"/products/*", read_offer_product},
                                                  {"/terms/OnDemand/*", read_offer_term},
                                                  {"/terms/savingsPlan/*/sku", read_plan_sku},
                                                  {"/terms/savingsPlan/*/description", read_plan_description},
                                                  {"/terms/savingsPlan/*/leaseContractLength", read_plan_length},
                                                  {"/terms/savingsPlan/*/rates/*", read_savings_rate},
                                                  {"/PriceList/*", read_query_product}}};

}  // namespace

std::span<const PieceReader> offer_pieces() { return kPieces; }

}  // namespace smplan
