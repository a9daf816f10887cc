#pragma once

#include "catalogs/stack.hpp"
#include "models/job/strategy.hpp"
#include "models/job/workload.hpp"

namespace smplan {

/// Bytes per parameter before sharding.
struct StateWidths {
  double weight = 0;
  double gradient = 0;
  double optimizer = 0;  ///< moments and master copy
  double compute = 0;    ///< the copy that products read
};
StateWidths state_widths(const Workload& w, const Strategy& s, const Stack& stack);

/// No fp32 master: torch's optimizers keep their moments in the format of the parameters. 8-bit ones (Dettmers et al.
/// 2021) stay as they are, and so do bitsandbytes' paged ones, which keep fp32.
StateWidths half_widths(Optimizer optimizer, const Execution& execution);

/// Bytes per parameter that the optimizer keeps beside the weights (moments only).
double optimizer_state_bytes(Optimizer optimizer);
/// The same of a workload under a stack that says in which format.
double moment_bytes(const Workload& workload, const Stack& stack);

/// Bytes of a weight of frozen layers as it is held, with its scales where it is quantised.
double frozen_weight_bytes(const Workload& workload, const Stack& stack);
/// Bytes of a weight as ranks gather it: those of the tensors, or of frozen ones that are quantised. Mixed precision
/// casts what is held in fp32 before it travels.
double gathered_parameter_bytes(const Workload& workload, const Stack& stack);
/// Bytes of a gradient as it is summed over ranks: no narrower than the tensors.
double reduced_gradient_bytes(const Workload& workload, const Stack& stack);

}  // namespace smplan
