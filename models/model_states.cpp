#include "models/model_states.hpp"

#include <algorithm>
#include <array>

#include "models/execution.hpp"
#include "models/memory.hpp"
#include "models/memory_constants.hpp"

namespace smplan {
namespace {

bool shards_weights(Sharding sharding) { return sharding == Sharding::Zero3 || is_fsdp(sharding); }
bool shards_gradients(Sharding sharding) { return sharding == Sharding::Zero2 || shards_weights(sharding); }
/// torch's CPUOffloadPolicy keeps sharded parameters, their gradients and their states on the host together.
bool offloads_units(const Strategy& s) { return s.offload.parameters && is_fsdp(s.sharding); }

/// No fp32 master: torch's optimizers keep their moments in the format of the parameters. 8-bit ones (Dettmers et al.
/// 2021) stay as they are.
StateWidths half_widths(Optimizer optimizer) {
  const double moments = optimizer_state_bytes(optimizer);
  return {2, 2, optimizer == Optimizer::Adam8bit ? moments : moments / 2, 2};
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

/// Frozen weights: 16-bit, or NF4 in the layers. Embedding and head stay 16-bit, but Lightning quantises each linear
/// map, and LitGPT's head is one of its own, tied or not.
double frozen_weights(const StageParameters& p, const Workload& w, const Stack& stack, const Degrees& d, bool sharded) {
  const bool four_bits = w.finetune == FineTune::Qlora;
  const double nf4 = stack.execution.double_quantization != Toggle::Off ? kMemoryConstants.nf4_bytes
                                                                        : kMemoryConstants.nf4_plain_bytes;
  const double width = four_bits ? nf4 : 2.0;
  double root = 2.0 * p.root;
  if (four_bits && stack.lightning_quantization) {
    root += width * p.head - (w.architecture.tied_embeddings ? 0 : 2.0 * p.head);
  }
  const double dense = width * p.dense + root;
  const double experts = width * p.experts;
  return sharded ? dense / d.dense + experts / d.experts : dense + experts;
}

/// What runs beside the states in the optimizer step. DeepSpeed copies its part of the gradients into one flat tensor
/// and casts that to fp32 (stage 3: a sub-group at a time); without a stage it casts all and copies the casts
/// (DeepSpeed 0.19.8, zero/stage_1_and_2.py, stage3.py, fp16/fused_optimizer.py; scripts/fit/zero_memory.py counts
/// them). torch's default `foreach` update holds one more tensor list of the size of the weights. Fused kernels
/// (Megatron) need nothing. Source: torch.optim documentation, 2.4.
double step_transient(const Stack& stack, const StateWidths& b, double own, const Strategy& s) {
  if (updates_on_host(s) || stack.fused_optimizer) return 0;
  const StateEngine engine = state_engine(s, stack);
  switch (engine) {
    case StateEngine::Zero:
      if (b.gradient >= 4) return 0;  // already fp32
      if (s.sharding == Sharding::None) return (4 + 4) * own;
      return (b.gradient + 4) * (s.sharding == Sharding::Zero3 ? std::min(own, kMemoryConstants.zero_sub_group) : own);
    case StateEngine::Replicated:
    case StateEngine::Fsdp:
      return b.weight * own;
    case StateEngine::MainGrads:
      return 0;
  }
  return 0;
}

/// Parameters that share their number formats.
struct TrainedPart {
  Split size;
  StateWidths widths;
};

/// All of the rank, or the adapters and what is trained beside them: of embedding and head PEFT trains a copy in the
/// 16 bits of the frozen weights. Engines with states of their own keep those of it too.
std::array<TrainedPart, 2> trained_parts(const StageParameters& p, const Workload& w, const Strategy& s,
                                         const Stack& stack, const Degrees& d) {
  const StateWidths widths = state_widths(w, s, stack);
  if (w.finetune == FineTune::Full) return {TrainedPart{split(p, d), widths}, TrainedPart{}};
  const StateEngine engine = state_engine(s, stack);
  const bool torch_states = engine == StateEngine::Replicated || engine == StateEngine::Fsdp;
  const StateWidths copied = torch_states ? half_widths(w.optimizer) : widths;
  const Split adapters{p.adapters + p.expert_adapters, p.adapters / d.dense + p.expert_adapters / d.experts};
  return {TrainedPart{adapters, widths}, TrainedPart{{p.trained_root, p.trained_root / d.dense}, copied}};
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

double moment_bytes(const Workload& workload, const Stack& stack) {
  return optimizer_state_bytes(workload.optimizer) / (is_on(stack.execution.half_moments) ? 2 : 1);
}

StateEngine state_engine(const Strategy& strategy, const Stack& stack) {
  if (is_fsdp(strategy.sharding)) return StateEngine::Fsdp;
  if (stack.deepspeed_engine) return StateEngine::Zero;
  return stack.master_bytes > 0 ? StateEngine::MainGrads : StateEngine::Replicated;
}

bool updates_on_host(const Strategy& s) { return s.offload.optimizer || offloads_units(s); }

StateWidths state_widths(const Workload& w, const Strategy& s, const Stack& stack) {
  const double moments = moment_bytes(w, stack);
  if (keeps_32_bits(w.precision)) return {4, 4, moments, 4};
  if (is_on(stack.execution.pure_half)) return half_widths(w.optimizer);
  StateWidths b{stack.weight_bytes, stack.gradient_bytes, moments + stack.master_bytes, 2};
  // DeepSpeed's BF16_Optimizer, which pipelines take, accumulates gradients in fp32 beside the 16-bit ones.
  const bool accumulates = stack.deepspeed_engine && stack.pipeline_parallel && s.sharding == Sharding::Zero1;
  if (accumulates && w.precision == Precision::Bf16 && b.gradient < 4) b.gradient += 4;
  return b;
}

ModelStates model_states(const StageParameters& p, const Workload& w, const Strategy& s, const Stack& stack) {
  const StateEngine engine = state_engine(s, stack);
  const Degrees d = s.sharding == Sharding::None ? Degrees{} : shard_degrees(s);
  const bool frozen = w.finetune != FineTune::Full;
  const bool accumulates = s.micro_batches(w) > 1;
  const bool whole_gradients = engine == StateEngine::Fsdp && stack.whole_gradients && accumulates;
  const bool cut_gradients = shards_gradients(s.sharding) && !whole_gradients;

  ModelStates out;
  if (frozen) out.weights = frozen_weights(p, w, stack, d, shards_weights(s.sharding));
  for (const TrainedPart& part : trained_parts(p, w, s, stack, d)) {
    const StateWidths& b = part.widths;
    const double own = s.sharding == Sharding::None ? part.size.whole : part.size.sharded;
    double optimizer = b.optimizer * own;
    // Muon orthogonalises matrices; embedding and head stay with AdamW. Source: Jordan et al. 2024.
    if (w.optimizer == Optimizer::Muon && !frozen && own > 0) optimizer += 4 * p.root * (own / part.size.whole);
    out.weights += b.weight * (shards_weights(s.sharding) ? part.size.sharded : part.size.whole);
    if (!offloads_units(s)) out.gradients += b.gradient * (cut_gradients ? part.size.sharded : part.size.whole);
    out.step_transient += step_transient(stack, b, own, s);
    if (updates_on_host(s)) {
      // The host updates: it holds moments, master weights and the fp32 gradient of the rank's part.
      out.offloaded += optimizer + 4 * own;
    } else {
      out.optimizer += optimizer;
    }
  }
  // A unit with a trained parameter has gradients of all its own; the root beside adapters is a unit without.
  if (frozen && whole_gradients) out.gradients += state_widths(w, s, stack).gradient * (p.dense + p.experts);
  if (s.offload.parameters) {
    out.offloaded += out.weights;
    out.weights = 0;
  }
  return out;
}

}  // namespace smplan
