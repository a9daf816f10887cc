#pragma once

#include <optional>
#include <string>

#include "planner/answer/plan.hpp"

namespace smplan {

/// Facts about a ranked answer that a reader would ask for next. All of them are read off the answer: none searches.

/// Every plan is longer than the widest horizon, so that they are ranked by time.
bool nothing_ends_in_time(const PlanSet& set);

/// The cheapest plan of all where it takes longer than the horizon and costs less than the best; else nullptr.
const Plan* cheaper_later(const PlanSet& set);
/// Whole days within which the plan is done at the confidence that a deadline has by default.
double days_for(const Plan& plan);

/// Where the best plan may miss its deadline or budget: the cheapest plan that meets both with over 99.9 % and costs at
/// most a twentieth more; else nullptr.
const Plan* surer_plan(const PlanSet& set);
/// Probability that the plan meets deadline and budget, the less likely of the two; nullopt where there is neither.
std::optional<double> chance_to_keep(const PlanRequest& request, const Plan& plan);

/// Part of the on-demand price that the plan's market saves; nullopt on demand, or where no such price is known.
std::optional<double> saving(const Plan& plan);

/// Part of a step that a larger batch would not make longer: filling the pipeline, exchanging gradients, the optimizer.
double fixed_part(const StepEstimate& step);
/// `the batch of 1024 sequences bounds it: 45% of a step (pipeline bubble 39%, ...) would not grow with it`, where that
/// part is over a quarter; else empty.
std::string batch_bound(const Workload& workload, const StepEstimate& step);

}  // namespace smplan
