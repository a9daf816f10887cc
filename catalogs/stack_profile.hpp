#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"
#include "base/units.hpp"
#include "catalogs/provenance.hpp"

namespace smplan {

/// Year of the software that profiles describe; runs may state another.
inline constexpr double kSoftwareYear = 2026.5;

/// What software decides about speed and memory. Fitted on measured runs; one row a stack.
struct StackProfile {
  std::string stack;  ///< id that it belongs to; empty inside a stack's own entry
  /// GPU time of GEMMs relative to the accelerator profile's (1 = kernel benchmark speed).
  double gemm_slowdown = 1;
  double attention_slowdown = 1;
  /// Memory traffic of element-wise work relative to fully fused kernels.
  double elementwise_traffic = 1;
  /// Host time a layer needs to launch its forward; its backward takes the same. A layer takes
  /// the larger of host and device time.
  Seconds host_time_dense_layer;
  Seconds host_time_moe_layer;
  /// Permutation, dispatch and the products of narrow experts relative to balanced routing at kernel speed.
  double moe_slowdown = 1;
  /// Host time of a MoE layer under a vendor's performance recipe (CUDA graphs), as a part of the above.
  double graphed_moe_host = 1;
  /// What is left of `moe_slowdown` beyond 1 where the experts' products are fused and a step is one CUDA graph.
  double fused_experts = 1;
  /// The same of an exchange of tokens inside one NVLink domain: what staging in buffers costs there.
  double staged_exchange = 0.5;
  /// Host time of a MoE layer where a recipe fuses routing, padding and permutation but captures no graph, as a part of
  /// `host_time_moe_layer`.
  double fused_routing_host = 0.5;
  /// Columns of an expert at which it feels half of what routing slows.
  double narrow_expert = 1000;
  /// MoE software gets faster: slowdown and host time fall by this a year (natural logarithm); the
  /// figures above are those of kSoftwareYear.
  double moe_yearly_gain = 0;
  /// Once per micro-batch and stage, and once per step.
  Seconds host_time_micro_batch;
  Seconds host_time_step;
  /// Part of each communication that runs under compute, in [0, 1].
  double tensor_overlap = 0;
  double data_overlap = 0;
  double pipeline_overlap = 0;
  double expert_overlap = 0;
  double context_overlap = 0;
  /// Compute runs slower by this fraction while a collective runs beside it.
  double overlap_contention = 0;
  /// Slowest of N ranks: step grows by straggler * log2(N).
  double straggler = 0;
  /// Cached but unused blocks of the allocator: reserved = allocated * (1 + this).
  double allocator_slack = 0;
  /// Element-wise traffic and host time where torch.compile is stated to be on, or off.
  double compiled_traffic = 1;
  double eager_traffic = 1;
  double compiled_host = 1;
  /// Host time of a layer under ZeRO-3, whose hooks gather its weights, relative to a plain one.
  double gathered_host = 1;
  /// Host time of a layer whose adapters lie over a 4-bit base, which is unpacked first, relative to a plain one.
  double quantized_host = 2;
  /// Bytes that a copy moves in the time in which one weight of a 4-bit base is unpacked by table look-up.
  double dequantized_bytes = 25;
  /// Host time to issue a collective, and for each of its ranks until the last host has.
  Seconds host_collective = microseconds(40);
  Seconds host_collective_rank = microseconds(10);
  /// Host time of a softmax that takes PyTorch's operations because the fused kernel takes other shapes.
  Seconds host_plain_softmax = microseconds(200);
  /// Host time of a launch that is waited for, relative to one that is not.
  double waited_launch = 2.5;
  /// What a multiprocessor moves, in GB/s, in the scan of a Mamba-2 mixer and in the gated delta rule's: kernels that
  /// leave it more to compute than memory to wait for.
  double state_mixer_gb_per_s = 10;
  double delta_rule_gb_per_s = 2.5;
  /// Overlap where the run states asynchronous tensor parallelism, or all-to-all overlap, to be on.
  double async_tensor_overlap = 0.5;
  double expert_overlap_when_on = 0.5;
  /// Standard deviation of log(predicted / measured) step time, left-out runs: gives P10-P90.
  double residual_sigma = 0;
  /// What an unknown author's program adds to that: data loaders, logging, settings that nobody tuned. Set on steps
  /// that users reported and no fit has seen (scripts/fit/chosen.json). 0 where the runs behind the profile are of the
  /// program that is planned.
  double program_sigma = 0.2;
  /// Standard deviation of log(predicted / measured) peak memory: gives its P10-P90 and the probability of running out.
  /// Where no peak was measured, so wide that P10 to P90 hold four fifths of those of a stack, in the mean over stacks.
  double memory_sigma = 0.07;
  /// Traits of the runs that the figures rest on (planner/answer/uncertainty.hpp); a plan with others is less sure.
  std::vector<std::string> measured;
  Provenance provenance;
  friend bool operator==(const StackProfile&, const StackProfile&) = default;
};

/// One number of a profile: how it is called in files, where it lives, what it may be. The table is
/// the only list of them: reading, writing and fitting walk it.
struct StackParameter {
  std::string_view key;                    ///< with its unit
  double StackProfile::*number = nullptr;  ///< either a plain number
  Seconds StackProfile::*time = nullptr;   ///< or a time, in microseconds in files
  double low = 0;
  double high = 1;
  bool shared = false;  ///< what the host, PyTorch or a kernel decides for every stack alike: fitted once

  [[nodiscard]] double get(const StackProfile& p) const {
    return time != nullptr ? (p.*time).value() * 1e6 : p.*number;
  }
  void set(StackProfile& p, double value) const {
    if (time != nullptr) {
      p.*time = microseconds(value);
    } else {
      p.*number = value;
    }
  }
};
std::span<const StackParameter> stack_parameters();

/// Absent numbers keep their neutral defaults; the source is required.
StackProfile read_stack_profile(const JsonValue& value, Diagnostics& out);

}  // namespace smplan
