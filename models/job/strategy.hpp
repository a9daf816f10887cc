#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "catalogs/stack.hpp"
#include "models/job/workload.hpp"

namespace smplan {

/// What is moved to the host (or NVMe) between uses.
struct Offload {
  bool optimizer = false;
  bool parameters = false;
  bool activations = false;
  bool to_nvme = false;  ///< optimizer and parameters go to local NVMe instead of host memory
  [[nodiscard]] bool any() const { return optimizer || parameters || activations; }
  friend auto operator<=>(const Offload&, const Offload&) = default;
};
/// `none`, `optimizer`, `optimizer+params`, ...
std::string to_string(const Offload& offload);
std::optional<Offload> offload_from(std::string_view name);

/// How the work is split, and what software does with it. A plain value: candidates are copied and compared by the
/// thousand. Models read the execution from the stack that was executed so (models/job/execution.hpp).
///
/// Ranks: data * tensor * pipeline * context = GPUs; expert * expert_tensor divides data * context * tensor (the ranks
/// of a stage that hold experts are laid out anew, so that expert groups may span tensor ranks, as in Megatron Core).
/// Sharding degree S divides data * context; FsdpHybrid replicates over (data*context)/S.
struct Strategy {
  std::int32_t data_parallel = 1;
  std::int32_t tensor_parallel = 1;
  std::int32_t pipeline_parallel = 1;
  std::int32_t virtual_pipeline = 1;  ///< model chunks per pipeline rank; > 1 needs Schedule::Interleaved
  std::int32_t context_parallel = 1;
  std::int32_t expert_parallel = 1;
  /// Ranks that one expert is cut over; 0 leaves it open, see expert_tensor().
  std::int32_t expert_tensor_parallel = 0;
  bool sequence_parallel = false;
  Sharding sharding = Sharding::None;
  std::int32_t shard_degree = 1;
  std::int32_t micro_batch = 1;  ///< sequences per data-parallel rank and micro-batch
  Schedule schedule = Schedule::OneFOneB;
  Recompute recompute = Recompute::None;
  /// With Recompute::Full: layers of each model chunk whose forward is done again, the others keep everything; 0 is
  /// all of them. As Megatron's `--recompute-method block --recompute-num-layers`.
  std::int32_t recompute_layers = 0;
  Offload offload;
  Collectives collectives = Collectives::Nccl;
  Execution execution;

  [[nodiscard]] std::int64_t gpus() const {
    return std::int64_t{data_parallel} * tensor_parallel * pipeline_parallel * context_parallel;
  }
  /// Unless said, experts stay whole where they are spread over ranks, and are cut like all else where they are not.
  [[nodiscard]] std::int32_t expert_tensor() const {
    return expert_tensor_parallel > 0 ? expert_tensor_parallel : usual_expert_tensor();
  }
  [[nodiscard]] std::int32_t usual_expert_tensor() const { return expert_parallel > 1 ? 1 : tensor_parallel; }
  /// Part of `layers` layers of one pipeline rank that is recomputed, where recomputation is full; 1 without a number.
  [[nodiscard]] double recomputed_part(double layers) const {
    if (recompute_layers == 0) return 1;
    return std::min(1.0, static_cast<double>(recompute_layers) * virtual_pipeline / layers);
  }
  /// Micro-batches per data-parallel rank and optimizer step.
  [[nodiscard]] std::int64_t micro_batches(const Workload& w) const {
    return w.global_batch / (std::int64_t{data_parallel} * micro_batch);
  }
  friend auto operator<=>(const Strategy&, const Strategy&) = default;
};

/// `tp8 pp2 dp4 zero1 mb2 selective`: only what differs from 1/none, in a fixed order.
std::string to_string(const Strategy& strategy);

/// First rule that a candidate breaks, for the search.
enum class Validity {
  Ok,
  OutOfRange,    ///< a degree below 1
  Divisibility,  ///< the numbers do not divide
  Unsupported,   ///< the stack cannot express it
};
std::string_view to_string(Validity validity);

/// Whether selective recomputation is PyTorch's policy by operation, which FSDP's stacks have where they name no
/// modules.
inline bool selects_by_operation(const Strategy& strategy, const Stack& stack) {
  return is_fsdp(strategy.sharding) && stack.execution.recompute_modules.empty();
}

/// As check(), without a message and without allocation.
Validity quick_check(const Strategy& strategy, const Workload& workload, const Stack& stack);

/// Whether the numbers divide: layers by pipeline chunks, heads and ffn by tensor, sequence by context,
/// global batch by data * micro_batch, experts by expert_parallel, and the stack expresses it all.
/// Empty if valid; codes are the `rejected` keys of the JSON (`divisibility`, `unsupported`, ...).
Diagnostics check(const Strategy& strategy, const Workload& workload, const Stack& stack);

/// A line of the rule book that does not hold. There is no other: plans, estimates, batches, measured runs, files of
/// jobs and plan files are judged by it.
struct BrokenRule {
  std::string_view id;  ///< `heads-by-tensor`
  /// A run that happened may have had it all the same: frameworks are changed, and cut unevenly where they are told to.
  bool happens = false;
  Diagnostic fault;  ///< located at the flags
};
std::vector<BrokenRule> broken_rules(const Strategy& strategy, const Workload& workload, const Stack& stack);

/// One rule alone, for who knows only some of the numbers; those not known stay 0, of degrees 1. nullopt where it
/// holds.
std::optional<Diagnostic> broken_rule(std::string_view rule_id, const Strategy& strategy, const Workload& workload,
                                      const Stack& stack);
std::vector<std::string_view> strategy_rule_ids();

}  // namespace smplan
