#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "planner/search/search.hpp"

namespace smplan {

/// The best plan of one region in one market.
struct RegionCell {
  Market market = Market::OnDemand;
  std::optional<Plan> plan;
  bool late = false;              ///< nothing there ends within the answer's horizon: the plan is of a wider one
  std::string why_not;            ///< where there is no plan
  std::int32_t types_priced = 0;  ///< of types_orderable: types that were compared
  std::int32_t types_orderable = 0;
};

struct RegionRow {
  std::string region;
  std::vector<RegionCell> cells;  ///< one for each market of the answer, in its order

  /// The cheapest cell with a plan that ends within the horizon, else the cheapest of all; nullptr if none has a plan.
  [[nodiscard]] const RegionCell* cheapest() const;
};

/// The same work in every region, market by market.
struct RegionAnswer {
  std::vector<Market> markets;
  Seconds horizon;                     ///< the deadline, else the days of one training job: the same for all cells
  std::vector<RegionRow> rows;         ///< cheapest first; behind those that are late, then regions without a plan
  std::vector<std::string> unpriced;   ///< regions that AWS has and the catalog has no price of
  std::optional<PlanRequest> request;  ///< of the cheapest cell; nullopt where no cell has a plan
};

/// Searches each region and market by itself: those of `--region` (a list, or `all`, which is the default) and of
/// `--market` (all that have a price somewhere). Fails where the request is invalid whatever the region.
Result<RegionAnswer> compare_regions(const RequestSpec& spec, const Catalog& catalog,
                                     std::optional<Instant> now = std::nullopt, const SearchOptions& options = {});

/// Flat objects with equal keys, a region and market each: what CSV and JSON say, and Python.
Json region_rows(const RegionAnswer& answer);

}  // namespace smplan
