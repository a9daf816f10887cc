#include "planner/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "models/stage.hpp"

namespace smplan {
namespace {

/// Bounds and estimates add the same numbers in different order; this covers the rounding.
constexpr double kRounding = 1 - 1e-9;

Seconds pass_floor(const PassCosts& costs, const StackProfile& profile) {
  const Seconds device = costs.compute() + exposed(costs.tensor_comm, costs.gemm, profile.tensor_overlap) +
                         exposed(costs.context_comm, costs.attention, profile.context_overlap) +
                         exposed(costs.expert_comm, costs.compute(), profile.expert_overlap);
  return std::max(device, costs.host);
}

template <typename F>
Seconds over_layers(const LayerTable& table, F pass) {
  Seconds sum;
  for (int i = 0; i < table.stack.n_runs; ++i) {
    const auto run = static_cast<std::size_t>(i);
    sum += static_cast<double>(table.stack.runs[run].count) * pass(table.layers[run]);
  }
  return sum;
}

}  // namespace

Seconds table_floor(const LayerTable& table, const StackProfile& profile) {
  const EdgeCosts& e = table.edge;
  return over_layers(table,
                     [&](const LayerCosts& layer) {
                       return pass_floor(layer.forward, profile) + pass_floor(layer.backward, profile);
                     }) +
         pass_floor(e.embedding_forward, profile) + pass_floor(e.embedding_backward, profile) +
         pass_floor(e.head_forward, profile) + pass_floor(e.head_backward, profile);
}

Seconds recompute_floor(const LayerTable& table, const StackProfile& profile) {
  return over_layers(table, [&](const LayerCosts& layer) { return pass_floor(layer.forward, profile); });
}

double straggler_stretch(std::int64_t gpus, const StackProfile& profile) {
  return 1 + profile.straggler * std::log2(static_cast<double>(gpus));
}

double bubble_floor(Schedule schedule, std::int32_t pipeline, std::int32_t chunks) {
  return schedule == Schedule::ZeroBubble ? 0 : static_cast<double>(pipeline - 1) / chunks;
}

Seconds step_floor(Seconds model_time, double micro_batches, std::int32_t pipeline, double bubble, double stretch,
                   const StackProfile& profile) {
  const Seconds host = profile.host_time_step + micro_batches * profile.host_time_micro_batch;
  return (model_time * ((micro_batches + bubble) / pipeline) + host) * (stretch * kRounding);
}

}  // namespace smplan
