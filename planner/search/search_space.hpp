#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/job/strategy.hpp"
#include "models/machine/cluster.hpp"
#include "planner/answer/plan.hpp"

namespace smplan {

/// How one model replica is cut, and what data parallelism is left: an idea, whatever its details.
struct Split {
  std::int32_t tensor = 1;
  std::int32_t context = 1;
  std::int32_t pipeline = 1;
  std::int32_t expert = 1;
  std::int32_t data = 1;
  std::int32_t expert_tensor = 0;  ///< as Strategy::expert_tensor_parallel
};

/// The degrees of a split; all else is plain.
Strategy strategy_of(const Split& split);

struct ShardingOption {
  Sharding sharding = Sharding::None;
  std::int32_t degree = 1;
};

struct ScheduleOption {
  Schedule schedule = Schedule::OneFOneB;
  std::int32_t chunks = 1;
  std::int32_t layer_counts = 0;  ///< numbers of layers to recompute that there are, where not all are
};

/// A way to spend time for memory. Options are ordered so that whatever spends less comes first.
struct SavingOption {
  Recompute recompute = Recompute::None;
  /// Full recomputation of a number of layers: as few as fit, for each more costs time and saves memory.
  bool some_layers = false;
  Offload offload;
};
/// Whether `b` does everything that `a` does, and maybe more: then `a` is never slower
/// (docs/decisions on pruning), and if `a` fits nobody needs `b`.
bool spends_no_more(const SavingOption& a, const SavingOption& b);

/// Divisors of the global batch that the request allows, ascending.
std::vector<std::int32_t> micro_batch_choices(const PlanRequest& request, const Workload& workload);

/// What one instance type and stack offer every split, whatever the count. Computed once.
struct CommonOptions {
  std::vector<SavingOption> savings;
  std::vector<std::uint64_t> lighter;  ///< by saving: the savings that spend no more, as bits
  std::size_t partial = 0;             ///< savings that recompute some layers
  std::vector<Collectives> collectives;
};
CommonOptions common_options(const PlanRequest& request, const InstanceType& instance, const Cluster& cluster,
                             const Stack& stack);

/// The choices that are left once the split is known. Their product with the common ones is the
/// candidates of the split.
struct SplitOptions {
  std::vector<bool> sequence_parallel;
  std::vector<ShardingOption> shardings;
  std::vector<ScheduleOption> schedules;
  std::vector<std::size_t> micro_batches;  ///< indices into micro_batch_choices, ascending
  [[nodiscard]] std::uint64_t product() const { return rows() * schedules.size(); }
  /// Choices for a saving that recomputes some layers: each number counts.
  [[nodiscard]] std::uint64_t partial_product() const {
    std::uint64_t counts = 0;
    for (const ScheduleOption& o : schedules) counts += static_cast<std::uint64_t>(o.layer_counts);
    return rows() * counts;
  }

 private:
  [[nodiscard]] std::uint64_t rows() const {
    return std::uint64_t{1} * sequence_parallel.size() * shardings.size() * micro_batches.size();
  }
};

/// Number `index` of the layers to recompute, ascending, of a schedule's `layer_counts`.
std::int32_t layers_to_recompute(const PlanRequest& request, std::int32_t index);

/// The splits of a number of accelerators under one stack. They are the same for every instance type.
class SearchSpace {
 public:
  /// Keeps references.
  SearchSpace(const PlanRequest& request, const Workload& workload, std::int64_t gpus, const Stack& stack,
              std::span<const std::int32_t> micro_batches);

  /// Every way to write the number of accelerators as data x tensor x pipeline x context that the request
  /// allows, times expert. Not yet checked: see check().
  [[nodiscard]] std::vector<Split> splits() const;
  /// First rule that a split breaks whatever the rest is.
  [[nodiscard]] std::optional<RejectionReason> check(const Split& split) const;
  [[nodiscard]] SplitOptions options(const Split& split) const;

 private:
  [[nodiscard]] Strategy plain_strategy(const Split& split) const;
  [[nodiscard]] std::vector<ScheduleOption> schedules(const Split& split) const;

  [[nodiscard]] std::int32_t layer_counts(const Split& split, std::int32_t chunks) const;

  const PlanRequest& request_;
  const Workload& workload_;
  std::int64_t layers_;
  std::int64_t gpus_;
  const Stack& stack_;
  std::span<const std::int32_t> micro_batches_;
  std::vector<std::int32_t> divisors_;  ///< of the number of accelerators
};

}  // namespace smplan
