#include "cli/render/regions_page.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/figures.hpp"
#include "cli/render/plan_table.hpp"

namespace smplan::cli {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c); });
  return out;
}

/// The total, that few types could be compared, and that it takes longer than the others may.
std::string cell_text(const RegionCell& cell) {
  if (!cell.plan) return cell.why_not;
  return format_usd(cell.plan->cost.total()) + (cell.types_priced < cell.types_orderable ? "*" : "") +
         (cell.late ? "+" : "");
}

}  // namespace

Listing regions_listing(const RegionAnswer& answer) {
  Listing listing;
  listing.table.columns = {{"REGION"}};
  for (const Market market : answer.markets) listing.table.columns.push_back({upper(to_string(market)), Align::Right});
  listing.table.columns.push_back({"CHEAPEST", Align::Left, 0, 20});
  listing.table.columns.push_back({"TIME", Align::Right, 1});
  listing.table.columns.push_back({"P10-P90", Align::Right, 2});
  for (const RegionRow& row : answer.rows) {
    std::vector<std::string> cells{row.region};
    for (const RegionCell& cell : row.cells) cells.push_back(cell_text(cell));
    const RegionCell* best = row.cheapest();
    cells.push_back(best == nullptr ? "-"
                                    : fmt::format("{} {}, {}", hardware(*best->plan), to_string(best->market),
                                                  best->plan->stack->id));
    cells.push_back(best == nullptr ? "-" : format_duration(best->plan->cost.time_to_train()));
    cells.push_back(best == nullptr
                        ? "-"
                        : fmt::format("{}-{}", format_usd(best->plan->cost.low), format_usd(best->plan->cost.high)));
    listing.table.rows.push_back(std::move(cells));
  }
  listing.rows = region_rows(answer);
  return listing;
}

std::string regions_text(const RegionAnswer& answer, const Style& style) {
  std::string text;
  if (answer.request) text += labelled("Work:", work(*answer.request), style) + '\n';
  text += render_text(regions_listing(answer).table, style) + '\n';
  const auto any = [&](const auto& is) {
    return std::any_of(answer.rows.begin(), answer.rows.end(),
                       [&](const RegionRow& row) { return std::any_of(row.cells.begin(), row.cells.end(), is); });
  };
  if (any([](const RegionCell& cell) { return cell.late; })) {
    text += labelled("Note:",
                     fmt::format("+ takes longer than {}, in which nothing there ends: it stands behind what does",
                                 format_duration(answer.horizon)),
                     style);
  }
  if (any([](const RegionCell& cell) { return cell.plan && cell.types_priced < cell.types_orderable; })) {
    text += labelled(
        "Note:", "* is the best of the types that have a price there, which are not all that can be ordered", style);
  }
  if (!answer.unpriced.empty()) {
    text += labelled(
        "Note:", fmt::format("AWS has regions that the catalog has no price of: {}", fmt::join(answer.unpriced, ", ")),
        style);
  }
  text += labelled(
      "Note:", "the data set is taken to lie in each region; another region's costs a transfer (--data-region)", style);
  if (answer.request && !answer.request->assumptions.empty()) {
    text += labelled("Assumed:", fmt::format("{}", fmt::join(answer.request->assumptions, "; ")), style);
  }
  return text;
}

}  // namespace smplan::cli
