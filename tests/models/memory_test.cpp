#include "models/memory/memory.hpp"

#include <gtest/gtest.h>

#include "models/job/execution.hpp"

namespace smplan {
namespace {

Architecture llama(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t kv_heads,
                   std::int64_t ffn, std::int64_t vocab) {
  Architecture a;
  a.name = "llama";
  a.n_layers = layers;
  a.hidden = hidden;
  a.n_heads = heads;
  a.n_kv_heads = kv_heads;
  a.head_dim = hidden / heads;
  a.ffn_hidden = ffn;
  a.vocab = vocab;
  return a;
}

Workload workload(const Architecture& a, std::int64_t seq_len, std::int64_t global_batch) {
  Workload w;
  w.architecture = a;
  w.seq_len = seq_len;
  w.global_batch = global_batch;
  return w;
}

Cluster cluster(double memory_gib, std::int32_t nodes, const char* compute_capability) {
  Cluster c;
  c.gpus_per_node = 8;
  c.nodes = nodes;
  c.device_memory = gib(memory_gib);
  c.host_memory = gib(1152);
  c.accelerator.compute_capability = compute_capability;
  return c;
}

Stack megatron() {
  Stack s;
  s.weight_bytes = 2;
  s.gradient_bytes = 4;
  s.master_bytes = 4;
  s.logits_bytes = 4;
  s.shardings = {Sharding::Zero1, Sharding::None};
  s.profile.allocator_slack = 0.04;
  return s;
}
Stack torch(Sharding sharding) {
  Stack s;
  s.weight_bytes = 4;
  s.gradient_bytes = 4;
  s.gradient_reduce_bytes = 4;
  s.master_bytes = 0;
  s.logits_bytes = s.parallel_logits_bytes = 12;
  s.shardings = {sharding};
  s.profile.allocator_slack = 0.03;
  return s;
}

Strategy sharded(Sharding sharding, std::int32_t data, std::int32_t degree) {
  Strategy s;
  s.data_parallel = data;
  s.sharding = sharding;
  s.shard_degree = degree;
  return s;
}

void expect_consistent(const MemoryEstimate& m) {
  EXPECT_EQ(m.components.total(), m.wanted);
  EXPECT_LE(m.peak_allocated, m.wanted);
  EXPECT_EQ(m.fits_device(), m.wanted <= m.limit);
  EXPECT_LE(m.peak_allocated, m.peak_reserved);
  EXPECT_LE(m.peak_reserved, m.peak_device);
  const MemoryComponents& c = m.components;
  for (const Bytes b :
       {c.weights, c.gradients, c.optimizer, c.activations, c.logits, c.communication, c.workspace, c.framework}) {
    EXPECT_GE(b.value(), 0);
  }
}

/// max_memory_allocated over ranks of Megatron-LM on 8 B200: no recomputation, distributed optimizer, fp32
/// gradients, truncated Llama-3. Source: MooreThreads/SimuMax docs/b200 v1.2 at 4dcaae5, 2026-05.
struct Measured {
  const char* name;
  bool large;  ///< 405B widths with 16 key-value heads and 4 layers; else 70B widths, 12 layers
  std::int32_t tensor, pipeline, context, data;
  std::int64_t seq_len;
  double allocated_gib;
};

class SimuMaxB200 : public testing::TestWithParam<Measured> {};

TEST_P(SimuMaxB200, PeakAllocatedWithinOnePercent) {
  const Measured& m = GetParam();
  const Architecture a = m.large ? llama(4, 16384, 128, 16, 53248, 128256) : llama(12, 8192, 64, 8, 28672, 128256);
  const Workload w = workload(a, m.seq_len, std::int64_t{4} * m.data);
  Strategy s = sharded(Sharding::Zero1, m.data, m.data * m.context);
  s.tensor_parallel = m.tensor;
  s.pipeline_parallel = m.pipeline;
  s.context_parallel = m.context;
  s.sequence_parallel = m.tensor > 1;
  const MemoryEstimate e = estimate_memory(w, s, cluster(178, 1, "10.0"), megatron());
  expect_consistent(e);
  EXPECT_NEAR(in_gib(e.peak_allocated) / m.allocated_gib, 1, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Runs, SimuMaxB200,
                         testing::Values(Measured{"L70PipelineTwo", false, 1, 2, 1, 4, 4096, 66.55},
                                         Measured{"L70TensorEight", false, 8, 1, 1, 1, 4096, 28.29},
                                         Measured{"L70Context128k", false, 2, 1, 4, 1, 131072, 112.67},
                                         Measured{"L405PipelineTwo", true, 1, 2, 1, 4, 4096, 87.08},
                                         Measured{"L405TensorFour", true, 4, 1, 1, 2, 4096, 52.89},
                                         Measured{"L405Context32k", true, 1, 1, 8, 1, 32768, 139.22}),
                         [](const testing::TestParamInfo<Measured>& info) { return std::string(info.param.name); });

// torchtitan, benchmarks/llama3_h100_202412: Llama-3.1-8B, FSDP 8, 2 x 8192 tokens, per-operation selective
// checkpointing, eager: 82.4 GiB reserved, compiled 77.0; 128 GPUs: 67 and 62 GiB, all within 5 %. 1 x 32768 tokens,
// full checkpointing: 83.9 GiB, within 8.
TEST(TorchTitan, ReservedAsMeasured) {
  const Architecture a = llama(32, 4096, 32, 8, 14336, 128256);
  Strategy s = sharded(Sharding::FsdpFull, 8, 8);
  s.micro_batch = 2;
  s.recompute = Recompute::Selective;
  Stack stack = torch(Sharding::FsdpFull);
  stack.copies_gathered = true;
  stack.execution.release_gradients = Toggle::On;
  Stack compiled = stack;
  compiled.execution.compile = Compile::Layers;
  const Cluster c = cluster(95, 1, "9.0");
  const MemoryEstimate eager = estimate_memory(workload(a, 8192, 16), s, c, stack);
  EXPECT_NEAR(in_gib(eager.peak_reserved) / 82.4, 1, 0.05);
  const MemoryEstimate fewer = estimate_memory(workload(a, 8192, 16), s, c, compiled);
  EXPECT_NEAR(in_gib(fewer.peak_reserved) / 77.0, 1, 0.05);
  EXPECT_DOUBLE_EQ((eager.peak_allocated - fewer.peak_allocated).value(), 32 * 2.0 * 8192 * 2 * 4096)
      << "the output of each layer's last product";
  s.data_parallel = s.shard_degree = 128;
  EXPECT_NEAR(in_gib(estimate_memory(workload(a, 8192, 256), s, c, stack).peak_reserved) / 67.0, 1, 0.05);
  EXPECT_NEAR(in_gib(estimate_memory(workload(a, 8192, 256), s, c, compiled).peak_reserved) / 62.0, 1, 0.05);
  s = sharded(Sharding::FsdpFull, 8, 8);
  s.recompute = Recompute::Full;
  EXPECT_NEAR(in_gib(estimate_memory(workload(a, 32768, 8), s, c, stack).peak_reserved) / 83.9, 1, 0.08);
}

// scripts/fit/fsdp_memory.py: the block of the 16-bit logits, pieces of a layer's forward pass, the pool of the
// gradients and the buffers of the gather.
TEST(PeakMemory, OfFsdpIsReservedForWhatNothingElseFits) {
  const Architecture a = llama(32, 4096, 32, 8, 14336, 128256);
  Stack stack = torch(Sharding::FsdpFull);
  stack.profile.allocator_slack = 0;
  stack.execution.release_gradients = Toggle::Off;
  Strategy s = sharded(Sharding::FsdpFull, 8, 8);
  s.micro_batch = 2;
  s.recompute = Recompute::Full;
  const auto held = [&] {
    const MemoryEstimate e = estimate_memory(workload(a, 8192, 16), s, cluster(200, 1, "9.0"), stack);
    return (e.peak_reserved - e.peak_allocated).value();
  };
  const double tokens = 2 * 8192;
  const double pieces = tokens * 2 * (3 * 14336 + 4 * 4096);
  EXPECT_NEAR(held(), pieces + tokens * 2 * 128256, 1);
  const double layer = 4096.0 * (2 * 4096 + 2 * 1024 + 3 * 14336) + 2 * 4096;
  const double root = 2.0 * 128256 * 4096;
  const double without = held();
  stack.copies_gathered = true;
  EXPECT_NEAR(held() - without, 2 * (root + layer), 1);
  stack.copies_gathered = false;
  stack.execution.release_gradients = Toggle::On;
  EXPECT_NEAR(held() - without, 4 * 32 * layer / 8, 1) << "those of the root are there when the loss peaks";
  s.recompute = Recompute::None;
  stack.execution.release_gradients = Toggle::Off;
  EXPECT_NEAR(held(), tokens * 2 * 128256, 1) << "all pieces are kept";
  stack.execution.release_gradients = Toggle::On;
  stack.placed_memory = true;
  EXPECT_EQ(held(), 0) << "a compiler leaves nothing idle";
}

// Each of 40 layers that is recomputed gives back what it saves but for its input. With one layer left that is not,
// the backward pass has freed as much as the recomputed layers before it need. No vocabulary: the loss is no peak.
TEST(PartialRecomputation, SavesTheSameWithEveryLayer) {
  const Workload w = workload(llama(40, 5120, 40, 40, 13824, 0), 4096, 8);
  const auto activations = [&](Recompute recompute, std::int32_t layers) {
    Strategy s;
    s.recompute = recompute;
    s.recompute_layers = layers;
    return estimate_memory(w, s, cluster(1e4, 1, "9.0"), megatron()).components.activations.value();
  };
  const double none = activations(Recompute::None, 0);
  const double full = activations(Recompute::Full, 0);
  EXPECT_DOUBLE_EQ(activations(Recompute::Full, 39), full);
  EXPECT_DOUBLE_EQ(activations(Recompute::Full, 40), full);
  const double a_layer = (none - full) / 39;
  EXPECT_NEAR(none - activations(Recompute::Full, 1), a_layer, 1e-9 * none);
  EXPECT_NEAR(none - activations(Recompute::Full, 17), 17 * a_layer, 1e-9 * none);
  // 34 bytes a token and unit of width saved at the most (Korthikanti et al. 2022), 2 of them the input.
  EXPECT_LT(a_layer, 34.0 * 4096 * 5120);
  EXPECT_GT(a_layer, 20.0 * 4096 * 5120);
}

// paragao/qwen3-8b-optimised-pretraining, 2026-06: small Qwen3-like models on A10G, Megatron-Bridge,
// torch max_memory_allocated 6.84 and 9.66 GiB; with the optimizer over two nodes 4.83 GiB.
TEST(SmallModelsOnA10G, AllocatedWithinFivePercent) {
  const Cluster c = cluster(22, 1, "8.6");
  Architecture a = llama(4, 1024, 8, 2, 3072, 151936);
  EXPECT_NEAR(in_gib(estimate_memory(workload(a, 1024, 8), {}, c, megatron()).peak_allocated) / 6.84, 1, 0.05);
  EXPECT_NEAR(
      in_gib(estimate_memory(workload(a, 1024, 16), sharded(Sharding::Zero1, 2, 2), c, megatron()).peak_allocated) /
          4.83,
      1, 0.05);
  a = llama(12, 1024, 8, 2, 3072, 151936);
  EXPECT_NEAR(in_gib(estimate_memory(workload(a, 2048, 8), {}, c, megatron()).peak_allocated) / 9.66, 1, 0.05);
}

TEST(PlainDataParallel, ThirteenBillionDoNotFitForty) {
  const Architecture a = llama(40, 5120, 40, 40, 13824, 32000);  // Llama-2-13B: 13.016e9 parameters
  const MemoryEstimate m = estimate_memory(workload(a, 2048, 64), sharded(Sharding::None, 64, 1),
                                           cluster(39.4, 8, "8.0"), torch(Sharding::None));
  const Bytes states = m.components.weights + m.components.gradients + m.components.optimizer;
  EXPECT_NEAR(states.value(), 16 * 13.016e9, 16 * 0.001e9);
  EXPECT_FALSE(m.fits());
  Strategy s = sharded(Sharding::FsdpFull, 64, 64);
  s.recompute = Recompute::Full;
  EXPECT_TRUE(estimate_memory(workload(a, 2048, 64), s, cluster(39.4, 8, "8.0"), torch(Sharding::FsdpFull)).fits());
}

// AWS ships Llama-2-70B on 32 x ml.p4d.24xlarge with shard degree 256 (SMP v2 reference, 4096 tokens).
TEST(HybridSharding, Llama70BFitsOn256A100) {
  const Architecture a = llama(80, 8192, 64, 8, 28672, 32000);
  Strategy s = sharded(Sharding::FsdpHybrid, 256, 256);
  s.recompute = Recompute::Full;
  s.micro_batch = 2;
  const MemoryEstimate m =
      estimate_memory(workload(a, 4096, 512), s, cluster(39.4, 32, "8.0"), torch(Sharding::FsdpHybrid));
  EXPECT_TRUE(m.fits());
  s.shard_degree = 8;  // 69e9 x 16 / 8 = 138 GB
  EXPECT_FALSE(
      estimate_memory(workload(a, 4096, 512), s, cluster(39.4, 32, "8.0"), torch(Sharding::FsdpHybrid)).fits());
}

TEST(PeakMemory, FallsWithDivisionAndRisesWithWork) {
  const Architecture a = llama(32, 4096, 32, 8, 14336, 128256);
  const Cluster c = cluster(79.1, 8, "9.0");
  const auto peak = [&](const Strategy& s, std::int64_t seq_len) {
    const MemoryEstimate m = estimate_memory(workload(a, seq_len, 1024), s, c, megatron());
    expect_consistent(m);
    return m.peak_allocated;
  };
  Strategy s = sharded(Sharding::Zero1, 8, 8);
  Bytes last = gib(1e9);
  for (const std::int32_t tensor : {1, 2, 4, 8}) {
    s.tensor_parallel = tensor;
    EXPECT_LT(peak(s, 4096), last);
    last = peak(s, 4096);
  }
  s = sharded(Sharding::Zero1, 8, 1);
  last = gib(1e9);
  for (const std::int32_t degree : {1, 2, 4, 8}) {
    s.shard_degree = degree;
    EXPECT_LT(peak(s, 4096), last);
    last = peak(s, 4096);
  }
  last = Bytes(0);
  for (const std::int32_t micro_batch : {1, 2, 4, 8}) {
    s.micro_batch = micro_batch;
    EXPECT_GT(peak(s, 4096), last);
    last = peak(s, 4096);
  }
  s.micro_batch = 1;
  last = Bytes(0);
  for (const std::int64_t seq_len : {1024, 4096, 16384}) {
    EXPECT_GT(peak(s, seq_len), last);
    last = peak(s, seq_len);
  }
}

TEST(PeakMemory, MoreShardingNeverNeedsMore) {
  const Architecture a = llama(32, 4096, 32, 8, 14336, 32000);
  Stack s = torch(Sharding::FsdpFull);
  s.shardings = {Sharding::FsdpFull, Sharding::FsdpGradOp, Sharding::FsdpHybrid};
  const Cluster c = cluster(79.1, 8, "9.0");
  const Workload w = workload(a, 4096, 64);
  const Bytes full = estimate_memory(w, sharded(Sharding::FsdpFull, 64, 64), c, s).peak_device;
  const Bytes hybrid = estimate_memory(w, sharded(Sharding::FsdpHybrid, 64, 8), c, s).peak_device;
  const Bytes grad_op = estimate_memory(w, sharded(Sharding::FsdpGradOp, 64, 64), c, s).peak_device;
  EXPECT_LT(full, hybrid);
  EXPECT_LT(full, grad_op);
}

TEST(PeakMemory, RecomputationTradesActivations) {
  const Architecture a = llama(32, 4096, 32, 8, 14336, 32000);
  Strategy s = sharded(Sharding::Zero1, 8, 8);
  const Workload w = workload(a, 8192, 64);
  const Bytes none = estimate_memory(w, s, cluster(79.1, 1, "9.0"), megatron()).components.activations;
  s.recompute = Recompute::Full;
  const Bytes full = estimate_memory(w, s, cluster(79.1, 1, "9.0"), megatron()).components.activations;
  EXPECT_LT(full * 5, none);
}

TEST(PeakMemory, UnfusedKernelsSaveMore) {
  const Architecture a = llama(32, 4096, 32, 8, 14336, 32000);
  Stack unfused = megatron();
  unfused.fused_kernels = false;
  const Workload w = workload(a, 8192, 8);
  EXPECT_LT(estimate_memory(w, {}, cluster(79.1, 1, "9.0"), megatron()).peak_allocated,
            estimate_memory(w, {}, cluster(79.1, 1, "9.0"), unfused).peak_allocated);
}

TEST(PeakMemory, FusedLossDropsTheLogits) {
  const Architecture a = llama(16, 2048, 32, 8, 8192, 128256);
  const Workload w = workload(a, 16384, 8);
  const Bytes whole = estimate_memory(w, {}, cluster(79.1, 1, "9.0"), torch(Sharding::None)).peak_allocated;
  Stack linear = torch(Sharding::None);
  linear.execution.loss_kernel = LossKernel::Linear;
  const Bytes chunked = estimate_memory(w, {}, cluster(79.1, 1, "9.0"), linear).peak_allocated;
  EXPECT_GT(whole - chunked, gib(10));  // 16384 x 128256 x 14 bytes = 27 GiB less what then decides
}

TEST(PeakMemory, AFrozenModelReadsItsLogitsAsTheTrainedOneDoes) {
  Workload w = workload(llama(16, 2048, 32, 8, 8192, 128256), 8192, 8);
  w.loss = training_loss("dpo");
  w.reference = Reference::Precomputed;
  Stack stack = torch(Sharding::None);
  const auto logits = [&](LossKernel kernel) {
    const Stack told = executed(stack, {.loss_kernel = kernel});
    return estimate_memory(w, {}, cluster(79.1, 1, "9.0"), told).components.logits;
  };
  const double computed = static_cast<double>(w.computed_seq_len()) * 128256;
  EXPECT_GT(logits(LossKernel::Whole) - logits(LossKernel::InPlace), Bytes(9 * computed));
}

TEST(PeakMemory, FurtherTokensHaveLogitsOfTheirOwnAndShareABlock) {
  const auto predicting = [](std::int64_t depth, bool shared) {
    Architecture a = llama(16, 2048, 32, 8, 8192, 128256);
    a.prediction = {.depth = depth, .shared_block = shared};
    return estimate_memory(workload(a, 8192, 8), {}, cluster(79.1, 1, "9.0"), torch(Sharding::None)).components;
  };
  const MemoryComponents next = predicting(0, false);
  const MemoryComponents shared = predicting(2, true);
  const MemoryComponents apart = predicting(2, false);
  EXPECT_DOUBLE_EQ(shared.logits.value(), 3 * next.logits.value());
  EXPECT_EQ(apart.logits, shared.logits);
  const Bytes block = shared.weights - next.weights;
  EXPECT_GT(block, Bytes());
  EXPECT_DOUBLE_EQ((apart.weights - next.weights).value(), 2 * block.value());
  EXPECT_DOUBLE_EQ((apart.optimizer - next.optimizer).value(), 2 * (shared.optimizer - next.optimizer).value());
  EXPECT_EQ(apart.activations, shared.activations) << "run twice, be it with the same weights";
}

TEST(PeakMemory, NearTheEndTheAllocatorGivesBackWhatItCaches) {
  const Workload w = workload(llama(16, 2048, 32, 8, 8192, 128256), 8192, 8);
  const auto on = [&](double memory_gib) {
    return estimate_memory(w, {}, cluster(memory_gib, 1, "9.0"), torch(Sharding::None));
  };
  const MemoryEstimate roomy = on(200);
  expect_consistent(roomy);
  EXPECT_LT(roomy.wanted, roomy.peak_device) << "of idle blocks it can do without a part";
  const double needed = in_gib(roomy.peak_device - (roomy.peak_reserved - roomy.peak_allocated));
  const MemoryEstimate tight = on(0.5 * (needed + in_gib(roomy.wanted)));
  expect_consistent(tight);
  EXPECT_LE(tight.peak_device, tight.limit) << "what a run that survives shows";
  EXPECT_FALSE(tight.fits()) << "it is likelier not to";
  EXPECT_EQ(tight.wanted, roomy.wanted);
  EXPECT_LT(tight.peak_reserved, roomy.peak_reserved);
  EXPECT_EQ(tight.peak_allocated, roomy.peak_allocated);
  const MemoryEstimate over = on(0.99 * needed);
  expect_consistent(over);
  EXPECT_FALSE(over.fits());
  EXPECT_EQ(over.peak_reserved, over.peak_allocated);
}

TEST(PeakMemory, AnExpertThatIsShardedByItselfIsGatheredByItself) {
  Architecture a = llama(16, 2048, 32, 8, 8192, 32000);
  a.moe = {.n_experts = 64, .top_k = 2, .expert_ffn_hidden = 4096};
  const Strategy s = sharded(Sharding::FsdpFull, 8, 8);
  Stack stack = torch(Sharding::FsdpFull);
  stack.execution.release_gradients = Toggle::Off;
  const Workload w = workload(a, 2048, 8);
  const MemoryEstimate layers = estimate_memory(w, s, cluster(79.1, 1, "9.0"), stack);
  stack.expert_units = true;
  const MemoryEstimate experts = estimate_memory(w, s, cluster(79.1, 1, "9.0"), stack);
  // Two units in flight: of 64 experts each, or of one.
  const double expert_bytes = 2.0 * 3 * 2048 * 4096;
  EXPECT_GT((layers.components.communication - experts.components.communication).value(), 2 * 60 * expert_bytes);
}

TEST(PeakMemory, OfStageThreeHoldsTheHeadAndALayerTwice) {
  Stack deepspeed = megatron();
  deepspeed.gradient_bytes = 2;
  deepspeed.deepspeed_engine = true;
  Strategy s = sharded(Sharding::Zero3, 64, 64);
  s.recompute = Recompute::Full;
  const auto communication = [&](std::int64_t layers, std::int64_t vocabulary) {
    const Architecture a = llama(layers, 8192, 64, 8, 28672, vocabulary);
    return estimate_memory(workload(a, 4096, 64), s, cluster(79.1, 8, "9.0"), deepspeed).components.communication;
  };
  EXPECT_DOUBLE_EQ((communication(40, 60000) - communication(40, 30000)).value(), 2 * 30000.0 * 8192);
  EXPECT_DOUBLE_EQ((communication(40, 150000) - communication(40, 100000)).value(), 2 * 2 * 50000.0 * 8192)
      << "and a gradient that no bucket holds";
  EXPECT_EQ(communication(40, 150000), communication(80, 150000)) << "the other layers are shards";
  const double layer = 8192.0 * (2 * 8192 + 2 * 1024 + 3 * 28672 + 2);
  EXPECT_NEAR((communication(40, 8000) - communication(1, 8000)).value(), 2 * (1e9 - layer - 2 * 8000 * 8192.0), 1e5)
      << "a thousand million parameters stay, or all there are";
}

// DeepSpeed edaa722, stage_1_and_2.py, `setup_buckets`: two of 5e8 elements, on one rank and for adapters too.
TEST(PeakMemory, OfStageTwoHoldsTwoWholeBuckets) {
  Stack deepspeed = megatron();
  deepspeed.gradient_bytes = 2;
  deepspeed.deepspeed_engine = true;
  Workload w = workload(llama(24, 2048, 16, 16, 5504, 32000), 256, 8);
  w.finetune = FineTune::Lora;
  const auto communication = [&](Sharding sharding, std::int32_t ranks) {
    Strategy s = sharded(sharding, ranks, sharding == Sharding::None ? 1 : ranks);
    s.recompute = Recompute::Full;
    return estimate_memory(w, s, cluster(79.1, 1, "9.0"), deepspeed).components.communication.value();
  };
  EXPECT_EQ(communication(Sharding::Zero2, 1), 2 * 2 * 5e8);
  EXPECT_EQ(communication(Sharding::None, 1), 0);
  EXPECT_LT(communication(Sharding::None, 8), communication(Sharding::Zero2, 8)) << "its buckets hold adapters only";
}

// Hugging Face's Trainer fills in "auto" with the square of the hidden size.
TEST(PeakMemory, OfTrainersHoldsSmallBuckets) {
  Stack stack = megatron();
  stack.gradient_bytes = 2;
  stack.deepspeed_engine = true;
  Workload w = workload(llama(24, 2048, 16, 16, 5504, 32000), 256, 8);
  w.finetune = FineTune::Lora;
  const auto communication = [&] {
    return estimate_memory(w, sharded(Sharding::Zero3, 8, 8), cluster(79.1, 8, "9.0"), stack).components.communication;
  };
  const Bytes own = communication();
  stack.reduce_bucket_elements = 2048.0 * 2048;
  EXPECT_NEAR((own - communication()).value(), 2 * 2 * (5e8 - 2048.0 * 2048), 1);
}

// scripts/fit/zero_memory.py: the allocator holds states, passes and step side by side, and gathered parameters apart.
TEST(PeakMemory, OfDeepSpeedIsReservedForStepAndPassesTogether) {
  Stack stack = megatron();
  stack.gradient_bytes = 2;
  stack.deepspeed_engine = true;
  stack.profile.allocator_slack = 0;
  Strategy s = sharded(Sharding::Zero2, 2, 2);
  s.recompute = Recompute::Full;
  const auto memory = [&](std::int64_t tokens) {
    return estimate_memory(workload(llama(24, 2048, 16, 16, 5504, 32000), tokens, 8), s, cluster(79.1, 8, "9.0"),
                           stack);
  };
  const MemoryEstimate few = memory(512);
  const MemoryEstimate more = memory(1024);
  EXPECT_EQ(few.peak_allocated, more.peak_allocated) << "of the step";
  EXPECT_GT(few.peak_reserved, few.peak_allocated);
  EXPECT_GT(more.peak_reserved, few.peak_reserved);
  EXPECT_EQ(more.wanted, few.wanted) << "the step gets what the passes no longer use before it runs out";
  stack.deepspeed_engine = false;
  EXPECT_EQ(memory(512).peak_reserved, memory(512).peak_allocated);
}

// DTensor's gathered inputs of attention and MLP, what a gate's two products and a reduce-scatter leave of gradients.
TEST(TorchParallelism, HoldsTensorRegionsWhole) {
  Stack stack = torch(Sharding::FsdpFull);
  Strategy s = sharded(Sharding::FsdpFull, 8, 8);
  s.tensor_parallel = 4;
  s.sequence_parallel = true;
  s.recompute = Recompute::Full;
  s.micro_batch = 8;
  const Workload w = workload(llama(80, 8192, 64, 8, 28672, 1000), 8192, 64);
  const auto peak = [&] { return estimate_memory(w, s, cluster(600, 4, "9.0"), stack).peak_allocated.value(); };
  const double whole = 2.0 * 8 * 8192 * 8192;
  const double slices = peak();
  stack.torch_parallelism = true;
  EXPECT_NEAR(peak() - slices, whole * (2 * 0.75 + 2.75), 1);
  stack.execution.tensor_overlap = TensorOverlap::Async;
  EXPECT_NEAR(peak() - slices, whole * (2 * 0.75 + 0.75), 1);
}

// torch.distributed.pipelining, stage.py: each micro-batch has a buffer for its gradient, and its output stays.
TEST(TorchParallelism, HoldsTwoTransfersForEveryMicroBatch) {
  Stack stack = torch(Sharding::FsdpFull);
  Strategy s = sharded(Sharding::FsdpFull, 2, 2);
  s.pipeline_parallel = 4;
  s.recompute = Recompute::Full;
  const Architecture a = llama(16, 4096, 32, 8, 14336, 1000);
  const auto peak = [&](std::int64_t micro_batches) {
    const Workload w = workload(a, 4096, 2 * micro_batches);
    return estimate_memory(w, s, cluster(600, 1, "9.0"), stack).first_stage_allocated.value();
  };
  const double before = peak(16);
  stack.torch_parallelism = true;
  EXPECT_NEAR(peak(16) - before, 2 * 16 * 2.0 * 4096 * 4096, 1);
  EXPECT_NEAR(peak(32) - peak(16), 2 * 16 * 2.0 * 4096 * 4096, 1);
}

// 1.45 GiB for the world and 544 MB for each further communicator.
TEST(PeakMemory, CountsACommunicatorForTheNormOfTheGradientsAndForATiedEmbedding) {
  Workload w = workload(llama(16, 2048, 32, 8, 8192, 131072), 4096, 64);
  const auto communicators = [&](std::int32_t tensor, std::int32_t pipeline, const Stack& stack) {
    Strategy s;
    s.tensor_parallel = tensor;
    s.pipeline_parallel = pipeline;
    s.data_parallel = 8 / tensor / pipeline;
    const MemoryEstimate m = estimate_memory(w, s, cluster(80, 1, "9.0"), stack);
    return (m.peak_device - m.peak_reserved).value() - gib(0.9 + 1.45).value();
  };
  EXPECT_NEAR(communicators(2, 1, megatron()), 2 * 544e6, 1) << "tensor, data";
  EXPECT_NEAR(communicators(2, 2, megatron()), 4 * 544e6, 1) << "tensor, pipeline, data, norm";
  EXPECT_NEAR(communicators(2, 4, megatron()), 2 * 544e6, 1) << "the norm's is the world";
  Stack torchtitan = megatron();
  torchtitan.torch_parallelism = true;
  EXPECT_NEAR(communicators(2, 2, torchtitan), 3 * 544e6, 1) << "DTensor sums by dimensions";
  w.architecture.tied_embeddings = true;
  EXPECT_NEAR(communicators(2, 1, megatron()), 2 * 544e6, 1);
  EXPECT_NEAR(communicators(1, 2, megatron()), 3 * 544e6, 1) << "pipeline, data, embedding";
  EXPECT_NEAR(communicators(1, 8, megatron()), 544e6, 1) << "the pipeline's is the world: embedding";
}

// Layers of two kinds, a number that no stage count divides: whichever stage holds most counts.
TEST(PeakMemory, OfTheBusiestStageIsAtLeastItsShare) {
  const Catalog catalog = Catalog::shipped().value();
  for (const ModelPreset& preset : catalog.models()) {
    const Architecture& a = preset.architecture;
    for (const std::int32_t stages : {2, 3, 8, 16, 32}) {
      if (a.n_layers < stages || a.kind == ModelKind::EncoderDecoder) continue;
      Strategy s;
      s.pipeline_parallel = stages;
      const MemoryEstimate m = estimate_memory(workload(a, 128, stages), s, cluster(600, 8, "9.0"), megatron());
      const double all = 2.0 * static_cast<double>(count_parameters(a).total());
      EXPECT_GE(m.components.weights.value() * stages, 0.999 * all) << a.name << " on " << stages << " stages";
    }
  }
}

// DeepSpeed f095c7d, runtime/pipe/engine.py: what a stage sends is kept, cut among tensor ranks.
TEST(PeakMemory, OfDeepSpeedsPipelineKeepsWhatAStageSent) {
  Stack stack = megatron();
  stack.deepspeed_engine = true;
  const auto memory = [&](std::int32_t tensor, std::int64_t micro_batches) {
    Strategy s = sharded(Sharding::Zero1, 2, 2);
    s.tensor_parallel = tensor;
    s.pipeline_parallel = 4;
    s.recompute = Recompute::Full;
    const Workload w = workload(llama(16, 4096, 32, 8, 14336, 1000), 65536, 2 * micro_batches);
    return estimate_memory(w, s, cluster(600, 4, "9.0"), stack);
  };
  const double hidden_states = 2.0 * 65536 * 4096;
  const auto per_micro_batch = [&](std::int32_t tensor) {
    return (memory(tensor, 4).first_stage_allocated - memory(tensor, 1).first_stage_allocated).value() / 3;
  };
  EXPECT_NEAR(per_micro_batch(1), hidden_states * (4 + 1), 1) << "inputs of four layers, and what was sent";
  EXPECT_NEAR(per_micro_batch(4), hidden_states * (4 + 0.25), 1);
  stack.gradient_bytes = 2;
  const auto workspace = [&](bool deepspeed, std::int32_t tensor) {
    stack.deepspeed_engine = deepspeed;
    const MemoryEstimate m = memory(tensor, 4);
    EXPECT_EQ(m.worst_stage, 0);
    return m.components.workspace.value();
  };
  EXPECT_NEAR(workspace(true, 1) - workspace(false, 1), hidden_states, 1) << "its gradient";
  EXPECT_NEAR(workspace(true, 4) - workspace(false, 4), 2 * hidden_states, 1) << "and the whole, gathered again";
}

TEST(PeakMemory, OfTheFirstStageHasNoLogits) {
  const Architecture a = llama(16, 2048, 32, 8, 8192, 131072);
  Strategy s = sharded(Sharding::None, 1, 1);
  const Workload w = workload(a, 4096, 8);
  const MemoryEstimate whole = estimate_memory(w, s, cluster(79.1, 1, "9.0"), megatron());
  EXPECT_EQ(whole.first_stage_allocated, whole.peak_allocated);
  EXPECT_EQ(whole.first_stage_reserved, whole.peak_reserved);
  s.pipeline_parallel = 2;
  s.micro_batch = 4;
  s.recompute = Recompute::Full;
  const MemoryEstimate cut = estimate_memory(w, s, cluster(79.1, 1, "9.0"), megatron());
  ASSERT_EQ(cut.worst_stage, 1);
  EXPECT_LT(cut.first_stage_allocated, cut.peak_allocated);
  EXPECT_GT(cut.components.logits, cut.peak_allocated - cut.first_stage_allocated);
}

TEST(PeakMemory, LogitsSharedByTensorRanksHaveALedgerOfTheirOwn) {
  Stack stack = megatron();
  stack.parallel_logits_bytes = 16;
  const Workload w = workload(llama(4, 2048, 32, 8, 8192, 131072), 4096, 8);
  Strategy s = sharded(Sharding::None, 1, 1);
  s.recompute = Recompute::Full;
  const Bytes whole = estimate_memory(w, s, cluster(79.1, 1, "9.0"), stack).components.logits;
  s.tensor_parallel = 2;
  const Bytes half = estimate_memory(w, s, cluster(79.1, 1, "9.0"), stack).components.logits;
  const double last_norm = 4.0 * 4096 * 2048;
  EXPECT_DOUBLE_EQ(whole.value(), 4.0 * 4096 * 131072 + last_norm);
  EXPECT_DOUBLE_EQ(half.value(), 16.0 * 4096 * 131072 / 2 + last_norm);
}

TEST(Offload, HostHoldsWhatTheDeviceSheds) {
  const Architecture a = llama(32, 4096, 32, 8, 14336, 128256);
  Stack deepspeed = megatron();
  deepspeed.gradient_bytes = 2;
  deepspeed.shardings = {Sharding::Zero3};
  Strategy s = sharded(Sharding::Zero3, 8, 8);
  s.recompute = Recompute::Full;
  const Workload w = workload(a, 4096, 8);
  const MemoryEstimate here = estimate_memory(w, s, cluster(79.1, 1, "9.0"), deepspeed);
  EXPECT_EQ(here.host_per_node, Bytes(0));
  s.offload.optimizer = true;
  const MemoryEstimate host = estimate_memory(w, s, cluster(79.1, 1, "9.0"), deepspeed);
  EXPECT_LT(host.peak_device, here.peak_device);
  EXPECT_NEAR(host.host_per_node.value(), 8.03e9 * 16, 0.01 * 8.03e9 * 16);  // moments, master, fp32 gradient
  s.offload.to_nvme = true;
  const MemoryEstimate nvme = estimate_memory(w, s, cluster(79.1, 1, "9.0"), deepspeed);
  EXPECT_EQ(nvme.host_per_node, Bytes(0));
  EXPECT_EQ(nvme.nvme_per_node, host.host_per_node);
}

TEST(Offload, FitsWhereDeviceHostAndDisksAllHoldTheirPart) {
  MemoryEstimate m;
  m.limit = gib(80);
  m.host_limit = gib(500);
  m.nvme_limit = gib(800);
  EXPECT_TRUE(m.fits());
  EXPECT_EQ(host_shortfall(m), "");
  m.host_per_node = gib(501);
  EXPECT_TRUE(m.fits_device());
  EXPECT_FALSE(m.fits());
  EXPECT_EQ(host_shortfall(m), "out of host memory: offloading needs 501 GiB a node, has 500 GiB");
  m.host_per_node = gib(500);
  EXPECT_TRUE(m.fits());
  m.nvme_per_node = gib(801);
  EXPECT_FALSE(m.fits());
  EXPECT_NE(host_shortfall(m).find("out of NVMe space"), std::string::npos);
}

TEST(Offload, ActivationsLeaveTwoLayersBehind) {
  const Architecture a = llama(80, 8192, 64, 8, 28672, 32000);
  Strategy s = sharded(Sharding::FsdpFull, 256, 256);
  s.recompute = Recompute::Full;
  s.offload.activations = true;
  const MemoryEstimate m =
      estimate_memory(workload(a, 8192, 256), s, cluster(39.4, 32, "8.0"), torch(Sharding::FsdpFull));
  EXPECT_DOUBLE_EQ(m.host_per_node.value(), 8 * 80.0 * 8192 * 2 * 8192);
  EXPECT_TRUE(m.fits());
}

// 32000 x 4096 untied, twice: copy, gradient and moments of 16 bits, and the update's list of tensors on top.
TEST(LowRank, TrainedEmbeddingsAddTheirStates) {
  Workload w = workload(llama(32, 4096, 32, 32, 11008, 32000), 256, 1);
  w.finetune = FineTune::Lora;
  Strategy s;
  s.recompute = Recompute::Full;
  const Cluster c = cluster(79.1, 1, "8.0");
  const MemoryComponents frozen = estimate_memory(w, s, c, torch(Sharding::None)).components;
  w.lora.train_embeddings = true;
  const MemoryComponents trained = estimate_memory(w, s, c, torch(Sharding::None)).components;
  const double root = 2 * 32000 * 4096.0;
  EXPECT_DOUBLE_EQ((trained.weights - frozen.weights).value(), 2 * root);
  EXPECT_DOUBLE_EQ((trained.gradients - frozen.gradients).value(), 2 * root);
  EXPECT_DOUBLE_EQ((trained.optimizer - frozen.optimizer).value(), 4 * root);
}

TEST(LowRank, AdaptersOfOtherKindsKeepWhatTheyState) {
  Workload w = workload(llama(32, 4096, 32, 32, 11008, 32000), 256, 2);
  w.finetune = FineTune::Lora;
  w.lora.keeps = AdapterKeeps{};
  Strategy s;
  s.micro_batch = 2;
  const auto kept = [&] {
    return estimate_memory(w, s, cluster(79.1, 1, "8.0"), torch(Sharding::None)).components.activations.value();
  };
  const double none = kept();
  w.lora.keeps = AdapterKeeps{.token_bytes = 100, .layer_bytes = 3e6};
  EXPECT_DOUBLE_EQ(kept() - none, 32 * (512 * 100 + 3e6));
  s.recompute = Recompute::Full;
  const double again = kept();
  w.lora.keeps->layer_bytes = 0;
  EXPECT_DOUBLE_EQ(again - kept(), 3e6) << "one layer at a time";
  w.lora.keeps.reset();
  s.recompute = Recompute::None;
  EXPECT_GT(kept(), none) << "LoRA's own inputs";
  w.finetune = FineTune::Full;
  const double full = kept();
  w.lora.keeps = AdapterKeeps{.token_bytes = 100};
  EXPECT_EQ(kept(), full) << "no adapters";
}

TEST(LowRank, SeventyBillionFitOnEightH100) {
  const Architecture a = llama(80, 8192, 64, 8, 28672, 128256);
  Workload w = workload(a, 8192, 8);
  w.finetune = FineTune::Lora;
  Strategy s = sharded(Sharding::FsdpFull, 8, 8);
  s.recompute = Recompute::Full;
  const Cluster c = cluster(79.1, 1, "9.0");
  const MemoryEstimate lora = estimate_memory(w, s, c, torch(Sharding::FsdpFull));
  EXPECT_TRUE(lora.fits());
  w.finetune = FineTune::Qlora;
  EXPECT_LT(estimate_memory(w, s, c, torch(Sharding::FsdpFull)).peak_device, lora.peak_device);
  w.finetune = FineTune::Full;
  EXPECT_FALSE(estimate_memory(w, s, c, torch(Sharding::FsdpFull)).fits());
}

// zero_grad() of torch lets go of gradients: before the one backward pass of a step only the head's are to come.
TEST(PlainDataParallel, HoldsGradientsFromStepToStepOnlyWhenItAccumulates) {
  Stack stack = torch(Sharding::None);
  stack.execution.release_gradients = Toggle::On;
  const Architecture a = llama(32, 4096, 32, 32, 11008, 32000);
  const auto gradients = [&](std::int64_t global_batch) {
    Strategy s = sharded(Sharding::None, 1, 1);
    s.micro_batch = 16;
    s.recompute = Recompute::Full;
    return estimate_memory(workload(a, 4096, global_batch), s, cluster(512, 1, "9.0"), stack).components.gradients;
  };
  const double whole = 4.0 * 6738415616;
  EXPECT_NEAR(gradients(32).value() / whole, 1, 1e-5);
  EXPECT_NEAR(gradients(16).value() / (4.0 * 2 * 32000 * 4096), 1, 1e-3);
  stack.execution.release_gradients = Toggle::Off;
  EXPECT_EQ(gradients(16), gradients(32)) << "a script may hold them";
  stack.execution.release_gradients = Toggle::Default;
  EXPECT_LT(gradients(16), gradients(32)) << "as torch does since 2.0";
}

// pytorch/torchtune, README (read 2026-11-26): Llama 3.1 8B, all weights on one device, PagedAdamW8bit, update in the
// backward pass, 2 x 2048 tokens, recomputed, compiled: 18.9 GiB.
TEST(PlainDataParallel, UpdatesInTheBackwardPassWithoutWholeGradients) {
  const Architecture a = llama(32, 4096, 32, 8, 14336, 128256);
  Stack stack = torch(Sharding::None);
  stack.execution.pure_half = Toggle::On;
  stack.execution.release_gradients = Toggle::On;
  Strategy s = sharded(Sharding::None, 1, 1);
  s.micro_batch = 2;
  s.recompute = Recompute::Full;
  Workload w = workload(a, 2048, 2);
  w.optimizer = Optimizer::Adam8bit;
  stack.execution.loss_kernel = LossKernel::Linear;
  const Cluster big = cluster(512, 1, "9.0");
  const MemoryEstimate whole = estimate_memory(w, s, big, stack);
  stack.execution.update_in_backward = Toggle::On;
  const MemoryEstimate one = estimate_memory(w, s, big, stack);
  const double parameters = 8030257152;
  const double head = 128256.0 * 4096;
  EXPECT_NEAR(one.components.gradients.value(), 2 * head, 1) << "the head's, larger than a layer's";
  EXPECT_LT(one.peak_allocated + gib(13), whole.peak_allocated);

  // Moments in memory that torch does not count: none on the host as long as the device has room.
  stack.execution.paged_optimizer = Toggle::On;
  const MemoryEstimate paged = estimate_memory(w, s, big, stack);
  EXPECT_NEAR((one.peak_allocated - paged.peak_allocated).value(), 2 * parameters, 1);
  EXPECT_NEAR(paged.paged.value(), 2 * parameters, 1);
  EXPECT_FALSE(paged.pages_out());
  EXPECT_NEAR(in_gib(paged.peak_reserved) / 18.9, 1, 0.05);
  EXPECT_EQ(paged.host_per_node, Bytes());
  const Cluster small = cluster(24, 1, "9.0");
  const MemoryEstimate moved = estimate_memory(w, s, small, stack);
  EXPECT_TRUE(moved.pages_out() && moved.fits());
  EXPECT_NEAR(moved.host_per_node.value(), 8 * (moved.wanted + moved.paged - moved.limit).value(), 1);
  Cluster without = small;
  without.host_memory = gib(64);
  EXPECT_FALSE(estimate_memory(w, s, without, stack).fits_host());
  const MemoryEstimate full = estimate_memory(w, s, cluster(8, 1, "9.0"), stack);
  EXPECT_EQ(full.host_per_node, 8.0 * full.paged) << "no more than there is";
}

// Autocast's casts live through the forward pass, and beside products that autograd keeps until their backward pass.
TEST(PlainDataParallel, HoldsCastsOfTheWeightsUntilTheyAreUsed) {
  const Architecture a = llama(32, 4096, 32, 32, 11008, 32000);
  Stack stack = torch(Sharding::None);
  stack.fused_optimizer = true;
  stack.execution.release_gradients = Toggle::On;
  const auto peak = [&](Recompute recompute, bool pure) {
    Strategy s;
    s.recompute = recompute;
    s.execution = stack.execution;
    Stack run = stack;
    if (pure) run.execution.pure_half = Toggle::On;
    return estimate_memory(workload(a, 64, 1), s, cluster(512, 1, "9.0"), run).peak_allocated.value();
  };
  const double parameters = 6738415616.0;
  const double head = 32000.0 * 4096;
  // With next to no tokens the states are the peak: weights, gradients and moments, and of the last gradient its copy.
  EXPECT_NEAR(peak(Recompute::Full, false) / (16 * parameters + 2 * 2 * head), 1, 0.01);
  EXPECT_NEAR(peak(Recompute::Full, true) / (8 * parameters + 2 * 2 * head), 1, 0.01);
}

// Of the first Qwen models' own code: 2 bytes each of logits, shifted logits, log-probabilities and gradient.
TEST(HalfLogits, StayInSixteenBitsWhereNothingCastsThem) {
  Architecture a = llama(4, 1024, 8, 8, 2816, 151936);
  const auto logits = [&](bool deepspeed) {
    Stack stack = torch(Sharding::None);
    stack.deepspeed_engine = deepspeed;
    return estimate_memory(workload(a, 8192, 1), Strategy{}, cluster(80, 1, "8.0"), stack).components.logits.value();
  };
  const double rest = 4.0 * 1024;
  EXPECT_DOUBLE_EQ(logits(true), 8192 * (12.0 * 151936 + rest));
  a.half_logits = true;
  EXPECT_DOUBLE_EQ(logits(true), 8192 * (8.0 * 151936 + rest));
  EXPECT_DOUBLE_EQ(logits(false), 8192 * (12.0 * 151936 + rest)) << "autocast takes the loss in fp32";
}

}  // namespace
}  // namespace smplan
