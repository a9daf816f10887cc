#pragma once

#include "base/units.hpp"
#include "catalogs/architecture.hpp"
#include "models/machine/compute.hpp"

namespace smplan {

/// Bytes that the kernels between the projections of a state mixer read and write for one token, all heads: causal
/// convolution, the scan over chunks, gate and norm. Counted kernel by kernel, 16-bit tensors and fp32 states: of
/// Mamba-2 in mamba_ssm 2.2.6 (ops/triton/ssd_combined.py, the path that keeps no convolved input), of the gated delta
/// rule in flash-linear-attention 0.4 (ops/gated_delta_rule/chunk.py, keys and queries repeated for every head).
Bytes state_mixer_traffic(const StateMixer& mixer, Pass pass);

/// Bytes of one token that those kernels keep from forward to backward, all heads, without their input and output.
Bytes state_mixer_kept(const StateMixer& mixer);

}  // namespace smplan
