#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/cluster.hpp"
#include "models/strategy.hpp"
#include "planner/plan.hpp"

namespace smplan {

/// How one model replica is cut, and what data parallelism is left: an idea, whatever its details.
struct Split {
  std::int32_t tensor = 1;
  std::int32_t context = 1;
  std::int32_t pipeline = 1;
  std::int32_t expert = 1;
  std::int32_t data = 1;
};

struct ShardingOption {
  Sharding sharding = Sharding::None;
  std::int32_t degree = 1;
};

struct ScheduleOption {
  Schedule schedule = Schedule::OneFOneB;
  std::int32_t chunks = 1;
};

/// A way to spend time for memory. Options are ordered so that whatever spends less comes first.
struct SavingOption {
  Recompute recompute = Recompute::None;
  Offload offload;
};
/// Whether `b` does everything that `a` does, and maybe more: then `a` is never slower
/// (docs/decisions on pruning), and if `a` fits nobody needs `b`.
bool spends_no_more(const SavingOption& a, const SavingOption& b);

/// What one instance type and stack offer every split, whatever the count. Computed once.
struct CommonOptions {
  std::vector<SavingOption> savings;
  /// By saving: the savings that spend no more, as bits.
  std::vector<std::uint64_t> lighter;
  std::vector<Collectives> collectives;
  /// All divisors of the global batch that the request allows, ascending.
  std::vector<std::int32_t> micro_batches;
};
CommonOptions common_options(const PlanRequest& request, const Workload& workload, const InstanceType& instance,
                             const Cluster& cluster, const Stack& stack);

/// The choices that are left once the split is known. Their product with the common ones is the
/// candidates of the split.
struct SplitOptions {
  std::vector<bool> sequence_parallel;
  std::vector<ShardingOption> shardings;
  std::vector<ScheduleOption> schedules;
  std::vector<std::size_t> micro_batches;  ///< indices into CommonOptions, ascending
  [[nodiscard]] std::uint64_t candidates(const CommonOptions& common) const {
    return std::uint64_t{1} * sequence_parallel.size() * shardings.size() * schedules.size() * micro_batches.size() *
           common.savings.size() * common.collectives.size();
  }
};

/// The candidates of one instance type and count under one stack.
class SearchSpace {
 public:
  /// Keeps references: lives within one search of one group.
  SearchSpace(const PlanRequest& request, const Workload& workload, const Cluster& cluster, const Stack& stack,
              const CommonOptions& common);

  /// Every way to write the number of accelerators as data x tensor x pipeline x context that the request
  /// allows, times expert. Not yet checked: see check().
  [[nodiscard]] std::vector<Split> splits() const;
  /// First rule that a split breaks whatever the rest is; tensor groups stay inside a node or NVLink domain.
  [[nodiscard]] std::optional<RejectionReason> check(const Split& split) const;
  [[nodiscard]] SplitOptions options(const Split& split) const;

 private:
  [[nodiscard]] Strategy plain_strategy(const Split& split) const;
  [[nodiscard]] std::vector<ScheduleOption> schedules(const Split& split) const;

  const PlanRequest& request_;
  const Workload& workload_;
  const Cluster& cluster_;
  const Stack& stack_;
  const CommonOptions& common_;
  std::vector<std::int32_t> divisors_;  ///< of the number of accelerators
};

}  // namespace smplan
