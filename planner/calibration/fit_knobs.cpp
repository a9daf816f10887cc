#include "planner/calibration/fit_knobs.hpp"

#include <algorithm>
#include <array>

namespace smplan {

bool is_of_program(std::string_view key) {
  constexpr std::array<std::string_view, 9> kKeys{
      "gemm_slowdown",    "attention_slowdown",       "elementwise_traffic",    "compiled_traffic",
      "eager_traffic",    "host_time_dense_layer_us", "host_time_moe_layer_us", "host_time_micro_batch_us",
      "host_time_step_us"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

const FitKnob* find_fit_knob(std::string_view key) {
  // Widths by how rough a guess is before any run: 1 spans most of the bounds, 0.5 a factor of about 1.6 for a
  // small number. What few runs can tell apart from other terms is held closer. Products come from the same vendor's
  // library in every stack: beside what the accelerator sustains they are held to some 14 %, by which left-out sources
  // and stacks are predicted best.
  static constexpr std::array<FitKnob, 36> kKnobs{{
      {"gemm_slowdown", 1, "time of matrix products relative to kernel benchmarks", 0.3},
      {"attention_slowdown", 1, "time of attention kernels relative to kernel benchmarks"},
      {"elementwise_traffic", 1, "memory traffic of element-wise work relative to fused kernels"},
      {"compiled_traffic", 1, "the same where torch.compile is stated to be on"},
      {"eager_traffic", 1, "the same where it is stated to be off"},
      {"compiled_host", 1, "host time under torch.compile relative to eager"},
      {"gathered_host", 1, "host time of a layer whose weights ZeRO-3 gathers relative to a plain one"},
      {"host_time_dense_layer_us", 1, "host time to launch the forward of a dense layer"},
      {"host_time_moe_layer_us", 1, "host time to launch the forward of a mixture-of-experts layer"},
      {"moe_slowdown", 1, "time of expert products and dispatch relative to balanced routing at kernel speed"},
      {"fused_experts", 1, "part of that slowdown left where products are fused and a step is one CUDA graph"},
      {"graphed_moe_host", 1, "part of that host time left where router and attention run as CUDA graphs"},
      {"fused_routing_host", 1, "the same where routing, padding and permutation are fused and nothing is captured"},
      {"staged_exchange", 1, "part of moe_slowdown beyond 1 that exchanges inside one NVLink domain keep"},
      {"moe_yearly_gain", 0.5, "fall of both by a year of software, natural logarithm"},
      {"host_time_micro_batch_us", 1, "host time of a micro-batch"},
      {"host_time_step_us", 1.5, "host time of a step"},
      {"host_collective_us", 1, "host time to issue a collective"},
      {"host_collective_rank_us", 1, "the same, for each of its ranks: until the last host has issued it"},
      {"host_plain_softmax_us", 1, "host time of a softmax in PyTorch's operations, where no fused kernel takes it"},
      {"waited_launch", 1, "host time of a launch that is waited for relative to one that is not"},
      {"quantized_host", 1, "host time of a layer over a 4-bit base relative to a plain one"},
      {"dequantized_bytes", 1, "bytes copied in the time in which one 4-bit weight is unpacked"},
      {"state_mixer_gb_per_s", 1, "what a multiprocessor moves in the scan of a Mamba-2 mixer"},
      {"delta_rule_gb_per_s", 1, "the same in the gated delta rule"},
      {"tensor_overlap", 1, "part of tensor-parallel communication under compute"},
      {"async_tensor_overlap", 1, "the same where asynchronous tensor parallelism is stated"},
      {"data_overlap", 1, "part of gradient reduction and parameter gathering under compute"},
      {"pipeline_overlap", 1, "part of transfers between stages under compute"},
      {"expert_overlap", 1, "part of expert all-to-all under compute"},
      {"expert_overlap_when_on", 1, "the same where its overlap is stated"},
      {"context_overlap", 1, "part of context-parallel exchange under compute"},
      {"overlap_contention", 0.5, "slowdown of compute while communication runs beside it"},
      {"straggler", 0.5, "waiting for the slowest rank, by doubling of ranks"},
      {"sustained_fraction", 1, "part of kernel benchmark speed that the accelerator sustains in training"},
      {"sustained_attention", 1, "the same of a vendor's attention kernel, beside it"},
  }};
  const auto* const knob = std::find_if(kKnobs.begin(), kKnobs.end(), [key](const FitKnob& k) { return k.key == key; });
  return knob == kKnobs.end() ? nullptr : &*knob;
}

}  // namespace smplan
