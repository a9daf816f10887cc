#pragma once

#include "planner/preflight/job.hpp"
#include "planner/rl/rl_request.hpp"

namespace smplan {

/// A job of reinforcement learning as the question that `smplan rl` answers; what `flags` say goes before what the file
/// says. Fails where the file is of another kind of training, or of an algorithm that is not known.
Result<RlSpec> rl_spec_of_job(const Job& job, const Catalog& catalog, RlSpec flags);

}  // namespace smplan
