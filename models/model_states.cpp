#include "models/model_states.hpp"

#include <algorithm>

#include "models/memory.hpp"
#include "models/memory_constants.hpp"

namespace smplan {
namespace {

bool is_fsdp(Sharding sharding) {
  return sharding == Sharding::FsdpFull || sharding == Sharding::FsdpGradOp || sharding == Sharding::FsdpHybrid;
}
bool shards_weights(Sharding sharding) { return sharding == Sharding::Zero3 || is_fsdp(sharding); }
bool shards_gradients(Sharding sharding) { return sharding == Sharding::Zero2 || shards_weights(sharding); }

/// 8-bit moments (Dettmers et al. 2021) stay as they are when all else is 16-bit.
double moment_bytes(const Workload& w) {
  const double full = optimizer_state_bytes(w.optimizer);
  return w.pure_half && w.optimizer != Optimizer::Adam8bit ? full / 2 : full;
}

/// The ranks that share a parameter: data x context, and for experts of an expert-parallel rank fewer.
struct Degrees {
  double dense = 1;
  double experts = 1;
};
Degrees shard_degrees(const Strategy& s) {
  const double degree = s.shard_degree;
  return {degree, std::max(1.0, degree * s.tensor_parallel / (s.expert_parallel * s.expert_tensor()))};
}

struct Split {
  double whole = 0;
  double sharded = 0;
};
Split split(const StageParameters& p, const Degrees& d) {
  return {p.total(), (p.dense + p.root) / d.dense + p.experts / d.experts};
}

/// Frozen weights: 16-bit, or NF4 in the layers (embedding and head stay 16-bit).
double frozen_weights(const StageParameters& p, const Workload& w, const Degrees& d, bool sharded) {
  const double width = w.finetune == FineTune::Qlora ? kMemoryConstants.nf4_bytes : 2.0;
  const double dense = width * p.dense + 2.0 * p.root;
  const double experts = width * p.experts;
  return sharded ? dense / d.dense + experts / d.experts : dense + experts;
}

/// What runs beside the states in the optimizer step. DeepSpeed copies its gradient partition to fp32
/// (stage 3: a sub-group at a time). torch's default `foreach` update holds one more tensor list of the
/// size of the weights. Fused kernels (Megatron) need nothing. Source: torch.optim documentation, 2.4.
double step_transient(StateEngine engine, const StateWidths& b, double own, const Strategy& s) {
  if (s.offload.optimizer) return 0;
  switch (engine) {
    case StateEngine::Zero:
      if (b.gradient >= 4) return 0;  // already fp32
      return 4 * (s.sharding == Sharding::Zero3 ? std::min(own, kMemoryConstants.zero_sub_group) : own);
    case StateEngine::Replicated:
    case StateEngine::Fsdp:
      return b.weight * own;
    case StateEngine::MainGrads:
      return 0;
  }
  return 0;
}

}  // namespace

double optimizer_state_bytes(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::AdamW:
    case Optimizer::Lamb:
      return 8;  // two fp32 moments
    case Optimizer::Adam8bit:
      return 2;
    case Optimizer::SgdMomentum:
    case Optimizer::Lion:
    case Optimizer::Muon:
      return 4;  // one fp32 moment
    case Optimizer::Adafactor:
      // Row and column sums, 4 (n + m) / (n m): at most 8 / 512 where no side is under 512. Shazeer & Stern 2018.
      return 8.0 / 512;
  }
  return 8;
}

StateEngine state_engine(const Strategy& strategy, const Stack& stack) {
  if (is_fsdp(strategy.sharding)) return StateEngine::Fsdp;
  if (stack.deepspeed_engine) return StateEngine::Zero;
  return stack.master_bytes > 0 ? StateEngine::MainGrads : StateEngine::Replicated;
}

StateWidths state_widths(const Workload& w, const Strategy& s, const Stack& stack) {
  const double moments = moment_bytes(w);
  if (w.precision == Precision::Fp32 || w.precision == Precision::Tf32) return {4, 4, moments, 4};
  if (w.pure_half) return {2, 2, moments, 2};
  StateWidths b{stack.weight_bytes, stack.gradient_bytes, moments + stack.master_bytes, 2};
  // DeepSpeed's BF16_Optimizer (ZeRO-1, pipelines) accumulates gradients in fp32 beside the 16-bit ones.
  if (s.sharding == Sharding::Zero1 && stack.deepspeed_engine && w.precision == Precision::Bf16 && b.gradient < 4) {
    b.gradient += 4;
  }
  return b;
}

ModelStates model_states(const StageParameters& p, const Workload& w, const Strategy& s, const Stack& stack) {
  const StateWidths b = state_widths(w, s, stack);
  const StateEngine engine = state_engine(s, stack);
  const Degrees d = s.sharding == Sharding::None ? Degrees{} : shard_degrees(s);
  const bool frozen = w.finetune != FineTune::Full;
  const Split trained = frozen ? Split{p.adapters, p.adapters / d.dense} : split(p, d);

  ModelStates out;
  out.weights = b.weight * (shards_weights(s.sharding) ? trained.sharded : trained.whole);
  if (frozen) out.weights += frozen_weights(p, w, d, shards_weights(s.sharding));
  out.gradients = b.gradient * (shards_gradients(s.sharding) ? trained.sharded : trained.whole);
  const double own = s.sharding == Sharding::None ? trained.whole : trained.sharded;
  out.optimizer = b.optimizer * own;
  // Muon orthogonalises matrices; embedding and head stay with AdamW. Source: Jordan et al. 2024.
  if (w.optimizer == Optimizer::Muon && !frozen) out.optimizer += 4 * p.root * (own / trained.whole);
  out.step_transient = step_transient(engine, b, own, s);
  if (s.offload.optimizer) {
    // The host updates: it holds moments, master weights and the fp32 gradient of the rank's part.
    out.offloaded += out.optimizer + 4 * own;
    out.optimizer = 0;
  }
  if (s.offload.parameters) {
    out.offloaded += out.weights;
    out.weights = 0;
  }
  return out;
}

}  // namespace smplan
