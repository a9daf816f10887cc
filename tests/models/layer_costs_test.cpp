#include "models/layers/layer_costs.hpp"

#include <gtest/gtest.h>

#include "models/machine/compute.hpp"
#include "tests/support/byte_counter.hpp"
#include "tests/support/layer_modules.hpp"

namespace smplan {
namespace {

using testing::byte_counter;
using testing::collective;
using testing::costs_of;
using testing::edges_of;
using testing::expert_counter;
using testing::kDenseWeights;
using testing::kRelative;
using testing::product;
using testing::step_case;
using testing::StepCase;

TEST(LayerCosts, UnderAutocastHalfOfTheTensorsHave32Bits) {
  StepCase c = byte_counter();
  const Seconds half = costs_of(c).forward.elementwise;
  c.stack.autocast = true;
  EXPECT_EQ(costs_of(c).forward.elementwise, 1.5 * half);
  c.workload.precision = Precision::Fp32;
  const Seconds whole = costs_of(c).forward.elementwise;
  EXPECT_EQ(whole, 2 * half);
  c.stack.autocast = false;
  EXPECT_EQ(costs_of(c).forward.elementwise, whole) << "nothing to cast";
}

TEST(LayerProducts, OfADenseLayerAreFourForwardAndTwiceThatBackward) {
  const LayerCosts costs = costs_of(byte_counter());
  const double forward = product(256, 96, 64) + product(256, 64, 64) + product(256, 320, 64) + product(256, 64, 160);
  EXPECT_BYTES(costs.forward.gemm, forward);
  // Each weight's gradient is added to the one that is kept in 4 bytes: read and written.
  EXPECT_BYTES(costs.weight_gradient, forward + 8 * kDenseWeights);
  EXPECT_BYTES(costs.backward.gemm, 2 * forward + 8 * kDenseWeights);
}

TEST(LayerProducts, TheLastMakesOnlyTheOutputUnlessSomethingComesAfterIt) {
  StepCase c = byte_counter();
  EXPECT_BYTES(costs_of(c).unread.gemm, product(256, 64, 160));
  c.workload.architecture.norms_per_layer = 4;
  EXPECT_EQ(costs_of(c).unread.gemm, Seconds()) << "a norm reads it";
  c.workload.architecture.norms_per_layer = 2;
  c.workload.architecture.final_norm = false;
  EXPECT_EQ(costs_of(c).unread.gemm, Seconds()) << "the layer's own last norm reads it";
  c.workload.architecture.final_norm = true;
  c.workload.finetune = FineTune::Lora;
  EXPECT_EQ(costs_of(c).unread.gemm, Seconds()) << "an adapter comes after it";
  StepCase experts = expert_counter();
  experts.workload.architecture.moe.n_shared_experts = 1;
  experts.workload.architecture.moe.shared_expert_ffn_hidden = 32;
  EXPECT_EQ(costs_of(experts, {.moe = true}).unread.gemm, Seconds()) << "outputs of experts are weighed by the router";
}

TEST(LayerHost, TakesLongerWhereItIsSlower) {
  StepCase c = byte_counter();
  c.stack.profile.host_time_dense_layer = Seconds(3);
  const LayerCosts same = costs_of(c);
  c.cluster.host_speed = 0.75;
  EXPECT_EQ(costs_of(c).forward.host, Seconds(4));
  EXPECT_EQ(costs_of(c).backward.host, Seconds(4));
  EXPECT_EQ(edges_of(c).head_backward.host, Seconds(4));
  EXPECT_EQ(costs_of(c).forward.compute(), same.forward.compute());
}

TEST(LayerProducts, AreCutByTensorRanksButForTheLastKeyHead) {
  StepCase c = byte_counter();
  c.strategy.tensor_parallel = 4;
  EXPECT_BYTES(costs_of(c).forward.gemm,
               product(256, 32, 64) + product(256, 64, 16) + product(256, 80, 64) + product(256, 64, 40));
}

TEST(LayerProducts, BesideCollectivesOfTensorRanksRunInAsManyPartsAsRanks) {
  StepCase c = byte_counter();
  c.strategy.tensor_parallel = 4;
  c.strategy.sequence_parallel = true;
  const LayerCosts whole = costs_of(c);
  c.stack.profile.tensor_overlap = 0.5;
  // Parts of 64 tokens read the weights anew. Backward the layers cut by rows gather the gradients that they start
  // from; the others scatter theirs beside the gradients of weights.
  const double cut_by_rows = product(64, 64, 16) + product(64, 64, 40);
  const double cut_by_columns = product(64, 32, 64) + product(64, 80, 64);
  const LayerCosts parts = costs_of(c);
  EXPECT_BYTES(parts.forward.gemm, 4 * (cut_by_columns + cut_by_rows));
  const double cut_once = product(256, 64, 16) + product(256, 64, 40);
  EXPECT_BYTES(parts.backward.gemm, whole.backward.gemm.value() + 4 * cut_by_rows - cut_once);
  EXPECT_EQ(parts.weight_gradient, whole.weight_gradient);

  c.stack.userbuffers = false;
  EXPECT_EQ(costs_of(c).forward.gemm, whole.forward.gemm) << "other stacks overlap whole products";
  c.stack.execution.tensor_overlap = TensorOverlap::Async;
  EXPECT_EQ(costs_of(c).forward.gemm, parts.forward.gemm);
  c.strategy.tensor_parallel = 16;
  c.strategy.data_parallel = 1;
  const LayerCosts nodes = costs_of(c);
  c.stack.profile.tensor_overlap = 0;
  EXPECT_EQ(nodes.forward.gemm, costs_of(c).forward.gemm) << "nothing overlaps over nodes";
}

TEST(LayerProducts, OfContextRanksHaveTheirShareOfTheRows) {
  StepCase c = byte_counter();
  c.strategy.context_parallel = 2;
  EXPECT_BYTES(costs_of(c).forward.gemm,
               product(128, 96, 64) + product(128, 64, 64) + product(128, 320, 64) + product(128, 64, 160));
}

TEST(LayerProducts, WithoutAGateHaveOneUpProjection) {
  StepCase c = byte_counter();
  c.workload.architecture.gated_mlp = false;
  EXPECT_BYTES(costs_of(c).forward.gemm,
               product(256, 96, 64) + product(256, 64, 64) + product(256, 160, 64) + product(256, 64, 160));
}

TEST(LayerProducts, OfLatentAttentionGoThroughTheLowRanks) {
  StepCase c = byte_counter();
  LatentAttention& latent = c.workload.architecture.latent;
  latent = {.q_lora_rank = 24, .kv_lora_rank = 16, .qk_nope_head_dim = 8, .qk_rope_head_dim = 4, .v_head_dim = 8};
  const double mlp = product(256, 320, 64) + product(256, 64, 160);
  const double keys = product(256, 20, 64) + product(256, 128, 16) + product(256, 64, 64);
  EXPECT_BYTES(costs_of(c).forward.gemm, mlp + keys + product(256, 24, 64) + product(256, 96, 24));
  latent.q_lora_rank = 0;
  EXPECT_BYTES(costs_of(c).forward.gemm, mlp + keys + product(256, 96, 64));
}

TEST(LayerProducts, OfADecoderThatAlsoReadsAnEncoderHaveASecondAttention) {
  const StepCase c = byte_counter();
  const LayerCosts once = costs_of(c);
  const LayerCosts twice = costs_of(c, {.cross_attention = true, .ffn_hidden = 160});
  EXPECT_BYTES(twice.forward.gemm - once.forward.gemm, product(256, 96, 64) + product(256, 64, 64));
  EXPECT_BYTES(twice.forward.attention, 2 * once.forward.attention.value());
}

TEST(Adapters, ReadAndAddBesideFrozenProducts) {
  StepCase c = byte_counter();
  c.stack.joins_adapters = false;
  const LayerCosts full = costs_of(c);
  c.workload.finetune = FineTune::Lora;
  c.workload.lora.rank = 1;
  const LayerCosts lora = costs_of(c);
  EXPECT_EQ(lora.forward.gemm, full.forward.gemm);
  EXPECT_EQ(lora.backward.gemm, full.forward.gemm);
  EXPECT_EQ(lora.weight_gradient, Seconds());
  // Queries, keys, values, output, gate, up and down have an adapter each. A value has 2 bytes.
  const double inputs = 256 * (6 * 64 + 160);
  const double outputs = 256 * (64 + 16 + 16 + 64 + 160 + 160 + 64);
  EXPECT_BYTES(lora.forward.elementwise - full.forward.elementwise, 2 * (inputs + 6 * outputs));
  EXPECT_BYTES(lora.backward.elementwise - full.backward.elementwise, 2 * (5 * inputs + 4 * outputs));
  c.stack.adapter_copies = true;
  EXPECT_BYTES(costs_of(c).forward.elementwise - full.forward.elementwise, 2 * (7 * inputs + 6 * outputs));
  c.stack.adapter_copies = false;
  c.stack.joins_adapters = true;
  EXPECT_BYTES(costs_of(c).forward.elementwise - full.forward.elementwise, 2 * (inputs + 2 * outputs));
  c.stack.joins_adapters = false;
  c.workload.lora.targets = LoraTargets::QueryValue;
  EXPECT_BYTES(costs_of(c).forward.elementwise - full.forward.elementwise, 2 * 256 * (2 * 64 + 6 * (64 + 16)));
  c.workload.lora.layers.joins_attention = true;
  EXPECT_BYTES(costs_of(c).forward.elementwise - full.forward.elementwise, 2 * 256 * (64 + 6 * (64 + 16 + 16)));
}

TEST(Adapters, OfAHighRankTakeTheTimeOfTheirProducts) {
  StepCase c = byte_counter();
  c.stack.joins_adapters = false;
  c.workload.finetune = FineTune::Lora;
  c.workload.lora.rank = 1;
  const LayerCosts low = costs_of(c);
  c.workload.lora.rank = 4096;
  const auto pair = [](double out, double in) { return product(256, 4096, in) + product(256, out, 4096); };
  const double products = pair(64, 64) + 2 * pair(16, 64) + pair(64, 64) + 2 * pair(160, 64) + pair(64, 160);
  const double beside = 2 * 256 * (6 * 64 + 160 + 6 * (64 + 16 + 16 + 64 + 160 + 160 + 64));
  EXPECT_BYTES(costs_of(c).forward.elementwise - low.forward.elementwise, products - beside);
}

TEST(Adapters, OverFourBitsUnpackEveryWeightInBothPasses) {
  StepCase c = byte_counter();
  c.stack.profile.dequantized_bytes = 27;
  c.workload.finetune = FineTune::Lora;
  const LayerCosts lora = costs_of(c);
  c.workload.finetune = FineTune::Qlora;
  const LayerCosts qlora = costs_of(c);
  EXPECT_BYTES(qlora.forward.gemm - lora.forward.gemm, 27 * kDenseWeights);
  EXPECT_BYTES(qlora.backward.gemm - lora.backward.gemm, 27 * kDenseWeights);
  EXPECT_EQ(qlora.forward.elementwise, lora.forward.elementwise);
}

TEST(EightBits, HalveTheOperandsAndWriteTransposedCopies) {
  StepCase c = byte_counter();
  const LayerCosts half = costs_of(c);
  c.workload.precision = Precision::Fp8;
  const LayerCosts eight = costs_of(c);
  const double inputs = 256 * (64 + 64 + 64 + 160);
  const double outputs = 256 * (96 + 64 + 320 + 64);
  EXPECT_BYTES(eight.forward.gemm, inputs + kDenseWeights + 2 * outputs);
  EXPECT_BYTES(eight.forward.elementwise - half.forward.elementwise, 2 * inputs);
  EXPECT_BYTES(eight.backward.elementwise - half.backward.elementwise, 2 * outputs);
  EXPECT_EQ(eight.forward.attention, half.forward.attention) << "attention stays in 16 bits";
}

TEST(FourBits, AreQuantisedInTwoPassesOfTheirOwn) {
  StepCase c = byte_counter();
  const LayerCosts half = costs_of(c);
  c.workload.precision = Precision::Fp4;
  const LayerCosts four = costs_of(c);
  EXPECT_BYTES(four.forward.elementwise - half.forward.elementwise, 5.125 * 256 * (64 + 64 + 64 + 160));
  EXPECT_BYTES(four.backward.elementwise - half.backward.elementwise, 5.125 * 256 * (96 + 64 + 320 + 64));
}

TEST(FourBits, AreQuantisedSoBeforeExpertsTooWhereEightBitsComeOutOfThePermutation) {
  StepCase c = expert_counter();
  const LayerCosts half = costs_of(c, {.moe = true});
  c.workload.precision = Precision::Fp8;
  const LayerCosts eight = costs_of(c, {.moe = true});
  c.workload.precision = Precision::Fp4;
  const LayerCosts four = costs_of(c, {.moe = true});
  const double attention = 256 * (64 + 64);
  const double experts = 512 * (64 + 32);
  EXPECT_BYTES(eight.forward.elementwise - half.forward.elementwise, 2 * attention);
  EXPECT_BYTES(four.forward.elementwise - half.forward.elementwise, 5.125 * (attention + experts));
}

TEST(LayerTraffic, OfNormsResidualsRotationAndActivationIsCountedByHand) {
  StepCase c = byte_counter();
  const double hidden = 256 * 64;
  const double rotated = 256 * (8 + 2) * 8;
  const double wide = 256 * 160;
  // Forward: a norm reads and writes, an addition reads two and writes one, the activation reads two and writes one.
  EXPECT_BYTES(costs_of(c).forward.elementwise, 2 * (4 * hidden + 6 * hidden + 2 * rotated + 3 * wide));
  EXPECT_BYTES(costs_of(c).backward.elementwise, 2 * (8 * hidden + 2 * hidden + 2 * rotated + 5 * wide));
  c.workload.architecture.gated_mlp = false;
  c.workload.architecture.positions = PositionEncoding::Learned;
  EXPECT_BYTES(costs_of(c).forward.elementwise, 2 * (4 * hidden + 6 * hidden + 2 * wide));
  EXPECT_BYTES(costs_of(c).backward.elementwise, 2 * (8 * hidden + 2 * hidden + 3 * wide));
}

TEST(LayerTraffic, OfAScaledRotationIsThatOfItsOperationsWhereTheKernelHasNoFactor) {
  StepCase c = byte_counter();
  const LayerCosts kernel = costs_of(c);
  c.workload.architecture.scaled_rotary = true;
  const double rotated = 256 * 80;
  EXPECT_BYTES(costs_of(c).forward.elementwise - kernel.forward.elementwise, 2 * (12 - 2) * rotated);
  EXPECT_BYTES(costs_of(c).backward.elementwise - kernel.backward.elementwise, 2 * (17 - 2) * rotated);
  c.stack.torch_parallelism = true;  // compiled
  EXPECT_EQ(costs_of(c).forward.elementwise, kernel.forward.elementwise);
}

TEST(LayerTraffic, OfNormsIsDividedBySequenceParallelism) {
  StepCase c = byte_counter();
  c.strategy.tensor_parallel = 4;
  const double hidden = 256 * 64;
  const double rest = 2 * (2 * 256 * (2 + 1) * 8 + 3 * 256 * 40);
  EXPECT_BYTES(costs_of(c).forward.elementwise, 2 * 10 * hidden + rest);
  c.strategy.sequence_parallel = true;
  EXPECT_BYTES(costs_of(c).forward.elementwise, 2 * 10 * hidden / 4 + rest);
}

TEST(LayerTraffic, OfUnfusedSoftwareIsMoreByItsFactor) {
  StepCase c = byte_counter();
  const Seconds fused = costs_of(c).forward.elementwise;
  c.stack.profile.elementwise_traffic = 1.75;
  EXPECT_BYTES(costs_of(c).forward.elementwise, 1.75 * fused.value());
}

TEST(LayerTraffic, OfThirtyTwoBitElementsIsTwiceThatOfSixteen) {
  StepCase c = byte_counter();
  const Seconds half = costs_of(c).forward.elementwise;
  for (const Precision whole : {Precision::Fp32, Precision::Tf32}) {
    c.workload.precision = whole;
    EXPECT_BYTES(costs_of(c).forward.elementwise, 2 * half.value());
    EXPECT_BYTES(edges_of(c).head_forward.elementwise, 4 * 2 * 256 * 64 + 6 * 256 * 1000.0)
        << "the stack's bytes of the logits are whole already";
  }
}

TEST(LayerProducts, OfFp32RunInSixteenBitsWhereTheCompilerCastsThem) {
  StepCase c = byte_counter();
  const LayerCosts half = costs_of(c);
  c.workload.precision = Precision::Fp32;
  EXPECT_GT(costs_of(c).forward.gemm, half.forward.gemm);
  c.stack.casts_fp32_products = true;
  EXPECT_EQ(costs_of(c).forward.gemm, half.forward.gemm);
  EXPECT_EQ(costs_of(c).backward.attention, half.backward.attention);
  EXPECT_GT(costs_of(c).forward.elementwise, half.forward.elementwise);
  c.workload.precision = Precision::Tf32;
  EXPECT_EQ(c.stack.product_precision(c.workload.precision), Precision::Tf32);
}

TEST(AttentionCosts, StreamQueriesKeysValuesAndOutputsAndTwiceThatBackward) {
  StepCase c = byte_counter();
  const double streamed = 2 * 2 * 16.0 * (8 * 128 + 2 * 128);
  EXPECT_BYTES(costs_of(c).forward.attention, streamed);
  EXPECT_BYTES(costs_of(c).backward.attention, 2 * streamed);
  c.stack.profile.attention_slowdown = 1.5;
  c.cluster.accelerator_profile.sustained_fraction = 0.75;
  c.cluster.accelerator_profile.sustained_attention = 0.5;
  EXPECT_BYTES(costs_of(c).forward.attention, 2 * streamed);
  c.stack.attention_kernel = AttentionKernel::Vendor;
  AcceleratorProfile& p = c.cluster.accelerator_profile;
  p.vendor_attention = p.flash2;
  for (double& rate : p.vendor_attention.forward_efficiency) rate *= 4;
  EXPECT_BYTES(costs_of(c).forward.attention, 4 * streamed) << "vendors publish their best sizes";
  p.vendor_attention = p.flash2;
  EXPECT_BYTES(costs_of(c).forward.attention, 2 * streamed) << "and ship none that is slower than the one before";
}

TEST(AttentionCosts, OfLatentHeadsHaveTheirWidthsAndAsManyKeys) {
  StepCase c = byte_counter();
  c.workload.architecture.latent = {
      .q_lora_rank = 24, .kv_lora_rank = 16, .qk_nope_head_dim = 8, .qk_rope_head_dim = 4, .v_head_dim = 8};
  EXPECT_BYTES(costs_of(c).forward.attention, 2 * 2 * (12 + 8.0) * (8 * 128 + 8 * 128));
}

TEST(AttentionCosts, OfADecoderOverAnEncoderSeeHalfAndThenAllKeys) {
  StepCase c = step_case("llama-2-7b", "ml.p5.48xlarge", 1, "megatron");
  c.stack.profile.attention_slowdown = 1;
  const AcceleratorProfile& p = c.cluster.accelerator_profile;
  AttentionShape shape{
      .heads = 32, .kv_heads = 32, .query_len = 4096, .key_len = 4096, .head_dim = 128, .value_dim = 128};
  const auto time = [&](bool causal) {
    shape.causal = causal;
    return flash_attention_time(shape, Pass::Forward, Precision::Bf16, c.cluster.accelerator, p,
                                c.stack.attention_kernel);
  };
  const double kept =
      p.sustained_fraction * (c.stack.attention_kernel == AttentionKernel::Vendor ? p.sustained_attention : 1);
  const LayerCosts costs = costs_of(c, {.cross_attention = true, .ffn_hidden = 160});
  EXPECT_NEAR(costs.forward.attention / (time(true) + time(false)), 1 / kept, kRelative / kept);
}

// Eight experts of a layer: 0.2 ms each to launch.
TEST(RoutedExperts, OneAfterTheOtherAreLaunchedOneByOne) {
  StepCase c = expert_counter();
  c.cluster.host_speed = 2;
  const double grouped = costs_of(c, {.moe = true}).forward.host.value();
  c.stack.loops_over_experts = true;
  EXPECT_NEAR(costs_of(c, {.moe = true}).forward.host.value() - grouped, 8 * 0.2e-3 / 2, 1e-12);
}

TEST(RoutedExperts, AreProductsOfTheTokensThatComeToThisRank) {
  StepCase c = expert_counter();
  c.strategy.expert_parallel = 4;
  c.strategy.data_parallel = 4;
  const LayerCosts costs = costs_of(c, {.moe = true});
  const double attention = product(256, 96, 64) + product(256, 64, 64);
  const double router = product(256, 8, 64);
  // 512 routed tokens come to two of the eight experts.
  const double experts = 2 * (product(256, 64, 64) + product(256, 64, 32));
  EXPECT_BYTES(costs.forward.gemm, attention + router + experts);
  const double gradients = 8 * (64 * 96 + 64 * 64 + 2 * (64 * 64 + 32 * 64));
  EXPECT_BYTES(costs.backward.gemm, 2 * (attention + experts) + router + gradients);
  const double hidden = 256 * 64;
  const double rotated = 256 * 80;
  EXPECT_BYTES(costs.forward.elementwise, 2 * (10 * hidden + 2 * rotated + 4 * 512 * 64 + 3 * 512 * 32));
  EXPECT_BYTES(costs.backward.elementwise, 2 * (10 * hidden + 2 * rotated + 4 * 512 * 64 + 5 * 512 * 32));
}

TEST(RoutedExperts, TakeTheirRowsInBlocksOfThirtyTwo) {
  StepCase c = expert_counter();
  c.workload.architecture.moe.top_k = 1;
  c.workload.architecture.moe.n_experts = 5;
  // 256 tokens are 51 rows for each of five experts, in two blocks.
  const double router = product(256, 5, 64);
  const double attention = product(256, 96, 64) + product(256, 64, 64);
  EXPECT_BYTES(costs_of(c, {.moe = true}).forward.gemm,
               attention + router + 5 * (product(64, 64, 64) + product(64, 64, 32)));
}

TEST(RoutedExperts, ThatAreSharedByAllRunBesideAsADenseLayer) {
  StepCase c = expert_counter();
  const LayerCosts without = costs_of(c, {.moe = true});
  c.workload.architecture.moe.n_shared_experts = 2;
  c.workload.architecture.moe.shared_expert_ffn_hidden = 24;
  EXPECT_BYTES(costs_of(c, {.moe = true}).forward.gemm - without.forward.gemm,
               product(256, 96, 64) + product(256, 64, 48));
}

TEST(SelectiveModules, CostTheirForwardAgain) {
  StepCase c = expert_counter();
  c.workload.architecture.moe.n_shared_experts = 2;
  c.workload.architecture.moe.shared_expert_ffn_hidden = 24;
  c.workload.architecture.latent = {
      .q_lora_rank = 24, .kv_lora_rank = 16, .qk_nope_head_dim = 8, .qk_rope_head_dim = 4, .v_head_dim = 8};
  c.stack.profile.host_time_moe_layer = Seconds(100);
  const LayerSpec spec{.moe = true};
  const auto again = [&](std::initializer_list<LayerModule> modules, LayerSpec of) {
    c.stack.execution.recompute_modules = test::modules(modules);
    return costs_of(c, of).selective;
  };
  EXPECT_EQ(again({}, spec).compute(), Seconds());
  EXPECT_BYTES(again({LayerModule::LatentUpProjection}, spec).gemm, product(256, 96, 24) + product(256, 128, 16));
  EXPECT_BYTES(again({LayerModule::Norms}, spec).compute(), 2 * 2 * 2 * 256 * 64.0);
  EXPECT_BYTES(again({LayerModule::ExpertActivation}, spec).compute(), 2 * 3 * 512 * 32.0);
  EXPECT_BYTES(again({LayerModule::SharedExperts}, spec).compute(), product(256, 96, 64) + product(256, 64, 48));
  EXPECT_EQ(again({LayerModule::DenseMlp}, spec).compute(), Seconds());
  EXPECT_BYTES(again({LayerModule::DenseMlp}, {.ffn_hidden = 160}).compute(),
               product(256, 320, 64) + product(256, 64, 160));
  c.stack.checkpoint_stops_early = true;
  EXPECT_BYTES(again({LayerModule::DenseMlp}, {.ffn_hidden = 160}).compute(), product(256, 320, 64))
      << "nothing reads the output of the last product";
  c.stack.checkpoint_stops_early = false;
  const LayerCosts whole = costs_of(c, spec);
  EXPECT_EQ(again({LayerModule::CoreAttention}, spec).attention, whole.forward.attention);
  c.strategy.expert_parallel = c.strategy.data_parallel = 4;
  const PassCosts experts = again({LayerModule::Experts}, spec);
  EXPECT_EQ(experts.expert_comm, costs_of(c, spec).forward.expert_comm) << "dispatched and combined again";
  EXPECT_GT(experts.expert_comm, Seconds());
  const PassCosts two = again({LayerModule::Norms, LayerModule::ExpertActivation}, spec);
  EXPECT_EQ(two.host, 2 * again({LayerModule::Norms}, spec).host);
  EXPECT_EQ(again({LayerModule::DenseMlp}, spec).host, Seconds()) << "nothing there, nothing launched";
}

TEST(RoutedExperts, OfAThousandColumnsFeelHalfOfWhatRoutingSlows) {
  StepCase c = expert_counter();
  c.workload.architecture.moe.expert_ffn_hidden = 1000;
  const LayerCosts even = costs_of(c, {.moe = true});
  c.stack.profile.moe_slowdown = 3;
  const LayerCosts slow = costs_of(c, {.moe = true});
  const double attention = product(256, 96, 64) + product(256, 64, 64);
  EXPECT_BYTES(slow.forward.gemm, 2 * even.forward.gemm.value() - attention);
  const double routed = 2 * (4 * 512 * 64 + 3 * 512 * 1000.0);
  EXPECT_BYTES(slow.forward.elementwise, even.forward.elementwise.value() + routed);
}

TEST(RoutedExperts, AddTheirBiasesInOperationsOfTheirOwn) {
  StepCase c = expert_counter();
  const LayerCosts plain = costs_of(c, {.moe = true});
  c.workload.architecture.moe.expert_bias = true;
  const LayerCosts biased = costs_of(c, {.moe = true});
  EXPECT_BYTES(biased.forward.elementwise - plain.forward.elementwise, 2 * 14 * 512 * 64.0);
  EXPECT_BYTES(biased.backward.elementwise - plain.backward.elementwise, 2 * 20 * 512 * 64.0);
  EXPECT_EQ(biased.forward.gemm, plain.forward.gemm);
}

TEST(RoutedExperts, ThatAreCutSeeTheTokensOfAllWhoCutThem) {
  StepCase c = expert_counter();
  c.strategy.tensor_parallel = 4;
  c.strategy.expert_parallel = 4;
  const auto experts = [&](std::int32_t cut) {
    c.strategy.expert_tensor_parallel = cut;
    const double attention = product(256, 32, 64) + product(256, 64, 16);
    return costs_of(c, {.moe = true}).forward.gemm.value() - attention - product(256, 8, 64);
  };
  EXPECT_NEAR(experts(1), 2 * (product(64, 64, 64) + product(64, 64, 32)), 1e-6);
  EXPECT_NEAR(experts(2), 2 * (product(128, 32, 64) + product(128, 64, 16)), 1e-6);
}

TEST(HostTime, GrowsByAdaptersCollectivesAndOperationsThatAreNotFused) {
  StepCase c = byte_counter();
  StackProfile& profile = c.stack.profile;
  profile.host_time_dense_layer = microseconds(1000);
  profile.host_time_moe_layer = microseconds(3000);
  profile.quantized_host = 2.2;
  profile.host_collective = microseconds(40);
  profile.host_collective_rank = microseconds(12);
  profile.host_plain_softmax = microseconds(330);
  const auto host = [&](LayerSpec spec = {.ffn_hidden = 160}) { return costs_of(c, spec).forward.host.value() * 1e3; };
  EXPECT_DOUBLE_EQ(host(), 1);
  EXPECT_DOUBLE_EQ(host({.moe = true}), 3);
  EXPECT_EQ(costs_of(c).backward.host, costs_of(c).forward.host);
  c.workload.finetune = FineTune::Lora;
  c.workload.lora.targets = LoraTargets::Linear;
  EXPECT_DOUBLE_EQ(host(), 1 + 7 * 0.094);
  c.workload.lora.targets = LoraTargets::QueryValue;
  EXPECT_DOUBLE_EQ(host(), 1 + 2 * 0.094);
  c.stack.adapter_copies = true;
  EXPECT_DOUBLE_EQ(host(), 1 + 2 * 0.19) << "casts of inputs and adapters";
  c.workload.finetune = FineTune::Qlora;
  EXPECT_DOUBLE_EQ(host(), 2.2);
  c.workload.finetune = FineTune::Full;
  c.strategy.tensor_parallel = 2;
  EXPECT_DOUBLE_EQ(host(), 1 + 2 * 0.064);
  c.stack.flash_attention = false;
  EXPECT_DOUBLE_EQ(host(), 1 + 2 * 0.064) << "4 heads of 2 sequences are two fours of score matrices";
  c.strategy.tensor_parallel = 8;
  EXPECT_DOUBLE_EQ(host(), 1 + 2 * 0.136 + 0.33) << "1 head of 2 sequences is half a four";
}

TEST(Edges, AreAnEmbeddingANormAndAProjectionToTheVocabulary) {
  StepCase c = byte_counter();
  const EdgeCosts edge = edges_of(c);
  const double hidden = 256 * 64;
  EXPECT_BYTES(edge.embedding_forward.elementwise, 2 * 2 * hidden);
  const double entries = 1000 * 64;
  EXPECT_BYTES(edge.embedding_backward.elementwise, 2 * 3 * hidden + (2 + 2 + 2 * 4) * entries);
  EXPECT_BYTES(edge.head_forward.elementwise, 2 * 2 * hidden + 6 * 256 * 1000.0);
  EXPECT_BYTES(edge.head_backward.elementwise, 2 * 4 * hidden + 6 * 256 * 1000.0);
  EXPECT_BYTES(edge.head_forward.gemm, product(256, 1000, 64));
  EXPECT_BYTES(edge.head_backward.gemm, 2 * product(256, 1000, 64) + 2 * 4 * entries);
  c.stack.loss_forward_bytes = 38;
  c.stack.loss_backward_bytes = 14;
  c.stack.profile.elementwise_traffic = 3;  // not of operations that were counted
  EXPECT_BYTES(edges_of(c).head_forward.elementwise, 3 * 2 * 2 * hidden + 38 * 256 * 1000.0);
  EXPECT_BYTES(edges_of(c).head_backward.elementwise, 3 * 2 * 4 * hidden + 14 * 256 * 1000.0);
  c.stack.execution.loss_kernel = LossKernel::Linear;
  EXPECT_BYTES(edges_of(c).head_forward.elementwise, 3 * (2 * 2 * hidden + 2 * 256 * 1000.0)) << "none of them run";
  c.stack.execution.loss_kernel = LossKernel::Default;
  c.stack.profile.elementwise_traffic = 1;
  c.workload.finetune = FineTune::Lora;
  EXPECT_BYTES(edges_of(c).head_backward.gemm, product(256, 1000, 64));
  EXPECT_BYTES(edges_of(c).embedding_backward.elementwise, 2 * 3 * hidden);
  c.workload.lora.train_embeddings = true;
  EXPECT_EQ(edges_of(c).head_backward.gemm, edge.head_backward.gemm);
  c.stack.execution.loss_kernel = LossKernel::Linear;
  EXPECT_BYTES(edges_of(c).head_forward.elementwise, 2 * 2 * hidden + 2 * 256 * 1000.0);
}

TEST(Edges, CutTheVocabularyAndReduceTheGradientOfTheHiddenState) {
  StepCase c = byte_counter();
  c.strategy.tensor_parallel = 4;
  const EdgeCosts edge = edges_of(c);
  EXPECT_BYTES(edge.head_forward.gemm, product(256, 250, 64));
  EXPECT_EQ(edge.head_forward.tensor_comm, Seconds());
  EXPECT_EQ(edge.head_backward.tensor_comm,
            collective(c, CollectiveKind::AllReduce, 2 * 256 * 64, group_shapes(c.strategy, c.cluster).tensor));
}

// Megatron-LM, tokenizer.py: 1,000 entries become 1,024, half for each of two ranks; one more is 128 more on both.
TEST(Edges, PadTheVocabularyOnEveryTensorRank) {
  StepCase c = byte_counter();
  c.stack.vocab_multiple = 128;
  EXPECT_BYTES(edges_of(c).head_forward.gemm, product(256, 1024, 64));
  c.strategy.tensor_parallel = 2;
  EXPECT_BYTES(edges_of(c).head_forward.gemm, product(256, 512, 64));
  c.workload.architecture.vocab = 1025;
  EXPECT_BYTES(edges_of(c).head_forward.gemm, product(256, 640, 64));
}

TEST(Edges, OfAnEncoderPredictTheMaskedTokensOnly) {
  StepCase c = byte_counter();
  c.workload.architecture.kind = ModelKind::Encoder;
  c.workload.architecture.final_norm = false;
  const EdgeCosts edge = edges_of(c);
  EXPECT_BYTES(edge.head_forward.gemm, product(38, 1000, 64));  // 15 % of 256
  EXPECT_BYTES(edge.head_forward.elementwise, 6 * 38.4 * 1000);
}

}  // namespace
}  // namespace smplan
