#pragma once

#include "planner/preflight/check.hpp"

namespace smplan {

/// What a prediction came to. `prediction` is empty where too little is known or the configuration cannot
/// be estimated; `why_not` says which.
struct PredictionOutcome {
  std::optional<Prediction> prediction;
  std::string why_not;
  /// A plan on the same machines whose tensor group stays inside the NVLink domain; unknown without a model.
  std::optional<bool> plan_inside_domain;
};

/// Whether a flag says which model.
/// Tokens of a sequence that is short to train on.
inline constexpr std::int64_t kShortLength = 512;

bool names_model(const RequestSpec& spec);

/// The catalog's name of what runs the job, as far as its file tells.
std::optional<std::string> stack_of(const Job& job);

/// The catalog's name of the model that the file names; nullopt where it names none, or one that the catalog lacks.
std::optional<std::string> model_of(const Job& job, const Catalog& catalog);

/// The job as a request: its hardware and degrees where no flag says otherwise, and what neither says from `otherwise`.
/// Limits are left out.
RequestSpec request_of(const Job& job, const std::vector<Machines>& machines, const Catalog& catalog,
                       std::string_view region, RequestSpec flags, const RequestSpec& otherwise);

/// The request with every default filled in, as the call's options resolve it. Precondition: `options` have a cache.
const Result<PlanRequest>& resolved(const RequestSpec& spec, const Catalog& catalog, const CheckOptions& options,
                                    Purpose purpose = Purpose::Plan);

/// Completes the job's strategy with what the flags and the model say, where the file says nothing.
/// Fails if the flags are invalid. Precondition: `options` have a cache.
Result<void> complete_job(Job& job, const Catalog& catalog, const CheckOptions& options);

/// Predicts the job with the flags' model. Preconditions: complete_job() has been called; `options` have a cache.
PredictionOutcome predict(const Job& job, const std::vector<Machines>& machines, std::string_view region,
                          const Catalog& catalog, const CheckOptions& options);

}  // namespace smplan
