#pragma once

#include <memory>
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
  /// What layer tables depend on besides micro-batch, sequence parallelism and collective library.
  struct Placement {
    std::int32_t tensor, context, expert;
    GroupShape tensor_group, context_group, expert_group;
    friend bool operator==(const Placement&, const Placement&) = default;
  };
  struct PlacementHash {
    std::size_t operator()(const Placement& key) const;
  };
  /// A layer table and the floor of one micro-batch over all layers: what nothing can hide.
  struct Table {
    LayerTable layers;
    Seconds forward_backward;  ///< whole model
    Seconds recompute;         ///< what full recomputation adds
  };
  /// The tables of one placement: [sequence parallel][collectives][micro-batch], made when first asked for.
  using Tables = std::vector<std::unique_ptr<const Table>>;
  class SplitSearch;  ///< one split of one group

  std::vector<SplitSearch> open_splits(const Group& group, const Cluster& cluster, StackOutcome& out);
  Tables& tables(const Cluster& cluster, const Strategy& split);
  std::unique_ptr<const Table> make_table(const Group& group, const Cluster& cluster, const Strategy& strategy) const;

  const PlanRequest& request_;
  const Stack& stack_;
  int variants_;
  std::optional<CommonOptions> common_;
  std::unordered_map<Placement, Tables, PlacementHash> tables_;
};

}  // namespace smplan
