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

RankParameters adapter_rank_parameters(const Architecture& a, const Lora& lora, const Strategy& s) {
  const auto all = static_cast<double>(lora_parameters(a, lora));
  const auto experts = static_cast<double>(expert_lora_parameters(a, lora.rank, lora.targets));
  return {.dense = (all - experts) / s.tensor_parallel,
          .experts = experts / (static_cast<double>(s.expert_parallel) * s.expert_tensor())};
}

RankParameters stage_rank_parameters(const Architecture& a, const LayerStack& stack, const Strategy& s,
                                     std::int32_t stage) {
  const PerKind<double> layers = stage_layers(stack, stage, s.pipeline_parallel);
  RankParameters total;
  for (int i = 0; i < stack.n_runs; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const RankParameters layer = layer_rank_parameters(stack.runs[index], s);
    const double owned = layers[index] / static_cast<double>(stack.runs[index].sharing);
    total.dense += owned * layer.dense;
    total.experts += owned * layer.experts;
  }
  total.dense += stage_root_parameters(a, s, stage);
  return total;
}

}  // namespace smplan
