#include "catalogs/rollout_engines.hpp"

#include <array>

#include <gtest/gtest.h>

namespace smplan {
namespace {

constexpr std::array kNumbers{
    &RolloutEngine::memory_share, &RolloutEngine::context_gib,     &RolloutEngine::graphs_gib,
    &RolloutEngine::asleep_gib,   &RolloutEngine::most_sequences,  &RolloutEngine::prefill_tokens,
    &RolloutEngine::cache_bytes,  &RolloutEngine::bandwidth_share, &RolloutEngine::peak_share,
    &RolloutEngine::iteration_us, &RolloutEngine::sequence_us,     &RolloutEngine::sleep_s,
    &RolloutEngine::wake_s,       &RolloutEngine::sync_share};

TEST(RolloutEngines, AreTheTwoThatFrameworksUse) {
  ASSERT_EQ(rollout_engines().size(), 2U);
  EXPECT_EQ(rollout_engines()[0].name, "vllm");
  EXPECT_EQ(rollout_engines()[1].title, "SGLang");
}

TEST(RolloutEngines, AreFoundInAnySpelling) {
  EXPECT_EQ(rollout_engine("vLLM"), &rollout_engines()[0]);
  EXPECT_EQ(rollout_engine("SG-Lang"), &rollout_engines()[1]);
  EXPECT_EQ(rollout_engine("tgi"), nullptr);
  EXPECT_EQ(rollout_engine(""), nullptr);
}

TEST(RolloutEngines, HaveASourceAndAnIntervalForEachNumber) {
  for (const RolloutEngine& engine : rollout_engines()) {
    for (const auto number : kNumbers) {
      const SourcedNumber& n = engine.*number;
      EXPECT_FALSE(n.provenance.source.empty()) << engine.name;
      EXPECT_FALSE(n.provenance.as_of.empty()) << engine.name;
      EXPECT_LE(n.low, n.value) << engine.name << ": " << n.provenance.source;
      EXPECT_GE(n.high, n.value) << engine.name << ": " << n.provenance.source;
      EXPECT_GT(n.value, 0) << engine.name << ": " << n.provenance.source;
    }
  }
}

TEST(RolloutEngines, SayThatWhatNobodyMeasuredIsWide) {
  for (const RolloutEngine& engine : rollout_engines()) {
    EXPECT_DOUBLE_EQ(engine.bandwidth_share.high, 2 * engine.bandwidth_share.low);
    EXPECT_GE(engine.iteration_us.high, 8 * engine.iteration_us.low);
  }
}

TEST(RolloutEngines, SleepInLevels) {
  const RolloutEngine& vllm = *rollout_engine("vllm");
  ASSERT_EQ(vllm.sleep_levels.size(), 2U);
  EXPECT_EQ(vllm.sleep_levels[0].weights, SleepingWeights::Host);
  EXPECT_EQ(vllm.sleep_levels[1].weights, SleepingWeights::Dropped);
  EXPECT_TRUE(vllm.keeps_weights_on_host());
  EXPECT_FALSE(rollout_engine("sglang")->keeps_weights_on_host());
}

TEST(RlAlgorithms, DifferInCriticReferenceAndSamples) {
  ASSERT_EQ(rl_algorithms().size(), 4U);
  EXPECT_TRUE(rl_algorithm("PPO")->critic);
  EXPECT_EQ(rl_algorithm("ppo")->samples, 1);
  EXPECT_FALSE(rl_algorithm("grpo")->critic);
  EXPECT_TRUE(rl_algorithm("grpo")->reference);
  EXPECT_FALSE(rl_algorithm("dapo")->reference);
  EXPECT_EQ(rl_algorithm("dapo")->samples, 16);
  EXPECT_EQ(rl_algorithm("dapo")->mini_batches, 16);
  EXPECT_DOUBLE_EQ(rl_algorithm("dapo")->generated, 3);
  EXPECT_EQ(rl_algorithm("rloo")->passes, 1);
  EXPECT_EQ(rl_algorithm("sft"), nullptr);
  for (const RlAlgorithm& a : rl_algorithms()) EXPECT_FALSE(a.provenance.source.empty()) << a.name;
}

}  // namespace
}  // namespace smplan
