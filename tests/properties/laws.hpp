#pragma once

#include <span>
#include <string_view>

#include "tests/properties/random_requests.hpp"

namespace smplan::properties {

/// What must hold for every configuration whatever the models' constants are.
struct Law {
  std::string_view words;
  /// True if it holds.
  bool (*holds)(const Configuration& configuration, const Catalog& catalog);
};
std::span<const Law> configuration_laws();

/// The same of whole searches; these take a thousand times as long.
struct SearchLaw {
  std::string_view words;
  bool (*holds)(const PlanRequest& request, const Catalog& catalog);
};
std::span<const SearchLaw> search_laws();

}  // namespace smplan::properties
