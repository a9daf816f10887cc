#include "planner/analysis/regions.hpp"

#include <algorithm>

#include "base/words.hpp"
#include "catalogs/regions.hpp"
#include "planner/request/fields.hpp"

namespace smplan {
namespace {

template <typename T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::vector<std::string> regions_of(const RequestSpec& spec, const Catalog& catalog, Diagnostics& faults) {
  const std::vector<std::string> names = known_regions(catalog);
  if (!spec.region || lower_case(trim(*spec.region)) == "all") return names;
  std::vector<std::string> out;
  for (const std::string_view name : split_list(*spec.region, "--region", faults)) {
    const auto region = known_spelling(std::string(name), names);
    if (!region) {
      faults.push_back(unknown_name("region", std::string(name), "--region", names));
    } else if (!contains(out, *region)) {
      out.push_back(*region);
    }
  }
  return out;
}

/// Those that the request names; else all that anything is sold in.
std::vector<Market> markets_of(const RequestSpec& spec, const Catalog& catalog, Diagnostics& faults) {
  std::vector<Market> out;
  if (spec.market && lower_case(trim(*spec.market)) != "all") {
    for (const Market m :
         parse_names<Market>(*spec.market, "market", "--market", market_names(), market_from, faults)) {
      if (!contains(out, m)) out.push_back(m);
    }
    return out;
  }
  for (const std::string& name : market_names()) {
    const Market market = *market_from(name);
    const bool sold = std::any_of(catalog.prices().begin(), catalog.prices().end(),
                                  [&](const Price& p) { return p.market == market; });
    if (sold && !contains(out, market)) out.push_back(market);
  }
  return out;
}

class Comparison {
 public:
  Comparison(const RequestSpec& spec, const Catalog& catalog, std::optional<Instant> now, const SearchOptions& options)
      : spec_(spec), catalog_(catalog), now_(now), options_(options) {}

  RegionCell cell(const std::string& region, Market market) {
    RegionCell out;
    out.market = market;
    const bool priced = std::any_of(catalog_.prices().begin(), catalog_.prices().end(),
                                    [&](const Price& p) { return p.region == region && p.market == market; });
    if (!priced) {
      out.why_not = "no price";
      return out;
    }
    RequestSpec spec = spec_;
    spec.region = region;
    spec.market = to_string(market);
    spec.top = "1";
    const Result<PlanRequest> request = resolve(spec, catalog_, std::nullopt, Purpose::Plan, now_);
    if (!request) {
      out.why_not = request.error().front().code == "no-instance" ? "no price" : request.error().front().message;
      if (!refusal_) refusal_ = request.error();
      return out;
    }
    horizon_ = request->horizon;
    out.types_priced = request->types_priced;
    out.types_orderable = request->types_orderable;
    PlanSet set = search(*request, catalog_, options_);
    if (!set.plans.empty()) {
      out.plan = std::move(set.plans.front());
      out.late = out.plan->cost.time_to_train() > request->horizon;
    } else {
      out.why_not = set.nearest_miss ? std::string(to_string(set.nearest_miss->rejection.reason)) : "nothing fits";
      std::replace(out.why_not.begin(), out.why_not.end(), '_', ' ');
    }
    valid_ = true;
    return out;
  }

  [[nodiscard]] Seconds horizon() const { return horizon_; }

  /// What every cell was refused for; nullopt where one was searched.
  [[nodiscard]] std::optional<Diagnostics> refusal() const { return valid_ ? std::nullopt : refusal_; }

 private:
  const RequestSpec& spec_;
  const Catalog& catalog_;
  std::optional<Instant> now_;
  const SearchOptions& options_;
  std::optional<Diagnostics> refusal_;
  Seconds horizon_;
  bool valid_ = false;
};

/// A plan that ends in time goes before one that does not, a cheaper one before a dearer one.
bool goes_before(const RegionCell& a, const RegionCell& b) {
  if (a.late != b.late) return b.late;
  return a.plan->cost.total() < b.plan->cost.total();
}

Json cell_row(const std::string& region, const RegionCell& cell) {
  Json row;
  row["region"] = region;
  row["market"] = std::string(to_string(cell.market));
  row["types_priced"] = cell.types_priced;
  row["types_orderable"] = cell.types_orderable;
  const bool there = cell.plan.has_value();
  row["instance_type"] = there ? Json(cell.plan->instance->name) : Json(nullptr);
  row["instance_count"] = there ? Json(cell.plan->instance_count) : Json(nullptr);
  row["stack"] = there ? Json(cell.plan->stack->id) : Json(nullptr);
  row["strategy"] = there ? Json(to_string(cell.plan->strategy)) : Json(nullptr);
  row["time_to_train_s"] = there ? Json(cell.plan->cost.time_to_train().value()) : Json(nullptr);
  row["within_horizon"] = there ? Json(!cell.late) : Json(nullptr);
  row["total_usd"] = there ? Json(cell.plan->cost.total().value()) : Json(nullptr);
  row["total_usd_p10"] = there ? Json(cell.plan->cost.low.value()) : Json(nullptr);
  row["total_usd_p90"] = there ? Json(cell.plan->cost.high.value()) : Json(nullptr);
  row["hourly_usd"] = there ? Json(cell.plan->price->rate.value() * 3600 * cell.plan->instance_count) : Json(nullptr);
  row["price_basis"] = there ? Json(std::string(to_string(cell.plan->price->basis))) : Json(nullptr);
  row["price_as_of"] = there ? Json(cell.plan->price->provenance.as_of) : Json(nullptr);
  row["why_not"] = there ? Json(nullptr) : Json(cell.why_not);
  return row;
}

}  // namespace

const RegionCell* RegionRow::cheapest() const {
  const RegionCell* best = nullptr;
  for (const RegionCell& cell : cells) {
    if (cell.plan && (best == nullptr || goes_before(cell, *best))) best = &cell;
  }
  return best;
}

Result<RegionAnswer> compare_regions(const RequestSpec& spec, const Catalog& catalog, std::optional<Instant> now,
                                     const SearchOptions& options) {
  Diagnostics faults;
  const std::vector<std::string> priced = priced_regions(catalog);
  const std::vector<std::string> regions = regions_of(spec, catalog, faults);
  RegionAnswer out;
  out.markets = markets_of(spec, catalog, faults);
  if (!faults.empty()) return tl::unexpected<Diagnostics>(std::move(faults));
  Comparison comparison(spec, catalog, now, options);
  for (const std::string& region : regions) {
    if (!contains(priced, region)) {
      out.unpriced.push_back(region);
      continue;
    }
    RegionRow row{region, {}};
    for (const Market market : out.markets) row.cells.push_back(comparison.cell(region, market));
    out.rows.push_back(std::move(row));
  }
  if (auto refusal = comparison.refusal()) return tl::unexpected<Diagnostics>(std::move(*refusal));
  std::stable_sort(out.rows.begin(), out.rows.end(), [](const RegionRow& a, const RegionRow& b) {
    const RegionCell* left = a.cheapest();
    const RegionCell* right = b.cheapest();
    if (left == nullptr || right == nullptr) return left != nullptr && right == nullptr;
    return goes_before(*left, *right);
  });
  out.horizon = comparison.horizon();
  if (out.rows.empty() || out.rows.front().cheapest() == nullptr) return out;
  RequestSpec best = spec;
  best.region = out.rows.front().region;
  best.market = to_string(out.rows.front().cheapest()->market);
  if (auto request = resolve(best, catalog, std::nullopt, Purpose::Plan, now)) out.request = std::move(*request);
  return out;
}

Json region_rows(const RegionAnswer& answer) {
  Json rows = Json::array();
  for (const RegionRow& row : answer.rows) {
    for (const RegionCell& cell : row.cells) rows.push_back(cell_row(row.region, cell));
  }
  return rows;
}

}  // namespace smplan
