#include "models/rollout/rollout.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "catalogs/catalog.hpp"
#include "models/layers/layers.hpp"

namespace smplan {
namespace {

const Catalog& catalog() {
  static const Catalog shipped = *Catalog::shipped();
  return shipped;
}

const Architecture& preset(std::string_view name) { return catalog().find_model(name)->architecture; }

/// 2 layers of width 64, 4 heads of 16 of which 2 hold keys, an MLP of 256, 1,000 words.
Architecture tiny() {
  Architecture a;
  a.name = "tiny";
  a.family = "test";
  a.n_layers = 2;
  a.hidden = 64;
  a.n_heads = 4;
  a.n_kv_heads = 2;
  a.head_dim = 16;
  a.ffn_hidden = 256;
  a.vocab = 1000;
  a.max_positions = 1 << 20;
  return a;
}

/// Weights of a layer: queries and output 64 x 64 each, keys and values 64 x 32 each, three matrices of 64 x 256, two
/// norms of 64.
constexpr double kLayer = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 256 + 2 * 64;
constexpr double kLayerProducts = kLayer - 2 * 64;
constexpr double kHead = 64 * 1000;

/// No latency, full efficiency; rates as given.
Cluster cluster_of(double bytes_per_s, double flops_per_s, std::int32_t gpus = 8) {
  Cluster c;
  c.accelerator.memory_bandwidth = BytesPerSecond(bytes_per_s);
  c.accelerator.peak[static_cast<std::size_t>(Precision::Bf16)] = FlopsPerSecond(flops_per_s);
  c.fabric.kind = FabricKind::Nvswitch;
  c.fabric.bandwidth_per_accelerator = gb_per_s(1e9);
  c.fabric.domain_size = gpus;
  c.fabric_profile.bandwidth_efficiency = 1;
  c.fabric_profile.alltoall_efficiency = 1;
  c.network.bandwidth_per_node = gb_per_s(80);
  c.network.interfaces = 8;
  c.network_profile = c.fabric_profile;
  c.gpus_per_node = gpus;
  return c;
}

constexpr double kEndless = 1e30;
const RolloutSpeed kIdeal{.bandwidth_share = 1, .peak_share = 1, .iteration = Seconds(), .sequence = Seconds()};

RolloutWork work_of(std::int64_t sequences, double mean, std::int64_t limit, double variation = 0) {
  return {.sequences = sequences, .samples = 1, .prompt_length = 100, .lengths = {mean, limit, variation}};
}

RolloutTime time_of(const Architecture& a, const RolloutWork& work, const Cluster& cluster,
                    std::int64_t running = 1 << 20, std::int32_t tensor = 1) {
  return rollout_time({a, *rollout_engine("vllm"), tensor}, work, running, cluster, kIdeal);
}

TEST(SequenceCache, HoldsKeysAndValuesOfEachGroupOfHeads) {
  // 32 layers, 8 heads of 128, keys and values, 2 bytes.
  EXPECT_DOUBLE_EQ(sequence_cache(preset("llama-3.1-8b"), 1000, 2, 1).value(), 32 * 2 * 8 * 128 * 2 * 1000.0);
  EXPECT_DOUBLE_EQ(sequence_cache(preset("llama-3.1-8b"), 1000, 1, 1).value(), 32 * 2 * 8 * 128 * 1000.0);
}

TEST(SequenceCache, IsCutByTensorRanksUntilEachHasOneHead) {
  const Architecture& a = preset("llama-3.1-8b");
  const double whole = sequence_cache(a, 1000, 2, 1).value();
  EXPECT_DOUBLE_EQ(sequence_cache(a, 1000, 2, 4).value(), whole / 4);
  EXPECT_DOUBLE_EQ(sequence_cache(a, 1000, 2, 8).value(), whole / 8);
  EXPECT_DOUBLE_EQ(sequence_cache(a, 1000, 2, 16).value(), whole / 8);
}

TEST(SequenceCache, OfLatentAttentionIsTheLatentOnEveryRank) {
  // 61 layers, a latent of 512 and a rotary key of 64.
  EXPECT_DOUBLE_EQ(sequence_cache(preset("deepseek-v3"), 1000, 2, 1).value(), 61 * 576 * 2 * 1000.0);
  EXPECT_DOUBLE_EQ(sequence_cache(preset("deepseek-v3"), 1000, 2, 8).value(), 61 * 576 * 2 * 1000.0);
}

TEST(SequenceCache, OfAWindowEndsWithIt) {
  // 42 layers, 8 heads of 256; every second one attends to 4,096 tokens.
  const double token = 2 * 8 * 256 * 2;
  EXPECT_DOUBLE_EQ(sequence_cache(preset("gemma-2-9b"), 10'000, 2, 1).value(), 21 * token * (10'000 + 4096));
  EXPECT_DOUBLE_EQ(sequence_cache(preset("gemma-2-9b"), 4000, 2, 1).value(), 42 * token * 4000);
}

TEST(SequenceCache, OfAStateDoesNotGrow) {
  // 12 of 48 layers attend with 2 heads of 256. The others keep 32 states of 128 x 128 and three inputs of the
  // convolution over 2 x 16 x 128 + 32 x 128 channels.
  const Architecture& a = preset("qwen3-next-80b-a3b");
  const double states = 36 * (32.0 * 128 * 128 * 4 + 3 * 8192 * 2);
  EXPECT_DOUBLE_EQ(sequence_cache(a, 0, 2, 1).value(), states);
  EXPECT_DOUBLE_EQ(sequence_cache(a, 1000, 2, 1).value(), states + 12 * 2 * 2 * 256 * 2 * 1000.0);
}

TEST(RolloutWeights, AreThoseOfAllParametersOverTheRanks) {
  const Architecture a = tiny();
  const double ends = 2 * kHead + 64;
  ASSERT_EQ(count_parameters(a).total(), static_cast<std::int64_t>(2 * kLayer + ends));
  const RolloutEngine& engine = *rollout_engine("vllm");
  EXPECT_DOUBLE_EQ(rollout_weights({a, engine, 1}).value(), 2 * (2 * kLayer + ends));
  EXPECT_DOUBLE_EQ(rollout_weights({a, engine, 2}).value(), 2 * kLayer + ends);
  EXPECT_DOUBLE_EQ(rollout_weights({a, engine, 1, 1}).value(), 2 * kLayer + 2 * ends);
}

TEST(DecodeIteration, ReadsWeightsAndCacheOverTheBandwidth) {
  const Architecture a = tiny();
  const RolloutModel model{a, *rollout_engine("vllm")};
  const DecodeIteration i = decode_iteration(model, 3, 50, cluster_of(1e6, kEndless), kIdeal);
  const double weights = 2 * (2 * kLayer + kHead);
  const double cache = 2 * (2 * 2 * 16 * 2) * 3 * 50;
  EXPECT_DOUBLE_EQ(i.device.value(), (weights + cache) / 1e6);
  EXPECT_DOUBLE_EQ(i.communication.value(), 0);
  EXPECT_DOUBLE_EQ(i.host.value(), 0);
}

TEST(DecodeIteration, MultipliesAtThePeakWhereMemoryIsFast) {
  const Architecture a = tiny();
  const RolloutModel model{a, *rollout_engine("vllm")};
  const DecodeIteration i = decode_iteration(model, 3, 50, cluster_of(kEndless, 1e9), kIdeal);
  const double products = 2 * (2 * kLayerProducts + kHead);
  const double attention = 2 * 4 * 4 * 16 * 50;
  EXPECT_DOUBLE_EQ(i.device.value(), 3 * (products + attention) / 1e9);
}

TEST(DecodeIteration, WaitsForTheHostByIterationAndSequence) {
  const Architecture a = tiny();
  const RolloutModel model{a, *rollout_engine("vllm")};
  RolloutSpeed speed = kIdeal;
  speed.iteration = microseconds(1000);
  speed.sequence = microseconds(10);
  EXPECT_DOUBLE_EQ(decode_iteration(model, 100, 50, cluster_of(1e12, 1e15), speed).host.value(), 0.002);
}

TEST(DecodeIteration, HalvesWithTwiceTheBandwidthWhereMemoryBounds) {
  const Architecture& a = preset("llama-3.1-8b");
  const RolloutModel model{a, *rollout_engine("vllm")};
  const auto device = [&](double bandwidth) {
    return decode_iteration(model, 64, 1500, cluster_of(bandwidth, 1e18), kIdeal).device.value();
  };
  EXPECT_DOUBLE_EQ(device(2e12), 2 * device(4e12));
}

TEST(DecodeIteration, IsCutByTensorRanksWhichExchange) {
  const Architecture& a = preset("llama-3.1-8b");
  const Cluster free = cluster_of(2e12, 1e18);
  const RolloutEngine& engine = *rollout_engine("vllm");
  const auto one = decode_iteration({a, engine, 1}, 64, 1500, free, kIdeal);
  const auto two = decode_iteration({a, engine, 2}, 64, 1500, free, kIdeal);
  EXPECT_NEAR(two.device / one.device, 0.5, 1e-12);
  Cluster slow = free;
  slow.fabric.bandwidth_per_accelerator = gb_per_s(1);
  // Two all-reduces a layer of 64 x 4096 values, half of which cross the wire twice.
  const double bytes = 64 * 4096 * 2;
  EXPECT_NEAR(decode_iteration({a, engine, 2}, 64, 1500, slow, kIdeal).communication.value(), 32 * 2 * bytes / 1e9,
              1e-9);
}

TEST(DecodeIteration, ReadsTheExpertsThatTheBatchTouches) {
  Architecture a = tiny();
  a.moe.n_experts = 8;
  a.moe.top_k = 2;
  a.moe.expert_ffn_hidden = 128;
  const RolloutModel model{a, *rollout_engine("vllm")};
  const Cluster cluster = cluster_of(1, kEndless);
  const double experts = 2 * 8 * 3 * 64 * 128 * 2;  // bytes of both layers
  const auto read = [&](double sequences) {
    return decode_iteration(model, sequences, 0, cluster, kIdeal).device.value();
  };
  // 2 of 8 by one token; by two 1 - (6/8)^2 of them in the mean; by many all.
  EXPECT_NEAR(read(2) - read(1), experts * (1 - 0.5625 - 0.25), 1e-6);
  EXPECT_NEAR(read(1000) - read(1), experts * 0.75, 1e-6);
}

TEST(LengthGroups, HaveTheMeanAndKeepTheLimit) {
  for (const LengthShape shape : {LengthShape::LogNormal, LengthShape::Exponential}) {
    for (const std::int64_t sequences : {1, 2, 31, 33, 1000, 100'000}) {
      double sum = 0;
      std::int64_t count = 0;
      std::int64_t before = 0;
      const auto groups = length_groups({1000, 4096, 0.7, shape}, sequences);
      EXPECT_LE(groups.size(), static_cast<std::size_t>(kMostLengthGroups));
      for (const LengthGroup& g : groups) {
        EXPECT_GE(g.tokens, before);
        EXPECT_LE(g.tokens, 4096);
        before = g.tokens;
        sum += static_cast<double>(g.count * g.tokens);
        count += g.count;
      }
      EXPECT_EQ(count, sequences);
      EXPECT_NEAR(sum / static_cast<double>(count), 1000, 0.5);
    }
  }
}

TEST(LengthGroups, AreAllAlikeWithoutVariationOrRoomBelowTheLimit) {
  for (const LengthGroup& g : length_groups({1000, 4096, 0}, 50)) EXPECT_EQ(g.tokens, 1000);
  for (const LengthGroup& g : length_groups({4096, 4096, 0.7}, 50)) EXPECT_EQ(g.tokens, 4096);
}

TEST(RolloutTime, OfEqualLengthsIsTheSumOfItsIterations) {
  const Architecture& a = preset("llama-3.1-8b");
  const Cluster cluster = cluster_of(2e12, 1e15);
  const RolloutModel model{a, *rollout_engine("vllm")};
  const RolloutTime time = time_of(a, work_of(64, 300, 300), cluster);
  double sum = 0;
  for (int i = 0; i < 299; ++i) sum += decode_iteration(model, 64, 101 + i, cluster, kIdeal).total().value();
  EXPECT_EQ(time.iterations, 299);
  EXPECT_NEAR(time.device.value(), sum, 1e-9 * sum);
  EXPECT_DOUBLE_EQ(time.tokens, 64 * 300);
  EXPECT_DOUBLE_EQ(time.tail.value(), 0);
}

TEST(RolloutTime, OfWindowsIsTheSumOfItsIterations) {
  const Architecture& a = preset("gemma-2-9b");
  const Cluster cluster = cluster_of(2e12, 1e15);
  RolloutWork work = work_of(16, 300, 300);
  work.prompt_length = 4000;  // the window of 4,096 fills on the way
  const RolloutModel model{a, *rollout_engine("vllm")};
  double sum = 0;
  for (int i = 0; i < 299; ++i) sum += decode_iteration(model, 16, 4001 + i, cluster, kIdeal).total().value();
  EXPECT_NEAR(time_of(a, work, cluster).device.value(), sum, 1e-9 * sum);
}

TEST(RolloutTime, ComesInWavesWhereTheCacheHoldsAPart) {
  const Architecture& a = preset("llama-3.1-8b");
  const Cluster cluster = cluster_of(2e12, 1e15);
  EXPECT_EQ(time_of(a, work_of(64, 300, 300), cluster, 32).iterations, 2 * 299);
  EXPECT_EQ(time_of(a, work_of(64, 300, 300), cluster, 1).iterations, 64 * 299);
  const RolloutTime whole = time_of(a, work_of(64, 300, 300), cluster, 64);
  EXPECT_GT(time_of(a, work_of(64, 300, 300), cluster, 32).total(), whole.total());
}

TEST(RolloutTime, LastsAsLongAsTheLongestResponse) {
  const Architecture& a = preset("llama-3.1-8b");
  const Cluster cluster = cluster_of(2e12, 1e15);
  const RolloutTime even = time_of(a, work_of(64, 1000, 8000, 0), cluster);
  const RolloutTime uneven = time_of(a, work_of(64, 1000, 8000, 1), cluster);
  const auto groups = length_groups({1000, 8000, 1}, 64);
  EXPECT_EQ(uneven.iterations, groups.back().tokens - 1);
  EXPECT_NEAR(uneven.tokens, even.tokens, 64);
  EXPECT_GT(uneven.total(), 1.5 * even.total());
  EXPECT_GT(uneven.tail, 0.1 * uneven.total());
}

TEST(RolloutTime, NeverFallsWithMoreSequencesOrLongerResponses) {
  const Architecture& a = preset("qwen2.5-7b");
  const Cluster cluster = cluster_of(2e12, 4e14);
  for (const std::int64_t running : {16, 256}) {
    Seconds before;
    for (const std::int64_t sequences : {1, 2, 4, 8, 50, 300, 2048, 4096, 4097, 4500, 10'000, 100'000, 1'000'000}) {
      const Seconds time = time_of(a, work_of(sequences, 500, 2000, 0.7), cluster, running).total();
      EXPECT_GE(time, before) << sequences << " sequences";
      before = time;
    }
    before = Seconds();
    for (std::int64_t mean = 1; mean <= 2000; mean += 111) {
      const auto length = static_cast<double>(mean);
      const Seconds time = time_of(a, work_of(200, length, 2000, 0.7), cluster, running).total();
      EXPECT_GE(time, before) << "mean of " << mean;
      before = time;
    }
  }
}

TEST(RolloutTime, GoesOnEvenlyWhereManyWait) {
  const Architecture& a = preset("qwen2.5-7b");
  const Cluster cluster = cluster_of(2e12, 4e14);
  const RolloutTime some = time_of(a, work_of(100'000, 500, 2000, 0.7), cluster, 64);
  const RolloutTime twice = time_of(a, work_of(200'000, 500, 2000, 0.7), cluster, 64);
  EXPECT_NEAR(twice.total() / some.total(), 2, 0.01);
  EXPECT_NEAR(twice.tokens, 200'000 * 500.0, 200'000);
  // Equal lengths come in whole waves, simulated or not.
  EXPECT_NEAR(static_cast<double>(time_of(a, work_of(64'000, 300, 300), cluster, 64).iterations), 1000 * 299, 299);
}

TEST(RolloutTime, ComputesAPromptOnceForItsSamples) {
  const Architecture& a = preset("llama-3.1-8b");
  const Cluster cluster = cluster_of(2e12, 4e14);
  RolloutWork work = work_of(800, 200, 200);
  work.prompt_length = 4000;
  const Seconds each = time_of(a, work, cluster).prefill;
  work.samples = 8;
  EXPECT_NEAR(each / time_of(a, work, cluster).prefill, 8, 1e-9);
  RolloutEngine forgetful = *rollout_engine("vllm");
  forgetful.shares_prompts = false;
  EXPECT_DOUBLE_EQ(rollout_time({a, forgetful}, work, 1000, cluster, kIdeal).prefill.value(), each.value());
}

TEST(RolloutTime, OfPrefillIsProductsOverThePeak) {
  const Architecture a = tiny();
  RolloutWork work = work_of(10, 1, 1);
  const RolloutTime time = time_of(a, work, cluster_of(kEndless, 1e9));
  // Every token through the layers, one of a prompt through the head; a query meets 50.5 keys in the mean.
  const double each = 2 * 2 * kLayerProducts + 2 * kHead / 100 + 2 * 4 * 4 * 16 * 50.5;
  EXPECT_NEAR(time.prefill.value(), 1000 * each / 1e9, 1e-9);
  EXPECT_EQ(time.iterations, 0);
  EXPECT_DOUBLE_EQ(time.tokens, 10);
}

TEST(RolloutTime, OfNothingIsZero) {
  EXPECT_DOUBLE_EQ(time_of(tiny(), work_of(0, 100, 100), cluster_of(1e12, 1e15)).total().value(), 0);
}

TEST(RolloutSpeed, HasEveryNumberAtOneEnd) {
  const RolloutEngine& engine = *rollout_engine("vllm");
  const RolloutSpeed fast = rollout_speed(engine, Outlook::Fast);
  const RolloutSpeed slow = rollout_speed(engine, Outlook::Slow);
  EXPECT_DOUBLE_EQ(fast.bandwidth_share, engine.bandwidth_share.high);
  EXPECT_DOUBLE_EQ(slow.bandwidth_share, engine.bandwidth_share.low);
  EXPECT_LT(fast.iteration, slow.iteration);
  EXPECT_LT(fast.sequence, slow.sequence);
  EXPECT_GT(fast.peak_share, slow.peak_share);
}

TEST(RolloutMemory, FitsUpToOneSequenceAtTheLimit) {
  const Architecture& a = preset("llama-3.1-8b");
  const RolloutModel model{a, *rollout_engine("vllm")};
  const RolloutWork work = work_of(128, 1000, 30'000, 0.7);
  const RolloutMemory roomy = rollout_memory(model, work, gib(80), Bytes());
  ASSERT_TRUE(roomy.fits());
  EXPECT_DOUBLE_EQ(roomy.longest.value(), 131'072.0 * 30'100);
  EXPECT_DOUBLE_EQ(roomy.total().value(), gib(80).value() * 0.92);
  const Bytes edge = roomy.cache - roomy.longest;  // what others may take
  EXPECT_TRUE(rollout_memory(model, work, gib(80), edge - Bytes(1)).fits());
  EXPECT_FALSE(rollout_memory(model, work, gib(80), edge + Bytes(1)).fits());
}

TEST(RolloutMemory, RunsWhatTheCacheHoldsAtTheMean) {
  const Architecture& a = preset("llama-3.1-8b");
  const RolloutModel model{a, *rollout_engine("vllm")};
  const RolloutMemory m = rollout_memory(model, work_of(100'000, 4000, 8000), gib(80), Bytes());
  EXPECT_EQ(m.running, static_cast<std::int64_t>(m.cache.value() / (131'072.0 * 4100)));
  EXPECT_EQ(rollout_memory(model, work_of(50, 4000, 8000), gib(80), Bytes()).running, 50);
  EXPECT_EQ(rollout_memory(model, work_of(100'000, 1, 8), gib(80), Bytes()).running, 1024);
}

TEST(RolloutMemory, OfSglangLeavesActivationsBesideItsShare) {
  const Architecture& a = preset("llama-3.1-8b");
  const RolloutEngine& sglang = *rollout_engine("sglang");
  const RolloutMemory m = rollout_memory({a, sglang}, work_of(128, 1000, 2000), gib(80), Bytes());
  EXPECT_DOUBLE_EQ((m.weights + m.cache).value(), gib(80).value() * sglang.memory_share.value);
}

TEST(ScoringTime, IsOneForwardPassOverAllDevices) {
  const double each = 2 * 2 * kLayerProducts + 2 * 4 * 4 * 16 * 50.5;
  const Seconds time = scoring_time(tiny(), 30, 100, cluster_of(kEndless, 1e9, 4), 0.5);
  EXPECT_NEAR(time.value(), 3000 * each / (4 * 0.5 * 1e9), 1e-9);
}

}  // namespace
}  // namespace smplan
