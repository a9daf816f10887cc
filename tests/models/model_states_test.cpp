#include "models/memory/model_states.hpp"
#include "models/engines/state_widths.hpp"

#include <gtest/gtest.h>

#include "models/job/execution.hpp"
#include "models/memory/memory.hpp"

namespace smplan {
namespace {

Stack megatron() {
  Stack s;
  s.weight_bytes = 2;
  s.gradient_bytes = 4;
  s.master_bytes = 4;
  s.shardings = {Sharding::Zero1, Sharding::None};
  return s;
}
Stack deepspeed() {
  Stack s = megatron();
  s.gradient_bytes = 2;
  s.shardings = {Sharding::Zero3, Sharding::Zero2, Sharding::Zero1, Sharding::None};
  return s;
}
Stack torch() {
  Stack s;
  s.weight_bytes = 4;
  s.gradient_bytes = 4;
  s.master_bytes = 0;
  s.shardings = {Sharding::FsdpFull, Sharding::None};
  return s;
}

StageParameters dense(double n) {
  StageParameters p;
  p.dense = n;
  p.unit = n / 10;
  return p;
}

Strategy sharded(Sharding sharding, std::int32_t degree) {
  Strategy s;
  s.data_parallel = degree;
  s.sharding = sharding;
  s.shard_degree = sharding == Sharding::None ? 1 : degree;
  return s;
}

double total(const ModelStates& m) { return m.weights + m.gradients + m.optimizer; }

Workload adam(Precision precision = Precision::Bf16) {
  Workload w;
  w.precision = precision;
  return w;
}

// Rajbhandari et al. 2020, figure 1: 7.5B parameters, 64 ranks: 120, 31.4, 16.6 and 1.9 GB.
TEST(Zero, FigureOneOfItsPaper) {
  const Workload w = adam(Precision::Fp16);
  const StageParameters p = dense(7.5e9);
  EXPECT_NEAR(total(model_states(p, w, sharded(Sharding::None, 64), deepspeed())), 120e9, 1);
  EXPECT_NEAR(total(model_states(p, w, sharded(Sharding::Zero1, 64), deepspeed())), 31.4e9, 0.05e9);
  EXPECT_NEAR(total(model_states(p, w, sharded(Sharding::Zero2, 64), deepspeed())), 16.6e9, 0.05e9);
  EXPECT_NEAR(total(model_states(p, w, sharded(Sharding::Zero3, 64), deepspeed())), 1.9e9, 0.05e9);
}

// scripts/fit/zero_memory.py counts on one rank: a flat copy of 16-bit gradients and its cast, of 1e9 at most in stage
// 3; without a stage the casts and their flat copy.
TEST(Zero, StepCopiesAndCastsGradients) {
  Stack stack = deepspeed();
  stack.deepspeed_engine = true;
  const auto step = [&](Sharding sharding, std::int32_t ranks) {
    return model_states(dense(4e9), adam(), sharded(sharding, ranks), stack).step_transient;
  };
  EXPECT_DOUBLE_EQ(step(Sharding::None, 1), 8 * 4e9);
  EXPECT_DOUBLE_EQ(step(Sharding::Zero1, 2), 6 * 2e9);
  EXPECT_DOUBLE_EQ(step(Sharding::Zero2, 2), 6 * 2e9);
  EXPECT_DOUBLE_EQ(step(Sharding::Zero3, 2), 6 * 1e9);
}

// BF16_Optimizer, which has gradients in fp32 already, is what pipelines take.
TEST(Zero, AccumulatesInFp32UnderAPipelineEngineOnly) {
  Stack stack = deepspeed();
  stack.deepspeed_engine = true;
  const Strategy s = sharded(Sharding::Zero1, 2);
  EXPECT_DOUBLE_EQ(state_widths(adam(), s, stack).gradient, 2);
  stack.pipeline_parallel = true;
  EXPECT_DOUBLE_EQ(state_widths(adam(), s, stack).gradient, 6);
  EXPECT_DOUBLE_EQ(model_states(dense(1e9), adam(), s, stack).step_transient, 0);
  EXPECT_DOUBLE_EQ(state_widths(adam(Precision::Fp16), s, stack).gradient, 2);
}

// Megatron Core: 18 bytes a parameter, 6 + 12 / d with the distributed optimizer.
TEST(DistributedOptimizer, SixPlusTwelveOverRanks) {
  EXPECT_DOUBLE_EQ(total(model_states(dense(1e9), adam(), sharded(Sharding::None, 8), megatron())), 18e9);
  EXPECT_DOUBLE_EQ(total(model_states(dense(1e9), adam(), sharded(Sharding::Zero1, 8), megatron())), 7.5e9);
}

TEST(Fsdp, SixteenBytesOverRanks) {
  EXPECT_DOUBLE_EQ(total(model_states(dense(1e9), adam(), sharded(Sharding::FsdpFull, 16), torch())), 1e9);
  Strategy hybrid = sharded(Sharding::FsdpHybrid, 64);
  hybrid.shard_degree = 8;
  EXPECT_DOUBLE_EQ(total(model_states(dense(1e9), adam(), hybrid, torch())), 2e9);
}

TEST(PlainDataParallel, ThirteenBillionNeed208GB) {
  EXPECT_DOUBLE_EQ(total(model_states(dense(13e9), adam(), sharded(Sharding::None, 64), torch())), 208e9);
}

TEST(Optimizers, BytesOfMoments) {
  const struct {
    Optimizer optimizer;
    double bytes;
  } cases[] = {{Optimizer::AdamW, 8},
               {Optimizer::Adam8bit, 2},
               {Optimizer::SgdMomentum, 4},
               {Optimizer::Lion, 4},
               {Optimizer::Lamb, 8}};
  for (const auto& c : cases) {
    Workload w = adam();
    w.optimizer = c.optimizer;
    EXPECT_DOUBLE_EQ(model_states(dense(1e9), w, Strategy{}, megatron()).optimizer, (c.bytes + 4) * 1e9);
  }
  EXPECT_LT(optimizer_state_bytes(Optimizer::Adafactor), 0.02);
}

TEST(Optimizers, MuonLeavesEmbeddingsToAdam) {
  Workload w = adam();
  w.optimizer = Optimizer::Muon;
  StageParameters p = dense(1e9);
  p.root = 1e8;
  EXPECT_DOUBLE_EQ(model_states(p, w, Strategy{}, megatron()).optimizer, 1.1e9 * 8 + 1e8 * 4);
}

TEST(HalfMoments, SaveFourBytesAParameter) {
  const Workload w = adam();
  Stack half = megatron();
  half.execution.half_moments = Toggle::On;
  const double whole = total(model_states(dense(1e9), w, Strategy{}, megatron()));
  EXPECT_DOUBLE_EQ(whole - total(model_states(dense(1e9), w, Strategy{}, half)), 4e9);
}

TEST(PureHalf, EightBytes) {
  Stack half = megatron();
  half.execution.pure_half = Toggle::On;
  EXPECT_DOUBLE_EQ(total(model_states(dense(1e9), adam(), Strategy{}, half)), 8e9);
}

TEST(FullPrecision, SixteenBytesWithoutMaster) {
  EXPECT_DOUBLE_EQ(total(model_states(dense(1e9), adam(Precision::Fp32), Strategy{}, megatron())), 16e9);
}

TEST(LowRank, OnlyAdaptersHaveStates) {
  Workload w = adam();
  w.finetune = FineTune::Lora;
  StageParameters p = dense(1e9);
  p.adapters = 1e6;
  EXPECT_DOUBLE_EQ(total(model_states(p, w, Strategy{}, torch())), 2e9 + 16e6);
  w.finetune = FineTune::Qlora;  // Dettmers et al. 2023: 4.127 bits a parameter with double quantisation
  EXPECT_NEAR(total(model_states(p, w, Strategy{}, torch())), 1e9 * 4.127 / 8 + 16e6, 1e5);
}

// The frozen root stays beside its trained copy: 2 bytes, and 2 + 2 + 4 of the copy. DeepSpeed keeps its fp32 states of
// the copy, 2 + 2 + 12.
TEST(LowRank, EmbeddingsTrainedBesideAdaptersAreCopiedInTheirFormat) {
  Workload w = adam();
  w.finetune = FineTune::Lora;
  StageParameters p = dense(1e9);
  p.root = 1e8;
  p.adapters = 1e6;
  const ModelStates frozen = model_states(p, w, Strategy{}, torch());
  const ModelStates zero = model_states(p, w, Strategy{}, deepspeed());
  p.trained_root = 1e8;
  const ModelStates trained = model_states(p, w, Strategy{}, torch());
  EXPECT_DOUBLE_EQ(trained.weights - frozen.weights, 2e8);
  EXPECT_DOUBLE_EQ(trained.gradients - frozen.gradients, 2e8);
  EXPECT_DOUBLE_EQ(trained.optimizer - frozen.optimizer, 4e8);
  EXPECT_DOUBLE_EQ(trained.step_transient - frozen.step_transient, 2e8);
  EXPECT_DOUBLE_EQ(p.trainable(), 1.01e8);
  EXPECT_DOUBLE_EQ(total(model_states(p, w, Strategy{}, deepspeed())) - total(zero), 16e8);
  w.optimizer = Optimizer::Adam8bit;
  p.adapters = 0;
  EXPECT_DOUBLE_EQ(model_states(p, w, Strategy{}, torch()).optimizer, 2e8) << "8-bit moments stay as they are";
}

// 16 bytes an adapter parameter under FSDP, 2 + 4 + 12 under Megatron; the frozen weights have 2.
TEST(Fsdp, AccumulatingWithoutSynchronisingKeepsGradientsWhole) {
  Workload w = adam();
  w.global_batch = 8;
  Stack stack = torch();
  stack.whole_gradients = stack.adapters_share_units = true;
  const StageParameters p = dense(1e9);
  Strategy at_once = sharded(Sharding::FsdpFull, 4);
  at_once.micro_batch = 2;
  EXPECT_DOUBLE_EQ(model_states(p, w, at_once, stack).gradients, 1e9) << "one micro-batch synchronises at once";
  const ModelStates full = model_states(p, w, sharded(Sharding::FsdpFull, 4), stack);
  EXPECT_DOUBLE_EQ(full.gradients, 2e9) << "in the format of the products";
  EXPECT_DOUBLE_EQ(full.weights, 1e9);
  EXPECT_DOUBLE_EQ(model_states(p, w, sharded(Sharding::None, 4), stack).gradients, 4e9);
  // Of adapters the frozen weights' gradients are there too.
  w.finetune = FineTune::Lora;
  stack.execution.pure_half = Toggle::On;
  StageParameters adapted = p;
  adapted.adapters = 1e7;
  adapted.root = 1e8;
  EXPECT_DOUBLE_EQ(model_states(adapted, w, sharded(Sharding::FsdpFull, 4), stack).gradients, 2 * 1.01e9);
  EXPECT_DOUBLE_EQ(model_states(adapted, w, sharded(Sharding::None, 4), stack).gradients, 2 * 1e7);
  stack.adapters_share_units = false;
  EXPECT_DOUBLE_EQ(model_states(adapted, w, sharded(Sharding::FsdpFull, 4), stack).gradients, 2 * 1e7);
}

// FSDP under Accelerate, which seven billion parameters on 8 A100 with 16 micro-batches need 30 GiB for
// (lm-sys/FastChat issue 407), where four devices run out.
TEST(Fsdp, IsToldToAccumulateWithoutSynchronising) {
  Workload w = adam();
  w.global_batch = 64;
  Execution told;
  told.unsharded_gradients = Toggle::On;
  const StageParameters p = dense(1e9);
  const Strategy s = sharded(Sharding::FsdpFull, 4);
  EXPECT_DOUBLE_EQ(model_states(p, w, s, executed(torch(), told)).gradients, 2e9);
  told.unsharded_gradients = Toggle::Off;
  EXPECT_DOUBLE_EQ(model_states(p, w, s, executed(torch(), told)).gradients, 1e9);
}

TEST(LowRank, AdaptersAreShardedAsWeightsAre) {
  Workload w = adam();
  w.finetune = FineTune::Lora;
  StageParameters p = dense(1e9);
  p.adapters = 1e6;
  EXPECT_DOUBLE_EQ(total(model_states(p, w, sharded(Sharding::FsdpFull, 16), torch())), (2e9 + 16e6) / 16);
  EXPECT_DOUBLE_EQ(total(model_states(p, w, sharded(Sharding::Zero1, 8), megatron())), 2e9 + 6e6 + 12e6 / 8);
}

TEST(Experts, AreSharedByFewerRanks) {
  StageParameters p;
  p.experts = 1e9;
  Strategy s = sharded(Sharding::Zero1, 8);
  s.expert_parallel = 4;
  EXPECT_DOUBLE_EQ(model_states(p, adam(), s, megatron()).optimizer, 12e9 / 2);
  s.tensor_parallel = 4;  // whole experts lie over the tensor ranks too, cut ones do not
  EXPECT_DOUBLE_EQ(model_states(p, adam(), s, megatron()).optimizer, 12e9 / 8);
  s.expert_tensor_parallel = 4;
  EXPECT_DOUBLE_EQ(model_states(p, adam(), s, megatron()).optimizer, 12e9 / 2);
}

TEST(Offload, OfFsdpsParametersTakesGradientsAndStatesWithThem) {
  Strategy s = sharded(Sharding::FsdpFull, 8);
  s.offload.parameters = true;
  const ModelStates there = model_states(dense(1e9), adam(), s, torch());
  EXPECT_DOUBLE_EQ(there.weights + there.gradients + there.optimizer + there.step_transient, 0);
  EXPECT_DOUBLE_EQ(there.offloaded, 1e9 / 8 * (4 + 8 + 4));
}

TEST(Adapters, OfExpertsAreSharedByFewerRanks) {
  Workload w = adam();
  w.finetune = FineTune::Lora;
  StageParameters p = dense(1e9);
  p.adapters = 1e6;
  p.expert_adapters = 4e6;
  Strategy s = sharded(Sharding::FsdpFull, 8);
  EXPECT_DOUBLE_EQ(model_states(p, w, s, torch()).gradients, 4 * 5e6 / 8);
  s.expert_parallel = 4;
  EXPECT_DOUBLE_EQ(model_states(p, w, s, torch()).gradients, 4 * (1e6 / 8 + 4e6 / 2));
  EXPECT_DOUBLE_EQ(p.trainable(), 5e6);
}

TEST(Offload, MovesBytesToTheHost) {
  Strategy s = sharded(Sharding::Zero3, 8);
  const ModelStates here = model_states(dense(8e9), adam(), s, deepspeed());
  s.offload.optimizer = true;
  const ModelStates there = model_states(dense(8e9), adam(), s, deepspeed());
  EXPECT_EQ(there.optimizer, 0);
  EXPECT_DOUBLE_EQ(there.offloaded, here.optimizer + 4e9);
  EXPECT_EQ(there.step_transient, 0);
}

TEST(FrozenWeights, AreHeldAsTheJobIsTold) {
  Workload w = adam();
  w.finetune = FineTune::Lora;
  StageParameters p = dense(1e9);
  p.root = 1e8;
  Stack stack = torch();
  const auto held = [&](BaseFormat format) {
    stack.execution.base_format = format;
    return model_states(p, w, Strategy{}, stack).weights;
  };
  EXPECT_DOUBLE_EQ(held(BaseFormat::Default), 2 * 1.1e9);
  EXPECT_DOUBLE_EQ(held(BaseFormat::Fp32), 4 * 1.1e9);
  EXPECT_DOUBLE_EQ(held(BaseFormat::Int8), 1e9 + 2e8) << "embedding and head keep 16 bits";
  EXPECT_DOUBLE_EQ(held(BaseFormat::Fp8), 1e9 + 2e8);
}

TEST(FrozenWeights, TravelInTheFormatOfTheProductsOrANarrowerOne) {
  Workload w = adam();
  w.finetune = FineTune::Lora;
  Stack stack = torch();
  const auto gathered = [&](BaseFormat format) {
    stack.execution.base_format = format;
    return gathered_parameter_bytes(w, stack);
  };
  EXPECT_EQ(gathered(BaseFormat::Default), 2);
  EXPECT_EQ(gathered(BaseFormat::Fp32), 2) << "cast before they travel";
  EXPECT_EQ(gathered(BaseFormat::Fp8), 1);
  w.finetune = FineTune::Full;
  EXPECT_EQ(gathered(BaseFormat::Fp8), 2) << "nothing is frozen";
  w.finetune = FineTune::Qlora;
  EXPECT_EQ(gathered(BaseFormat::Default), frozen_weight_bytes(w, stack)) << "with the scales that it is held with";
  stack.execution.double_quantization = Toggle::Off;
  EXPECT_EQ(gathered(BaseFormat::Default), 0.5625);
}

// Half a byte and an fp32 scale a block of 64 of all linear maps; embedding in 16 bits, the head a map of its own.
TEST(LightningQuantization, TakesTheHeadTooAndKeepsScalesInFp32) {
  Workload w = adam();
  w.finetune = FineTune::Qlora;
  StageParameters p = dense(1e9);
  p.root = 2e8;
  p.head = 1e8;
  Stack stack = torch();
  stack.execution.double_quantization = Toggle::Off;
  EXPECT_DOUBLE_EQ(model_states(p, w, Strategy{}, stack).weights, 0.5625e9 + 4e8);
  stack.lightning_quantization = true;
  EXPECT_DOUBLE_EQ(model_states(p, w, Strategy{}, stack).weights, 0.5625 * 1.1e9 + 2e8);
  w.architecture.tied_embeddings = true;
  p.root = 1e8;
  EXPECT_DOUBLE_EQ(model_states(p, w, Strategy{}, stack).weights, 0.5625 * 1.1e9 + 2e8);
}

// PEFT's prepare_model_for_kbit_training: embedding and head in fp32 beside the 4-bit layers.
TEST(FrozenWeights, BesideAFourBitBaseMayBeCast) {
  Workload w;
  w.finetune = FineTune::Qlora;
  StageParameters p;
  p.dense = 7e9;
  p.root = 1e9;
  Stack stack;
  const auto weights = [&] { return model_states(p, w, Strategy{}, stack).weights; };
  const double plain = weights();
  stack.casts_beside_four_bits = true;
  EXPECT_DOUBLE_EQ(weights() - plain, 2e9);
  w.finetune = FineTune::Lora;
  EXPECT_DOUBLE_EQ(weights(), 2 * 8e9);
}

TEST(Optimizers, FusedOnesUpdateInPlace) {
  Stack stack = torch();
  EXPECT_DOUBLE_EQ(model_states(dense(1e9), adam(), Strategy{}, stack).step_transient, 4e9);
  stack.fused_optimizer = true;
  EXPECT_DOUBLE_EQ(model_states(dense(1e9), adam(), Strategy{}, stack).step_transient, 0);
}

// bitsandbytes keeps fp32 moments of 16-bit weights, and updates one tensor after the other.
TEST(Optimizers, PagedOnesKeepWholeMomentsElsewhere) {
  Stack stack = torch();
  stack.execution.pure_half = Toggle::On;
  EXPECT_DOUBLE_EQ(model_states(dense(1e9), adam(), Strategy{}, stack).optimizer, 4e9);
  stack.execution.paged_optimizer = Toggle::On;
  const ModelStates states = model_states(dense(1e9), adam(), Strategy{}, stack);
  EXPECT_DOUBLE_EQ(states.optimizer, 0);
  EXPECT_DOUBLE_EQ(states.paged, 8e9);
  EXPECT_DOUBLE_EQ(states.step_transient, 0);
  stack.execution.pure_half = Toggle::Default;
  stack.master_bytes = 4;
  EXPECT_DOUBLE_EQ(model_states(dense(1e9), adam(), Strategy{}, stack).optimizer, 4e9) << "masters stay";
}

}  // namespace
}  // namespace smplan
