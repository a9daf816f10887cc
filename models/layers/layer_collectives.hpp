#pragma once

#include "models/layers/layer_costs.hpp"
#include "models/layers/layer_inputs.hpp"

/// What the ranks of a layer exchange, forward and backward: raw times of the collectives.
namespace smplan {

/// Tensor parallelism: two all-reduces forward and two backward (Shoeybi et al. 2019); with sequence
/// parallelism each is a gather and a scatter, and the backward gathers the inputs again
/// (Korthikanti et al. 2022). Experts that are not cut by tensor parallelism need none. Returns the time of the
/// transfer that ends the forward pass.
Seconds add_tensor_comm(LayerCosts& costs, const LayerInputs& in);
/// Ring attention: keys and values visit every rank; backward moves their gradients too. Or heads for positions,
/// where the stack exchanges those.
void add_context_comm(LayerCosts& costs, const LayerInputs& in);
/// Dispatch and combine of routed tokens, forward and backward.
void add_expert_comm(LayerCosts& costs, const LayerInputs& in);

}  // namespace smplan
