#include "models/engines/engine.hpp"

#include "models/job/execution.hpp"

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
  switch (engine_kind(strategy, stack)) {
    case EngineKind::Fsdp:
      return fsdp_engine();
    case EngineKind::DeepSpeed:
      return deepspeed_engine();
    case EngineKind::MainGrads:
      return main_grads_engine();
    case EngineKind::Replicated:
      break;
  }
  return replicated_engine();
}

bool offloads_units(const Strategy& s) { return s.offload.parameters && is_fsdp(s.sharding); }

bool updates_on_host(const Strategy& s) { return s.offload.optimizer || offloads_units(s); }

}  // namespace smplan
