#include "models/layers/layer_collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/byte_counter.hpp"

namespace smplan {
namespace {

using testing::byte_counter;
using testing::collective;
using testing::costs_of;
using testing::expert_counter;
using testing::StepCase;

TEST(TensorTraffic, IsTwoAllReducesAPassOrTheGathersAndScattersOfSequenceParallelism) {
  StepCase c = byte_counter();
  c.strategy.tensor_parallel = 4;
  const GroupShape group = group_shapes(c.strategy, c.cluster).tensor;
  const double hidden = 2 * 256 * 64;
  const Seconds reduce = collective(c, CollectiveKind::AllReduce, hidden, group);
  EXPECT_EQ(costs_of(c).forward.tensor_comm, 2 * reduce);
  EXPECT_EQ(costs_of(c).backward.tensor_comm, 2 * reduce);
  c.strategy.sequence_parallel = true;
  const Seconds gather = collective(c, CollectiveKind::AllGather, hidden, group);
  const Seconds scatter = collective(c, CollectiveKind::ReduceScatter, hidden, group);
  EXPECT_EQ(costs_of(c).forward.tensor_comm, 2 * (gather + scatter));
  EXPECT_EQ(costs_of(c).backward.tensor_comm, 2 * (2 * gather + scatter));
}

TEST(TensorTraffic, OfALayerWithWholeExpertsIsThatOfItsAttention) {
  StepCase c = expert_counter();
  c.strategy.tensor_parallel = 4;
  const Seconds cut = costs_of(c, {.moe = true}).forward.tensor_comm;
  c.strategy.expert_parallel = 4;
  EXPECT_EQ(2 * costs_of(c, {.moe = true}).forward.tensor_comm, cut);
  c.workload.architecture.moe.n_shared_experts = 1;
  c.workload.architecture.moe.shared_expert_ffn_hidden = 32;
  EXPECT_EQ(costs_of(c, {.moe = true}).forward.tensor_comm, cut) << "shared experts are cut like a dense layer";
}

TEST(TensorTraffic, TheLastTransferMakesOnlyTheOutput) {
  StepCase c = byte_counter();
  c.strategy.tensor_parallel = 4;
  const GroupShape group = group_shapes(c.strategy, c.cluster).tensor;
  EXPECT_EQ(costs_of(c).unread.tensor_comm, collective(c, CollectiveKind::AllReduce, 2 * 256 * 64, group));
  c.strategy.sequence_parallel = true;
  EXPECT_EQ(costs_of(c).unread.tensor_comm, collective(c, CollectiveKind::ReduceScatter, 2 * 256 * 64, group));
}

TEST(ContextTraffic, OfUlyssesExchangesQueriesKeysValuesAndOutputInBothPasses) {
  StepCase c = byte_counter();
  c.strategy.context_parallel = 2;
  const LayerCosts around = costs_of(c);
  c.stack.execution.context_exchange = ContextExchange::AllToAll;
  const LayerCosts exchanged = costs_of(c);
  const GroupShape group = group_shapes(c.strategy, c.cluster).context;
  const Seconds heads = collective(c, CollectiveKind::AllToAll, 2 * 128 * 64, group);
  const Seconds key_value_heads = collective(c, CollectiveKind::AllToAll, 2 * 128 * 16, group);
  EXPECT_NEAR(exchanged.forward.context_comm.value(), (2 * heads + 2 * key_value_heads).value(), 1e-15);
  EXPECT_EQ(exchanged.backward.context_comm, exchanged.forward.context_comm);
  EXPECT_BYTES(exchanged.forward.elementwise - around.forward.elementwise, 4.0 * 2 * 128 * (64 + 16 + 16 + 64));
  EXPECT_EQ(exchanged.forward.attention, around.forward.attention);
}

TEST(ContextTraffic, TakesKeysAndValuesAroundOnceForwardAndTwiceBackward) {
  StepCase c = byte_counter();
  c.strategy.context_parallel = 2;
  const GroupShape group = group_shapes(c.strategy, c.cluster).context;
  const Seconds around = collective(c, CollectiveKind::AllGather, 2 * 256 * (2 * 2 * 8), group);
  EXPECT_EQ(costs_of(c).forward.context_comm, around);
  EXPECT_EQ(costs_of(c).backward.context_comm, 2 * around);
  c.workload.architecture.latent = {
      .q_lora_rank = 24, .kv_lora_rank = 16, .qk_nope_head_dim = 8, .qk_rope_head_dim = 4, .v_head_dim = 8};
  EXPECT_EQ(costs_of(c).forward.context_comm, collective(c, CollectiveKind::AllGather, 2 * 256 * 8 * 20, group));
}

TEST(ContextTraffic, OfAStateMixerExchangesWhatGoesInAndWhatComesOut) {
  StepCase c = byte_counter();
  c.workload.architecture.state = {
      .n_heads = 16, .head_dim = 8, .n_groups = 4, .state_dim = 16, .conv_kernel = 4, .chunk = 32};
  c.strategy.context_parallel = 2;
  const GroupShape group = group_shapes(c.strategy, c.cluster).context;
  // 2 x 128 values, 2 x 64 keys and queries, 16 steps; 128 values.
  const Seconds in = collective(c, CollectiveKind::AllToAll, 2 * 128 * 400, group);
  const Seconds out = collective(c, CollectiveKind::AllToAll, 2 * 128 * 128, group);
  EXPECT_EQ(costs_of(c, {.mixer = Mixer::State}).forward.context_comm, in + out);
  EXPECT_EQ(costs_of(c, {.mixer = Mixer::State}).backward.context_comm, in + out);
  EXPECT_EQ(costs_of(c, {.mixer = Mixer::None, .ffn_hidden = 160}).forward.context_comm, Seconds());
}

TEST(TensorTraffic, OfAPartAloneIsHalfThatOfALayer) {
  StepCase c = byte_counter();
  c.workload.architecture.state = {
      .n_heads = 16, .head_dim = 8, .n_groups = 4, .state_dim = 16, .conv_kernel = 4, .chunk = 32};
  c.strategy.tensor_parallel = 4;
  const Seconds whole = costs_of(c).forward.tensor_comm;
  for (const LayerSpec& part :
       {LayerSpec{}, LayerSpec{.mixer = Mixer::State}, LayerSpec{.mixer = Mixer::None, .ffn_hidden = 160}}) {
    EXPECT_EQ(2 * costs_of(c, part).forward.tensor_comm, whole);
  }
  c.workload.architecture.moe = {.n_experts = 8, .top_k = 2, .expert_ffn_hidden = 32};
  c.strategy.expert_parallel = 4;
  EXPECT_EQ(costs_of(c, {.mixer = Mixer::None, .moe = true}).forward.tensor_comm, Seconds()) << "whole experts";
}

TEST(ExpertTraffic, DispatchesAndCombinesEveryRoutedTokenInBothPasses) {
  StepCase c = expert_counter();
  c.strategy.expert_parallel = 4;
  c.strategy.data_parallel = 4;
  c.stack.profile.moe_slowdown = 1.5;
  c.stack.deduplicated_dispatch = false;
  const Seconds exchange =
      collective(c, CollectiveKind::AllToAll, 2 * 512 * 64, group_shapes(c.strategy, c.cluster).expert);
  EXPECT_EQ(costs_of(c, {.moe = true}).forward.expert_comm, 2 * exchange * 1.25) << "half of it is staging";
  EXPECT_EQ(costs_of(c, {.moe = true}).backward.expert_comm, 2 * exchange * 1.25);
}

TEST(ExpertTraffic, OfExpertsWithAWidthOfTheirOwnIsThatWidth) {
  StepCase c = expert_counter();
  c.strategy.expert_parallel = 4;
  c.strategy.data_parallel = 4;
  c.workload.architecture.moe.latent_hidden = 16;
  const Seconds exchange =
      collective(c, CollectiveKind::AllToAll, 2 * 512 * 16, group_shapes(c.strategy, c.cluster).expert);
  EXPECT_EQ(costs_of(c, {.moe = true}).forward.expert_comm, 2 * exchange);
}

TEST(ExpertTraffic, BetweenNodesIsSlowedByImbalanceAlone) {
  StepCase c = expert_counter();
  c.workload.architecture.moe.n_experts = 16;
  c.strategy.expert_parallel = 16;
  c.strategy.data_parallel = 16;
  const Seconds even = costs_of(c, {.moe = true}).forward.expert_comm;
  c.stack.profile.moe_slowdown = 1.5;
  EXPECT_EQ(costs_of(c, {.moe = true}).forward.expert_comm, 1.5 * even);
  c.stack.execution.moe_router = MoeRouter::Balanced;
  EXPECT_EQ(costs_of(c, {.moe = true}).forward.expert_comm, even);
}

/// What a deduplicating dispatcher does before it sends: gathers who sends what to whom, and reads it.
Seconds routing_map(const StepCase& c, double bytes) {
  return collective(c, CollectiveKind::AllGather, bytes, group_shapes(c.strategy, c.cluster).expert) + Seconds(bytes);
}

TEST(ExpertTraffic, WithoutCopiesSendsATokenOnceToANode) {
  StepCase c = expert_counter();
  c.workload.architecture.moe.n_experts = 16;
  c.strategy.expert_parallel = 16;
  c.strategy.data_parallel = 16;
  c.stack.deduplicated_dispatch = true;
  const GroupShape both = group_shapes(c.strategy, c.cluster).expert;
  ASSERT_EQ(both.domains(), 2);
  GroupShape inside = both;
  inside.ranks = 8;
  // Two experts are both on the own node for a quarter of the tokens; the other three quarters cross once, not on
  // average once for each pair: 0.75 of what a plain exchange sends. Of the ranks, both are one for a sixteenth of the
  // tokens: 31 of 32 copies are left.
  const auto exchange = [&](double sent) {
    return std::max(collective(c, CollectiveKind::AllToAll, 0.75 * sent, both),
                    collective(c, CollectiveKind::AllToAll, sent * 31 / 32, inside));
  };
  // One way the probabilities of the eight experts of a node go along, four bytes each.
  const Seconds exchanges = exchange(512 * (2 * 64 + 4 * 8)) + exchange(512 * 2 * 64);
  const LayerCosts costs = costs_of(c, {.moe = true});
  EXPECT_EQ(costs.backward.expert_comm, exchanges);
  EXPECT_DOUBLE_EQ(costs.forward.expert_comm.value(), (routing_map(c, 256 * 16 * 16) + exchanges).value());
}

TEST(ExpertTraffic, WithoutCopiesSendsATokenOnceToARank) {
  StepCase c = expert_counter();
  c.strategy.expert_parallel = 4;
  c.strategy.data_parallel = 4;
  c.stack.deduplicated_dispatch = true;
  // Two experts on four ranks are on one for a quarter of the tokens: 7 of 8 copies are left.
  const GroupShape group = group_shapes(c.strategy, c.cluster).expert;
  const Seconds there = collective(c, CollectiveKind::AllToAll, 512 * (2 * 64 + 4 * 8) * 7. / 8, group);
  const Seconds back = collective(c, CollectiveKind::AllToAll, 512 * 2 * 64 * 7. / 8, group);
  const LayerCosts costs = costs_of(c, {.moe = true});
  EXPECT_EQ(costs.backward.expert_comm, there + back);
  EXPECT_DOUBLE_EQ(costs.forward.expert_comm.value(), (routing_map(c, 256 * 4 * 8) + there + back).value());
}

TEST(ExpertTraffic, AcrossARackKeepsToTheSpeedOfTheLinksWithoutCopiesOnly) {
  const auto exchange = [](std::int32_t ranks, bool deduplicated, double slowdown) {
    StepCase c = expert_counter();
    c.workload.architecture.moe.n_experts = 16;
    c.cluster.nodes = 2;
    c.cluster.fabric.domain_size = 72;
    c.strategy.expert_parallel = ranks;
    c.strategy.data_parallel = 16;
    c.stack.deduplicated_dispatch = deduplicated;
    c.stack.profile.moe_slowdown = slowdown;
    return costs_of(c, {.moe = true}).backward.expert_comm;
  };
  EXPECT_EQ(exchange(16, true, 2), exchange(16, true, 1));
  EXPECT_EQ(exchange(8, true, 2), 1.5 * exchange(8, true, 1));
  EXPECT_EQ(exchange(16, false, 2), 1.5 * exchange(16, false, 1));
}

}  // namespace
}  // namespace smplan
