#pragma once

#include "base/units.hpp"
#include "catalogs/stack.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"
#include "models/layers/layers.hpp"

namespace smplan {

/// Whether the attention core of a causal model counts its whole square or the half that is needed.
enum class AttentionCounting { FullSquare, CausalHalf };

/// FLOPs of one optimizer step over the global batch (2 per multiply-add).
struct StepFlops {
  Flops model;     ///< forward + 2x backward, no recomputation: numerator of MFU
  Flops hardware;  ///< + recomputed forwards and flash attention's backward recompute: numerator of HFU
};

/// Attention core (scores and weighted values) alone, forward, one token; of a layer with a state mixer that.
Flops attention_core_flops(const Architecture& a, const LayerSpec& spec, std::int64_t seq_len,
                           AttentionCounting counting);
/// Output projection to the vocabulary, forward, one token, for all the tokens that are predicted from it.
Flops head_forward_flops(const Architecture& a);
/// Whether a layer's last product makes its output alone: no norm, router weight or adapter comes after it, and
/// nothing of the backward pass reads it.
bool ends_in_product(const Workload& workload, const LayerSpec& spec);
/// Of a framework that nothing is known of; attention is flash attention unless that is off.
StepFlops step_flops(const Workload& workload, Recompute recompute, AttentionCounting counting,
                     Toggle flash_attention = Toggle::Default);
/// The same where the workload's layers are at hand, and the software says what the workload leaves open.
/// `recomputed_part` of the layers is recomputed, where that is full.
StepFlops step_flops(const LayerStack& layers, const Workload& workload, const Strategy& strategy,
                     double recomputed_part, const Stack& stack, AttentionCounting counting);

}  // namespace smplan
