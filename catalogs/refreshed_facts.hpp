#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "catalogs/catalog.hpp"

namespace smplan {

/// The overlay that `smplan catalog refresh` wrote to the user's cache.
struct RefreshedFacts {
  std::string path;
  std::string on;    ///< day of the refresh, YYYY-MM-DD
  std::string text;  ///< JSON of schema smplan.catalog/1
};

/// Name of the overlay in the cache.
inline constexpr const char* kRefreshedFile = "prices.json";

/// SMPLAN_CACHE, else `smplan` in XDG_CACHE_HOME, else `.cache/smplan` at home; nullopt where none of them is set.
std::optional<std::filesystem::path> cache_folder();

/// The overlay in the cache; nullopt where there is none, and with SMPLAN_NO_CACHE set, neither to nothing nor to 0.
std::optional<std::filesystem::path> refreshed_file();

/// The latest day of a shipped price: what was refreshed before it is older than the program.
std::string newest_price(const Catalog& catalog);

/// The day that an overlay of `smplan catalog refresh` says it was written on; nullopt for any other.
std::optional<std::string> refresh_day(const JsonValue& overlay);

/// Lays the overlay over the catalog. What is broken, of another release or older than the catalog's prices is refused
/// with one fault (`bad-cache`), and the catalog stays as it was.
Result<RefreshedFacts> merge_refreshed(Catalog& catalog, const std::filesystem::path& file);

}  // namespace smplan
