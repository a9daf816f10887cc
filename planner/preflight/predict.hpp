#pragma once

#include "planner/preflight/job_request.hpp"

namespace smplan {

/// What a prediction came to. `prediction` is empty where too little is known or the configuration cannot
/// be estimated; `why_not` says which.
struct PredictionOutcome {
  std::optional<Prediction> prediction;
  std::string why_not;
  /// A plan on the same machines whose tensor group stays inside the NVLink domain; unknown without a model.
  std::optional<bool> plan_inside_domain;
};

/// Tokens of a sequence that is short to train on.
inline constexpr std::int64_t kShortLength = 512;

/// Predicts the job with the flags' model. Preconditions: complete_job() has been called; `options` have a cache.
PredictionOutcome predict(const Job& job, const std::vector<Machines>& machines, std::string_view region,
                          const Catalog& catalog, const CheckOptions& options);

}  // namespace smplan
