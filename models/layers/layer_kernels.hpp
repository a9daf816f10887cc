#pragma once

#include <cstdint>

#include "models/layers/layer_costs.hpp"
#include "models/layers/layer_inputs.hpp"
#include "models/machine/compute.hpp"

/// What the parts of a layer compute, forward and backward; read and write counts are those of fused kernels.
namespace smplan {

void add_attention_projections(LayerCosts& costs, const LayerInputs& in);
/// Queries, keys and values of latent attention from their compressed vectors.
void add_up_projections(LayerCosts& costs, const LayerInputs& in);
AttentionShape attention_shape(const LayerInputs& in);
void add_attention_core(LayerCosts& costs, const LayerInputs& in, const AttentionShape& shape);
void add_state_mixer(LayerCosts& costs, const LayerInputs& in);
/// What every layer embeds of a token, gated into its output; nothing where layers embed nothing.
void add_layer_embedding(LayerCosts& costs, const LayerInputs& in);
/// What joins the input of a block for a further token with an embedding.
void add_joined_embedding(LayerCosts& costs, const LayerInputs& in);

void add_norms(LayerCosts& costs, const LayerInputs& in);
/// Of the residual connections around the parts of a layer.
void add_residuals(LayerCosts& costs, const LayerInputs& in);
void add_rotary_embedding(LayerCosts& costs, const LayerInputs& in);
/// The activation function of an MLP, or gate and product, of so many values.
void add_activation(LayerCosts& costs, const LayerInputs& in, double activated);

/// Returns the forward time of the last product.
Seconds add_dense_mlp(LayerCosts& costs, const LayerInputs& in, std::int64_t ffn_hidden);
/// Router, permutation, routed and shared experts.
void add_moe_mlp(LayerCosts& costs, const LayerInputs& in);

/// Adapters beside matrices of these parts, a set of LinearPart.
void add_adapters(LayerCosts& costs, const LayerInputs& in, std::uint32_t parts);

}  // namespace smplan
