#pragma once

#include "base/monitor.hpp"
#include "planner/answer/plan.hpp"

namespace smplan {

struct SearchOptions {
  int threads = 0;             ///< 0: all cores. Results do not depend on it.
  Monitor* monitor = nullptr;  ///< counts groups under a stack; a search that it stops is not exact
};

/// The best plans of the whole space that the request spans.
PlanSet search(const PlanRequest& request, const Catalog& catalog, const SearchOptions& options = {});

}  // namespace smplan
