#pragma once

#include <optional>
#include <vector>

#include "planner/search/objective.hpp"
#include "planner/search/stack_search.hpp"

namespace smplan {

/// One split of one group: all its sequence parallelism, schedules, shardings, micro-batches, savings and
/// collective libraries. Finds the fastest candidate that fits and counts the rest.
class StackSearch::SplitSearch {
 public:
  /// Keeps references.
  SplitSearch(StackSearch& owner, const Group& group, const Cluster& cluster, const OpenSplit& open);

  /// Makes the tables of the micro-batches whose work alone is not behind the threshold. Returns a step time
  /// that no candidate undercuts.
  Seconds refine(std::optional<Seconds> threshold);

  /// Fastest candidate that is not slower than `threshold`, if there is one, and simpler ones that are hardly slower.
  /// Only after refine(), with a threshold no higher.
  SimplicityFront<Candidate> run(std::optional<Seconds> threshold, bool count_misses, StackOutcome& out) const;

 private:
  /// A run's state: counters go to `out`, what is behind `threshold` or `best` is dismissed.
  struct Progress {
    StackOutcome& out;
    std::optional<Seconds> threshold;
    bool count_misses;
    SimplicityFront<Candidate> best;
    /// By sharding, as bits by offloaded states: what is too large whatever the micro-batch.
    std::vector<std::uint32_t> oversized;
    std::vector<std::uint64_t> fitting;  ///< by micro-batch, as bits: savings that fit
    std::vector<std::size_t> valid;      ///< micro-batches of the row, as indices into options
    std::int32_t layer_counts = 0;       ///< numbers of layers to recompute that the schedule leaves
    [[nodiscard]] bool behind(const Strategy& strategy, Seconds bound) const {
      return (threshold && bound > *threshold) || !best.admits(strategy, bound);
    }
  };
  /// What is known of a micro-batch before candidates are priced: the fastest collective library counts.
  struct Floor {
    Seconds forward_backward;
    Seconds recompute;
  };
  [[nodiscard]] std::size_t slot(std::size_t sp, std::size_t mb) const {
    return sp * options_->micro_batches.size() + mb;
  }
  [[nodiscard]] const Table& table(std::size_t sp, std::size_t c, std::size_t mb) const;
  [[nodiscard]] std::int32_t micro_batch(std::size_t mb) const {
    return owner_->micro_batches_[options_->micro_batches[mb]];
  }
  [[nodiscard]] double micro_batches_per_step(std::size_t mb) const {
    const std::int64_t whole = group_->workload->global_batch / base_.data_parallel / micro_batch(mb);
    return static_cast<double>(whole);
  }
  [[nodiscard]] Seconds floor_of(const Strategy& s, std::size_t sp, std::size_t mb) const;
  void find_valid(Strategy s, Progress& p) const;
  [[nodiscard]] std::int32_t layer_counts_that_divide(const Strategy& s, Progress& p) const;
  void try_savings(Strategy s, std::size_t sp, std::size_t sharding, Progress& p) const;
  /// Whether memory grows with the micro-batch: with fewer micro-batches than pipeline ranks fewer are in flight.
  [[nodiscard]] bool memory_grows(const Strategy& s, std::size_t last_mb) const;
  /// Prices the least of the `counts` numbers of recomputed layers that fits. Precondition: the largest does.
  void try_layer_counts(Strategy s, std::size_t sp, std::size_t mb, std::int32_t counts, Progress& p) const;
  /// False where no larger micro-batch fits either; `row_rest` counts it and them.
  bool try_memory(Strategy s, std::size_t sp, std::size_t mb, std::size_t saving, std::int32_t counts,
                  std::uint32_t& oversized, std::uint64_t row_rest, bool grows, Progress& p) const;
  void try_collectives(Strategy s, const MemoryEstimate& memory, std::size_t sp, std::size_t mb, Progress& p) const;

  StackSearch* owner_;
  const Group* group_;
  const Cluster* cluster_;
  const SplitOptions* options_;
  Strategy base_;
  double stretch_ = 1;
  TableStore::Row* tables_;
  std::vector<Floor> floors_;  ///< [sequence parallel][micro-batch]
};

}  // namespace smplan
