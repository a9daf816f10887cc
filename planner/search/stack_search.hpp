#pragma once

#include <optional>
#include <span>
#include <vector>

#include "planner/search/bounds.hpp"
#include "planner/search/incumbents.hpp"
#include "planner/search/objective.hpp"
#include "planner/search/split_list.hpp"
#include "planner/search/table_store.hpp"

namespace smplan {

/// A candidate that was refused, and why.
struct Miss {
  Strategy strategy;
  Rejection rejection;
};

struct StackOutcome {
  std::vector<Candidate> best;        ///< one per split, fastest first, at most `variants`
  SimplicityFront<Candidate> simple;  ///< of all splits: the fastest, and simpler ones that are hardly slower
  std::array<std::uint64_t, kRejectionReasonCount> rejected{};
  SearchStats stats;
  std::optional<Miss> nearest;
};

/// Searches groups of one instance type under one stack, several at a time.
class StackSearch {
 public:
  /// Keeps references.
  StackSearch(const PlanRequest& request, const Stack& stack, const InstanceType& instance, const Cluster& one_node,
              const Workload& workload, std::span<const std::int32_t> micro_batches, int variants);

  /// `cluster` is the group's, `splits` are those of its number of accelerators. A step that takes longer than
  /// `threshold` does not matter. Safe to call from several threads.
  StackOutcome search(const Group& group, const Cluster& cluster, const SplitList& splits, const Incumbents& incumbents,
                      std::optional<Seconds> threshold = std::nullopt);
  /// A step that takes longer than this does not matter in the group once the outcome is found.
  [[nodiscard]] std::optional<Seconds> threshold_after(const StackOutcome& out) const;

 private:
  class SplitSearch;  ///< one split of one group
  class GroupSearch;  ///< the splits of one group, the most promising first

  const PlanRequest& request_;
  const Stack& stack_;
  std::span<const std::int32_t> micro_batches_;
  CommonOptions common_;
  LayerStack layers_;
  TokenWork token_work_;
  double safe_part_;  ///< of device memory, as far as --max-oom-probability allows
  FlopsPerSecond rate_;
  int variants_;
  bool tries_deepep_;  ///< one of the framework's ways has that dispatcher
  TableStore tables_;
};

}  // namespace smplan
