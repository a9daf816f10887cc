#pragma once

#include "planner/preflight/check.hpp"

namespace smplan {

// A job as a request: what its file says, completed by flags, by its model and by the plan beside it.

/// Whether a flag says which model.
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

/// What is trained, where and how it is bought and operated: what another plan for the same work is searched with. The
/// job has its script; what is advised instead has to be written by an export.
RequestSpec same_work(RequestSpec spec);

}  // namespace smplan
