#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "models/job/dimensions.hpp"
#include "models/step/step.hpp"
#include "planner/answer/plan.hpp"

namespace smplan {

/// What came of one row of a batch.
enum class BatchStatus : std::int8_t {
  Fits,
  TooLarge,      ///< priced, but likelier to run out of memory than not
  OutOfRange,    ///< a degree below 1, or more devices than the row's instances have
  Divisibility,  ///< the numbers do not divide
  Unsupported,   ///< the stack cannot express it
  Topology,      ///< a tensor group leaves the node or NVLink domain
};
std::string_view to_string(BatchStatus status);
inline constexpr int kBatchStatusCount = 6;

/// Configurations by column, one row each, all columns of one length. A column that is empty leaves its dimension open:
/// data takes what the other degrees leave of the devices, the shard degree is data * context (1 without sharding),
/// sharding and collectives are the stack's first, several chunks are interleaved, all else is plain. So does a 0 where
/// the dimension's row says so (DimensionRow::zero_follows).
struct BatchColumns {
  std::span<const std::int32_t> nodes;
  std::array<std::span<const std::int32_t>, kDimensionCount> dimensions;
  Execution execution;  ///< of every row, as far as no column says otherwise
  [[nodiscard]] std::size_t rows() const { return nodes.size(); }
};

/// What is wanted of every row: memory alone takes no layer tables and no step model.
enum class BatchDetail { MemoryAndTime, Memory };

/// Results by column; rows that cannot be priced have zeros. Without time its columns are empty.
struct BatchEstimates {
  std::vector<std::int8_t> status;
  std::vector<double> peak_gib, out_of_memory_probability, step_time_s, tokens_per_s, mfu;
};

/// Many configurations of one workload on one instance type under one stack as the catalog has it. Memory of every
/// valid row, time of every valid row, where wanted. The same numbers as evaluate(); rows do not depend on each other
/// or on the number of threads. `threads` 0: all cores. Told to stop, it leaves rows as they are.
BatchEstimates estimate_batch(const Workload& workload, const Cluster& one_node, const Stack& stack,
                              const BatchColumns& rows, int threads = 0,
                              BatchDetail detail = BatchDetail::MemoryAndTime, Monitor* monitor = nullptr);

}  // namespace smplan
