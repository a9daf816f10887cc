// What a HyperPod recipe says only in its names: the model in that of its run, the adapters in its title.
#include <gtest/gtest.h>

#include "planner/preflight/predict.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

// The launcher of AWS's recipes has a model by the name of its run.
TEST(RecipeNames, WithoutAModelIsOfThatWhichItsRunIsNamedAfter) {
  const auto model = [](const std::string& name, const std::string& more) {
    const Result<Job> job =
        read_job("run: {name: " + name + ", model_type: llm_finetuning_aws}\ntrainer: {num_nodes: 1}\n" + more,
                 "recipe.yaml", JobKind::HyperpodRecipe);
    return model_of(*job, test::shipped_catalog()).value_or("");
  };
  const std::string blank =
      "training_config: {model_config: {model_name_or_path: ''}, training_args: {max_len: 4096}}\n";
  EXPECT_EQ(model("openai-gpt-oss-20b", blank), "gpt-oss-20b");
  EXPECT_EQ(model("llama-3-3-70b", blank), test::shipped_catalog().find_model("llama-3.3-70b")->architecture.name);
  EXPECT_EQ(model("my-run", blank), "");
  const std::string own =
      "training_config: {model_config: {model_name_or_path: /fsx/mine}, training_args: {max_len: 4096}}\n";
  EXPECT_EQ(model("openai-gpt-oss-20b", own), "") << "a folder may hold any model";
}

TEST(RecipeNames, OfNemoSaysInItsTitleWhatIsTrained) {
  const auto finetune = [](const std::string& title) {
    const Result<Job> job =
        read_job("display_name: " + title +
                     "\nrun: {name: openai-gpt-oss-120b, model_type: hyperpod_checkpointless_nemo}\n"
                     "strategy: {tensor_model_parallel_size: 4}\nresume: {restore_config: {path: null}}\n",
                 "recipe.yaml", JobKind::HyperpodRecipe);
    return job->adapters_unknown.empty() ? job->strategy.finetune.value.value_or("") : "unknown";
  };
  EXPECT_EQ(finetune("GPT OSS 120B LoRA on GPU"), "lora");
  EXPECT_EQ(finetune("GPT OSS 120B Full Fine-tuning on GPU"), "full");
  EXPECT_EQ(finetune("mine"), "unknown");
}

}  // namespace
}  // namespace smplan
