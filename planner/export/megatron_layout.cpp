#include <utility>
#include <vector>

#include <fmt/format.h>

#include "planner/export/megatron.hpp"

namespace smplan {
namespace {

/// How many of `whole` the `turn`th of `parts` has: spare ones go to the first.
std::int64_t part(std::int64_t whole, std::int64_t parts, std::int64_t turn) {
  return whole / parts + (turn < whole % parts ? 1 : 0);
}

/// Layers of each pipeline chunk, in depth order. As the models cut: what is left over goes to the ranks, and to the
/// chunks, after the first with its embedding.
std::vector<std::int64_t> chunk_layers(const TrainingPlan& plan) {
  const std::int64_t ranks = plan.strategy.pipeline_parallel;
  const std::int64_t chunks = plan.strategy.virtual_pipeline;
  std::vector<std::int64_t> layers;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const std::int64_t of_rank = part(plan.model.n_layers, ranks, rank == 0 ? ranks - 1 : rank - 1);
      layers.push_back(part(of_rank, chunks, rank == 0 ? chunks - 1 - chunk : chunk));
    }
  }
  return layers;
}

bool is_patterned(const TrainingPlan& plan) { return !plan.model.layer_pattern.empty(); }

}  // namespace

std::string megatron_pattern(const TrainingPlan& plan) {
  if (!is_patterned(plan)) return {};
  const Architecture& a = plan.model;
  std::string out;
  std::size_t at = 0;
  bool first = true;
  for (const std::int64_t layers : chunk_layers(plan)) {
    if (!std::exchange(first, false)) out.push_back('|');
    out += a.layer_pattern.substr(at, static_cast<std::size_t>(layers));
    at += static_cast<std::size_t>(layers);
  }
  for (std::int64_t depth = 0; depth < a.prediction.depth; ++depth) out += a.is_moe() ? "/*E" : "/*-";
  return out;
}

std::string megatron_layout(const TrainingPlan& plan) {
  const std::int64_t chunks = std::int64_t{plan.strategy.pipeline_parallel} * plan.strategy.virtual_pipeline;
  if (is_patterned(plan) || plan.model.n_layers % chunks == 0) return {};
  std::string out;
  for (const std::int64_t layers : chunk_layers(plan)) {
    out += out.empty() ? "E" : "|";
    if (layers > 0) out += fmt::format("t*{}", layers);
  }
  return out + "L";
}

}  // namespace smplan
