#pragma once

#include <optional>
#include <string>

#include "base/memo.hpp"
#include "planner/preflight/fallbacks.hpp"
#include "planner/search/search.hpp"

namespace smplan {

/// What an estimate of a job came to.
struct JobEstimate {
  Result<PlanSet> set;
  std::string left_open;  ///< what the file leaves to the script, in words
};

/// Answers that several jobs of one call ask for, by what they depend on beside the call's catalog and options.
struct CheckCache {
  Memo<Result<PlanRequest>> requests;     ///< by their text and purpose
  Memo<std::optional<PlanSet>> searches;  ///< by the request
  Memo<JobEstimate> estimates;            ///< by the request, and what of the job leaves it open
  Memo<Result<Fallbacks>> fallbacks;      ///< by the text of plan.json
};

}  // namespace smplan
