#include "planner/search/batch_estimate.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <unordered_map>

#include "models/job/execution.hpp"
#include "models/machine/collectives.hpp"
#include "planner/answer/uncertainty.hpp"

namespace smplan {
namespace {

constexpr std::size_t kChunk = 512;

/// What layer tables depend on; many rows share one.
struct TableKey {
  std::int32_t tensor, context, expert, expert_tensor, micro_batch;
  bool sequence_parallel;
  Collectives collectives;
  const Stack* stack;  ///< as it is executed
  GroupShape tensor_group, context_group, expert_group;
  friend bool operator==(const TableKey&, const TableKey&) = default;
};

struct TableKeyHash {
  std::size_t operator()(const TableKey& k) const {
    std::size_t h = 0;
    const auto add = [&h](std::int64_t v) { h = (h ^ static_cast<std::size_t>(v)) * 1099511628211ULL; };
    for (const std::int64_t v : {k.tensor, k.context, k.expert, k.expert_tensor, k.micro_batch}) add(v);
    add(2 * static_cast<int>(k.collectives) + (k.sequence_parallel ? 1 : 0));
    add(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(k.stack)));
    for (const GroupShape* g : {&k.tensor_group, &k.context_group, &k.expert_group}) {
      add(g->ranks);
      add(g->per_domain);
      add(g->concurrent_per_node);
    }
    return h;
  }
};

/// Rows of one thread. Tables stay with it, so that threads share nothing.
class RowEstimator {
 public:
  RowEstimator(const Workload& workload, const Cluster& one_node, const Stack& stack, const BatchColumns& rows,
               BatchDetail detail, BatchEstimates& out)
      : workload_(workload),
        layers_(layer_stack(workload, stack)),
        cluster_(used_by(stack, one_node)),
        stack_(stack),
        rows_(rows),
        detail_(detail),
        out_(out) {}

  void estimate(std::size_t row) {
    cluster_.nodes = std::max(1, rows_.nodes[row]);
    const Strategy s = strategy_of(row);
    const BatchStatus status = judge(s, row);
    out_.status[row] = static_cast<std::int8_t>(status);
    if (status != BatchStatus::Fits) return;
    const Stack& stack = executed_so(s.execution);
    const MemoryEstimate memory = estimate_memory(layers_, workload_, s, cluster_, stack);
    if (!memory.fits()) out_.status[row] = static_cast<std::int8_t>(BatchStatus::TooLarge);
    out_.peak_gib[row] = in_gib(memory.wanted);
    out_.out_of_memory_probability[row] = out_of_memory_probability(memory, stack);
    if (detail_ == BatchDetail::Memory) return;
    const Groups groups = group_shapes(s, cluster_);
    const StepEstimate step = combine_step(table_of(s, groups, stack), workload_, s, groups, cluster_, stack);
    out_.step_time_s[row] = step.time().value();
    out_.tokens_per_s[row] = step.tokens_per_s;
    out_.mfu[row] = step.mfu;
  }

 private:
  Strategy strategy_of(std::size_t row) const {
    Strategy s;
    s.execution = rows_.execution;
    s.sharding = stack_.shardings.front();
    s.collectives = stack_.collectives.front();
    for (const DimensionRow& d : dimensions()) {
      const std::span<const std::int32_t> column = column_of(d.dimension);
      if (!column.empty()) d.set(s, column[row]);
    }
    const std::int64_t split = std::int64_t{s.tensor_parallel} * s.pipeline_parallel * s.context_parallel;
    if (is_open(Dimension::Data, row) && split > 0)
      s.data_parallel = static_cast<std::int32_t>(cluster_.gpus() / split);
    if (is_open(Dimension::ShardDegree, row)) {
      s.shard_degree = s.sharding == Sharding::None ? 1 : s.data_parallel * s.context_parallel;
    }
    if (s.virtual_pipeline > 1 && column_of(Dimension::Schedule).empty()) s.schedule = Schedule::Interleaved;
    return s;
  }

  [[nodiscard]] std::span<const std::int32_t> column_of(Dimension dimension) const {
    return rows_.dimensions[static_cast<std::size_t>(dimension)];
  }
  [[nodiscard]] bool is_open(Dimension dimension, std::size_t row) const {
    const std::span<const std::int32_t> column = column_of(dimension);
    return column.empty() || column[row] == 0;
  }

  BatchStatus judge(const Strategy& s, std::size_t row) const {
    if (rows_.nodes[row] < 1) return BatchStatus::OutOfRange;
    switch (quick_check(s, workload_, stack_)) {
      case Validity::OutOfRange:
        return BatchStatus::OutOfRange;
      case Validity::Divisibility:
        return BatchStatus::Divisibility;
      case Validity::Unsupported:
        return BatchStatus::Unsupported;
      case Validity::Ok:
        break;
    }
    if (s.gpus() != cluster_.gpus()) return BatchStatus::OutOfRange;
    return s.tensor_parallel > cluster_.domain() ? BatchStatus::Topology : BatchStatus::Fits;
  }

  /// Rows that tell software the same share a stack.
  const Stack& executed_so(const Execution& execution) {
    if (execution == Execution{}) return stack_;
    const auto [entry, is_new] = stacks_.try_emplace(execution);
    if (is_new) entry->second = std::make_unique<const Stack>(executed(stack_, execution));
    return *entry->second;
  }

  const LayerTable& table_of(const Strategy& s, const Groups& groups, const Stack& stack) {
    const TableKey key{s.tensor_parallel, s.context_parallel,  s.expert_parallel, s.expert_tensor(),
                       s.micro_batch,     s.sequence_parallel, s.collectives,     &stack,
                       groups.tensor,     groups.context,      groups.expert};
    const auto found = tables_.find(key);
    if (found != tables_.end()) return *found->second;
    return *tables_.emplace(key, std::make_unique<LayerTable>(layer_table(workload_, s, cluster_, stack)))
                .first->second;
  }

  const Workload& workload_;
  LayerStack layers_;
  Cluster cluster_;
  const Stack& stack_;
  const BatchColumns& rows_;
  BatchDetail detail_;
  BatchEstimates& out_;
  std::map<Execution, std::unique_ptr<const Stack>> stacks_;
  std::unordered_map<TableKey, std::unique_ptr<LayerTable>, TableKeyHash> tables_;
};

}  // namespace

std::string_view to_string(BatchStatus status) {
  static constexpr std::array<std::string_view, kBatchStatusCount> kNames{"fits",         "too_large",   "out_of_range",
                                                                          "divisibility", "unsupported", "topology"};
  return kNames[static_cast<std::size_t>(status)];
}

BatchEstimates estimate_batch(const Workload& workload, const Cluster& one_node, const Stack& stack,
                              const BatchColumns& rows, int threads, BatchDetail detail, Monitor* monitor) {
  BatchEstimates out;
  out.status.resize(rows.rows());
  for (auto* column : {&out.peak_gib, &out.out_of_memory_probability}) column->resize(rows.rows());
  if (detail == BatchDetail::MemoryAndTime) {
    for (auto* column : {&out.step_time_s, &out.tokens_per_s, &out.mfu}) column->resize(rows.rows());
  }
  const std::size_t chunks = (rows.rows() + kChunk - 1) / kChunk;
  expect(monitor, chunks);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    RowEstimator estimator(workload, one_node, stack, rows, detail, out);
    for (std::size_t chunk = next++; chunk < chunks && !stopped(monitor); chunk = next++) {
      const std::size_t begin = chunk * kChunk;
      for (std::size_t row = begin; row < std::min(rows.rows(), begin + kChunk); ++row) estimator.estimate(row);
      advance(monitor);
    }
  };
  const std::size_t cores =
      threads > 0 ? static_cast<std::size_t>(threads) : std::max<std::size_t>(1, std::thread::hardware_concurrency());
  const std::size_t wanted = std::min(cores, chunks);
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
    work();
  }
  return out;
}

}  // namespace smplan
