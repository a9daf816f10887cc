#include "catalogs/stack_profile.hpp"

#include <array>

#include "catalogs/reading.hpp"

namespace smplan {

std::span<const StackParameter> stack_parameters() {
  using P = StackProfile;
  static constexpr double kLongest = 1e6;  // one second, in microseconds
  static const std::array<StackParameter, 39> kParameters{{
      {.key = "gemm_slowdown", .number = &P::gemm_slowdown, .low = 0.5, .high = 4},
      {.key = "attention_slowdown", .number = &P::attention_slowdown, .low = 0.3, .high = 6},
      {.key = "elementwise_traffic", .number = &P::elementwise_traffic, .low = 0.2, .high = 8},
      {.key = "compiled_traffic", .number = &P::compiled_traffic, .low = 0.2, .high = 8},
      {.key = "eager_traffic", .number = &P::eager_traffic, .low = 0.2, .high = 12},
      {.key = "compiled_host", .number = &P::compiled_host, .low = 0, .high = 2},
      {.key = "gathered_host", .number = &P::gathered_host, .low = 1, .high = 10},
      {.key = "host_time_dense_layer_us", .time = &P::host_time_dense_layer, .low = 0, .high = kLongest},
      {.key = "host_time_moe_layer_us", .time = &P::host_time_moe_layer, .low = 0, .high = kLongest},
      {.key = "moe_slowdown", .number = &P::moe_slowdown, .low = 0.5, .high = 6},
      {.key = "graphed_moe_host", .number = &P::graphed_moe_host},
      {.key = "fused_experts", .number = &P::fused_experts},
      {.key = "staged_exchange", .number = &P::staged_exchange},
      {.key = "fused_routing_host", .number = &P::fused_routing_host},
      {.key = "narrow_expert", .number = &P::narrow_expert, .low = 10, .high = 1e4},
      {.key = "moe_yearly_gain", .number = &P::moe_yearly_gain, .low = 0, .high = 2},
      {.key = "host_time_micro_batch_us", .time = &P::host_time_micro_batch, .low = 0, .high = kLongest},
      {.key = "host_time_step_us", .time = &P::host_time_step, .low = 0, .high = 10 * kLongest},
      {.key = "host_collective_us", .time = &P::host_collective, .low = 0, .high = kLongest, .shared = true},
      {.key = "host_collective_rank_us", .time = &P::host_collective_rank, .low = 0, .high = kLongest, .shared = true},
      {.key = "host_plain_softmax_us", .time = &P::host_plain_softmax, .low = 0, .high = kLongest, .shared = true},
      {.key = "waited_launch", .number = &P::waited_launch, .low = 1, .high = 10, .shared = true},
      {.key = "quantized_host", .number = &P::quantized_host, .low = 1, .high = 6, .shared = true},
      {.key = "dequantized_bytes", .number = &P::dequantized_bytes, .low = 2.5, .high = 100, .shared = true},
      {.key = "state_mixer_gb_per_s", .number = &P::state_mixer_gb_per_s, .low = 1, .high = 100, .shared = true},
      {.key = "delta_rule_gb_per_s", .number = &P::delta_rule_gb_per_s, .low = 0.5, .high = 100, .shared = true},
      {.key = "tensor_overlap", .number = &P::tensor_overlap},
      {.key = "async_tensor_overlap", .number = &P::async_tensor_overlap},
      {.key = "data_overlap", .number = &P::data_overlap},
      {.key = "pipeline_overlap", .number = &P::pipeline_overlap},
      {.key = "expert_overlap", .number = &P::expert_overlap},
      {.key = "expert_overlap_when_on", .number = &P::expert_overlap_when_on},
      {.key = "context_overlap", .number = &P::context_overlap},
      {.key = "overlap_contention", .number = &P::overlap_contention, .low = 0, .high = 2},
      {.key = "straggler", .number = &P::straggler, .low = 0, .high = 0.2},
      {.key = "allocator_slack", .number = &P::allocator_slack, .low = 0, .high = 2},
      {.key = "residual_sigma", .number = &P::residual_sigma, .low = 0, .high = 3},
      {.key = "program_sigma", .number = &P::program_sigma, .low = 0, .high = 3},
      {.key = "memory_sigma", .number = &P::memory_sigma, .low = 0, .high = 3},
  }};
  return kParameters;
}

StackProfile read_stack_profile(const JsonValue& value, Diagnostics& out) {
  ObjectReader reader(value, out);
  StackProfile profile;
  profile.stack = read_optional_name(reader, "stack");
  for (const StackParameter& parameter : stack_parameters()) {
    parameter.set(profile,
                  read_number_or(reader, parameter.key, parameter.low, parameter.high, parameter.get(profile)));
  }
  profile.measured = read_strings(reader, "measured");
  profile.provenance = read_provenance(reader);
  reader.finish();
  return profile;
}

}  // namespace smplan
