#pragma once

#include <istream>
#include <map>
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

  /// What belongs to one file starts anew; SKUs and facts stay.
  void begin_file();

  /// A price of one instance; types that the catalog lacks and other regions are counted and dropped. Two prices
  /// for one thing: the higher stays, and a note says so.
  void add_price(Price price);

  /// Spot prices by type and zone: the last one of each.
  struct ZonePrice {
    std::string timestamp;
    double usd = 0;
  };
  std::map<std::pair<std::string, std::string>, ZonePrice> spot;
  /// SageMaker training SKUs: instance type and region.
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> skus;
  /// Lowest offer of capacity bought ahead by type and region, USD an instance hour.
  std::map<std::pair<std::string, std::string>, double> blocks;
  /// Bands of Spot Instance Advisor by index: bounds of the part of instances reclaimed in a month.
  struct Band {
    double low = 0;
    double high = 0;
  };
  std::map<std::int64_t, Band> bands;
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
/// `us-west-2b`, `us-east-1-dfw-2a`: the region in front.
std::string region_of_zone(std::string_view zone);
/// `2026-09-24` of `2026-09-24T23:59:00Z`; empty if it does not start with a date.
std::string date_of(std::string_view timestamp);
/// A string member, empty if absent; what is there and no string is reported.
std::string text_member(const JsonValue& object, std::string_view key, Diagnostics& out);

}  // namespace smplan
