#include "models/layers/layer_inputs.hpp"

#include <algorithm>

namespace smplan {
namespace {

/// Grouped products take each expert's rows in whole blocks: 32 values share a scale (OCP microscaling formats).
constexpr std::int64_t kGroupRows = 32;

}  // namespace

Slice make_slice(const Workload& w, const Strategy& s) {
  const Architecture& a = w.architecture;
  Slice slice;
  slice.m = std::max<std::int64_t>(1, w.seq_len * s.micro_batch / s.context_parallel);
  slice.tokens = static_cast<double>(slice.m);
  slice.tensor = s.tensor_parallel;
  slice.norm_tokens = s.sequence_parallel ? slice.tokens / static_cast<double>(slice.tensor) : slice.tokens;
  slice.heads = std::max<std::int64_t>(1, a.n_heads / slice.tensor);
  return slice;
}

AttentionWidths rank_widths(const LayerInputs& in) {
  AttentionWidths out = attention_widths(in.workload.architecture, in.spec);
  out.n_heads = in.slice.heads;
  out.n_kv_heads = std::max<std::int64_t>(1, out.n_kv_heads / in.slice.tensor);
  return out;
}

bool overlaps(const TensorRanks& r, const Stack& stack) {
  const bool any_to_any =
      r.fabric == FabricKind::Nvswitch || r.fabric == FabricKind::FullMesh || r.fabric == FabricKind::NeuronLink;
  const bool taken = r.sequence_parallel && r.precision != Precision::Fp4 && !r.latent_attention;
  return any_to_any && r.one_domain && (taken || !stack.userbuffers);
}

double tensor_overlap(const Workload& workload, const Strategy& strategy, const Groups& groups, const Cluster& cluster,
                      const Stack& stack) {
  const TensorRanks ranks{.fabric = cluster.fabric.kind,
                          .one_domain = groups.tensor.domains() == 1,
                          .sequence_parallel = strategy.sequence_parallel,
                          .latent_attention = workload.architecture.has_latent_attention(),
                          .precision = workload.precision};
  return overlaps(ranks, stack) ? stack.profile.tensor_overlap : 0;
}

std::int64_t LayerInputs::ring_parts() const {
  const bool parts = stack.userbuffers || stack.execution.tensor_overlap == TensorOverlap::Async;
  return parts && tensor_overlap(workload, strategy, groups, cluster, stack) > 0 ? slice.tensor : 1;
}

/// The tensor-parallel ranks bring a slice of the tokens each; the ranks that cut one expert bring theirs together.
ExpertSlice make_expert_slice(const LayerInputs& in) {
  const MixtureOfExperts& moe = in.workload.architecture.moe;
  const Strategy& s = in.strategy;
  ExpertSlice e;
  const double cut = s.expert_tensor();
  const double local_tokens = in.slice.tokens * cut / static_cast<double>(in.slice.tensor);
  e.experts = std::max<std::int64_t>(1, moe.n_experts / s.expert_parallel);
  e.routed = local_tokens * static_cast<double>(moe.top_k);
  const auto tokens = static_cast<std::int64_t>(e.routed / static_cast<double>(e.experts));
  e.tokens_per_expert = std::max<std::int64_t>(1, (tokens + kGroupRows - 1) / kGroupRows) * kGroupRows;
  e.width = std::max<std::int64_t>(1, moe.expert_ffn_hidden / s.expert_tensor());
  return e;
}

}  // namespace smplan
