#include "models/job/execution.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/assert.hpp"

namespace smplan {
namespace {

/// Logits, log-probabilities and gradient, each in fp32.
constexpr double kWholeLogitsBytes = 12;
/// Of a 16-bit logit, which its gradient takes the place of: read for the loss, read and written for the gradient.
constexpr double kHalfLogitsBytes = 2;
/// The same as one kernel forward and one backward: 16-bit logits and their gradient.
constexpr double kCompiledLogitsBytes = 4;
constexpr double kHalfBytes = 2;
constexpr double kFullBytes = 4;

void switch_kernels(const Execution& e, Stack& s) {
  StackProfile& p = s.profile;
  const bool compiled = compiles_layers(e);
  if (e.compile != Compile::Default) p.elementwise_traffic = compiled ? p.compiled_traffic : p.eager_traffic;
  if (compiled) p.host_time_dense_layer *= p.compiled_host;
  if (is_on(e.liger_kernels)) s.liger_kernels = true;
  if (compiled || is_on(e.liger_kernels)) {
    s.fused_kernels = true;
    s.plain_layers = false;
  }
  if (e.flash_attention != Toggle::Default) s.flash_attention = is_on(e.flash_attention);
  if (e.attention_kernel != AttentionClass::Default) {
    s.attention_kernel =
        e.attention_kernel == AttentionClass::Vendor ? AttentionKernel::Vendor : AttentionKernel::Flash2;
  }
  if (e.vocab_multiple > 0) s.vocab_multiple = e.vocab_multiple;
  if (e.reentrant_checkpoint != Toggle::Default) s.checkpoint_stops_early = !is_on(e.reentrant_checkpoint);
  if (e.compile == Compile::LayersAndLoss) s.logits_bytes = kCompiledLogitsBytes;
  if (e.loss_kernel == LossKernel::Whole) s.logits_bytes = kWholeLogitsBytes;
  if (e.loss_kernel == LossKernel::InPlace) {
    s.logits_bytes = s.parallel_logits_bytes = kHalfLogitsBytes;
    s.loss_forward_bytes = kHalfLogitsBytes;
    s.loss_backward_bytes = 2 * kHalfLogitsBytes;
  }
  if (e.loss_kernel == LossKernel::Fused) s.logits_bytes = s.parallel_logits_bytes = s.fused_logits_bytes;
}

void switch_transfers(const Execution& e, Stack& s) {
  StackProfile& p = s.profile;
  if (e.tensor_overlap == TensorOverlap::Off) p.tensor_overlap = 0;
  if (e.tensor_overlap == TensorOverlap::Async) p.tensor_overlap = std::max(p.tensor_overlap, p.async_tensor_overlap);
  if (e.gradient_overlap != Toggle::Default) s.synchronous_reduction = !is_on(e.gradient_overlap);
  if (e.context_exchange == ContextExchange::AllToAll) p.context_overlap = 0;
  if (e.expert_overlap != Toggle::Default) p.expert_overlap = is_on(e.expert_overlap) ? p.expert_overlap_when_on : 0;
  if (e.moe_dispatcher != MoeDispatcher::Default) s.deduplicated_dispatch = e.moe_dispatcher == MoeDispatcher::DeepEp;
}

/// What launching and routing experts costs.
void switch_experts(const Execution& e, Stack& s) {
  StackProfile& p = s.profile;
  if (e.cuda_graphs == CudaGraphs::Router) {
    p.host_time_moe_layer *= p.graphed_moe_host;
  } else if (is_on(e.fused_routing)) {
    p.host_time_moe_layer *= p.fused_routing_host;
  }
  if (e.cuda_graphs == CudaGraphs::Layers || e.cuda_graphs == CudaGraphs::Iteration) {
    p.host_time_moe_layer = Seconds();
  }
  if (e.cuda_graphs == CudaGraphs::Iteration) {
    p.expert_overlap = p.expert_overlap_when_on;
    p.moe_slowdown = 1 + (p.moe_slowdown - 1) * p.fused_experts;
  }
  if (e.software_release > 0) {
    const double older = std::exp(p.moe_yearly_gain * (kSoftwareYear - year_of_release(e.software_release)));
    p.host_time_moe_layer *= older;
    p.moe_slowdown *= older;
  }
}

void switch_states(const Execution& e, Stack& s) {
  if (is_on(e.pure_half)) s.gradient_reduce_bytes = kHalfBytes;
  if (e.half_gradients != Toggle::Default) s.gradient_bytes = is_on(e.half_gradients) ? kHalfBytes : kFullBytes;
  if (is_on(e.empty_cache)) s.profile.allocator_slack = 0;
  if (e.unsharded_gradients != Toggle::Default) s.whole_gradients = is_on(e.unsharded_gradients);
  if (e.fused_optimizer != Toggle::Default) s.fused_optimizer = is_on(e.fused_optimizer);
  if (e.wide_embeddings != Toggle::Default) s.casts_beside_four_bits = is_on(e.wide_embeddings);
  if (e.reduce_bucket > 0) s.reduce_bucket_elements = e.reduce_bucket;
}

}  // namespace

double base_format_bytes(BaseFormat format, Precision precision) {
  switch (format) {
    case BaseFormat::Default:
      return tensor_bytes(precision);
    case BaseFormat::Fp32:
      return 4;
    case BaseFormat::Int8:
    case BaseFormat::Fp8:
      return 1;
  }
  return tensor_bytes(precision);
}

EngineKind engine_kind(const Strategy& strategy, const Stack& stack) {
  if (is_fsdp(strategy.sharding)) return EngineKind::Fsdp;
  if (stack.deepspeed_engine || strategy.sharding == Sharding::Zero3) return EngineKind::DeepSpeed;
  return stack.master_bytes > 0 ? EngineKind::MainGrads : EngineKind::Replicated;
}

double year_of_release(std::int32_t release) {
  constexpr int kMonths = 12;
  return 2000 + release / 100 + (release % 100 - 1) / static_cast<double>(kMonths);
}

Stack as_of_release(Stack s, std::int32_t release) {
  if (release < s.fused_optimizer_since) s.fused_optimizer = false;
  if (release < s.grouped_attention_since) s.grouped_attention = false;
  if (release < s.loops_over_experts_before) s.loops_over_experts = true;
  return s;
}

Stack executed(const Stack& stack, const Execution& execution) {
  if (stack.execution == execution) return stack;
  SMPLAN_ASSERT(stack.execution == Execution{});
  Stack s = stack;
  s.execution = execution;
  if (execution.software_release > 0) s = as_of_release(std::move(s), execution.software_release);
  switch_kernels(execution, s);
  switch_transfers(execution, s);
  switch_experts(execution, s);
  switch_states(execution, s);
  return s;
}

bool runs_under_autocast(const Workload& workload, const Stack& stack) {
  return stack.autocast && workload.finetune == FineTune::Full && !keeps_32_bits(workload.precision) &&
         !is_on(stack.execution.pure_half);
}

}  // namespace smplan
