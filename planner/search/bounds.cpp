#include "planner/search/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "models/step/stage.hpp"

namespace smplan {
namespace {

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
    sum += static_cast<double>(table.stack.runs[run].count) * pass(table.stack.runs[run].spec, table.layers[run]);
  }
  return sum;
}

}  // namespace

Seconds table_floor(const LayerTable& table, const StackProfile& profile) {
  const EdgeCosts& e = table.edge;
  return over_layers(table,
                     [&](const LayerSpec&, const LayerCosts& layer) {
                       return pass_floor(layer.forward, profile) + pass_floor(layer.backward, profile);
                     }) +
         pass_floor(e.embedding_forward, profile) + pass_floor(e.embedding_backward, profile) +
         pass_floor(e.head_forward, profile) + pass_floor(e.head_backward, profile);
}

Seconds recompute_floor(const LayerTable& table, const Stack& stack) {
  return over_layers(table, [&](const LayerSpec& spec, const LayerCosts& layer) {
    return spec.has_backward() ? pass_floor(replayed(layer, stack), stack.profile) : Seconds();
  });
}

TokenWork token_work(const Workload& w, const StackProfile& profile) {
  constexpr double kFlopsPerWeight = 2;
  const Architecture& a = w.architecture;
  const auto hidden = static_cast<double>(a.hidden);
  const double matrices = a.gated_mlp ? 3 : 2;
  const bool has_shared = a.moe.n_shared_experts > 0;
  TokenWork work;
  for (const LayerRun& run : layer_stack(w)) {
    // Forward, gradient of the input, gradient of the weights.
    const double input = run.spec.has_backward() ? 2 : 1;
    const double passes = input + (trains_weights(w, run.spec) ? 1 : 0);
    const auto layers = static_cast<double>(run.count);
    auto weights = static_cast<double>(active_matmul_parameters(a, run.spec));
    if (run.spec.moe) {
      const double router = hidden * static_cast<double>(a.moe.n_experts);
      const double column = matrices * hidden;
      const double routed_column = matrices * static_cast<double>(a.routed_hidden());
      weights -= router + routed_column * static_cast<double>(a.moe.top_k * a.moe.expert_ffn_hidden) +
                 column * static_cast<double>(a.moe.n_shared_experts * a.moe.shared_expert_ffn_hidden);
      if (a.moe.shared_expert_gate) weights -= hidden;
      work.router += layers * kFlopsPerWeight * input * router;
      // How much routing slows depends on the experts' width; never to less than the stack's own figure or none.
      work.routed += layers * kFlopsPerWeight * passes * routed_column * std::min(1.0, profile.moe_slowdown);
      if (has_shared) work.shared_column += layers * kFlopsPerWeight * passes * column;
    }
    work.cut += layers * kFlopsPerWeight * passes * weights;
  }
  const bool every_token_has_logits = a.kind == ModelKind::Decoder || a.kind == ModelKind::EncoderDecoder;
  const auto predictions = static_cast<double>(a.predictions());
  const bool trains_head = w.finetune == FineTune::Full && w.trains_head();
  const double head_passes = 1 + (w.trains_below_head() ? 1 : 0) + (trains_head ? 1 : 0);
  if (a.vocab > 0 && every_token_has_logits) work.head_column = predictions * kFlopsPerWeight * head_passes * hidden;
  return work;
}

Flops micro_batch_work(const TokenWork& work, const Workload& w, const Split& split, std::int32_t micro_batch) {
  const Architecture& a = w.architecture;
  const auto columns = [&](std::int64_t width) {
    return static_cast<double>(std::max<std::int64_t>(1, width / split.tensor));
  };
  const std::int64_t rows = std::max<std::int64_t>(1, w.computed_seq_len() * micro_batch / split.context);
  const auto tokens = static_cast<double>(rows);
  double per_token = work.cut / split.tensor + work.router + work.head_column * columns(a.vocab);
  if (work.routed <= 0) return Flops(tokens * per_token);
  per_token += work.shared_column * columns(a.moe.n_shared_experts * a.moe.shared_expert_ffn_hidden);
  const std::int64_t experts = std::max<std::int64_t>(1, a.moe.n_experts / split.expert);
  const std::int32_t usual = split.expert > 1 ? 1 : split.tensor;
  const std::int32_t cut = split.expert_tensor > 0 ? split.expert_tensor : usual;
  const double routed = tokens * cut / split.tensor * static_cast<double>(a.moe.top_k);
  const double whole = std::max(1.0, std::floor(routed / static_cast<double>(experts)));
  const auto width = static_cast<double>(std::max<std::int64_t>(1, a.moe.expert_ffn_hidden / cut));
  return Flops(tokens * per_token + whole * static_cast<double>(experts) * width * work.routed);
}

FlopsPerSecond work_rate(const Cluster& cluster, Precision precision, const StackProfile& profile) {
  const AcceleratorProfile& p = cluster.accelerator_profile;
  return cluster.accelerator.peak_rate(precision) *
         (p.gemm_efficiency[static_cast<std::size_t>(precision)] * p.sustained_fraction / profile.gemm_slowdown);
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
  return (model_time * ((micro_batches + bubble) / pipeline) + host) * (stretch * kBoundRounding);
}

}  // namespace smplan
