#pragma once

#include <utility>
#include <vector>

#include "planner/answer/plan.hpp"

namespace smplan {

/// One instance type, count and market: what is the same for every strategy there.
struct Group {
  const InstanceType* instance = nullptr;
  const Price* price = nullptr;        ///< nullptr: no cost, estimates only
  const Price* on_demand = nullptr;    ///< the same type's, for comparison
  const Cluster* one_node = nullptr;   ///< the type's hardware; the count is set where it is used
  const Workload* workload = nullptr;  ///< in the number format of this hardware
  std::int32_t count = 0;
  Market market = Market::OnDemand;
  Program program = Program::Unknown;
  /// For each format of checkpoints among the request's stacks, at the scenario's price; instances are free where the
  /// group has none.
  std::vector<RunTerms> terms;
  [[nodiscard]] const RunTerms& terms_of(const Stack& stack) const;
  [[nodiscard]] UsdPerSecond hourly() const {
    return terms.front().rate * static_cast<double>(count + terms.front().recovery.spares);
  }
  [[nodiscard]] Cluster cluster() const;
  /// What the stack uses of it.
  [[nodiscard]] Cluster cluster(const Stack& stack) const { return used_by(stack, cluster()); }
};

/// The markets that sell the type, one at least; where none is orderable or priced, what the request names is estimated
/// all the same, without a price.
std::vector<std::pair<Market, const Price*>> offers_of(const PlanRequest& request, const Catalog& catalog,
                                                       const InstanceType& instance);

Group make_group(const PlanRequest& request, const Catalog& catalog, const InstanceType& instance, Market market,
                 const Cluster& one_node, const Workload& workload, std::int32_t count);

/// A candidate that fits into memory, priced by the full model.
struct Candidate {
  Strategy strategy;
  MemoryEstimate memory;
  StepEstimate step;
};
/// Within a group and stack cost and time to train both grow with the step time, so step time ranks for every
/// objective.
bool faster(const Candidate& a, const Candidate& b);

/// The candidate's step with the interval that its plan will show: wider for what no measured run had.
StepEstimate judged_step(const Group& group, const Stack& stack, const Candidate& candidate);

/// Run cost of a step in a group, under one of the request's stacks.
RunCost group_cost(const Group& group, const Stack& stack, const StepEstimate& step);

/// The candidate with all that a reader wants to know about it.
Plan make_plan(const PlanRequest& request, const Group& group, const Stack& stack, const Candidate& candidate);

}  // namespace smplan
