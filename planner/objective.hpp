#pragma once

#include "planner/plan.hpp"

namespace smplan {

/// What a plan is ranked by, before ties. Smaller is better.
struct Score {
  bool over_limit = false;  ///< longer than one SageMaker job may last, unless the deadline allows it
  double value = 0;         ///< dollars, seconds, or their product; seconds over the limit
  double second = 0;        ///< the tie-breaker: seconds for cost, dollars otherwise
  friend auto operator<=>(const Score&, const Score&) = default;
};

Score score(const PlanRequest& request, Seconds time_to_train, Usd total);

/// How many plans of one instance type and count the list may show: two where there are many groups,
/// more where the request leaves few, so that a list of `top` can be filled.
int variants_per_group(const PlanRequest& request);

}  // namespace smplan
