#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/search/search.hpp"

namespace smplan {

/// One assumption of the winner, changed by a factor.
struct Sensitivity {
  const ScenarioKnob* knob = nullptr;
  double factor = 1;
  std::optional<Plan> kept;    ///< the winner in the changed world; nullopt where it no longer fits
  std::optional<Plan> winner;  ///< the best plan there; nullopt where nothing fits
  bool changes_winner = false;
};

/// The request in another world: hardware and prices differ where plans are made, the batch here.
PlanRequest in_world(const PlanRequest& request, const Scenario& scenario);

/// Searches the space again for every knob and factor. Stronger factors of a direction are tried only
/// where milder ones leave the winner in its place. Precondition: the set has a plan.
std::vector<Sensitivity> sensitivities(const PlanSet& set, const Catalog& catalog, const SearchOptions& options = {});

/// The best plan on one instance more and one less than the winner, same type.
struct Neighbour {
  std::int32_t count = 0;
  std::optional<Plan> plan;
};
std::vector<Neighbour> neighbours_of_count(const PlanSet& set, const Catalog& catalog,
                                           const SearchOptions& options = {});

/// The above in plain sentences.
std::vector<std::string> explain_sensitivity(const PlanSet& set, const Catalog& catalog,
                                             const SearchOptions& options = {});

}  // namespace smplan
