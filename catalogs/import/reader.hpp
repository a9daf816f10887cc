#pragma once

#include <istream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "base/json_stream.hpp"
#include "catalogs/import/import.hpp"

namespace smplan {

/// What the readers of the file kinds share: the facts found so far and the entries that wait for others.
class ImportReader {
 public:
  ImportReader(const Catalog& catalog, const ImportOptions& options) : catalog_(catalog), options_(options) {}

  /// `what`, and where the file was fetched if that is known.
  [[nodiscard]] std::string sourced(std::string what) const;
  /// Date of the file's facts that carry none.
  [[nodiscard]] const std::string& as_of() const;

  /// What belongs to one file starts anew; SKUs and facts stay.
  void begin_file(std::string_view name);

  /// A price of one instance; types that the catalog lacks and other regions are counted and dropped. Two prices
  /// for one thing: the higher stays, and a note says so.
  void add_price(Price price);
  /// True for a region's name that the caller asked for; anything else is counted.
  bool wanted(std::string_view region);
  /// Counts a price in another currency; `currencies` names them.
  void pass_over(std::string_view currency);

  /// Spot prices by type and zone: the last one of each.
  struct ZonePrice {
    std::string timestamp;
    double usd = 0;
  };
  std::map<std::pair<std::string, std::string>, ZonePrice> spot;
  /// SageMaker training SKUs: instance type and region.
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> skus;
  /// The savings plan whose rates are being read, and how each plan is paid by SKU.
  struct SavingsPlan {
    std::string sku;
    std::string description;
    std::optional<std::int64_t> years;
  };
  SavingsPlan plan;
  std::map<std::string, std::string, std::less<>> payments;
  /// Lowest offer of capacity bought ahead by type and region.
  struct BlockOffer {
    double usd = 0;  ///< an instance hour
    Provenance provenance;
  };
  std::map<std::pair<std::string, std::string>, BlockOffer> blocks;
  /// Bands of Spot Instance Advisor by index: bounds of the part of instances reclaimed in a month.
  struct Band {
    double low = 0;
    double high = 0;
  };
  std::map<std::int64_t, Band> bands;
  std::set<std::string, std::less<>> currencies;
  std::string file;
  ImportOrigin origin;
  std::string offer_code;
  std::string version;
  std::string published;  ///< ISO date
  bool has_products = false;
  bool recognised = false;

  [[nodiscard]] const Catalog& catalog() const { return catalog_; }
  [[nodiscard]] const ImportOptions& options() const { return options_; }
  [[nodiscard]] ImportedFacts& facts() { return facts_; }

  /// What only shows at the end of the file: spot zones, cheapest blocks.
  void finish();

 private:
  const Catalog& catalog_;
  const ImportOptions& options_;
  ImportedFacts facts_;
  std::map<std::tuple<std::string, std::string, Market>, std::size_t> at_;
  std::size_t conflicts_ = 0;
};

/// Where a kind of file has its entries, and who reads one.
struct PieceReader {
  std::string_view pattern;
  void (*read)(ImportReader&, const JsonPiece&, Diagnostics&);
};
std::span<const PieceReader> offer_pieces();
std::span<const PieceReader> ec2_pieces();
std::span<const PieceReader> spot_advisor_pieces();
/// The offer's CSV. `in` stands at its beginning.
Result<void> read_offer_csv(std::istream& in, std::string_view name, ImportReader& reader);

/// Training type of an offer's product, or empty: from `instanceName`, else `usagetype` (`USE1-Train:ml.p5.48xlarge`).
std::string training_type(std::string_view instance_name, std::string_view usage_type, std::string_view component,
                          std::string_view platform_type);
/// Decimal dollars an hour, as AWS writes them; what is no plausible price is reported at `where`.
std::optional<double> read_usd(std::string_view text, std::string_view where, Diagnostics& out);
std::optional<double> read_usd(const JsonValue& price, Diagnostics& out);
/// `us-west-2b`, `us-east-1-dfw-2a`: the region in front.
std::string region_of_zone(std::string_view zone);
/// No end to the number of entries would be no end to memory; AWS's largest file has a tenth as many.
bool has_room(std::size_t entries, std::string_view where, Diagnostics& out);
/// `2026-09-24` of `2026-09-24T23:59:00Z`; empty if it does not start with a date.
std::string date_of(std::string_view timestamp);
/// A string member, empty if absent; what is there and no string is reported.
std::string text_member(const JsonValue& object, std::string_view key, Diagnostics& out);

}  // namespace smplan
