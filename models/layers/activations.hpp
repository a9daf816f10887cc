#pragma once

#include "base/units.hpp"
#include "catalogs/stack.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"
#include "models/layers/layers.hpp"

namespace smplan {

/// What the software keeps of a layer, where two frameworks differ.
struct ActivationOptions {
  bool flash_attention = true;  ///< else the scores are stored
  bool dropout = false;         ///< one mask byte an element, and on stored scores
  bool fp8_inputs = false;      ///< inputs of matrix products kept in one byte (Transformer Engine)
  /// Kernels apart: silu and product save one more tensor, and inputs gathered from sequence-parallel ranks
  /// are kept whole.
  bool unfused = false;
  bool whole_regions = false;    ///< `torch_parallelism` as Stack has it
  bool sliced_regions = false;   ///< async tensor parallelism: of partial sums a slice stands
  bool liger_kernels = false;    ///< as Stack has them
  bool plain_layers = false;     ///< as Stack has them
  bool frozen_layer = false;     ///< no weight of the layer is trained, nor an adapter beside one
  bool repeats_heads = false;    ///< keys and values are copied for every query head
  bool plain_gelu = false;       ///< GELU operation by operation
  bool autocast = false;         ///< each product casts its input to 16 bits
  bool wide_hidden = false;      ///< hidden states are fp32 beside products in 16 bits
  bool fused_qkv = false;        ///< as Stack has it
  bool separate_qkv = false;     ///< queries, keys and values are products of their own
  bool adapter_dropout = false;  ///< as Stack has it
  bool adapter_copies = false;   ///< as Stack has it
  bool frozen_inputs = false;    ///< kept of products with 4-bit weights, though nothing needs them
  /// FSDP's selective checkpointing: every second product and the attention output are kept,
  /// the rest is done again (torchtitan's per-operation policy).
  bool per_operation_selective = false;
  bool compiled = false;           ///< under torch.compile
  LayerModules recompute_modules;  ///< as Execution has them; none, and no such policy: the scores
};

/// Whether GELU runs operation by operation: its tanh form in Transformers' modules, where nothing fuses them.
bool computes_gelu_by_operations(const Workload& workload, const Stack& stack);

/// What follows from the workload, the strategy and how the software runs a layer.
ActivationOptions activation_options(const Workload& w, const Strategy& s, const Stack& stack);

/// Bytes of one token in one layer, on one rank before context parallelism divides the tokens.
struct TokenActivations {
  double saved = 0;      ///< kept from forward to backward without recomputation
  double selective = 0;  ///< kept under selective recomputation
  double input = 0;      ///< kept under full recomputation: the layer's input
  /// Gradients alive in the heaviest operation of the backward pass, beyond what is saved.
  double transient = 0;
  /// What the forward pass holds of the layer at once, were nothing of it kept.
  double forward = 0;
};

TokenActivations token_activations(const Workload& w, const LayerSpec& spec, const Strategy& s,
                                   const ActivationOptions& options);

/// Bytes of one token that a trained embedding keeps, which no recomputation covers: the mask of its dropout and the
/// input of its norm, where it has them. Source: Korthikanti et al. 2022, section 4.3.
double embedding_kept(const Workload& w, const Strategy& s, const ActivationOptions& options);

/// Bytes of one token that the first trained layer does not keep where all below it is frozen: its first norm has no
/// gradient of its input to compute.
double unread_by_first(const Workload& w, const Strategy& s, const ActivationOptions& options);

/// Kept bytes of a token under the strategy's recomputation.
double kept(const TokenActivations& activations, Recompute recompute);

/// Activation bytes that one layer saves for backward, one micro-batch, one rank.
/// Source: Korthikanti et al. 2022, tables 2-3 for GPT; saved-tensor ledger for gated, GQA, MoE, MLA.
Bytes layer_activation_bytes(const Workload& w, const LayerSpec& spec, const Strategy& s, const Stack& stack);

}  // namespace smplan
