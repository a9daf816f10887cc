#include "models/layers/layer_collectives.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "models/machine/collectives.hpp"
#include "models/machine/compute.hpp"

namespace smplan {
namespace {

Seconds transfer(const LayerInputs& in, CollectiveKind kind, Bytes bytes, const GroupShape& group) {
  return collective_time(kind, bytes, group, in.cluster, in.strategy.collectives).time;
}

/// Tensors of so many values a token change hands one by one, and backward their gradients; each is laid out anew
/// before and after (TransformerEngine 2, attention/dot_product_attention/context_parallel.py).
void add_head_exchange(LayerCosts& costs, const LayerInputs& in, std::initializer_list<std::int64_t> widths) {
  for (const std::int64_t width : widths) {
    const Bytes tensor(tensor_bytes(in.workload.precision) * in.slice.tokens * static_cast<double>(width));
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
/// each rank (DeepEP, HybridEP), with `beside` more bytes.
Seconds expert_exchange(const LayerInputs& in, double beside) {
  const ExpertSlice e = make_expert_slice(in);
  const auto hidden = static_cast<double>(in.workload.architecture.routed_hidden());
  // Of the tokens that the cut experts see, each rank brings its share.
  const Bytes sent((tensor_bytes(in.workload.precision) * hidden + beside) * e.routed / in.strategy.expert_tensor());
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

/// With a token go, in fp32, its probabilities of all experts of the NVLink domain that it goes to, and backward their
/// gradients come with it (HybridEP of deepseek-ai/DeepEP, csrc/hybrid_ep/executor: expert_output_prob).
double probability_bytes(const LayerInputs& in) {
  if (!in.stack.deduplicated_dispatch) return 0;
  constexpr double kFullBytes = 4;
  return kFullBytes * static_cast<double>(in.workload.architecture.moe.n_experts) /
         static_cast<double>(in.groups.expert.domains());
}

/// Before the first exchange each rank gathers which tokens of all ranks go to which experts, a byte for each pair, and
/// reads that to lay out what it will receive (the same, allgather_routing_map and metadata_preprocess_core).
Seconds routing_map_time(const LayerInputs& in) {
  if (!in.stack.deduplicated_dispatch) return Seconds();
  const std::int64_t pairs = in.groups.expert.ranks * in.workload.architecture.moe.n_experts;
  const Bytes map(in.slice.norm_tokens * static_cast<double>(pairs));
  return transfer(in, CollectiveKind::AllGather, map, in.groups.expert) + in.clock.copy(map);
}

/// Ranks that cut one expert gather the tokens routed to it and scatter its output (Megatron Core's token dispatcher).
Seconds expert_tensor_exchange(const LayerInputs& in) {
  const ExpertSlice e = make_expert_slice(in);
  const Bytes gathered(tensor_bytes(in.workload.precision) * e.routed *
                       static_cast<double>(in.workload.architecture.routed_hidden()));
  const auto once = [&](CollectiveKind kind) { return transfer(in, kind, gathered, in.groups.expert_tensor); };
  return once(CollectiveKind::AllGather) + once(CollectiveKind::ReduceScatter);
}

/// What staging, imbalance and the slowest card make of an exchange. Inside an NVLink domain staging is what is left;
/// between nodes the network paces tokens that are dealt out evenly, and the slowest card others. Over more ranks of a
/// rack than a node has, each with few experts to sort for, a deduplicating dispatcher writes straight into the others'
/// memory and keeps to the speed of the links.
double exchange_slowdown(const LayerInputs& in) {
  constexpr std::int64_t kNode = 8;
  const GroupShape& group = in.groups.expert;
  const bool one_domain = group.domains() == 1;
  if (in.stack.deduplicated_dispatch && one_domain && group.ranks > kNode) return 1;
  const double slowdown = in.stack.profile.moe_slowdown;
  if (one_domain) return 1 + in.stack.profile.staged_exchange * (slowdown - 1);
  return in.stack.execution.moe_router == MoeRouter::Balanced ? 1 : slowdown;
}

}  // namespace

Seconds add_tensor_comm(LayerCosts& costs, const LayerInputs& in) {
  if (in.strategy.tensor_parallel == 1) return Seconds();
  const Bytes buffer(tensor_bytes(in.workload.precision) * in.slice.tokens *
                     static_cast<double>(in.workload.architecture.hidden));
  const bool experts_are_cut = in.strategy.expert_parallel == 1 && in.strategy.expert_tensor() > 1;
  const bool experts_alone = in.spec.moe && !experts_are_cut && in.workload.architecture.moe.n_shared_experts == 0;
  const int blocks = in.spec.parts() - (experts_alone ? 1 : 0);
  if (blocks == 0) return Seconds();
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
  if (in.strategy.context_parallel == 1 || in.spec.mixer == Mixer::None) return;
  const Architecture& a = in.workload.architecture;
  if (in.spec.mixer == Mixer::State) {
    // A running state needs the whole sequence (Megatron Core, ssm/mamba_context_parallel.py).
    add_head_exchange(costs, in, {state_mixer_inputs(a.state) / in.slice.tensor, a.state.values() / in.slice.tensor});
    return;
  }
  if (in.stack.execution.context_exchange == ContextExchange::AllToAll && !a.has_latent_attention()) {
    const AttentionWidths heads = rank_widths(in);
    add_head_exchange(costs, in, {heads.queries(), heads.keys(), heads.keys(), heads.queries()});
    return;
  }
  const double kv_width = a.has_latent_attention()
                              ? static_cast<double>(in.slice.heads * (a.latent.qk_nope_head_dim +
                                                                      a.latent.qk_rope_head_dim + a.latent.v_head_dim))
                              : static_cast<double>(2 * rank_widths(in).keys());
  const Bytes gathered(tensor_bytes(in.workload.precision) * in.slice.tokens * in.strategy.context_parallel * kv_width);
  const Seconds around = transfer(in, CollectiveKind::AllGather, gathered, in.groups.context);
  costs.forward.context_comm += around;
  costs.backward.context_comm += 2 * around;
}

void add_expert_comm(LayerCosts& costs, const LayerInputs& in) {
  if (in.strategy.expert_parallel == 1) return;
  const Seconds exchanges = expert_exchange(in, probability_bytes(in)) + expert_exchange(in, 0);
  const Seconds both = exchanges * exchange_slowdown(in) + expert_tensor_exchange(in);
  costs.forward.expert_comm += routing_map_time(in) + both;
  costs.backward.expert_comm += both;
}

}  // namespace smplan
