// `--launchable TARGET`: what is planned for a target can be written for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/json_reader.hpp"
#include "catalogs/hf_writer.hpp"
#include "catalogs/model_modules.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/export/launchable.hpp"
#include "planner/export/target.hpp"
#include "planner/export/writers.hpp"
#include "planner/preflight/job.hpp"
#include "planner/search/search.hpp"

namespace smplan {
namespace {

using testing::Contains;
using testing::HasSubstr;

const Catalog& shipped() {
  static const Catalog kCatalog = *Catalog::shipped();
  return kCatalog;
}

RequestSpec spec_for(std::string_view target) {
  RequestSpec spec;
  spec.model = "llama-3.1-8b";
  spec.instances = "ml.p5.48xlarge,ml.g6e.12xlarge,ml.p4d.24xlarge,ml.trn1.32xlarge";
  spec.max_gpus = "32";
  spec.launchable = std::string(target);
  return spec;
}

/// Place of the first plan that the target can write, and of how many.
std::pair<std::size_t, std::size_t> first_written(const RequestSpec& spec) {
  const Result<PlanRequest> request = resolve(spec, shipped(), std::nullopt, Purpose::Plan);
  EXPECT_TRUE(request) << to_string(request.error());
  if (!request) return {};
  const PlanSet set = search(*request, shipped(), {.threads = 1});
  for (std::size_t i = 0; i < set.plans.size(); ++i) {
    const TrainingPlan plan = training_plan_of(*request, set.plans[i], i + 1);
    const ExportOptions options;
    const Result<Export> out = export_plan({plan, options, shipped()}, *spec.launchable);
    if (out) return {i + 1, set.plans.size()};
  }
  return {0, set.plans.size()};
}

TEST(PlannedTarget, SaysTheBestPlanOfEachWorkThatItKnows) {
  std::size_t works = 0, written = 0;
  for (const ExportTarget& target : export_targets()) {
    if (target.side != TargetSide::Strategy) continue;
    for (const char* method : {"", "full", "lora", "qlora"}) {
      RequestSpec spec = spec_for(target.name);
      if (*method != '\0') spec.finetune = method;
      SCOPED_TRACE(fmt::format("{} {}", target.name, method));
      const Result<PlanRequest> request = resolve(spec, shipped(), std::nullopt, Purpose::Plan);
      if (!request) {
        EXPECT_THAT(to_string(request.error()), HasSubstr("no export starts this work")) << "a reason, not a crash";
        continue;
      }
      ++works;
      // A pair of choices that the target cannot say together leaves its plan out, not the others.
      const auto [first, plans] = first_written(spec);
      EXPECT_GT(plans, 0U) << "nothing is left to plan";
      // Recipes of FSDP accumulate no gradients: what the batch needs is known with the plan alone.
      if (target.name == "hyperpod-recipe") continue;
      EXPECT_GE(first, 1U);
      // smp-v1 has no image for the newest devices.
      EXPECT_LE(first, target.name == "smp-v1" ? 10U : 3U);
      ++written;
    }
  }
  EXPECT_GE(works, 35U);
  EXPECT_GE(written, 30U);
}

TEST(PlannedTarget, NarrowsWhatTheRequestLeavesOpen) {
  RequestSpec spec = spec_for("torchtune");
  spec.finetune = "lora";
  const Result<PlanRequest> request = resolve(spec, shipped(), std::nullopt, Purpose::Plan);
  ASSERT_TRUE(request) << to_string(request.error());
  ASSERT_FALSE(request->stacks.empty());
  for (const Stack* stack : request->stacks) {
    EXPECT_EQ(stack->id, "torchtune");
    EXPECT_EQ(stack->execution.pure_half, Toggle::On) << "torchtune holds adapters in the format of the products";
  }
  EXPECT_EQ((*request)[Dimension::Tensor].values, std::vector<std::int32_t>{1});
  EXPECT_EQ((*request)[Dimension::RecomputeLayers].values, std::vector<std::int32_t>{0});
  EXPECT_FALSE((*request)[Dimension::Sharding].allows(Sharding::FsdpHybrid));
}

TEST(PlannedTarget, RefusesWhatTheRequestSaysAndItCannot) {
  RequestSpec spec = spec_for("verl");
  spec.finetune = "full";
  spec[Dimension::Recompute] = "selective";
  EXPECT_THAT(to_string(resolve(spec, shipped(), std::nullopt, Purpose::Plan).error()),
              HasSubstr("--recompute: an export to verl has no words for recomputation selective"));
  spec[Dimension::Recompute] = "selective,full";
  EXPECT_TRUE(resolve(spec, shipped(), std::nullopt, Purpose::Plan)) << "one of them it can";
  spec[Dimension::Recompute].reset();
  spec[Dimension::Tensor] = "2";
  EXPECT_THAT(to_string(resolve(spec, shipped(), std::nullopt, Purpose::Plan).error()), HasSubstr("leave --tp out"));
}

TEST(PlannedTarget, CountsOnNothingThatAToolIsNotTold) {
  for (const char* tool : {"trl", "axolotl", "llama-factory"}) {
    RequestSpec spec = spec_for(tool);
    spec.finetune = "lora";
    const Result<PlanRequest> request = resolve(spec, shipped(), std::nullopt, Purpose::Plan);
    ASSERT_TRUE(request) << to_string(request.error());
    for (const Stack* stack : request->stacks) EXPECT_NE(stack->execution.compile, Compile::Layers) << tool;
  }
}

TEST(PlannedTarget, IsAToolWhereNoProgramTrainsTheWork) {
  for (const auto& [loss, tool] :
       {std::pair{"orpo", "axolotl"}, {"simpo", "axolotl"}, {"kto", "trl"}, {"reward", "trl"}}) {
    for (const char* method : {"full", "lora"}) {
      SCOPED_TRACE(fmt::format("{} {}", loss, method));
      RequestSpec spec = spec_for("");
      spec.launchable.reset();
      spec.finetune = method;
      spec.loss = loss;
      const Result<PlanRequest> request = resolve(spec, shipped(), std::nullopt, Purpose::Plan);
      ASSERT_TRUE(request) << to_string(request.error());
      ASSERT_NE(request->target, nullptr);
      EXPECT_EQ(request->target->name, tool);
      EXPECT_EQ(launching(request->workload, *request->stacks.front(), request->target).by, "tool");
      const PlanSet set = search(*request, shipped(), {.threads = 1});
      ASSERT_FALSE(set.plans.empty());
      const TrainingPlan plan = training_plan_of(*request, set.plans.front(), 1);
      const ExportOptions options;
      const Result<Export> out = export_plan({plan, options, shipped()}, tool);
      ASSERT_TRUE(out) << to_string(out.error());
      const Result<Job> job = read_job(out->files.front().content, out->files.front().path, std::nullopt);
      ASSERT_TRUE(job) << to_string(job.error());
      EXPECT_EQ(job->strategy.loss.value_or(""), loss) << "whose file it is stands in it";
    }
  }
}

TEST(PlannedTarget, IsNoToolWhereAJobBringsItsProgram) {
  RequestSpec spec = spec_for("");
  spec.launchable.reset();
  spec.finetune = "qlora";
  spec.loss = "dpo";
  const Result<PlanRequest> request = resolve(spec, shipped(), std::nullopt, Purpose::Plan);
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_EQ(request->target, nullptr);
  std::string left;
  for (const auto& [stack, reason] : request->stacks_left_out) left += stack + ": " + reason + "\n";
  EXPECT_THAT(left, HasSubstr("--export trl plans it for that tool")) << "which shards";
}

// A class that the model does not have ends the job before its first step.
TEST(BlockClass, IsOneThatTransformersWrapsInTheModel) {
  std::size_t judged = 0;
  for (const ModelPreset& m : shipped().models()) {
    const Architecture& a = m.architecture;
    const std::string block(block_class_of(a.model_type()));
    EXPECT_EQ(block.empty(), a.family == "grok") << a.name << ": transformers has no code of it";
    const ModelModules* modules = modules_of(a.model_type());
    if (modules == nullptr || modules->layers.empty()) continue;
    EXPECT_THAT(modules->layers, testing::Contains(block)) << a.name << " " << a.model_type();
    ++judged;
  }
  EXPECT_GE(judged, 195U);
  Architecture read;
  read.family = "ernie4_5";
  EXPECT_EQ(block_class_of(read.model_type()), "Ernie4_5DecoderLayer") << "of a config.json";
  EXPECT_EQ(block_class_of("qwen3_5_moe_text"), "Qwen3_5MoeDecoderLayer") << "and no block for images";
  EXPECT_EQ(block_class_of("jamba"), "") << "it has two kinds";
}

// The type of a model is that of the config.json that is written for it, and is read back.
TEST(ModelType, IsThatOfTheConfig) {
  std::size_t same = 0;
  for (const ModelPreset& m : shipped().models()) {
    const Architecture& a = m.architecture;
    const auto config = hf_config_text(a);
    if (!config) continue;
    const Architecture read = read_hf_config(*parse_json(*config, "config.json")).value();
    if (read.model_type() == a.model_type()) {
      ++same;
      EXPECT_EQ(block_class_of(read.model_type()), block_class_of(a.model_type())) << a.name;
      continue;
    }
    // The arithmetic of another type, and code of its own.
    EXPECT_THAT(
        (std::set<std::string_view>{"internlm2", "baichuan", "chatglm", "olmo", "xlm-roberta", "qwen3_5_moe_text"}),
        testing::Contains(a.model_type()))
        << a.name << " " << read.model_type();
  }
  EXPECT_GE(same, 180U);
}

TEST(PlainAttention, IsPlannedAsTransformersComputesIt) {
  RequestSpec spec;
  spec.model = "gpt-oss-20b";
  spec.finetune = "lora";
  spec.instances = "ml.p5.48xlarge";
  const Result<PlanRequest> request = resolve(spec, shipped(), std::nullopt, Purpose::Plan);
  ASSERT_TRUE(request) << to_string(request.error());
  for (const Stack* stack : request->stacks) EXPECT_FALSE(stack->flash_attention) << stack->id;
  EXPECT_EQ(request->workload.lora.layers.experts, ExpertAdapters::None);
  EXPECT_THAT(request->assumptions, testing::Contains(HasSubstr("PEFT adapts no routed expert")));
  // Megatron has kernels of its own, and a layer for each matrix of an expert.
  spec.finetune.reset();
  spec.stack = "megatron";
  spec.launchable = "any";
  const Result<PlanRequest> megatron = resolve(spec, shipped(), std::nullopt, Purpose::Plan);
  ASSERT_TRUE(megatron) << to_string(megatron.error());
  EXPECT_TRUE(megatron->stacks.front()->flash_attention);
  // Who has kernels for it in a script of his own says so; the training program has none.
  spec.finetune = "lora";
  spec.stack.reset();
  spec.launchable.reset();
  spec[Dimension::FlashAttention] = "on";
  const Result<PlanRequest> own = resolve(spec, shipped(), std::nullopt, Purpose::Plan);
  EXPECT_THAT(to_string(own.error()), HasSubstr("no scaled dot product attention for gpt-oss-20b"));
}

TEST(PlannedTarget, IsAStrategyTargetByName) {
  RequestSpec spec = spec_for("torchtunes");
  EXPECT_THAT(to_string(resolve(spec, shipped(), std::nullopt, Purpose::Plan).error()), HasSubstr("torchtune"));
  spec.launchable = "sagemaker-sdk-v3";  // a launcher takes what the stack's own file says
  EXPECT_FALSE(resolve(spec, shipped(), std::nullopt, Purpose::Plan));
  spec.launchable = "megatron";
  spec.stack = "fsdp";
  EXPECT_THAT(to_string(resolve(spec, shipped(), std::nullopt, Purpose::Plan).error()),
              HasSubstr("an export to megatron runs on "));
}

TEST(PlannedTarget, EveryStrategyTargetIsPredictedAsAStack) {
  for (const ExportTarget& target : export_targets()) {
    std::size_t stacks = 0;
    for (const Stack& stack : shipped().stacks()) stacks += runs_as(target, stack.id) ? 1 : 0;
    EXPECT_EQ(stacks > 0, target.side == TargetSide::Strategy) << target.name;
  }
}

}  // namespace
}  // namespace smplan
