// Degrees and batches as the frameworks take them, defaults included.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using ::testing::Contains;
using ::testing::Not;

CheckOptions on_gpus(std::int64_t n) {
  CheckOptions options;
  options.n_gpus = n;
  return options;
}

/// What `text` is predicted as on eight p5.48xlarge.
Prediction predicted(const std::string& text, JobKind kind, const std::string& model) {
  CheckOptions options;
  options.request.model = model;
  options.request.instances = "ml.p5.48xlarge";
  options.request.count = "8";
  options.request.tokens = "10B";
  const Findings findings = test::check_text(text, kind, options);
  if (!findings.prediction) throw std::runtime_error("nothing predicted");
  return *findings.prediction;
}

TEST(ExpertTensorDegree, IsPartOfThePrediction) {
  const std::string experts = "--tensor-model-parallel-size 4 --expert-model-parallel-size 2 --seq-length 4096 ";
  const auto degree = [&](const std::string& more) {
    return predicted(experts + more, JobKind::Megatron, "mixtral-8x7b").plan.strategy.expert_tensor();
  };
  EXPECT_EQ(degree("--expert-tensor-parallel-size 2"), 2);
  EXPECT_EQ(degree(""), 4) << "Megatron's default is the tensor degree";
}

TEST(ExpertTensorDegree, MustDivideTheRanks) {
  const std::string megatron = "--num-layers 32 --num-experts 8 --expert-model-parallel-size 2 ";
  const auto rules = [&](const std::string& text, JobKind kind) {
    return test::rules_of(test::check_text(text, kind, on_gpus(8)));
  };
  EXPECT_THAT(rules(megatron + "--expert-tensor-parallel-size 8", JobKind::Megatron), Contains("C131"));
  EXPECT_THAT(rules(megatron + "--expert-tensor-parallel-size 4", JobKind::Megatron), Not(Contains("C131")));
  const std::string recipe = "strategy: {expert_model_parallel_size: 2, expert_tensor_parallel_size: ";
  EXPECT_THAT(rules(recipe + "8}\n", JobKind::HyperpodRecipe), Contains("C131"));
  EXPECT_THAT(rules(recipe + "4}\n", JobKind::HyperpodRecipe), Not(Contains("C131")));
}

TEST(DataDegree, IsKnownFromShardsAlone) {
  const std::string shards = "[parallelism]\ndata_parallel_shard_degree = 4\ntensor_parallel_degree = ";
  const auto rules = [&](const std::string& tensor) {
    return test::rules_of(test::check_text(shards + tensor + "\n", JobKind::TorchTitan, on_gpus(8)));
  };
  EXPECT_THAT(rules("4"), Contains("C131"));
  EXPECT_THAT(rules("2"), Not(Contains("C131")));
}

TEST(TorchTitanPipeline, CutsTheLocalBatch) {
  const std::string pipeline =
      "[parallelism]\ntensor_parallel_degree = 8\npipeline_parallel_degree = 4\n"
      "[training]\nlocal_batch_size = 64\nseq_len = 8192\n";
  const Prediction p = predicted(pipeline, JobKind::TorchTitan, "llama-3-70b");
  EXPECT_EQ(p.plan.strategy.micro_batch, 1);
  EXPECT_EQ(p.request.workload.global_batch, 2 * 64) << "two data ranks";
}

}  // namespace
}  // namespace smplan
