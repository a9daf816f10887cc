#include "models/memory/model_states.hpp"

#include <algorithm>
#include <array>

#include "models/engines/engine.hpp"
#include "models/engines/memory_constants.hpp"
#include "models/job/execution.hpp"

namespace smplan {
namespace {

bool shards_weights(Sharding sharding) { return sharding == Sharding::Zero3 || is_fsdp(sharding); }
bool shards_gradients(Sharding sharding) { return sharding == Sharding::Zero2 || shards_weights(sharding); }

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

/// Frozen weights. Where layers are quantised, embedding and head keep 16 bits or are cast to 32; Lightning quantises
/// each linear map, and LitGPT's head is one of its own, tied or not.
double frozen_weights(const StageParameters& p, const Workload& w, const Stack& stack, const Degrees& d, bool sharded) {
  const double width = frozen_weight_bytes(w, stack);
  double root = holds_wide_root(w, stack) ? 4 * p.root : std::max(2.0, width) * p.root;
  if (w.finetune == FineTune::Qlora && stack.lightning_quantization) {
    root += width * p.head - (w.architecture.tied_embeddings ? 0 : 2.0 * p.head);
  }
  const double dense = width * p.dense + root;
  const double experts = width * p.experts;
  return sharded ? dense / d.dense + experts / d.experts : dense + experts;
}

/// What of the rank full training leaves frozen.
StageParameters frozen_part(StageParameters p) {
  p.dense -= p.trained_dense;
  p.experts -= p.trained_experts;
  p.root -= p.trained_root;
  return p;
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
  if (w.finetune == FineTune::Full && !w.trained_layers) return {TrainedPart{split(p, d), widths}, TrainedPart{}};
  if (w.trained_layers) {
    const Split updated{p.trainable(), (p.trained_dense + p.trained_root) / d.dense + p.trained_experts / d.experts};
    return {TrainedPart{updated, widths}, TrainedPart{}};
  }
  const StateWidths copied = uses_torch_optimizer(s, stack) ? half_widths(w.optimizer, stack.execution) : widths;
  const Split adapters{p.adapters + p.expert_adapters, p.adapters / d.dense + p.expert_adapters / d.experts};
  return {TrainedPart{adapters, widths}, TrainedPart{{p.trained_root, p.trained_root / d.dense}, copied}};
}

/// Of those that PyTorch's `foreach` kernels do not run: bitsandbytes', and loops over the parameters.
bool updates_one_by_one(Optimizer optimizer, const Execution& execution) {
  return is_on(execution.paged_optimizer) || optimizer == Optimizer::Adam8bit || optimizer == Optimizer::Adafactor ||
         optimizer == Optimizer::Lion || optimizer == Optimizer::Muon;
}

/// Embedding or head, as far as they are trained.
double largest_of_root(const StageParameters& p) {
  const double trained = p.part_frozen || p.adapters > 0 ? p.trained_root : p.root;
  return std::min(trained, std::max(p.head, p.root - p.head));
}

}  // namespace

ModelStates model_states(const StageParameters& p, const Workload& w, const Strategy& s, const Stack& stack) {
  const StateEngine& engine = state_engine(s, stack);
  const Degrees d = s.sharding == Sharding::None ? Degrees{} : shard_degrees(s);
  const bool frozen = w.has_frozen_weights();
  const bool adapted = w.finetune != FineTune::Full;
  const bool whole_gradients = engine.keeps_whole_gradients(stack, s.micro_batches(w) > 1);
  // Fused kernels need nothing beside the states, and what goes through the tensors one by one next to nothing.
  const bool in_place = updates_on_host(s) || stack.fused_optimizer || updates_one_by_one(w.optimizer, stack.execution);
  const bool cut_gradients = shards_gradients(s.sharding) && !whole_gradients;

  ModelStates out;
  if (frozen) {
    const StageParameters base = w.trained_layers ? frozen_part(p) : p;
    out.weights = frozen_weights(base, w, stack, d, shards_weights(s.sharding));
  }
  for (const TrainedPart& part : trained_parts(p, w, s, stack, d)) {
    const StateWidths& b = part.widths;
    const double own = s.sharding == Sharding::None ? part.size.whole : part.size.sharded;
    double optimizer = b.optimizer * own;
    // Muon orthogonalises matrices; embedding and head stay with AdamW. Source: Jordan et al. 2024.
    if (w.optimizer == Optimizer::Muon && !adapted && own > 0) {
      optimizer += 4 * (w.trained_layers ? p.trained_root : p.root) * (own / part.size.whole);
    }
    out.weights += b.weight * (shards_weights(s.sharding) ? part.size.sharded : part.size.whole);
    // Whole gradients wait in the format of the products; it is the reduction that casts them.
    const double width = whole_gradients ? std::min(b.gradient, b.compute) : b.gradient;
    if (!offloads_units(s)) out.gradients += width * (cut_gradients ? part.size.sharded : part.size.whole);
    if (!in_place) out.step_transient += engine.step_transient(s, stack, b, own);
    if (updates_on_host(s)) {
      // The host updates: it holds moments, master weights and the fp32 gradient of the rank's part.
      out.offloaded += optimizer + 4 * own;
    } else if (is_on(stack.execution.paged_optimizer)) {
      const double moments = std::min(optimizer, optimizer_state_bytes(w.optimizer) * own);
      out.paged += moments;
      out.optimizer += optimizer - moments;
    } else {
      out.optimizer += optimizer;
    }
  }
  if (is_on(stack.execution.update_in_backward)) {
    // A gradient at a time: at most a layer's here, which is more than the largest of its tensors.
    const double part = p.trainable() > 0 ? std::max(p.updated_unit(), largest_of_root(p)) / p.trainable() : 0;
    out.gradients *= std::min(1.0, part);
    out.step_transient *= std::min(1.0, part);
  }
  // A unit with a trained parameter has gradients of all its own; the root beside adapters is a unit without.
  if (adapted && whole_gradients && stack.adapters_share_units)
    out.gradients += state_widths(w, s, stack).gradient * (p.dense + p.experts);
  // A frozen model of 16 bits is cut as the trained weights are; a teacher is taken to spread over the stages alike.
  if (const Architecture* copy = w.frozen_copy()) {
    const Split whole = split(p, d);
    const double size = copy == &w.architecture ? 1
                                                : static_cast<double>(count_parameters(*copy).total()) /
                                                      static_cast<double>(count_parameters(w.architecture).total());
    out.reference = 2 * size * (shards_weights(s.sharding) ? whole.sharded : whole.whole);
  }
  if (s.offload.parameters) {
    out.offloaded += out.weights + out.reference;
    out.weights = 0;
    out.reference = 0;
  }
  return out;
}

}  // namespace smplan
