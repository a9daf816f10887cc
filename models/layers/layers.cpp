#include "models/layers/layers.hpp"

#include <algorithm>
#include <span>

#include "base/assert.hpp"

namespace smplan {
namespace {

void add(LayerStack& stack, const LayerSpec& spec, std::int64_t count, std::int64_t sharing = 1) {
  if (count == 0) return;
  for (int i = 0; i < stack.n_runs; ++i) {
    if (stack.runs[i].spec == spec) {
      stack.runs[i].count += count;
      return;
    }
  }
  SMPLAN_ASSERT(stack.n_runs < static_cast<int>(stack.runs.size()));
  stack.runs[stack.n_runs++] = {.spec = spec, .count = count, .sharing = sharing};
}

bool is_moe_layer(const Architecture& a, std::int64_t layer) {
  const std::int64_t after_dense = layer - a.moe.n_leading_dense_layers;
  return a.is_moe() && after_dense >= 0 && (after_dense + 1) % a.moe.layer_stride == 0;
}

bool is_windowed_layer(const Architecture& a, std::int64_t layer) {
  if (a.sliding_window == 0) return false;
  return a.sliding_window_stride == 0 || (layer + 1) % a.sliding_window_stride != 0;
}

/// A layer that is one part alone, by its letter in Architecture::layer_pattern.
LayerSpec pattern_layer(const Architecture& a, char letter) {
  LayerSpec spec{.mixer = Mixer::None};
  if (letter == 'M') spec.mixer = Mixer::State;
  if (letter == '*') spec = {.mixer = Mixer::Attention, .window = a.sliding_window};
  spec.moe = letter == 'E';
  if (letter == '-') spec.ffn_hidden = a.ffn_hidden;
  return spec;
}

LayerSpec decoder_layer(const Architecture& a, std::int64_t layer) {
  LayerSpec spec;
  if (a.attention_stride > 0 && (layer + 1) % a.attention_stride != 0) spec.mixer = Mixer::State;
  spec.moe = is_moe_layer(a, layer);
  spec.ffn_hidden = spec.moe ? 0 : a.ffn_hidden;
  if (spec.mixer == Mixer::Attention && is_windowed_layer(a, layer)) spec.window = a.sliding_window;
  spec.borrows_keys = layer >= a.n_layers - a.shared_key_values.n_layers;
  if (spec.borrows_keys && a.shared_key_values.ffn_hidden > 0) spec.ffn_hidden = a.shared_key_values.ffn_hidden;
  return spec;
}

/// Blocks of attention over all tokens, with the MLP that the last layer has; in a pattern with experts, where it has
/// any.
void add_further_tokens(LayerStack& stack, const Architecture& a) {
  const std::int64_t depth = a.prediction.depth;
  const std::int64_t sharing = a.prediction.shared_block ? depth : 1;
  const auto further = [](LayerSpec spec) {
    spec.further_token = true;
    spec.window = 0;
    return spec;
  };
  if (a.layer_pattern.empty()) {
    LayerSpec last = decoder_layer(a, a.n_layers - 1);
    last.mixer = Mixer::Attention;
    return add(stack, further(last), depth, sharing);
  }
  add(stack, further(pattern_layer(a, '*')), depth, sharing);
  add(stack, further(pattern_layer(a, a.is_moe() ? 'E' : '-')), depth, sharing);
}

LayerStack kinds_of_layers(const Architecture& a) {
  LayerStack stack;
  if (a.kind == ModelKind::EncoderDecoder) {
    add(stack, {.encoder = true, .ffn_hidden = a.ffn_hidden}, a.n_encoder_layers);
    add(stack, {.cross_attention = true, .ffn_hidden = a.ffn_hidden}, a.n_layers);
    return stack;
  }
  if (a.kind != ModelKind::Decoder) {
    add(stack, {.encoder = true, .ffn_hidden = a.ffn_hidden, .window = a.sliding_window}, a.n_layers);
    return stack;
  }
  if (!a.layer_pattern.empty()) {
    stack.interleaved = true;
    for (const char letter : a.layer_pattern) add(stack, pattern_layer(a, letter), 1);
    return stack;
  }
  const bool moe_alternates = a.is_moe() && a.moe.layer_stride > 1;
  const bool window_alternates = a.sliding_window > 0 && a.sliding_window_stride > 1;
  const bool mixer_alternates = a.attention_stride > 1;
  if (!moe_alternates && !window_alternates && !mixer_alternates) {
    // Kinds follow each other: leading dense layers, then one kind, then those that borrow keys.
    const std::int64_t leading = a.is_moe() ? a.moe.n_leading_dense_layers : 0;
    const std::int64_t borrowing = a.shared_key_values.n_layers;
    add(stack, decoder_layer(a, 0), leading);
    add(stack, decoder_layer(a, leading), a.n_layers - leading - borrowing);
    add(stack, decoder_layer(a, a.n_layers - 1), borrowing);
    return stack;
  }
  stack.interleaved = true;
  for (std::int64_t layer = 0; layer < a.n_layers; ++layer) add(stack, decoder_layer(a, layer), 1);
  return stack;
}

/// The layer at a depth of a model that is one row of blocks.
LayerSpec layer_at(const Architecture& a, std::int64_t depth) {
  if (a.kind != ModelKind::Decoder) return {.encoder = true, .ffn_hidden = a.ffn_hidden, .window = a.sliding_window};
  if (!a.layer_pattern.empty()) return pattern_layer(a, a.layer_pattern[static_cast<std::size_t>(depth)]);
  return decoder_layer(a, depth);
}

/// What becomes of the layer at a depth. Backward goes down to the first trained one, or to the embedding.
LayerRole role_at(const Workload& w, std::int64_t depth, std::int64_t total) {
  const TrainedLayers& t = *w.trained_layers;
  const std::int64_t begin = t.begin(total);
  if (depth >= begin && depth < begin + t.blocks) return LayerRole::Trained;
  const bool below = depth < begin || t.blocks == 0;
  return below && !w.trains_embedding() ? LayerRole::Unreached : LayerRole::Crossed;
}

/// The runs again, those of one kind and of two roles apart. Blocks for further tokens are frozen.
void divide_by_role(LayerStack& stack, const Workload& w) {
  const LayerStack whole = stack;
  const std::int64_t total = whole.total();
  stack.runs = {};
  stack.n_runs = 0;
  std::array<std::int64_t, 3> from{};
  std::array<std::int64_t, 3> to{};
  for (std::int64_t depth = 0; depth < total; ++depth) {
    LayerSpec spec = layer_at(w.architecture, depth);
    spec.role = role_at(w, depth, total);
    add(stack, spec, 1);
    const auto role = static_cast<std::size_t>(spec.role);
    if (to[role] == 0) from[role] = depth;
    to[role] = depth + 1;
  }
  for (LayerRun& run : std::span(stack.runs).first(static_cast<std::size_t>(stack.n_runs))) {
    run.from = from[static_cast<std::size_t>(run.spec.role)];
    run.to = to[static_cast<std::size_t>(run.spec.role)];
  }
  for (const LayerRun& run : whole) {
    if (!run.spec.further_token) continue;
    LayerSpec spec = run.spec;
    spec.role = w.trains_below_head() ? LayerRole::Crossed : LayerRole::Unreached;
    add(stack, spec, run.count, run.sharing);
  }
}

/// What every estimate asks of the runs.
LayerStack with_sizes(LayerStack stack, const Architecture& a) {
  for (LayerRun& run : std::span(stack.runs).first(static_cast<std::size_t>(stack.n_runs))) {
    run.parameters = layer_parameters(a, run.spec);
    run.active_matmul = active_matmul_parameters(a, run.spec);
  }
  return stack;
}

LayerStack cut_by(LayerStack stack, const Architecture& a, const Stack& software) {
  if (!software.stages_by_weights) return stack;
  double weights = 0;
  for (const LayerRun& run : stack) weights += static_cast<double>(run.count * run.active_matmul);
  stack.head_layers = static_cast<double>(a.vocab * a.hidden) * static_cast<double>(stack.total()) / weights;
  return stack;
}

std::int64_t first_layer(const LayerStack& stack, std::int64_t total, std::int64_t stage, std::int64_t stages) {
  if (stage == 0) return 0;
  if (stage == stages) return total;
  if (stack.head_layers > 0) {
    // A stage is full with the layer that takes it beyond its share (nanotron, models/base.py).
    const double share = (static_cast<double>(total) + stack.head_layers) / static_cast<double>(stages);
    return std::min(total, static_cast<std::int64_t>(share * static_cast<double>(stage)) + 1);
  }
  // Uneven depth: the spare layers go to the ranks after the first, which has the embedding.
  return total / stages * stage + std::min(stage - 1, total % stages);
}

}  // namespace

AttentionWidths attention_widths(const Architecture& a, const LayerSpec& spec) {
  AttentionWidths out{.n_heads = a.n_heads, .n_kv_heads = a.n_kv_heads, .head_dim = a.head_dim};
  if (spec.window == 0) {
    if (a.global.head_dim > 0) out.head_dim = a.global.head_dim;
    if (a.global.n_kv_heads > 0) out.n_kv_heads = a.global.n_kv_heads;
    if (a.global.keys_are_values) out.projections = 1;
  }
  if (spec.borrows_keys) out.projections = out.made = 0;
  return out;
}

std::int64_t LayerStack::total() const {
  std::int64_t sum = 0;
  for (const LayerRun& run : *this) sum += run.spec.further_token ? 0 : run.count;
  return sum;
}

std::int64_t LayerStack::most_on_a_stage(std::int64_t stages) const {
  std::int64_t further = 0;
  for (const LayerRun& run : *this) further += run.spec.further_token ? run.count : 0;
  return (total() + stages - 1) / stages + further;
}

LayerStack layer_stack(const Architecture& a) {
  LayerStack stack = kinds_of_layers(a);
  add_further_tokens(stack, a);
  return with_sizes(stack, a);
}

LayerStack layer_stack(const Architecture& a, const Stack& software) { return cut_by(layer_stack(a), a, software); }

LayerStack layer_stack(const Workload& w) {
  const Architecture& a = w.architecture;
  if (!w.trained_layers || a.kind == ModelKind::EncoderDecoder) return layer_stack(a);
  LayerStack stack = kinds_of_layers(a);
  add_further_tokens(stack, a);
  divide_by_role(stack, w);
  return with_sizes(stack, a);
}

LayerStack layer_stack(const Workload& w, const Stack& software) {
  return cut_by(layer_stack(w), w.architecture, software);
}

PerKind<double> stage_layers(const LayerStack& stack, std::int32_t stage, std::int32_t stages) {
  PerKind<double> layers{};
  const std::int64_t total = stack.total();
  const std::int64_t begin = first_layer(stack, total, stage, stages);
  const std::int64_t end = first_layer(stack, total, stage + 1, stages);
  std::int64_t run_begin = 0;
  for (int i = 0; i < stack.n_runs; ++i) {
    const LayerRun& run = stack.runs[static_cast<std::size_t>(i)];
    double& here = layers[static_cast<std::size_t>(i)];
    const auto count = static_cast<double>(run.count);
    if (run.spec.further_token) {
      here = stage == stages - 1 ? count : 0;
    } else if (stack.interleaved) {
      const std::int64_t to = run.to > 0 ? run.to : total;
      const std::int64_t inside = std::max<std::int64_t>(0, std::min(end, to) - std::max(begin, run.from));
      here = static_cast<double>(inside) / static_cast<double>(to - run.from) * count;
    } else {
      const std::int64_t run_end = run_begin + run.count;
      const std::int64_t inside = std::min(end, run_end) - std::max(begin, run_begin);
      here = static_cast<double>(std::max<std::int64_t>(0, inside));
      run_begin = run_end;
    }
  }
  return layers;
}

}  // namespace smplan
