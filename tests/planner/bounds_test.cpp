#include "planner/search/bounds.hpp"

#include <gtest/gtest.h>

#include "tests/planner/fixtures.hpp"

namespace smplan::test {
namespace {

Workload workload(const Architecture& a, std::int64_t seq_len) {
  Workload w;
  w.architecture = a;
  w.seq_len = seq_len;
  return w;
}

double flops(const Workload& w, const Split& split, std::int32_t micro_batch) {
  return micro_batch_work(token_work(w, {}), w, split, micro_batch).value();
}

// A layer of width h: 4 h^2 of attention, 3 * 4 h^2 of gated MLP; each weight costs 2 FLOPs in each of three passes.
TEST(MicroBatchWork, IsSixFlopsAWeightAndToken) {
  const Workload w = workload(small_model(3, 512, 8), 1024);
  const double layers = 3 * 16 * 512.0 * 512;
  const double head = 512.0 * 32000;
  EXPECT_DOUBLE_EQ(flops(w, {}, 2), 6 * 2048 * (layers + head));
  EXPECT_DOUBLE_EQ(flops(w, {.tensor = 4, .context = 2}, 2), 6 * 1024 * (layers + head) / 4);
}

TEST(MicroBatchWork, OfFrozenWeightsSparesTheirGradients) {
  Workload w = workload(small_model(3, 512, 8), 1024);
  const double full = flops(w, {}, 1);
  w.finetune = FineTune::Lora;
  EXPECT_DOUBLE_EQ(flops(w, {}, 1), full * 2 / 3);
}

TEST(MicroBatchWork, OfFrozenLayersIsOnePassOrTwo) {
  Workload w = workload(small_model(4, 512, 8), 1024);
  const double layer = 16 * 512.0 * 512;
  const double head = 512.0 * 32000;
  const auto passes = [&](const char* trained) {
    w.trained_layers = trained_layers_from(trained);
    return flops(w, {}, 1) / (2 * 1024);
  };
  EXPECT_DOUBLE_EQ(passes("last:1"), 3 * layer + 3 * layer + 2 * head) << "three of one pass, one of three";
  EXPECT_DOUBLE_EQ(passes("first:1"), 3 * layer + 3 * 2 * layer + 2 * head);
  EXPECT_DOUBLE_EQ(passes("head"), 4 * layer + 2 * head);
}

TEST(MicroBatchWork, CutsAVocabularyIntoWholeColumns) {
  Architecture a = small_model(1, 512, 8);
  const double layer = 16 * 512.0 * 512;
  a.vocab = 7;
  EXPECT_DOUBLE_EQ(flops(workload(a, 64), {.tensor = 4}, 1), 6 * 64 * (layer / 4 + 512.0 * 1));
  a.vocab = 3;
  EXPECT_DOUBLE_EQ(flops(workload(a, 64), {.tensor = 4}, 1), 6 * 64 * (layer / 4 + 512.0 * 1)) << "one at least";
  a.vocab = 0;
  EXPECT_DOUBLE_EQ(flops(workload(a, 64), {.tensor = 4}, 1), 6 * 64 * layer / 4);
}

TEST(MicroBatchWork, OfAnEncoderLeavesTheHeadOut) {
  Architecture a = small_model(1, 512, 8);
  a.kind = ModelKind::Encoder;
  EXPECT_DOUBLE_EQ(flops(workload(a, 64), {}, 1), 6 * 64 * 16 * 512.0 * 512) << "few tokens are predicted";
}

// Of 8 experts of width h each token takes 2. The router runs forward and backward to its input: 4 FLOPs a weight.
TEST(MicroBatchWork, RoutesEachTokenToTwoExperts) {
  const Workload w = workload(small_moe(2, 256, 4, 8), 128);
  const double h = 256;
  const double attention = 4 * h * h;
  const double expert = 3 * h * h;
  const double head = h * 32000;
  const double tokens = 128;
  const double router = 4 * h * 8;
  EXPECT_DOUBLE_EQ(flops(w, {}, 1), tokens * (6 * (2 * attention + head) + 2 * router) + 6 * 2 * (2 * tokens) * expert);
  // Tensor ranks cut experts, or hold whole ones for their share of the tokens where those are spread.
  const double cut = tokens * (6 * (2 * attention + head) / 4 + 2 * router);
  EXPECT_DOUBLE_EQ(flops(w, {.tensor = 4}, 1), cut + 6 * 2 * (2 * tokens) * expert / 4);
  EXPECT_DOUBLE_EQ(flops(w, {.tensor = 4, .expert = 8}, 1), cut + 6 * 2 * (2 * tokens / 4) * expert);
  EXPECT_DOUBLE_EQ(flops(w, {.tensor = 4, .expert = 8, .expert_tensor = 4}, 1),
                   cut + 6 * 2 * (2 * tokens) * expert / 4);
}

TEST(MicroBatchWork, GivesEveryExpertAWholeToken) {
  const Workload w = workload(small_moe(1, 256, 4, 8), 2);
  const double h = 256;
  const double rest = 2 * (6 * (4 * h * h + h * 32000) + 4 * h * 8);
  EXPECT_DOUBLE_EQ(flops(w, {}, 1), rest + 6 * 8 * 3 * h * h) << "4 routed tokens over 8 experts";
  EXPECT_DOUBLE_EQ(flops(w, {.expert = 4}, 1), rest + 6 * 4 * 3 * h * h) << "4 over the 2 of a rank";
}

TEST(MicroBatchWork, CountsSharedExpertsForEveryToken) {
  Architecture a = small_moe(1, 256, 4, 8);
  const double without = flops(workload(a, 128), {.tensor = 2}, 1);
  a.moe.n_shared_experts = 2;
  a.moe.shared_expert_ffn_hidden = 96;
  EXPECT_DOUBLE_EQ(flops(workload(a, 128), {.tensor = 2}, 1), without + 128 * 6 * 3 * 256.0 * 2 * 96 / 2);
  a.moe.shared_expert_gate = true;
  EXPECT_DOUBLE_EQ(flops(workload(a, 128), {.tensor = 2}, 1), without + 128 * 6 * 3 * 256.0 * 2 * 96 / 2)
      << "a gate is no matrix product that every rank must do";
}

TEST(BubbleFloor, IsTheOtherStagesOverTheChunks) {
  EXPECT_DOUBLE_EQ(bubble_floor(Schedule::OneFOneB, 8, 1), 7);
  EXPECT_DOUBLE_EQ(bubble_floor(Schedule::Interleaved, 8, 2), 3.5);
  EXPECT_EQ(bubble_floor(Schedule::ZeroBubble, 8, 1), 0);
}

TEST(StepFloor, IsModelTimeOverThePipelineAndTheHosts) {
  StackProfile profile;
  profile.host_time_step = Seconds(0.5);
  profile.host_time_micro_batch = Seconds(0.25);
  const Seconds floor = step_floor(Seconds(2), 8, 4, 3, 1.5, profile);
  EXPECT_DOUBLE_EQ(floor.value(), (2.0 * (8 + 3) / 4 + 0.5 + 8 * 0.25) * 1.5 * kBoundRounding);
}

TEST(StragglerStretch, GrowsWithEachDoubling) {
  StackProfile profile;
  profile.straggler = 0.01;
  EXPECT_DOUBLE_EQ(straggler_stretch(1, profile), 1);
  EXPECT_DOUBLE_EQ(straggler_stretch(64, profile), 1.06);
}

}  // namespace
}  // namespace smplan::test
