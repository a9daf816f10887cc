#include "models/layers/state_mixer.hpp"

#include <gtest/gtest.h>

#include "models/layers/flops.hpp"
#include "models/layers/layers.hpp"
#include "tests/support/byte_counter.hpp"

namespace smplan {
namespace {

using testing::byte_counter;
using testing::costs_of;
using testing::expert_counter;
using testing::product;
using testing::StepCase;

constexpr LayerSpec kMixer{.mixer = Mixer::State};
constexpr LayerSpec kAttention{};
constexpr LayerSpec kMlp{.mixer = Mixer::None, .ffn_hidden = 160};

/// 128 values, 64 keys; a state of 2048 elements every 32 tokens.
constexpr StateMixer kMamba{
    .n_heads = 16, .head_dim = 8, .n_groups = 4, .state_dim = 16, .conv_kernel = 4, .chunk = 32};

StateMixer delta() {
  StateMixer m = kMamba;
  m.delta_rule = true;
  return m;
}

StepCase hybrid_counter(const StateMixer& mixer = kMamba) {
  StepCase c = byte_counter();
  c.workload.architecture.state = mixer;
  c.cluster.accelerator.sm_count = 0;  // memory alone takes time
  c.strategy.micro_batch = 1;
  c.workload.seq_len = 256;
  return c;
}

TEST(StateMixer, MovesItsTensorsAsOftenAsItsKernelsReadAndWriteThem) {
  // Of a token: 128 values, 64 keys, 2048 / 32 elements of a state, 4 groups by 32 tokens of a chunk, 16 heads.
  EXPECT_DOUBLE_EQ(state_mixer_traffic(kMamba, Pass::Forward).value(),
                   18 * 128 + 16 * 64 + 12 * 64 + 8 * 128 + 10 * 16);
  EXPECT_DOUBLE_EQ(state_mixer_traffic(kMamba, Pass::Backward).value(),
                   48 * 128 + 54 * 64 + 36 * 64 + 24 * 128 + 28 * 16);
  // The delta rule has keys for each of the 16 heads, and its chunk's system too.
  EXPECT_DOUBLE_EQ(state_mixer_traffic(delta(), Pass::Forward).value(),
                   22 * 128 + 26 * 256 + 12 * 64 + 4 * 64 + 12 * 512 + 12 * 16);
  EXPECT_GT(state_mixer_traffic(delta(), Pass::Backward), state_mixer_traffic(delta(), Pass::Forward));
}

TEST(StateMixer, MovesLessTheFewerStatesItWrites) {
  StateMixer seldom = kMamba;
  seldom.chunk = 64;
  const double fewer =
      state_mixer_traffic(kMamba, Pass::Forward).value() - state_mixer_traffic(seldom, Pass::Forward).value();
  EXPECT_DOUBLE_EQ(fewer, 12 * 32 - 8 * 128) << "half of the states, twice the pairs";
}

TEST(StateMixer, IsTwoProductsAndTheTrafficBetweenThem) {
  const StepCase c = hybrid_counter();
  const LayerCosts costs = costs_of(c, kMixer);
  const double columns = 2 * 128 + 2 * 64 + 16;
  EXPECT_BYTES(costs.forward.gemm, product(256, columns, 64) + product(256, 64, 128));
  // One norm of the two that this model's layers have would go with an MLP; both count here. A residual reads two and
  // writes one.
  const double around = 2 * 256 * 64 * (2 * 2 + 3);
  EXPECT_BYTES(costs.forward.elementwise, 256 * state_mixer_traffic(kMamba, Pass::Forward).value() + around);
  EXPECT_EQ(costs.forward.attention, Seconds());
}

TEST(StateMixer, IsCutByTensorRanks) {
  StepCase c = hybrid_counter();
  const LayerCosts whole = costs_of(c, kMixer);
  c.strategy.tensor_parallel = 4;
  c.strategy.sequence_parallel = true;
  EXPECT_NEAR(costs_of(c, kMixer).forward.elementwise / whole.forward.elementwise, 0.25, 1e-12);
}

TEST(StateMixer, KeepsMultiprocessorsBusyBeforeItWaitsForMemory) {
  StepCase c = hybrid_counter();
  c.cluster.accelerator.memory_bandwidth = BytesPerSecond(1e30);
  c.cluster.accelerator.sm_count = 2;
  const double bytes = 256 * state_mixer_traffic(kMamba, Pass::Forward).value();
  EXPECT_NEAR(costs_of(c, kMixer).forward.elementwise.value(), bytes / 20e9, 1e-12);
  c.workload.architecture.state = delta();
  const double systems = 256 * state_mixer_traffic(delta(), Pass::Forward).value();
  EXPECT_NEAR(costs_of(c, kMixer).forward.elementwise.value(), systems / 5e9, 1e-12) << "triangular systems";
}

TEST(StateMixer, LaysSequencesOutAnewWhereSeveralLieSideBySide) {
  StepCase c = hybrid_counter();
  const Seconds one = costs_of(c, kMixer).forward.elementwise;
  c.strategy.micro_batch = 2;
  c.workload.seq_len = 128;
  EXPECT_BYTES(costs_of(c, kMixer).forward.elementwise - one, 4. * 256 * (400 + 128));
  c.stack.sequence_parallel = false;
  EXPECT_EQ(costs_of(c, kMixer).forward.elementwise, one) << "Transformers' models have them one after the other";
}

TEST(PartsOfALayer, AddUpToTheWhole) {
  StepCase c = byte_counter();
  c.workload.architecture.norms_per_layer = 1;
  const LayerCosts attention = costs_of(c, kAttention);
  const LayerCosts mlp = costs_of(c, kMlp);
  c.workload.architecture.norms_per_layer = 2;
  const LayerCosts whole = costs_of(c);
  EXPECT_NEAR((attention.forward.gemm + mlp.forward.gemm) / whole.forward.gemm, 1, 1e-12);
  EXPECT_NEAR((attention.backward.elementwise + mlp.backward.elementwise) / whole.backward.elementwise, 1, 1e-12);
  EXPECT_EQ(attention.forward.attention, whole.forward.attention);
}

TEST(PartsOfALayer, ShareTheTimeOfTheHost) {
  StepCase c = byte_counter();
  c.stack.profile.host_time_dense_layer = microseconds(1000);
  c.stack.profile.host_time_moe_layer = microseconds(3000);
  const auto host = [&](LayerSpec spec) { return costs_of(c, spec).forward.host.value() * 1e3; };
  EXPECT_DOUBLE_EQ(host(kAttention), 0.5);
  EXPECT_DOUBLE_EQ(host(kMlp), 0.5);
  c.workload.architecture.moe = {.n_experts = 8, .top_k = 2, .expert_ffn_hidden = 32};
  EXPECT_DOUBLE_EQ(host({.mixer = Mixer::None, .moe = true}), 2.5);
}

TEST(LatentExperts, WorkInTheirOwnWidthBetweenTwoProjections) {
  StepCase c = expert_counter();
  const LayerSpec experts{.mixer = Mixer::None, .moe = true};
  c.workload.architecture.moe.latent_hidden = 16;
  // 256 tokens by two of eight experts: 64 rows each.
  const double routed = 8 * (product(64, 64, 16) + product(64, 16, 32));
  EXPECT_BYTES(costs_of(c, experts).forward.gemm,
               product(256, 8, 64) + routed + product(256, 16, 64) + product(256, 64, 16));
}

TEST(GatedAttention, MakesAGateForEveryQueryValue) {
  StepCase c = byte_counter();
  const LayerCosts plain = costs_of(c, kAttention);
  c.workload.architecture.attention_output_gate = true;
  const LayerCosts gated = costs_of(c, kAttention);
  EXPECT_BYTES(gated.forward.gemm - plain.forward.gemm, product(256, 160, 64) - product(256, 96, 64));
  EXPECT_BYTES(gated.forward.elementwise - plain.forward.elementwise, 2. * 3 * 256 * 64);
}

TEST(FurtherTokens, JoinAnEmbeddingAndPassTheHeadAgain) {
  StepCase c = byte_counter();
  LayerSpec block = kAttention;
  const LayerCosts plain = costs_of(c, block);
  block.further_token = true;
  EXPECT_BYTES(costs_of(c, block).forward.gemm - plain.forward.gemm, product(256, 64, 128));
  const EdgeCosts once = testing::edges_of(c);
  c.workload.architecture.prediction.depth = 2;
  EXPECT_EQ(testing::edges_of(c).head_forward.gemm, 3 * once.head_forward.gemm);
  EXPECT_EQ(testing::edges_of(c).embedding_forward.elementwise, once.embedding_forward.elementwise);
}

struct PublishedRate {
  const char* model;
  double tflops_per_gpu;
  double tokens_per_s_per_gpu;
};

class HybridFlops : public ::testing::TestWithParam<PublishedRate> {};

// NVIDIA states both of each run (Megatron-Bridge, docs/performance-summary.md, containers 26.04.01 and 26.08): model
// FLOPs of a token are their ratio. Nano is not among them: Megatron takes its mixers for twice the hidden width, 31 %
// wider than they are (training/training.py, d_in).
TEST_P(HybridFlops, AreThoseThatNvidiaCounts) {
  Workload w;
  w.architecture = testing::step_catalog().find_model(GetParam().model)->architecture;
  w.seq_len = 8192;
  w.global_batch = 1;
  const double counted = step_flops(w, Recompute::None, AttentionCounting::CausalHalf).model.value() / 8192;
  EXPECT_NEAR(counted / (1e12 * GetParam().tflops_per_gpu / GetParam().tokens_per_s_per_gpu), 1, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Nemotron3, HybridFlops,
                         ::testing::Values(PublishedRate{"nemotron-3-super-120b-a12b", 795, 9344},
                                           PublishedRate{"nemotron-3-ultra-550b-a55b", 1281, 3552}),
                         [](const auto& info) { return std::string(info.param.model).substr(11, 5); });

}  // namespace
}  // namespace smplan
