#include "models/layers.hpp"

#include "base/assert.hpp"

namespace smplan {
namespace {

void add(LayerStack& stack, const LayerSpec& spec, std::int64_t count) {
  if (count == 0) return;
  for (int i = 0; i < stack.n_runs; ++i) {
    if (stack.runs[i].spec == spec) {
      stack.runs[i].count += count;
      return;
    }
  }
  SMPLAN_ASSERT(stack.n_runs < static_cast<int>(stack.runs.size()));
  stack.runs[stack.n_runs++] = {.spec = spec, .count = count};
}

bool is_moe_layer(const Architecture& a, std::int64_t layer) {
  const std::int64_t after_dense = layer - a.moe.n_leading_dense_layers;
  return a.is_moe() && after_dense >= 0 && (after_dense + 1) % a.moe.layer_stride == 0;
}

bool is_windowed_layer(const Architecture& a, std::int64_t layer) {
  if (a.sliding_window == 0) return false;
  return a.sliding_window_stride == 0 || (layer + 1) % a.sliding_window_stride != 0;
}

LayerSpec decoder_layer(const Architecture& a, std::int64_t layer) {
  LayerSpec spec;
  spec.moe = is_moe_layer(a, layer);
  spec.ffn_hidden = spec.moe ? 0 : a.ffn_hidden;
  spec.window = is_windowed_layer(a, layer) ? a.sliding_window : 0;
  return spec;
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
  const bool moe_alternates = a.is_moe() && a.moe.layer_stride > 1;
  const bool window_alternates = a.sliding_window > 0 && a.sliding_window_stride > 1;
  if (!moe_alternates && !window_alternates) {
    // Kinds follow each other: leading dense layers, then one kind.
    const std::int64_t leading = a.is_moe() ? a.moe.n_leading_dense_layers : 0;
    add(stack, decoder_layer(a, 0), leading);
    add(stack, decoder_layer(a, leading), a.n_layers - leading);
    return stack;
  }
  stack.interleaved = true;
  for (std::int64_t layer = 0; layer < a.n_layers; ++layer) add(stack, decoder_layer(a, layer), 1);
  return stack;
}

}  // namespace

std::int64_t LayerStack::total() const {
  std::int64_t sum = 0;
  for (const LayerRun& run : *this) sum += run.count;
  return sum;
}

LayerStack layer_stack(const Architecture& a) {
  LayerStack stack = kinds_of_layers(a);
  for (LayerRun& run : std::span(stack.runs).first(static_cast<std::size_t>(stack.n_runs))) {
    run.parameters = layer_parameters(a, run.spec);
    run.active_matmul = active_matmul_parameters(a, run.spec);
  }
  return stack;
}

LayerStack layer_stack(const Architecture& a, const Stack& software) {
  LayerStack stack = layer_stack(a);
  if (!software.stages_by_weights) return stack;
  double weights = 0;
  for (const LayerRun& run : stack) weights += static_cast<double>(run.count * run.active_matmul);
  stack.head_layers = static_cast<double>(a.vocab * a.hidden) * static_cast<double>(stack.total()) / weights;
  return stack;
}

}  // namespace smplan
