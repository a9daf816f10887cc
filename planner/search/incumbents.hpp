#pragma once

#include <optional>
#include <vector>

#include "planner/search/group.hpp"
#include "planner/search/objective.hpp"
#include "planner/search/pareto.hpp"

namespace smplan {

/// What the groups searched so far have achieved. A bound that is behind all of it cannot change the answer.
struct Incumbents {
  bool has_plan = false;
  std::optional<Score> first;       ///< of the best so far
  std::optional<Score> last_shown;  ///< of the list's last place, once the list is full
  std::vector<TimeCost> frontier;   ///< cheapest first

  /// Whether a plan of a group with this step, or any slower one there, cannot be part of the answer.
  [[nodiscard]] bool useless(const PlanRequest& request, const Group& group, const Stack& stack, Seconds step) const;
  /// A step time beyond which every plan of the group is useless; infinite where there is none.
  /// `floor` is a step time that is not.
  [[nodiscard]] Seconds horizon(const PlanRequest& request, const Group& group, const Stack& stack,
                                Seconds floor) const;
};

}  // namespace smplan
