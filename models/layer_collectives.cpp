#include "models/layer_collectives.hpp"

#include <algorithm>
#include <cmath>

#include "models/collectives.hpp"
#include "models/compute.hpp"

namespace smplan {
namespace {

constexpr double kHalfBytes = 2;  // of activations

Seconds transfer(const LayerInputs& in, CollectiveKind kind, Bytes bytes, const GroupShape& group) {
  return collective_time(kind, bytes, group, in.cluster, in.strategy.collectives).time;
}

/// Queries, keys, values and the output change hands one by one, and backward their gradients; each is laid out anew
/// before and after (TransformerEngine 2, attention/dot_product_attention/context_parallel.py).
void add_head_exchange(LayerCosts& costs, const LayerInputs& in) {
  for (const std::int64_t heads : {in.slice.heads, in.slice.kv_heads, in.slice.kv_heads, in.slice.heads}) {
    const Bytes tensor(kHalfBytes * in.slice.tokens * static_cast<double>(heads * in.workload.architecture.head_dim));
    const Seconds exchange = transfer(in, CollectiveKind::AllToAll, tensor, in.groups.context);
    constexpr double kReadAndWrittenTwice = 4;
    const Seconds copies =
        streaming_time(kReadAndWrittenTwice * tensor, in.cluster.accelerator, in.cluster.accelerator_profile);
    for (PassCosts* pass : {&costs.forward, &costs.backward}) {
      pass->context_comm += exchange;
      pass->elementwise += copies;
    }
  }
}

/// Nodes or ranks other than its own that a token's experts lie on, of `n` equally likely ones.
double remote_copies(double n, double top_k) { return (n - 1) * (1 - std::pow(1 - 1 / n, top_k)); }

/// One exchange of the routed tokens between expert ranks. A plain all-to-all sends a token once for
/// each of its experts; a deduplicating dispatcher sends it once to each node and from there once to
/// each rank (DeepEP, HybridEP).
Seconds expert_exchange(const LayerInputs& in) {
  const ExpertSlice e = make_expert_slice(in);
  // Of the tokens that the cut experts see, each rank brings its share.
  const Bytes sent(kHalfBytes * e.routed * static_cast<double>(in.workload.architecture.hidden) /
                   in.strategy.expert_tensor());
  const auto exchanged = [&](Bytes bytes, const GroupShape& group) {
    return transfer(in, CollectiveKind::AllToAll, bytes, group);
  };
  if (!in.stack.deduplicated_dispatch) return exchanged(sent, in.groups.expert);
  const auto top_k = static_cast<double>(in.workload.architecture.moe.top_k);
  const auto kept = [top_k](double n) { return remote_copies(n, top_k) / (top_k * (1 - 1 / n)); };
  const Bytes once_a_rank = sent * kept(static_cast<double>(in.groups.expert.ranks));
  const auto domains = static_cast<double>(in.groups.expert.domains());
  if (domains == 1) return exchanged(once_a_rank, in.groups.expert);
  GroupShape inside = in.groups.expert;
  inside.ranks = in.groups.expert.per_domain;
  return std::max(exchanged(sent * kept(domains), in.groups.expert), exchanged(once_a_rank, inside));
}

/// Ranks that cut one expert gather the tokens routed to it and scatter its output (Megatron Core's token dispatcher).
Seconds expert_tensor_exchange(const LayerInputs& in) {
  const ExpertSlice e = make_expert_slice(in);
  const Bytes gathered(kHalfBytes * e.routed * static_cast<double>(in.workload.architecture.hidden));
  const auto once = [&](CollectiveKind kind) { return transfer(in, kind, gathered, in.groups.expert_tensor); };
  return once(CollectiveKind::AllGather) + once(CollectiveKind::ReduceScatter);
}

/// What staging, imbalance and the slowest card make of an exchange. Over more ranks of a rack than a node has, each
/// with few experts to sort for, a deduplicating dispatcher writes straight into the others' memory and keeps to the
/// speed of the links. Chosen among no such case, all of a rack and all of one NVLink domain by what is left out of the
/// fit: sources 13.2 %, 13.2 and 13.2, this 13.1; Megatron-Bridge 12.7 %, 12.2 and 13.2, this 11.2.
double exchange_slowdown(const LayerInputs& in) {
  constexpr std::int64_t kNode = 8;
  const GroupShape& group = in.groups.expert;
  const bool across_a_rack = group.domains() == 1 && group.ranks > kNode;
  return across_a_rack && in.stack.deduplicated_dispatch ? 1 : in.stack.profile.moe_slowdown;
}

}  // namespace

Seconds add_tensor_comm(LayerCosts& costs, const LayerInputs& in) {
  if (in.strategy.tensor_parallel == 1) return Seconds();
  const Bytes buffer(kHalfBytes * in.slice.tokens * static_cast<double>(in.workload.architecture.hidden));
  const bool experts_are_cut = in.strategy.expert_parallel == 1 && in.strategy.expert_tensor() > 1;
  const bool mlp_is_cut = !in.spec.moe || experts_are_cut || in.workload.architecture.moe.n_shared_experts > 0;
  const double blocks = mlp_is_cut ? 2 : 1;
  if (in.strategy.sequence_parallel) {
    const Seconds gather = transfer(in, CollectiveKind::AllGather, buffer, in.groups.tensor);
    const Seconds scatter = transfer(in, CollectiveKind::ReduceScatter, buffer, in.groups.tensor);
    costs.forward.tensor_comm += blocks * (gather + scatter);
    costs.backward.tensor_comm += blocks * (2 * gather + scatter);
    return scatter;
  }
  const Seconds reduce = transfer(in, CollectiveKind::AllReduce, buffer, in.groups.tensor);
  costs.forward.tensor_comm += blocks * reduce;
  costs.backward.tensor_comm += blocks * reduce;
  return reduce;
}

void add_context_comm(LayerCosts& costs, const LayerInputs& in) {
  if (in.strategy.context_parallel == 1) return;
  const Architecture& a = in.workload.architecture;
  if (in.stack.all_to_all_context && !a.has_latent_attention()) {
    add_head_exchange(costs, in);
    return;
  }
  const double kv_width = a.has_latent_attention()
                              ? static_cast<double>(in.slice.heads * (a.latent.qk_nope_head_dim +
                                                                      a.latent.qk_rope_head_dim + a.latent.v_head_dim))
                              : static_cast<double>(2 * in.slice.kv_heads * a.head_dim);
  const Bytes gathered(kHalfBytes * in.slice.tokens * in.strategy.context_parallel * kv_width);
  const Seconds around = transfer(in, CollectiveKind::AllGather, gathered, in.groups.context);
  costs.forward.context_comm += around;
  costs.backward.context_comm += 2 * around;
}

void add_expert_comm(LayerCosts& costs, const LayerInputs& in) {
  if (in.strategy.expert_parallel == 1) return;
  const Seconds exchange = 2 * expert_exchange(in) * exchange_slowdown(in) + expert_tensor_exchange(in);
  costs.forward.expert_comm += exchange;
  costs.backward.expert_comm += exchange;
}

}  // namespace smplan
