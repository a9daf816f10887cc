#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalogs/catalog.hpp"

namespace smplan::cli {

/// Prices as the command line states them.
struct StatedPrices {
  /// `ml.p5.48xlarge=38`, `ml.p5.48xlarge@eu-west-1=41/spot`: USD an hour of one instance; without a region everywhere,
  /// without a market on demand. Lists are separated by commas.
  std::vector<std::string> prices;
  std::optional<std::string> discount;  ///< `12%` off every other price of the catalog
};

/// Lays them over the catalog as an overlay (`smplan.catalog/1`), so that plans rest on them and say so: first the
/// discount, then the prices. Their date is that of the newest price. Collects every fault.
void merge_stated_prices(Catalog& catalog, const StatedPrices& stated, Diagnostics& out);

}  // namespace smplan::cli
