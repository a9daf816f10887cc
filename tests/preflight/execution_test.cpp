#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/job/dimensions.hpp"
#include "tests/export/fixture.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using testing::HasSubstr;

Execution read(const std::string& text, JobKind kind) {
  const Result<Job> job = read_job(text, "job", kind);
  EXPECT_TRUE(job) << to_string(job.error());
  return job->strategy.execution;
}

Execution said_by(const Execution& told) {
  Execution e = told;
  e.gradient_overlap = told.gradient_overlap == Toggle::Off ? Toggle::Off : Toggle::Default;
  return e;
}

// What the export writes, the check reads: each value that the catalog says Megatron can be told.
TEST(MegatronExecution, ChecksReadWhatExportsWrite) {
  const RequestSpec spec = test::expert_request("mixtral-8x7b", "ml.p4de.24xlarge", "8");
  TrainingPlan plan = test::plan(spec);
  plan.strategy.tensor_parallel = 2;
  plan.strategy.data_parallel /= 2;
  plan.strategy.sequence_parallel = true;
  const Stack& megatron = *test::shipped().find_stack("megatron");
  ASSERT_GT(megatron.offers.size(), 15U);
  for (const Execution& offer : megatron.offers) {
    TrainingPlan told = plan;
    told.strategy.execution = offer;
    const Result<Export> exported = export_plan({told, {}, test::shipped()}, "megatron");
    ASSERT_TRUE(exported) << to_string(exported.error());
    const Execution found = read(exported->files.front().content, JobKind::Megatron);
    Execution expected = said_by(offer);
    // What is Megatron's default anyway needs no word.
    if (offer.context_exchange == ContextExchange::Ring) expected = {};
    if (offer.moe_dispatcher == MoeDispatcher::AllToAll) expected = {};
    if (offer.expert_overlap == Toggle::Off || offer.fused_routing == Toggle::Off) expected = {};
    if (offer.half_gradients == Toggle::Off || offer.half_moments == Toggle::Off) expected = {};
    Strategy a, b;
    a.execution = found;
    b.execution = expected;
    EXPECT_EQ(to_string(a), to_string(b)) << exported->files.front().content;
  }
}

TEST(MegatronExecution, AnArgumentListSaysAll) {
  const auto told = [](const std::string& arguments) {
    Strategy s;
    s.execution = read("--num-layers 4\n" + arguments, JobKind::Megatron);
    return to_string(s);
  };
  EXPECT_EQ(told("--overlap-grad-reduce"), "single");
  EXPECT_EQ(told(""), "grad-overlap:off");
  EXPECT_EQ(told("--overlap-grad-reduce\n--tensor-model-parallel-size 2"), "tp-overlap:off");
  EXPECT_EQ(told("--overlap-grad-reduce\n--tensor-model-parallel-size 2\n--tp-comm-overlap"), "single");
  EXPECT_EQ(told("--overlap-grad-reduce\n--moe-router-fusion"), "single") << "half of it";
  EXPECT_EQ(told("--overlap-grad-reduce\n--cuda-graph-impl none\n--cuda-graph-scope moe_router"), "single");
  EXPECT_EQ(told("--overlap-grad-reduce\n--cuda-graph-impl local\n--cuda-graph-scope full_iteration"),
            "graphs:iteration");
  EXPECT_EQ(told("--overlap-grad-reduce\n--make-vocab-size-divisible-by 64"), "vocab-multiple:64");
  EXPECT_EQ(told("--overlap-grad-reduce\n--recompute-modules mlp,moe_act"), "modules:moe_act+mlp") << "in one word";
  EXPECT_EQ(told("--overlap-grad-reduce\n--recompute-modules mlp,,'moe_act layernorm'"),
            "modules:layernorm+moe_act+mlp");
  EXPECT_EQ(told("--overlap-grad-reduce\n--make-vocab-size-divisible-by 0"), "single");
  EXPECT_EQ(told("--overlap-grad-reduce\n--make-vocab-size-divisible-by 1048576"), "vocab-multiple:1048576");
  EXPECT_EQ(told("--overlap-grad-reduce\n--make-vocab-size-divisible-by 1048577"), "single");
  EXPECT_EQ(told("--overlap-grad-reduce\n--attention-backend flash"), "flash:on");
  EXPECT_EQ(told("--overlap-grad-reduce\n--attention-backend unfused"), "flash:off");
  EXPECT_EQ(told("--overlap-grad-reduce\n--cuda-graph-impl local"), "graphs:layers");
  EXPECT_EQ(told("--overlap-grad-reduce\n--cuda-graph-impl local\n--cuda-graph-scope moe_router"), "graphs:router");
  EXPECT_EQ(told("--overlap-grad-reduce\n--exp-avg-dtype fp16"), "half-moments:on");
  EXPECT_EQ(told("--overlap-grad-reduce\n--exp-avg-dtype fp32"), "single");
  EXPECT_EQ(told("--overlap-grad-reduce\n--recompute-modules mlp nonsense moe_act"), "modules:moe_act+mlp");
}

TEST(OtherExecution, IsReadFromTheFilesThatHoldIt) {
  const auto told = [](const std::string& text, JobKind kind) {
    Strategy s;
    s.execution = read(text, kind);
    return to_string(s);
  };
  EXPECT_EQ(told(R"({"zero_optimization": {"stage": 3, "reduce_bucket_size": 1000}})", JobKind::DeepSpeed),
            "bucket:1000");
  EXPECT_EQ(told(R"({"zero_optimization": {"stage": 3, "reduce_bucket_size": "auto"}})", JobKind::DeepSpeed), "single");
  EXPECT_EQ(told("[compile]\nenable = true\n[parallelism]\nenable_async_tensor_parallel = true\n", JobKind::TorchTitan),
            "tp-overlap:async");
  EXPECT_EQ(told("[compile]\nenable = true\ncomponents = [\"model\"]\n", JobKind::TorchTitan), "compile:layers");
  EXPECT_EQ(told("[compile]\nenable = true\ncomponents = [\"model\", \"loss\"]\n", JobKind::TorchTitan),
            "compile:layers+loss");
  EXPECT_EQ(told("[training]\nseq_len = 8\n", JobKind::TorchTitan), "compile:off");
  EXPECT_EQ(told("distributed_type: FSDP\ndynamo_config:\n  dynamo_backend: INDUCTOR\n", JobKind::Accelerate),
            "compile:layers unsharded-gradients:on");
  EXPECT_EQ(told("distributed_type: FSDP\ndynamo_config:\n  dynamo_backend: \"NO\"\n", JobKind::Accelerate),
            "compile:off unsharded-gradients:on");
}

// The prediction of a job is of what the job tells its software.
TEST(OtherExecution, OfHyperparametersShapesThePrediction) {
  Strategy s;
  s.execution = read(R"({"TrainingJobName": "a", "HyperParameters": {"torch_compile": "true",
                         "use_liger_kernel": "true", "attn_implementation": "eager", "torch_empty_cache_steps": "4"}})",
                     JobKind::CreateTrainingJob);
  EXPECT_EQ(to_string(s), "compile:layers flash:off loss:linear liger:on empty-cache:on");
  const auto kernel = [](const std::string& name) {
    return read(R"({"TrainingJobName": "a", "HyperParameters": {"attn_implementation": ")" + name + "\"}}",
                JobKind::CreateTrainingJob)
        .attention_kernel;
  };
  EXPECT_EQ(kernel("flash_attention_2"), AttentionClass::Flash2);
  EXPECT_EQ(kernel("flash_attention_3"), AttentionClass::Vendor);
  EXPECT_EQ(kernel("sdpa"), AttentionClass::Default) << "whichever PyTorch takes";
}

}  // namespace
}  // namespace smplan
