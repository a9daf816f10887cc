#include "models/engines/engine.hpp"

namespace smplan {

/// PyTorch's pipeline holds one for every micro-batch each way, and beside the received what it sent until the gradient
/// comes. Megatron's frees what it has sent.
StageBoundary StateEngine::boundary(const Workload& w, const Strategy& s, const Stack& stack, bool /*first*/,
                                    bool /*last*/) const {
  if (!stack.torch_parallelism) return {};
  const double hidden = 2 * static_cast<double>(w.architecture.hidden);
  const auto inputs = static_cast<double>(s.micro_batches(w) * s.virtual_pipeline);
  return {.buffers = 2 * inputs * hidden / (s.sequence_parallel ? s.tensor_parallel : 1)};
}

const StateEngine& state_engine(const Strategy& strategy, const Stack& stack) {
  if (is_fsdp(strategy.sharding)) return fsdp_engine();
  if (stack.deepspeed_engine || strategy.sharding == Sharding::Zero3) return deepspeed_engine();
  return stack.master_bytes > 0 ? main_grads_engine() : replicated_engine();
}

bool offloads_units(const Strategy& s) { return s.offload.parameters && is_fsdp(s.sharding); }

bool updates_on_host(const Strategy& s) { return s.offload.optimizer || offloads_units(s); }

}  // namespace smplan
