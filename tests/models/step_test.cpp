#include "models/step/step.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "models/step/stage.hpp"
#include "tests/support/step_fixture.hpp"

namespace smplan {
namespace {

using testing::step_case;
using testing::StepCase;

StepCase megatron_13b() { return step_case("llama-2-13b", "ml.p4d.24xlarge", 8, "megatron"); }

/// tp 4, pp 2, dp 8 on the 64 accelerators of megatron_13b().
StepCase cut_13b() {
  StepCase c = megatron_13b();
  c.strategy.tensor_parallel = 4;
  c.strategy.sequence_parallel = true;
  c.strategy.pipeline_parallel = 2;
  c.strategy.data_parallel = 8;
  c.strategy.shard_degree = 8;
  return c;
}

TEST(Exposed, FollowsTheOverlapUntilTheWindowIsTooShort) {
  EXPECT_DOUBLE_EQ(exposed(Seconds(1), Seconds(10), 0.75).value(), 0.25);
  EXPECT_DOUBLE_EQ(exposed(Seconds(8), Seconds(2), 1.0).value(), 6) << "perfect overlap cannot hide 8 s in 2 s";
  EXPECT_DOUBLE_EQ(exposed(Seconds(3), Seconds(9), 0).value(), 3);
}

TEST(BesideCompute, HiddenTransfersSlowProductsAndHoppersByHalf) {
  Stack stack;
  stack.profile.data_overlap = 0.75;
  stack.profile.overlap_contention = 0.1;
  const auto shown = [&](std::string architecture) {
    Accelerator accelerator;
    accelerator.architecture = std::move(architecture);
    return beside_compute(Seconds(1), Seconds(10), stack, accelerator).value();
  };
  EXPECT_DOUBLE_EQ(shown("Ampere GA100"), 0.25 + 0.75 * 0.1);
  EXPECT_DOUBLE_EQ(shown("Hopper GH100"), 0.25 + 0.75 * 0.5);
  EXPECT_DOUBLE_EQ(shown("Blackwell GB100"), 0.25 + 0.75 * 0.1) << "blocks take tiles as they go";
  stack.profile.overlap_contention = 0.8;
  EXPECT_DOUBLE_EQ(shown("Hopper GH100"), 0.25 + 0.75 * 0.8);
}

TEST(StageLayers, CoverTheModelOnceWhateverTheDepth) {
  for (const std::int64_t depth : {61, 80, 96, 126}) {
    LayerStack stack;
    stack.n_runs = 2;
    stack.runs[0] = {.spec = {.ffn_hidden = 1}, .count = 3};
    stack.runs[1] = {.spec = {.moe = true}, .count = depth - 3};
    for (const bool interleaved : {false, true}) {
      stack.interleaved = interleaved;
      for (const std::int32_t stages : {1, 2, 4, 7, 16}) {
        double dense = 0;
        double moe = 0;
        for (std::int32_t s = 0; s < stages; ++s) {
          dense += stage_layers(stack, s, stages)[0];
          moe += stage_layers(stack, s, stages)[1];
        }
        EXPECT_NEAR(dense, 3, 1e-9);
        EXPECT_NEAR(moe, static_cast<double>(depth - 3), 1e-9);
      }
    }
  }
}

TEST(StageLayers, CutByWeightsGiveTheStageOfTheHeadFewer) {
  LayerStack stack;
  stack.n_runs = 1;
  stack.runs[0] = {.spec = {.ffn_hidden = 1}, .count = 16};
  stack.head_layers = 4;
  // 20 layers' weights: the first stage is full with the layer after its ten.
  EXPECT_EQ(stage_layers(stack, 0, 2)[0], 11);
  EXPECT_EQ(stage_layers(stack, 1, 2)[0], 5);
  for (const std::int32_t stages : {1, 3, 4, 8, 16}) {
    double layers = 0;
    for (std::int32_t s = 0; s < stages; ++s) layers += stage_layers(stack, s, stages)[0];
    EXPECT_EQ(layers, 16) << stages;
  }
}

TEST(StageLayers, OfKindsThatAlternateAreOnEveryStage) {
  LayerStack stack;
  stack.n_runs = 2;
  stack.runs[0] = {.spec = {.ffn_hidden = 1}, .count = 20};
  stack.runs[1] = {.spec = {.moe = true}, .count = 60};
  stack.interleaved = true;
  for (std::int32_t s = 0; s < 4; ++s) {
    EXPECT_DOUBLE_EQ(stage_layers(stack, s, 4)[0], 5) << s;
    EXPECT_DOUBLE_EQ(stage_layers(stack, s, 4)[1], 15) << s;
  }
}

TEST(LongestParts, StandByLengthAndInTheOrderOfTheTableWhereEqual) {
  StepComponents components;
  components.optimizer = Seconds(2);
  components.host = Seconds(1);
  const std::vector<StepPart> parts = longest_parts(components);
  ASSERT_EQ(parts.size(), step_parts().size());
  EXPECT_EQ(parts[0].key, "optimizer");
  EXPECT_EQ(parts[1].key, "host");
  std::size_t last = 0;
  for (std::size_t i = 2; i < parts.size(); ++i) {
    const auto found = std::find_if(step_parts().begin(), step_parts().end(),
                                    [&](const StepPart& p) { return p.key == parts[i].key; });
    const auto at = static_cast<std::size_t>(found - step_parts().begin());
    EXPECT_GE(at, last) << parts[i].key;
    last = at;
  }
}

TEST(Step, PartsSumToTheTotalAndRatesFollowFromIt) {
  for (const StepCase& c : {megatron_13b(), cut_13b()}) {
    const StepEstimate e = c.step();
    EXPECT_GT(e.time().value(), 0);
    EXPECT_NEAR(e.tokens_per_s * e.time().value(), c.workload.tokens_per_step(), 1e-6 * c.workload.tokens_per_step());
    EXPECT_NEAR(e.tokens_per_s_per_gpu * 64, e.tokens_per_s, 1e-9 * e.tokens_per_s);
    EXPECT_LT(e.p10, e.time());
    EXPECT_GT(e.p90, e.time());
  }
}

TEST(Step, IsNeverFasterThanTheRoofline) {
  for (const char* instance : {"ml.p4d.24xlarge", "ml.p5.48xlarge", "ml.p6-b200.48xlarge", "ml.g5.48xlarge"}) {
    const StepCase c = step_case("llama-2-7b", instance, 4, "megatron");
    const StepFlops flops = step_flops(c.workload, Recompute::None, AttentionCounting::CausalHalf);
    const Seconds floor =
        flops.model / c.cluster.accelerator.peak_rate(Precision::Bf16) / static_cast<double>(c.strategy.gpus());
    EXPECT_GT(c.time(), floor) << instance;
    EXPECT_LT(c.step().mfu, 1) << instance;
  }
}

TEST(Step, DoublesWithTheTokensWhenTheMicroBatchStays) {
  StepCase once = megatron_13b();
  StepCase twice = once;
  twice.workload.global_batch *= 2;
  const StepComponents a = once.step().components;
  const StepComponents b = twice.step().components;
  EXPECT_NEAR(b.compute.value(), 2 * a.compute.value(), 1e-9);
  EXPECT_NEAR(b.attention.value(), 2 * a.attention.value(), 1e-9);
  EXPECT_NEAR(b.optimizer.value(), a.optimizer.value(), 1e-12) << "once a step";
}

TEST(Step, FullRecomputationAddsOneForward) {
  StepCase c = megatron_13b();
  const StepComponents none = c.step().components;
  c.strategy.recompute = Recompute::Full;
  const StepComponents full = c.step().components;
  EXPECT_DOUBLE_EQ(none.recompute.value(), 0);
  const double third = (none.compute + none.attention + none.elementwise).value() / 3;
  EXPECT_NEAR(full.recompute.value(), third, 0.12 * third) << "a forward is about a third of forward and backward";
}

TEST(Step, RecomputationOfSomeLayersAddsTheirShare) {
  StepCase c = megatron_13b();
  c.strategy.recompute = Recompute::Full;
  const StepEstimate whole = c.step();
  c.strategy.recompute_layers = 10;  // of 40
  const StepEstimate part = c.step();
  EXPECT_NEAR(part.components.recompute.value(), 0.25 * whole.components.recompute.value(), 1e-9);
  EXPECT_NEAR((part.hfu - part.mfu) / part.mfu, 0.25 * (whole.hfu - whole.mfu) / whole.mfu, 0.05);
  c.strategy.recompute_layers = 40;
  EXPECT_DOUBLE_EQ(c.time().value(), whole.time().value());
}

// In 2 x 2 chunks of 10 layers, 5 of each are half of the model.
TEST(Step, RecomputedLayersCountInEachChunk) {
  StepCase c = cut_13b();
  c.workload.global_batch = 64;
  c.strategy.schedule = Schedule::Interleaved;
  c.strategy.pipeline_parallel = 2;
  c.strategy.virtual_pipeline = 2;
  c.strategy.recompute = Recompute::Full;
  const StepComponents whole = c.step().components;
  c.strategy.recompute_layers = 5;
  EXPECT_NEAR(c.step().components.recompute.value(), 0.5 * whole.recompute.value(), 1e-9);
}

TEST(Step, BubbleOfOneForwardOneBackwardIsTheClosedForm) {
  StepCase c = cut_13b();
  c.workload.architecture.vocab = 0;  // no head: both stages alike
  const StepComponents parts = c.step().components;
  const double micro_batches = static_cast<double>(c.strategy.micro_batches(c.workload));
  const Seconds busy = parts.compute + parts.attention + parts.elementwise + parts.tensor_comm + parts.pipeline_comm;
  EXPECT_NEAR(parts.pipeline_bubble / busy, 1 / micro_batches, 0.2 / micro_batches) << "(p - 1) / m, p = 2";
}

TEST(Step, InterleavingShortensTheBubble) {
  StepCase c = cut_13b();
  const Seconds plain = c.step().components.pipeline_bubble;
  c.strategy.virtual_pipeline = 5;
  c.strategy.schedule = Schedule::Interleaved;
  EXPECT_LT(c.step().components.pipeline_bubble, 0.5 * plain);
}

TEST(Step, MoreNetworkIsNeverSlower) {
  for (StepCase c : {megatron_13b(), cut_13b(), step_case("llama-2-13b", "ml.p4d.24xlarge", 8, "fsdp")}) {
    const Seconds before = c.time();
    c.cluster.network.bandwidth_per_node *= 4;
    EXPECT_LE(c.time(), before);
    c.cluster.fabric.bandwidth_per_accelerator *= 4;
    EXPECT_LE(c.time(), before);
  }
}

TEST(Step, ShardedParametersCostTrafficThatReplicatedOnesDoNot) {
  StepCase c = step_case("llama-2-13b", "ml.p4d.24xlarge", 8, "fsdp");
  c.stack.profile.data_overlap = 0;
  const Seconds full = c.step().components.data_comm;
  c.strategy.sharding = Sharding::FsdpGradOp;
  const Seconds grad_op = c.step().components.data_comm;
  EXPECT_LT(grad_op, full) << "SHARD_GRAD_OP keeps the parameters for the backward pass";
  EXPECT_NEAR(grad_op / full, 2.0 / 3, 0.1) << "gather and scatter against two gathers and a scatter";
}

TEST(Step, SlowHostShowsOnlyWhereTheDeviceIsFaster) {
  StepCase c = step_case("llama-3.2-1b", "ml.p5.48xlarge", 1, "megatron");
  c.stack.profile.host_time_dense_layer = microseconds(1);
  const Seconds quick = c.step().components.host;
  c.stack.profile.host_time_dense_layer = Seconds(0.1);
  EXPECT_GT(c.step().components.host, quick + Seconds(1));
}

TEST(Step, LaunchBoundLayersTakeTheHostOncePerPass) {
  StepCase c = step_case("llama-3.2-1b", "ml.p5.48xlarge", 1, "megatron");
  c.stack.profile.host_time_dense_layer = Seconds(0.5);
  c.cluster.host_speed = 1;
  const auto layers = static_cast<double>(c.workload.architecture.n_layers);
  const auto micro_batches = static_cast<double>(c.strategy.micro_batches(c.workload));
  const Seconds two_passes = c.time();
  EXPECT_NEAR(two_passes / (micro_batches * 2 * (layers + 1) * Seconds(0.5)), 1, 0.1) << "layers and the head";
  c.strategy.recompute = Recompute::Full;
  EXPECT_NEAR((c.time() - two_passes) / (micro_batches * layers * Seconds(0.5)), 1, 0.1) << "a forward more";
}

TEST(Step, AdaptersMoveMoreMemoryThanTheLayersThatTheyAdapt) {
  StepCase c = step_case("llama-2-13b", "ml.p5.48xlarge", 1, "fsdp");
  const Seconds full = c.step().components.elementwise;
  c.workload.finetune = FineTune::Lora;
  EXPECT_GT(c.step().components.elementwise, 1.3 * full);
}

TEST(Step, RoutingSlowsTheProductsOfNarrowExpertsMore) {
  const auto slowed = [](const char* model) {
    StepCase c = step_case(model, "ml.p5.48xlarge", 4, "megatron");
    c.strategy.expert_parallel = 8;
    c.stack.profile.moe_slowdown = 1;
    const Seconds before = c.step().components.compute;
    c.stack.profile.moe_slowdown = 2;
    return c.step().components.compute / before;
  };
  EXPECT_LT(slowed("mixtral-8x7b"), 1.1) << "experts of 14336 columns";
  EXPECT_GT(slowed("qwen3-30b-a3b"), 1.2) << "experts of 768 columns";
}

TEST(Step, ExpertExchangeAppearsWithExpertParallelism) {
  StepCase c = step_case("mixtral-8x7b", "ml.p5.48xlarge", 4, "megatron");
  EXPECT_DOUBLE_EQ(c.step().components.expert_comm.value(), 0);
  c.strategy.expert_parallel = 8;
  EXPECT_GT(c.step().components.expert_comm.value(), 0);
}

TEST(Step, WhatExpertTensorParallelismIsByDefaultMayBeSaid) {
  StepCase c = step_case("mixtral-8x7b", "ml.p5.48xlarge", 4, "megatron");
  c.strategy.tensor_parallel = 4;
  c.strategy.data_parallel = 8;
  for (const std::int32_t expert : {1, 4}) {
    c.strategy.expert_parallel = expert;
    c.strategy.expert_tensor_parallel = 0;
    const StepEstimate left_open = c.step();
    c.strategy.expert_tensor_parallel = expert == 1 ? 4 : 1;
    EXPECT_EQ(c.step().time(), left_open.time()) << expert;
  }
}

// A cut expert sees the tokens of all who cut it, with as much less width: the work stays, the exchange grows.
TEST(Step, CutExpertsExchangeMore) {
  StepCase c = step_case("mixtral-8x7b", "ml.p5.48xlarge", 4, "megatron");
  c.strategy.tensor_parallel = 4;
  c.strategy.data_parallel = 8;
  c.strategy.expert_parallel = 4;
  const StepComponents whole = c.step().components;
  c.strategy.expert_tensor_parallel = 4;
  const StepComponents cut = c.step().components;
  EXPECT_GT(cut.expert_comm, whole.expert_comm);
  EXPECT_NEAR(cut.compute / whole.compute, 1, 0.2);
}

TEST(Step, ExpertsAsUnitsOfTheirOwnAreGatheredMoreOften) {
  StepCase c = step_case("mixtral-8x7b", "ml.p5.48xlarge", 4, "fsdp");
  const Seconds together = c.step().components.data_comm;
  c.stack.expert_units = true;
  EXPECT_GT(c.step().components.data_comm, together);
}

TEST(Step, DeduplicatedDispatchIsNotSlowerAcrossNodes) {
  StepCase c = step_case("qwen3-30b-a3b", "ml.p5.48xlarge", 4, "megatron");
  c.strategy.expert_parallel = 32;
  const Seconds plain = c.step().components.expert_comm;
  c.stack.deduplicated_dispatch = true;
  EXPECT_LT(c.step().components.expert_comm, plain);
}

TEST(Step, OffloadedOptimizerCostsHostTime) {
  StepCase c = step_case("llama-2-7b", "ml.g5.48xlarge", 1, "deepspeed");
  EXPECT_DOUBLE_EQ(c.step().components.offload.value(), 0);
  c.strategy.offload.optimizer = true;
  const StepComponents parts = c.step().components;
  EXPECT_GT(parts.offload.value(), 0);
  EXPECT_DOUBLE_EQ(parts.optimizer.value(), 0);
}

TEST(Step, AdaptersSaveTheWeightGradients) {
  StepCase c = step_case("llama-2-7b", "ml.p4d.24xlarge", 1, "fsdp");
  const Seconds full = c.step().components.compute;
  c.workload.finetune = FineTune::Lora;
  EXPECT_LT(c.step().components.compute, 0.75 * full) << "two of three products are left";
}

TEST(Step, SearchTableGivesTheSameStep) {
  const StepCase c = cut_13b();
  const LayerTable table = layer_table(c.workload, c.strategy, c.cluster, c.stack);
  EXPECT_EQ(combine_step(table, c.workload, c.strategy, c.cluster, c.stack).time(), c.time());
}

TEST(Bottleneck, IsMatrixProductsUnlessSomethingTakesATenth) {
  StepEstimate e;
  e.components.compute = Seconds(10);
  e.components.tensor_comm = Seconds(0.5);
  EXPECT_EQ(bottleneck(e), "matrix products");
  e.components.tensor_comm = Seconds(3);
  EXPECT_EQ(bottleneck(e), "tensor-parallel communication");
}

TEST(WaitForInput, MakesTheStepAsLongAsItsData) {
  StepEstimate e;
  e.components.compute = Seconds(2);
  e.p10 = Seconds(1.5);
  e.p90 = Seconds(3);
  e.tokens_per_s = 1000;
  e.mfu = 0.4;
  StepEstimate fed = e;
  wait_for_input(fed, Seconds(2));
  EXPECT_EQ(fed.components, e.components) << "data that comes as fast costs nothing";
  wait_for_input(e, Seconds(8));
  EXPECT_EQ(e.time(), Seconds(8));
  EXPECT_EQ(e.components.input, Seconds(6));
  EXPECT_EQ(bottleneck(e), "waiting for data");
  EXPECT_DOUBLE_EQ(e.tokens_per_s, 250);
  EXPECT_DOUBLE_EQ(e.mfu, 0.1);
  EXPECT_EQ(e.p10, Seconds(8)) << "no step is shorter than its data takes";
  EXPECT_EQ(e.p90, Seconds(8));
}

}  // namespace
}  // namespace smplan
