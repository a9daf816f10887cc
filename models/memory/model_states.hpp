#pragma once

#include "catalogs/stack.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"
#include "models/layers/rank_parameters.hpp"

namespace smplan {

/// Bytes of one rank after sharding: what stays on the device and what offloading moves away.
struct ModelStates {
  double weights = 0;
  double gradients = 0;
  double optimizer = 0;
  double reference = 0;       ///< frozen weights of a second model
  double offloaded = 0;       ///< resides on host or NVMe
  double paged = 0;           ///< on the device where it has room, else on the host
  double step_transient = 0;  ///< extra bytes while the optimizer runs
};

/// Source: Rajbhandari et al. 2020, figure 1 (ZeRO); Megatron Core's distributed optimizer, 6 + 12/D bytes.
ModelStates model_states(const StageParameters& p, const Workload& w, const Strategy& s, const Stack& stack);

}  // namespace smplan
