#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "catalogs/catalog.hpp"

namespace smplan::cli {

/// What `smplan catalog refresh` wrote, where it lies over the shipped catalog.
struct RefreshedFacts {
  std::string path;
  std::string on;  ///< day of the refresh
};

/// Name of the overlay in the cache.
inline constexpr const char* kRefreshedFile = "prices.json";

/// SMPLAN_NO_CACHE says so.
bool cache_is_off();

/// SMPLAN_CACHE, else `smplan` in XDG_CACHE_HOME, else `.cache/smplan` at home; nullopt where none of them is set.
std::optional<std::filesystem::path> cache_folder();

/// The latest day of a shipped price: what was refreshed before it is older than the program.
std::string newest_price(const Catalog& catalog);

/// Lays the refreshed facts over the catalog, if there are any. What is broken, of another release or older than the
/// shipped prices is left out. `notes` say which it was.
std::optional<RefreshedFacts> merge_refreshed(Catalog& catalog, std::vector<std::string>& notes);

}  // namespace smplan::cli
