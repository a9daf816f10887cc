#include "cli/render/comparison_page.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/figures.hpp"
#include "base/units.hpp"

namespace smplan::cli {
namespace {

bool ends_with(std::string_view name, std::string_view suffix) { return name.ends_with(suffix); }

/// The unit is in the name: of the number itself or of the object that it is a part of.
std::string shown(std::string_view name, double value) {
  const std::string_view object = name.substr(0, name.rfind('/'));
  const auto is = [&](std::string_view suffix) { return ends_with(name, suffix) || ends_with(object, suffix); };
  if (is("_usd")) return (value < 0 ? "-" : "") + format_usd(Usd(std::abs(value)));
  if (is("_gib")) return fmt::format("{:.1f} GiB", value);
  if (name.find("tokens_per_s") != std::string_view::npos) return fmt::format("{:.0f} tokens/s", value);
  if (is("_s")) return (value < 0 ? "-" : "") + format_duration(Seconds(std::abs(value)));
  return format_percent(value);
}

std::string change(const ComparedNumber& n) {
  if (n.a == n.b) return "=";
  const std::string sign = n.difference() > 0 ? "+" : "";
  if (n.a == 0) return sign + shown(n.name, n.difference());
  return fmt::format("{}{} ({})", sign, shown(n.name, n.difference()), format_change(n.a, n.b));
}

void add_number(Listing& listing, const char* group, const ComparedNumber& n) {
  listing.table.rows.push_back({n.name, shown(n.name, n.a), shown(n.name, n.b), change(n)});
  listing.rows.push_back({{"group", group}, {"name", n.name}, {"a", n.a}, {"b", n.b}, {"difference", n.difference()}});
}

}  // namespace

Listing comparison_listing(const Comparison& comparison) {
  Listing listing;
  listing.table.columns = {
      {"WHAT"}, {"A", Align::Right, 0, 24}, {"B", Align::Right, 0, 24}, {"A TO B", Align::Right, 1}};
  for (const ComparedChoice& c : comparison.choices) {
    listing.table.rows.push_back({c.name, c.a.empty() ? "-" : c.a, c.b.empty() ? "-" : c.b, ""});
    listing.rows.push_back({{"group", "choice"}, {"name", c.name}, {"a", c.a}, {"b", c.b}, {"difference", nullptr}});
  }
  for (const ComparedNumber& n : comparison.outcomes) add_number(listing, "outcome", n);
  for (const ComparedNumber& n : comparison.parts) add_number(listing, "part", n);
  return listing;
}

}  // namespace smplan::cli
