#include "models/memory/memory.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/engines/engine.hpp"
#include "models/engines/memory_constants.hpp"
#include "models/job/execution.hpp"
#include "models/layers/activations.hpp"
#include "models/layers/rank_parameters.hpp"
#include "models/memory/model_states.hpp"
#include "models/pipeline/schedule.hpp"

namespace smplan {
namespace {

/// Everything about one pipeline rank that the peak depends on; bytes per token where said.
struct StageLoad {
  StageParameters parameters;
  double kept_per_token = 0;  ///< all layers, one micro-batch
  double kept_whole = 0;      ///< by adapters, however many tokens there are
  double largest_kept = 0;    ///< one layer, per token
  double recomputed = 0;      ///< what the layer under recomputation adds to its kept part, per token
  double transient = 0;       ///< per token
  double forward = 0;         ///< what a layer's forward pass holds beside its kept part, per token
  double in_flight = 1;       ///< micro-batches
  double transfers = 0;       ///< buffers between stages, per token, all micro-batches
  bool last = true;
};

StageLoad stage_load(const Workload& w, const Strategy& s, const Stack& stack, const LayerStack& layers,
                     const EdgeParameters& whole, const ActivationOptions& options, std::int32_t stage) {
  const Architecture& a = w.architecture;
  const PerKind<double> counts = stage_layers(layers, stage, s.pipeline_parallel);
  StageLoad out;
  out.last = stage == s.pipeline_parallel - 1;
  double on_stage = 0;
  for (const double n : counts) on_stage += n;
  // Layers done again lie first in a chunk. A backward pass has let go of those behind them by then.
  const double part = s.recompute == Recompute::Full ? s.recomputed_part(on_stage) : 1;
  double freed = 0;
  for (int i = 0; i < layers.n_runs; ++i) {
    const double n = counts[static_cast<std::size_t>(i)];
    if (n <= 0) continue;
    const LayerRun& run = layers.runs[static_cast<std::size_t>(i)];
    const RankParameters layer = layer_rank_parameters(run, s);
    const TokenActivations per_token = token_activations(w, run.spec, s, options);
    const double layer_kept = kept(per_token, s.recompute);
    const double owned = n / static_cast<double>(run.sharing);
    out.parameters.dense += owned * layer.dense;
    out.parameters.experts += owned * layer.experts;
    const double expert = layer.experts / rank_experts(a, s);
    out.parameters.unit =
        std::max(out.parameters.unit, stack.expert_units ? std::max(layer.dense, expert) : layer.total());
    if (trains_weights(w, run.spec)) {
      out.parameters.trained_dense += owned * layer.dense;
      out.parameters.trained_experts += owned * layer.experts;
      out.parameters.trained_unit =
          std::max(out.parameters.trained_unit, stack.expert_units ? std::max(layer.dense, expert) : layer.total());
    }
    if (run.spec.role == LayerRole::Trained) out.parameters.distinct += layer.dense + expert;
    out.kept_per_token += n * (part * layer_kept + (1 - part) * per_token.saved);
    if (part < 1) freed += n / on_stage * (per_token.saved - layer_kept);
    out.largest_kept = std::max(out.largest_kept, layer_kept);
    out.recomputed = std::max(out.recomputed, per_token.saved - layer_kept);
    out.transient = std::max(out.transient, per_token.transient);
    out.forward = std::max(out.forward, per_token.forward + per_token.input - layer_kept);
  }
  out.recomputed -= freed;
  out.parameters.part_frozen = w.trained_layers.has_value();
  if (s.pipeline_parallel == 1 && s.recompute != Recompute::Full) out.kept_per_token -= unread_by_first(w, s, options);
  if (w.finetune != FineTune::Full && w.lora.keeps) {
    out.kept_whole = (s.recompute == Recompute::Full ? 1 : on_stage) * w.lora.keeps->layer_bytes / s.tensor_parallel;
  }
  if (stage == 0) out.kept_per_token += embedding_kept(w, s, options);
  const StageBoundary boundary =
      s.pipeline_parallel == 1 ? StageBoundary() : state_engine(s, stack).boundary(w, s, stack, stage == 0, out.last);
  out.kept_per_token += boundary.kept;
  out.transfers = boundary.buffers;
  const double tensor = s.tensor_parallel;
  out.parameters.root = stage_root_parameters(a, s, stage);
  if (a.vocab > 0) out.parameters.head = static_cast<double>(whole.head > 0 ? whole.head : whole.embedding) / tensor;
  if (w.finetune != FineTune::Full) {
    const double share = on_stage / static_cast<double>(layers.most_on_a_stage(1));
    const RankParameters adapters = adapter_rank_parameters(a, w.lora, s);
    out.parameters.adapters = adapters.dense * share;
    out.parameters.expert_adapters = adapters.experts * share;
  }
  if (w.has_frozen_weights()) out.parameters.trained_root = trained_root_parameters(w, s, stage);
  out.in_flight = s.pipeline_parallel == 1 ? 1.0
                                           : in_flight_micro_batches(stage, s.pipeline_parallel, s.micro_batches(w),
                                                                     s.virtual_pipeline, s.schedule);
  return out;
}

bool keeps_no_logits(const Stack& stack) { return stack.execution.loss_kernel == LossKernel::Linear; }

double bytes_a_logit(const Workload& w, const Strategy& s, const Stack& stack) {
  if (w.architecture.half_logits && (stack.deepspeed_engine || is_on(stack.execution.pure_half)))
    return kMemoryConstants.half_logits_bytes;
  return s.tensor_parallel > 1 ? stack.parallel_logits_bytes : stack.logits_bytes;
}

/// Logits and what their loss keeps. Fused losses work in chunks no larger than the hidden states
/// (Liger, Hsu et al. 2024). The last norm's input and output count with them.
double logits_bytes(const Workload& w, const Strategy& s, const Stack& stack, double tokens) {
  const Architecture& a = w.architecture;
  if (a.vocab <= 0 || !w.has_logits()) return 0;
  const double region_cut = s.sequence_parallel ? s.tensor_parallel : 1;
  const auto hidden = static_cast<double>(a.hidden);
  const double width =
      keeps_no_logits(stack) ? std::min(hidden, static_cast<double>(a.vocab)) : static_cast<double>(a.vocab);
  const double bytes = bytes_a_logit(w, s, stack);
  // DTensor gathers the normalised states for the head.
  const double gathered = stack.torch_parallelism && region_cut > 1 ? 2 * hidden : 0;
  const auto predictions = static_cast<double>(a.predictions());
  return predictions * tokens * (bytes * width / s.tensor_parallel + 4 * hidden / region_cut + gathered);
}

/// Logits of the frozen model beside those of the trained one: 16 bits, and in 32 for their log-probabilities, of which
/// a reference leaves one number a token, and a teacher all until the loss.
double frozen_logits_bytes(const Workload& w, const Strategy& s, const Stack& stack, double tokens) {
  if (w.frozen_forwards() <= 0 || !w.has_logits() || keeps_no_logits(stack)) return 0;
  constexpr double kHalfAndFloat = 2 + 4;
  constexpr double kHalf = 2;
  const bool in_place = stack.execution.loss_kernel == LossKernel::InPlace;
  const double read = in_place ? kHalf : kHalfAndFloat;
  const double bytes = w.loss->keeps_frozen_logits ? read + 4 : read;
  return bytes * tokens * static_cast<double>(w.architecture.vocab) / s.tensor_parallel;
}

/// The 16-bit logits once the loss has cast them to fp32: nothing that follows fits their block.
double idle_logits(const Workload& w, const Strategy& s, const Stack& stack, double tokens) {
  if (keeps_no_logits(stack) || !w.has_logits() || bytes_a_logit(w, s, stack) <= kMemoryConstants.half_logits_bytes)
    return 0;
  const auto logits = static_cast<double>(w.architecture.predictions() * w.architecture.vocab);
  return stack.idle_logits_bytes * tokens * logits / s.tensor_parallel;
}

/// Copies in the compute format that stand beside the states in the backward pass: of the largest frozen 4-bit weight
/// as it is read, or what the engine casts.
double weight_side_bytes(const RankStates& rank, const StateEngine& engine) {
  const Architecture& a = rank.workload.architecture;
  if (rank.workload.finetune == FineTune::Qlora) {
    return rank.widths.compute * static_cast<double>(a.hidden) *
           static_cast<double>(std::max(a.ffn_hidden, a.moe.expert_ffn_hidden));
  }
  return rank.workload.finetune == FineTune::Lora ? 0 : engine.weight_copies(rank);
}

/// torch's optimizers let go of them after the update, unless they are told to keep them.
bool releases_gradients(const Strategy& s, const Stack& stack) {
  const Execution& told = stack.execution;
  return told.release_gradients != Toggle::Off && !is_on(told.update_in_backward) && uses_torch_optimizer(s, stack);
}

/// What the backward pass finds of the gradients: where they are released, only the head's are there when its layers
/// begin. Those of an update in the backward pass are one layer's at any time.
double gradients_before_layers(double gradients, const RankStates& rank) {
  const Strategy& s = rank.strategy;
  if (!releases_gradients(s, rank.stack) || s.pipeline_parallel > 1 || s.micro_batches(rank.workload) > 1)
    return gradients;
  const StageParameters& p = rank.parameters;
  if (rank.workload.trained_layers) return p.trainable() > 0 ? gradients * p.trained_root / p.trainable() : 0;
  return rank.workload.trains_head() ? gradients * p.root / p.total() : 0;
}

double cublas_bytes(const Cluster& cluster) {
  constexpr int kHopper = 90;
  const int capability = cluster.accelerator.capability();
  const bool before_hopper = capability > 0 && capability < kHopper;
  return (before_hopper ? kMemoryConstants.cublas_workspace_before_hopper : kMemoryConstants.cublas_workspace).value();
}

/// Communicators outside the torch allocator: one for the world, one for each dimension that differs from it. Beside
/// those, Megatron and its kin have one of tensor and pipeline ranks for the gradients' norm, and one of the stages
/// that share an embedding (Megatron-LM v2.5, mpu/initialize.py and optimizer/clip_grads.py; nanotron's mp_pg is the
/// same).
double communicator_bytes(const Workload& w, const Strategy& s, const Stack& stack) {
  if (s.gpus() == 1) return 0;
  const std::int64_t dimensions = (s.tensor_parallel > 1) + (s.pipeline_parallel > 1) + (s.context_parallel > 1) +
                                  (s.expert_parallel > 1) + (s.data_parallel > 1);
  std::int64_t further = dimensions > 1 ? dimensions : 0;
  if (s.pipeline_parallel > 1 && !stack.torch_parallelism) {
    further += s.tensor_parallel > 1 && s.data_parallel * s.context_parallel > 1;
    further += w.architecture.tied_embeddings;
  }
  return (kMemoryConstants.first_communicator + kMemoryConstants.next_communicator * static_cast<double>(further))
      .value();
}

struct StagePeak {
  MemoryComponents components;
  Bytes apart;     ///< what the caching allocator holds beside it, and can give to nobody else
  Bytes released;  ///< of that, blocks that are free when others run out: the passes', once the optimizer steps
};

/// Peak of one pipeline rank: the largest of loss, first layer's backward, last gradients, optimizer step.
StagePeak stage_peak(const StageLoad& load, const ModelStates& states, const Workload& w, const Strategy& s,
                     const Stack& stack, const StateWidths& b, double tokens, double cublas) {
  const StageParameters& p = load.parameters;
  const StateEngine& engine = state_engine(s, stack);
  const RankStates rank{p, w, s, stack, b};
  MemoryComponents base;
  base.weights = Bytes(states.weights);
  base.gradients = Bytes(states.gradients);
  base.optimizer = Bytes(states.optimizer);
  base.workspace = Bytes(cublas + tokens * load.transfers);
  base.reference = Bytes(states.reference);
  const double gathered = engine.gathered_bytes(rank);
  const double reduction = engine.reduction_bytes(rank);
  const double weight_side = weight_side_bytes(rank, engine);
  // An embedding is looked up, not multiplied.
  const double cast = engine.cast_bytes(rank);
  const double layer_casts = cast * p.updated_layers();
  const bool trains_head = w.trains_head();
  const bool casts_head = load.last && (trains_head || !w.trained_layers);
  const double head_cast = casts_head ? (holds_wide_root(w, stack) ? b.compute : cast) * p.head : 0;
  const bool recomputes = s.recompute == Recompute::Full;
  const bool per_unit = engine.reduces_by_unit(s);
  const double persistent = per_unit ? 0 : reduction;
  double saved = load.in_flight * tokens * load.kept_per_token;
  if (s.offload.activations) saved = std::min(saved, 2 * tokens * load.largest_kept);
  saved += load.in_flight * load.kept_whole;

  const bool reads_quantized_head = w.finetune == FineTune::Qlora && stack.lightning_quantization;
  const double before_layers = gradients_before_layers(states.gradients, rank);

  MemoryComponents backward = base;
  backward.gradients = Bytes(before_layers);
  backward.activations = Bytes(saved + tokens * load.recomputed);
  backward.communication = Bytes(gathered + reduction);
  backward.workspace +=
      Bytes(tokens * load.transient + weight_side + (recomputes ? cast * p.updated_unit() : layer_casts));
  MemoryComponents peak = backward;
  // What the caching allocator holds for nobody (scripts/fit/fsdp_memory.py): all that a layer's forward pass let go
  // of, in pieces smaller than logits, and the pools of FSDP's streams, where the gradients' outlives them.
  const bool torch = !stack.placed_memory && engine.allocates_in_torch(stack);
  const double pieces = torch ? tokens * load.forward : 0;
  const double copies = engine.gathered_copies(rank);
  Bytes held;
  const auto consider = [&](const MemoryComponents& instant, double idle = 0) {
    if (instant.total() > peak.total()) peak = instant;
    const Bytes pools =
        torch && engine.has_stream_pools() ? base.gradients - instant.gradients + Bytes(copies) : Bytes();
    held = std::max(held, instant.total() + pools + Bytes(idle));
  };
  // Under a pipeline forward passes run between backward ones.
  consider(backward, s.pipeline_parallel > 1 ? pieces : 0);
  if (load.last) {
    MemoryComponents loss = base;
    loss.gradients = Bytes(before_layers);
    loss.activations = Bytes(saved);
    loss.logits = Bytes(logits_bytes(w, s, stack, tokens));
    loss.reference += Bytes(frozen_logits_bytes(w, s, stack, tokens));
    loss.communication = Bytes(gathered + persistent);
    loss.workspace +=
        Bytes(weight_side + layer_casts + head_cast + (trains_head && cast == 0 ? b.compute * p.head : 0) +
              (reads_quantized_head ? kMemoryConstants.quantized_head_bytes * p.head : 0));
    consider(loss, torch ? pieces + idle_logits(w, s, stack, tokens) : 0);
  }
  const double trained_root = w.trained_layers ? p.trained_root : p.root;
  if ((trains_head || w.trains_embedding()) && trained_root > 0) {
    MemoryComponents last_gradients = base;
    last_gradients.activations = Bytes((load.in_flight > 1 ? load.in_flight - 1 : 0) * tokens * load.kept_per_token);
    const double root = per_unit ? (reduced_gradient_bytes(w, stack) + b.compute) * trained_root : 0;
    last_gradients.communication = Bytes(persistent + root);
    const bool in_backward = is_on(stack.execution.update_in_backward);
    last_gradients.workspace += Bytes((in_backward ? 0 : b.compute * trained_root) + weight_side);
    consider(last_gradients);
  }
  MemoryComponents step = base;
  step.communication = Bytes(persistent);
  step.workspace += Bytes(states.step_transient);
  const Bytes passes = held;
  consider(step);
  const Bytes at_once = std::max(Bytes(), held - peak.total());
  if (const auto apart = engine.beside_passes(rank, states.step_transient)) held = passes + Bytes(*apart);
  const Bytes beside = std::max(Bytes(), held - peak.total());
  return {peak, beside, std::max(Bytes(), beside - at_once)};
}

/// What the caching allocator holds beside the peak when memory ends.
Bytes least_cached(const StagePeak& peak, const Stack& stack) {
  const double slack = std::min(stack.profile.allocator_slack, kMemoryConstants.fragments_at_limit);
  return peak.components.total() * slack + (peak.apart - peak.released) * kMemoryConstants.idle_at_limit;
}

/// Sums in another order differ by less.
constexpr Bytes kRounding(1);

struct HostBytes {
  double states = 0;
  double activations = 0;
};

}  // namespace

std::span<const MemoryPart> memory_parts() {
  using C = MemoryComponents;
  static constexpr std::array<MemoryPart, 9> kParts{{{"weights", "weights", &C::weights},
                                                     {"gradients", "gradients", &C::gradients},
                                                     {"optimizer", "optimizer states", &C::optimizer},
                                                     {"activations", "activations", &C::activations},
                                                     {"logits", "logits", &C::logits},
                                                     {"communication", "communication buffers", &C::communication},
                                                     {"workspace", "workspace", &C::workspace},
                                                     {"framework", "framework", &C::framework},
                                                     {"reference", "reference model", &C::reference}}};
  return kParts;
}

bool lighter_in_one_pass(const Strategy& strategy, const Stack& stack) {
  return releases_gradients(strategy, stack) || state_engine(strategy, stack).keeps_whole_gradients(stack, true);
}

std::string host_shortfall(const MemoryEstimate& m) {
  const auto sentence = [](const char* what, Bytes needed, Bytes available) {
    return fmt::format("out of {}: offloading needs {} a node, has {}", what, format_bytes(needed),
                       format_bytes(available));
  };
  if (!m.fits_host()) return sentence("host memory", m.host_per_node, m.host_limit);
  if (!m.fits_nvme()) return sentence("NVMe space", m.nvme_per_node, m.nvme_limit);
  return {};
}

MemoryEstimate estimate_memory(const Workload& workload, const Strategy& strategy, const Cluster& cluster,
                               const Stack& stack) {
  return estimate_memory(layer_stack(workload, stack), workload, strategy, cluster, stack);
}

MemoryEstimate estimate_memory(const LayerStack& layers, const Workload& workload, const Strategy& strategy,
                               const Cluster& cluster, const Stack& stack) {
  const Workload& w = workload;
  const Strategy& s = strategy;
  const EdgeParameters whole = edge_parameters(w.architecture);
  const ActivationOptions options = activation_options(w, s, stack);
  const StateWidths b = state_widths(w, s, stack);
  const double tokens = static_cast<double>(w.seq_len) * s.micro_batch / s.context_parallel;
  const double cublas = cublas_bytes(cluster);

  MemoryEstimate out;
  StagePeak first;
  StagePeak most;
  HostBytes host;
  double paged = 0;
  PerKind<double> before{};
  // The ends hold embedding and head. Of ranks between that hold the same layers the first has the most in flight.
  for (std::int32_t stage = 0; stage < s.pipeline_parallel; ++stage) {
    const PerKind<double> held = stage_layers(layers, stage, s.pipeline_parallel);
    if (stage > 1 && stage < s.pipeline_parallel - 1 && held == before && !w.trained_layers) continue;
    before = held;
    const StageLoad load = stage_load(w, s, stack, layers, whole, options, stage);
    const ModelStates states = model_states(load.parameters, w, s, stack);
    const StagePeak peak = stage_peak(load, states, w, s, stack, b, tokens, cublas);
    host.states = std::max(host.states, states.offloaded);
    paged = std::max(paged, states.paged);
    if (s.offload.activations) {
      host.activations = std::max(host.activations, load.in_flight * tokens * load.kept_per_token);
    }
    if (stage == 0) first = peak;
    if (stage == 0 || peak.components.total() > most.components.total()) {
      most = peak;
      out.worst_stage = stage;
    }
  }
  out.limit = cluster.device_memory;
  out.first_stage_allocated = first.components.total();
  out.peak_allocated = most.components.total();
  MemoryComponents worst = most.components;
  worst.communication += Bytes(communicator_bytes(w, s, stack));
  worst.framework = kMemoryConstants.context;
  const Bytes outside = worst.total() - out.peak_allocated;
  const auto cached = [&](const StagePeak& peak) {
    return peak.components.total() * stack.profile.allocator_slack + peak.apart;
  };
  out.components = worst;
  out.components.framework += least_cached(most, stack);
  out.wanted = out.components.total();
  // Before it fails, the caching allocator gives back what it holds but nobody uses (CUDACachingAllocator.cpp).
  const auto reserved = [&](const StagePeak& peak) {
    const Bytes allocated = peak.components.total();
    return allocated + std::clamp(out.limit - outside - allocated - kRounding, Bytes(), cached(peak));
  };
  out.peak_reserved = reserved(most);
  out.first_stage_reserved = reserved(first);
  worst.framework += out.peak_reserved - out.peak_allocated;
  out.peak_device = worst.total();
  // The allocator keeps what it holds: pages of states get what is left, and the host the others.
  out.paged = Bytes(paged);
  const double ranks = cluster.gpus_per_node;
  host.states += std::clamp(out.wanted + out.paged - out.limit, Bytes(), out.paged).value();
  out.host_per_node = Bytes(ranks * (host.activations + (s.offload.to_nvme ? 0 : host.states))) + cluster.host_taken;
  out.nvme_per_node = Bytes(s.offload.to_nvme ? ranks * host.states : 0);
  out.host_limit = std::max(
      Bytes(), cluster.host_memory * (1 - kMemoryConstants.host_overhead) - ranks * kMemoryConstants.host_process);
  out.nvme_limit = cluster.local_nvme;
  return out;
}

}  // namespace smplan
