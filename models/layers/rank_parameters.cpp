#include "models/layers/rank_parameters.hpp"

#include <algorithm>

namespace smplan {

double rank_experts(const Architecture& a, const Strategy& s) {
  return std::max(1.0, static_cast<double>(a.moe.n_experts) / s.expert_parallel);
}

RankParameters layer_rank_parameters(const LayerRun& run, const Strategy& s) {
  const LayerParameters& p = run.parameters;
  const double tensor = s.tensor_parallel;
  const double expert_cut = static_cast<double>(s.expert_parallel) * s.expert_tensor();
  return {.dense = static_cast<double>(p.attention + p.mlp) / tensor + static_cast<double>(p.norms),
          .experts = static_cast<double>(p.experts) / expert_cut};
}

double stage_root_parameters(const Architecture& a, const Strategy& s, std::int32_t stage) {
  const EdgeParameters whole = edge_parameters(a);
  const bool first = stage == 0;
  const bool last = stage == s.pipeline_parallel - 1;
  std::int64_t root = 0;
  if (first) root += whole.embedding + whole.layer_embeddings + whole.extra;
  if (last) root += whole.head;
  // A tied head is the embedding, and what predicts further tokens looks them up.
  if (last && !first && (whole.head == 0 || a.prediction.depth > 0)) root += whole.embedding;
  return static_cast<double>(root) / s.tensor_parallel;
}

double trained_root_parameters(const Workload& w, const Strategy& s, std::int32_t stage) {
  const bool embedding = w.trains_embedding();
  const bool head = w.trains_head();
  if (embedding && head) return stage_root_parameters(w.architecture, s, stage);
  const EdgeParameters whole = edge_parameters(w.architecture);
  std::int64_t root = 0;
  if (embedding && stage == 0) root += whole.embedding + whole.layer_embeddings;
  if (head && stage == s.pipeline_parallel - 1) root += whole.head;
  return static_cast<double>(root) / s.tensor_parallel;
}

RankParameters adapter_rank_parameters(const Architecture& a, const Lora& lora, const Strategy& s) {
  const auto all = static_cast<double>(lora_parameters(a, lora));
  const auto experts = static_cast<double>(expert_lora_parameters(a, lora));
  return {.dense = (all - experts) / s.tensor_parallel,
          .experts = experts / (static_cast<double>(s.expert_parallel) * s.expert_tensor())};
}

namespace {

/// Layers of one stage, of all runs or of those that `chosen` takes.
template <typename Chosen>
RankParameters stage_layer_parameters(const LayerStack& stack, const Strategy& s, std::int32_t stage, Chosen chosen) {
  const PerKind<double> layers = stage_layers(stack, stage, s.pipeline_parallel);
  RankParameters total;
  for (int i = 0; i < stack.n_runs; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const LayerRun& run = stack.runs[index];
    if (!chosen(run)) continue;
    const RankParameters layer = layer_rank_parameters(run, s);
    const double owned = layers[index] / static_cast<double>(run.sharing);
    total.dense += owned * layer.dense;
    total.experts += owned * layer.experts;
  }
  return total;
}

}  // namespace

RankParameters stage_rank_parameters(const Architecture& a, const LayerStack& stack, const Strategy& s,
                                     std::int32_t stage) {
  RankParameters total = stage_layer_parameters(stack, s, stage, [](const LayerRun&) { return true; });
  total.dense += stage_root_parameters(a, s, stage);
  return total;
}

RankParameters stage_updated_parameters(const Workload& w, const LayerStack& stack, const Strategy& s,
                                        std::int32_t stage) {
  RankParameters total =
      stage_layer_parameters(stack, s, stage, [&](const LayerRun& run) { return trains_weights(w, run.spec); });
  total.dense += trained_root_parameters(w, s, stage);
  return total;
}

}  // namespace smplan
