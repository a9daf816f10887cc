// What measured runs of DeepSpeed did that they do not state.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "planner/validation/run_resolution.hpp"
#include "tests/support/measured_runs.hpp"

namespace smplan {
namespace {

using test::shipped_catalog;

TEST(MeasuredRuns, QwensScriptRunsDeepSpeedOnOneDeviceToo) {
  const auto run_of = [](const char* model, const char* lora, const char* notes) {
    const auto runs = test::runs_from(
        "id,model,gpu,n_gpus,framework,seq_len,micro_batch,shard,lora,notes\n"
        "a," +
        std::string(model) + ",A100-80GB,1,HF-Trainer,512,1,none," + lora + "," + notes + "\n");
    Result<ResolvedRun> run = resolve_run(runs.at(0), shipped_catalog());
    EXPECT_TRUE(run) << to_string(run.error());
    return std::move(*run);
  };
  const auto stack = [&](const char* model, const char* lora) { return run_of(model, lora, "").stack.id; };
  EXPECT_EQ(run_of("Qwen-1.8B", "0", "").strategy.sharding, Sharding::Zero3);
  EXPECT_EQ(run_of("Qwen-1.8B", "1", "Q-LoRA").stack.id, "deepspeed");
  EXPECT_EQ(run_of("Qwen-1.8B", "1", "Q-LoRA").strategy.sharding, Sharding::Zero2);
  EXPECT_EQ(run_of("Qwen-1.8B", "0", "").stack.reduce_bucket_elements, 2048 * 2048) << "auto";
  EXPECT_EQ(run_of("Qwen-1.8B", "1", "Q-LoRA").stack.reduce_bucket_elements, 2e8);
  EXPECT_EQ(stack("Qwen-1.8B", "0"), "deepspeed");
  EXPECT_EQ(stack("Qwen-1.8B", "1"), "hf-trainer");
  EXPECT_EQ(stack("Qwen-1.8B", ""), "hf-trainer") << "not stated whether whole";
  EXPECT_EQ(stack("qwen2.5-1.5b", "0"), "hf-trainer") << "another script";
}

TEST(MeasuredRuns, TrainersLeaveTheBucketOfStageThreeToHuggingFace) {
  const auto bucket = [](const char* framework, const char* shard) {
    const auto runs =
        test::runs_from("id,model,gpu,n_gpus,framework,seq_len,micro_batch,shard\na,llama-2-7b,H100-80GB,8," +
                        std::string(framework) + ",4096,1," + shard + "\n");
    const Result<ResolvedRun> run = resolve_run(runs.at(0), shipped_catalog());
    EXPECT_TRUE(run) << to_string(run.error());
    return run->stack.reduce_bucket_elements;
  };
  EXPECT_EQ(bucket("DeepSpeed + HF + Liger", "zero3"), 4096 * 4096) << "the square of the width";
  EXPECT_EQ(bucket("HF-Trainer + DeepSpeed", "zero3"), 4096 * 4096);
  EXPECT_EQ(bucket("HF-Trainer + DeepSpeed", "zero2"), 5e8);
  EXPECT_EQ(bucket("DeepSpeed", "zero3"), 5e8);
  EXPECT_EQ(bucket("OpenRLHF", "zero3"), 5e8) << "letters within a word";
}

TEST(MeasuredRuns, DeepSpeedRunsItsStageOnOneReplicaToo) {
  const auto sharding = [](const char* framework) {
    const auto runs =
        test::runs_from("id,model,gpu,n_gpus,framework,seq_len,micro_batch,tp,dp,shard\na,llama-2-7b,H100-80GB,8," +
                        std::string(framework) + ",4096,1,8,1,zero1\n");
    const Result<ResolvedRun> run = resolve_run(runs.at(0), shipped_catalog());
    EXPECT_TRUE(run) << to_string(run.error());
    return run->strategy.sharding;
  };
  EXPECT_EQ(sharding("Megatron-DeepSpeed"), Sharding::Zero1);
  EXPECT_EQ(sharding("Megatron-LM"), Sharding::None);
}

}  // namespace
}  // namespace smplan
