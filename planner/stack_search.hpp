#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "planner/group.hpp"
#include "planner/objective.hpp"
#include "planner/pareto.hpp"
#include "planner/search_space.hpp"

namespace smplan {

/// A candidate that was refused, and why.
struct Miss {
  Strategy strategy;
  Rejection rejection;
};

struct StackOutcome {
  std::vector<Candidate> best;  ///< one per split, fastest first, at most `variants`
  std::array<std::uint64_t, kRejectionReasonCount> rejected{};
  SearchStats stats;
  std::optional<Miss> nearest;
};

/// What the groups searched so far have achieved. A bound that is behind all of it cannot change the answer.
struct Incumbents {
  bool has_plan = false;
  std::optional<Score> last_shown;  ///< of the list's last place, once the list is full
  std::vector<TimeCost> frontier;   ///< cheapest first

  [[nodiscard]] bool useless(const PlanRequest& request, Seconds time, Usd cost) const;
};

/// Searches groups of one instance type under one stack. Keeps layer tables between groups: they do not
/// depend on the count but for the placement of the rank groups.
class StackSearch {
 public:
  StackSearch(const PlanRequest& request, const Stack& stack, int variants)
      : request_(request), stack_(stack), variants_(variants) {}

  StackOutcome search(const Group& group, const Incumbents& incumbents);

 private:
  /// What a layer table depends on within one instance type.
  struct TableKey {
    std::int32_t tensor, context, expert, micro_batch;
    bool sequence_parallel;
    Collectives collectives;
    GroupShape tensor_group, context_group, expert_group;
    friend bool operator==(const TableKey&, const TableKey&) = default;
  };
  struct TableKeyHash {
    std::size_t operator()(const TableKey& key) const;
  };
  /// A layer table and the floor of one micro-batch over all layers: what nothing can hide.
  struct Table {
    LayerTable layers;
    Seconds forward_backward;  ///< whole model
    Seconds recompute;         ///< what full recomputation adds
  };
  struct SplitSearch;  ///< one split of one group

  const Table& table(const Group& group, const Cluster& cluster, const Strategy& strategy);

  const PlanRequest& request_;
  const Stack& stack_;
  int variants_;
  std::unordered_map<TableKey, Table, TableKeyHash> tables_;
};

/// No step of this strategy is faster: compute and launch times of the table without sharding, tail and
/// transfers, the schedule's bubble at least that of even stages.
/// Source of the bubbles: as pipeline_closed_form.
Seconds step_floor(Seconds model_time, const Strategy& strategy, const Workload& workload, const Stack& stack);

/// Forward and backward of all layers and both ends, one micro-batch: exposed communication at its least.
Seconds table_floor(const LayerTable& table, const StackProfile& profile);
Seconds recompute_floor(const LayerTable& table, const StackProfile& profile);

}  // namespace smplan
