#include "models/layers/flops.hpp"

#include <algorithm>
#include <optional>

namespace smplan {
namespace {

double number(std::int64_t n) { return static_cast<double>(n); }

/// Keys that a query attends to, mean over the positions of a sequence. A causal query at position i sees
/// min(i, window) keys; counted whole, it sees the whole square, or the whole band of a window.
double attended_keys(const LayerSpec& spec, std::int64_t seq_len, AttentionCounting counting) {
  const double s = number(seq_len);
  const double w = spec.window > 0 ? std::min(s, number(spec.window)) : s;
  if (spec.encoder || counting == AttentionCounting::FullSquare) return w;
  return (w * (w + 1) / 2 + (s - w) * w) / s;
}

/// Both products of the core per token and key: scores over the query width, values over the value width.
double core_flops_per_key(const Architecture& a, const LayerSpec& spec) {
  if (a.has_latent_attention()) {
    const LatentAttention& l = a.latent;
    return 2 * number(a.n_heads) * number(l.qk_nope_head_dim + l.qk_rope_head_dim + l.v_head_dim);
  }
  return 4 * number(attention_widths(a, spec).queries());
}

/// A state mixer beside its projections, one token: the state's update and what is read from it, as Megatron-LM counts
/// them (d98e8a6, training/training.py: 7 operations for each element of the state, with the delta rule 8 and the
/// convolution).
double state_flops(const StateMixer& m) {
  const double elements = number(m.values()) * number(m.state_dim);
  if (!m.delta_rule) return 7 * elements;
  return 8 * elements + 2 * number(m.conv_kernel) * number(2 * m.keys() + m.values());
}

struct ForwardFlops {
  double linears = 0;  ///< matrix products with weights, all layers, per token
  double core = 0;     ///< attention cores, all layers, per token
  double states = 0;   ///< state mixers beside their projections, all layers, per token
};

/// Of all layers, or of those of one role.
ForwardFlops forward_flops(const LayerStack& layers, const Architecture& a, std::int64_t seq_len,
                           AttentionCounting counting, std::optional<LayerRole> role = std::nullopt) {
  ForwardFlops sum;
  for (const LayerRun& run : layers) {
    if (role && run.spec.role != *role) continue;
    sum.linears += number(run.count) * 2 * number(run.active_matmul);
    const double between = number(run.count) * attention_core_flops(a, run.spec, seq_len, counting).value();
    (run.spec.mixer == Mixer::State ? sum.states : sum.core) += between;
  }
  return sum;
}

/// Products that only make a layer's output, all layers of a backward pass, per token.
double output_products(const LayerStack& layers, const Workload& w) {
  double sum = 0;
  for (const LayerRun& run : layers) {
    if (!ends_in_product(w, run.spec) || !run.spec.has_backward()) continue;
    sum += number(run.count) * 2 * number(w.architecture.hidden) * number(run.spec.ffn_hidden);
  }
  return sum;
}

/// Products of one module of one layer, per token.
double module_products(const Architecture& a, const LayerSpec& spec, LayerModule module) {
  const MixtureOfExperts& m = a.moe;
  const double products = a.gated_mlp ? 3 : 2;
  const double matrices = products * number(a.hidden);
  const double shared = matrices * number(m.n_shared_experts * m.shared_expert_ffn_hidden);
  switch (module) {
    case LayerModule::LatentUpProjection: {
      const LatentAttention& l = a.latent;
      if (spec.mixer != Mixer::Attention) return 0;
      return 2 * number(a.n_heads) *
             (number(l.q_lora_rank * (l.qk_nope_head_dim + l.qk_rope_head_dim)) +
              number(l.kv_lora_rank * (l.qk_nope_head_dim + l.v_head_dim)));
    }
    case LayerModule::DenseMlp:
      return spec.moe ? 0 : 2 * matrices * number(spec.ffn_hidden);
    case LayerModule::SharedExperts:
      return spec.moe ? 2 * shared : 0;
    case LayerModule::Experts:
      return spec.moe ? 2 * (products * number(a.routed_hidden() * m.top_k * m.expert_ffn_hidden) + shared +
                             number(a.hidden * (m.n_experts + 2 * m.latent_hidden)))
                      : 0;
    case LayerModule::CoreAttention:
    case LayerModule::Norms:
    case LayerModule::ExpertActivation:
      return 0;
  }
  return 0;
}

/// What selective recomputation runs again, all layers, per token: of FSDP's policy by operation every second product,
/// else the modules that the stack names or the attention core.
double selective_flops(const LayerStack& layers, const Workload& w, const Strategy& s, const Stack& stack,
                       const ForwardFlops& forward) {
  if (selects_by_operation(s, stack)) return forward.linears / 2;
  const double core = forward.core;
  if (stack.execution.recompute_modules.empty()) return core;
  double sum = 0;
  stack.execution.recompute_modules.for_each([&](LayerModule module) {
    if (module == LayerModule::CoreAttention) sum += core;
    for (const LayerRun& run : layers) {
      if (run.spec.has_backward()) sum += number(run.count) * module_products(w.architecture, run.spec, module);
    }
    if (module == LayerModule::DenseMlp && stack.checkpoint_stops_early) sum -= output_products(layers, w);
  });
  return sum;
}

}  // namespace

bool ends_in_product(const Workload& w, const LayerSpec& spec) {
  constexpr int kNormsBefore = 2;
  const Architecture& a = w.architecture;
  return spec.ffn_hidden > 0 && a.norms_per_layer <= kNormsBefore && a.final_norm && w.finetune == FineTune::Full;
}

Flops attention_core_flops(const Architecture& a, const LayerSpec& spec, std::int64_t seq_len,
                           AttentionCounting counting) {
  if (spec.mixer != Mixer::Attention) return Flops(spec.mixer == Mixer::State ? state_flops(a.state) : 0);
  double keys = attended_keys(spec, seq_len, counting);
  // Cross-attention sees every position of the encoder, whose input is taken as long as the decoder's.
  if (spec.cross_attention) keys += number(seq_len);
  return Flops(core_flops_per_key(a, spec) * keys);
}

Flops head_forward_flops(const Architecture& a) {
  return Flops(2 * number(a.vocab) * number(a.hidden) * number(a.predictions()));
}

StepFlops step_flops(const Workload& w, Recompute recompute, AttentionCounting counting, Toggle flash_attention) {
  Strategy strategy;
  strategy.recompute = recompute;
  Stack stack;
  stack.flash_attention = flash_attention != Toggle::Off;
  return step_flops(layer_stack(w), w, strategy, 1, stack, counting);
}

// Backward costs twice the forward: gradients of the inputs and of the weights. Frozen weights (LoRA) need
// the former only, and layers below all that is trained neither. Full recomputation repeats the layers' forward;
// selective recomputation, and the backward pass of flash attention by itself, repeats parts of the attention core: all
// of it (2 products) without flash attention, the scores alone (1 product) with it. Sources: Narayanan et al. 2021,
// appendix; Korthikanti et al. 2022, section 5; Dao 2023 (FlashAttention-2), section 3.1.
StepFlops step_flops(const LayerStack& layers, const Workload& w, const Strategy& s, double recomputed_part,
                     const Stack& stack, AttentionCounting counting) {
  const Architecture& a = w.architecture;
  const bool flash = stack.flash_attention;
  ForwardFlops forward = forward_flops(layers, a, w.seq_len, counting);
  for (const LayerRun& run : layers) {
    if (run.spec.mixer != Mixer::Attention) continue;
    forward.core += number(run.count) * core_flops_per_key(a, run.spec) * number(w.keys_before_sequence());
  }
  const double head = w.has_logits() ? head_forward_flops(a).value() : 0;
  const double linears = forward.linears + head;
  double model = 3 * (linears + forward.core + forward.states);
  ForwardFlops reached = forward;  // layers that have a backward pass
  if (w.trained_layers) {
    const ForwardFlops crossed = forward_flops(layers, a, w.seq_len, counting, LayerRole::Crossed);
    const ForwardFlops unreached = forward_flops(layers, a, w.seq_len, counting, LayerRole::Unreached);
    model -= crossed.linears + 2 * (unreached.linears + unreached.core + unreached.states);
    model -= head * ((w.trains_head() ? 0 : 1) + (w.trains_below_head() ? 0 : 1));
    reached = {forward.linears - unreached.linears, forward.core - unreached.core, forward.states - unreached.states};
  }
  double adapters = 0;
  if (w.finetune != FineTune::Full) {
    adapters = 2 * number(active_lora_parameters(a, w.lora));
    model = 2 * linears + 3 * (forward.core + forward.states) + 3 * adapters + (w.trains_head() ? head : 0);
  }
  double repeated = flash ? reached.core / 2 : 0;
  if (s.recompute == Recompute::Full) {
    const double unread = stack.checkpoint_stops_early ? output_products(layers, w) : 0;
    repeated += recomputed_part * (reached.linears - unread + reached.core + reached.states + adapters);
  }
  if (s.recompute == Recompute::Selective) repeated += selective_flops(layers, w, s, stack, reached);
  const double tokens = w.computed_tokens_per_step();
  return {.model = Flops(model * tokens), .hardware = Flops((model + repeated) * tokens)};
}

}  // namespace smplan
