// Files of torchtune and verl, and AWS's recipes of 2026: each is read back to the plan that it was written from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalogs/torchtune_models.hpp"
#include "planner/answer/plan_file.hpp"
#include "planner/export/target.hpp"
#include "planner/preflight/check.hpp"
#include "planner/preflight/job.hpp"
#include "planner/search/estimate.hpp"
#include "planner/search/search.hpp"
#include "tests/export/fixture.hpp"

namespace smplan {
namespace {

using testing::HasSubstr;

const Catalog& shipped() {
  static const Catalog kCatalog = *Catalog::shipped();
  return kCatalog;
}

RequestSpec spec(const char* finetune, const char* stack = "fsdp") {
  RequestSpec s = test::tuning(stack, finetune);
  s[Dimension::Recompute] = "none";
  s[Dimension::PureHalf] = "on";
  s[Dimension::Sharding] = "fsdp-full";
  return s;
}

Result<Export> written(const RequestSpec& s, const char* target) {
  const auto request = resolve(s, shipped(), std::nullopt, Purpose::Estimate);
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  const auto set = estimate(*request, shipped());
  if (!set) return tl::unexpected<Diagnostics>(set.error());
  const TrainingPlan plan = training_plan_of(*request, set->plans.front());
  const ExportOptions options;
  return export_plan({plan, options, shipped(), ""}, target);
}

std::string refusal(const RequestSpec& s, const char* target) {
  const auto out = written(s, target);
  return out ? std::string() : to_string(out.error());
}

struct ReadBack {
  Job job;
  RequestSpec request;
};
ReadBack read_back(const RequestSpec& s, const char* target) {
  const auto out = written(s, target);
  EXPECT_TRUE(out) << to_string(out.error());
  if (!out) return {};
  auto job = read_job(out->files.front().content, out->files.front().path, std::nullopt);
  EXPECT_TRUE(job) << to_string(job.error());
  if (!job) return {};
  EXPECT_EQ(job->not_modelled, "");
  RequestSpec flags;
  flags.instances = s.instances;
  flags.count = s.count;
  const auto request = request_of_job(*job, shipped(), flags, std::nullopt);
  EXPECT_TRUE(request) << to_string(request.error());
  return {std::move(*job), request ? *request : RequestSpec{}};
}

TEST(ToolFiles, TakeFlagsOfTheirAdaptersBeforeWhatTheySay) {
  auto job = read_job(
      "base_model: meta-llama/Llama-3.1-8B\nadapter: lora\nlora_r: 16\nlora_target_linear: true\n"
      "sequence_len: 2048\nmicro_batch_size: 2\nnum_epochs: 1\n",
      "axolotl.yaml", std::nullopt);
  ASSERT_TRUE(job) << to_string(job.error());
  RequestSpec flags;
  flags.instances = "ml.p5.48xlarge";
  flags.count = "1";
  flags.lora_rank = "64";
  const auto request = request_of_job(*job, shipped(), flags, std::nullopt);
  ASSERT_TRUE(request) << to_string(request.error());
  EXPECT_EQ(request->finetune, "lora");
  EXPECT_EQ(request->lora_rank, "64");
}

struct Tool {
  const char* target;
  const char* stack;  ///< that the reader names
  JobKind kind;
};
constexpr Tool kTools[] = {{"torchtune", "torchtune", JobKind::Torchtune},
                           {"verl", "fsdp", JobKind::Verl},
                           {"hyperpod-llmft", "fsdp", JobKind::HyperpodRecipe},
                           {"hyperpod-verl", "fsdp", JobKind::HyperpodRecipe}};

class TuningTools : public testing::TestWithParam<Tool> {};

TEST_P(TuningTools, SayThePlanThatTheyWereWrittenFrom) {
  for (const char* finetune : {"full", "lora"}) {
    SCOPED_TRACE(finetune);
    RequestSpec s = spec(finetune);
    s.lora_rank = std::string(finetune) == "lora" ? std::optional<std::string>("32") : std::nullopt;
    const auto [job, request] = read_back(s, GetParam().target);
    EXPECT_EQ(job.kind, GetParam().kind);
    EXPECT_EQ(*job.strategy.stack, GetParam().stack);
    EXPECT_EQ(request.finetune, finetune);
    EXPECT_EQ(request.lora_rank, s.lora_rank);
    EXPECT_EQ(request.seq_len, "2048");
    EXPECT_EQ(request.global_batch, "64");
    EXPECT_EQ(request[Dimension::MicroBatch], "2");
    EXPECT_EQ(request[Dimension::Recompute], "none");
    EXPECT_EQ(shipped().find_model(request.model.value_or("")), shipped().find_model("llama-3.1-8b"));
    const bool knows_format = GetParam().target != std::string("hyperpod-llmft");
    EXPECT_EQ(job.strategy.execution.pure_half, knows_format ? Toggle::On : Toggle::Default);
  }
}

// Its sequences are micro-batch x accumulation of every device; how many devices there are an estimate assumes.
TEST(TuningToolFiles, CountAStepOfOneInstanceWhereNoCountIsSaid) {
  const auto job = read_job(R"(model:
  _component_: torchtune.models.llama3_1.lora_llama3_1_8b
  lora_attn_modules: [q_proj, v_proj]
  lora_rank: 8
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, path: tokenizer.model, max_seq_len: 2048}
dataset: {_component_: torchtune.datasets.alpaca_cleaned_dataset, packed: true}
optimizer: {_component_: torch.optim.AdamW, lr: 3e-4}
loss: {_component_: torchtune.modules.loss.LinearCrossEntropyLoss}
batch_size: 2
gradient_accumulation_steps: 8
epochs: 1
)",
                            "lora.yaml", JobKind::Torchtune);
  ASSERT_TRUE(job) << to_string(job.error());
  RequestSpec flags;
  const auto batch = [&] {
    const auto request = request_of_job(*job, shipped(), flags, std::nullopt);
    EXPECT_TRUE(request) << to_string(request.error());
    if (!request) return std::string();
    EXPECT_EQ(request->count, flags.count) << "an assumption is told where it is made";
    return request->global_batch.value_or("");
  };
  flags.instances = "ml.g6e.xlarge";
  EXPECT_EQ(batch(), "16");
  flags.instances = "ml.p5.48xlarge";
  EXPECT_EQ(batch(), "128");
  flags.count = "2";
  EXPECT_EQ(batch(), "256");
}

TEST(TuningToolFiles, SayWhatHoldsStatesOnOneDevice) {
  RequestSpec s = spec("full");
  s.instances = "ml.g6e.xlarge";
  s.count = "1";
  s.global_batch = "2";
  s.optimizer = "adam8bit";
  s[Dimension::Sharding].reset();
  s[Dimension::UpdateInBackward] = "on";
  s[Dimension::PagedOptimizer] = "on";
  const auto [job, request] = read_back(s, "torchtune");
  EXPECT_EQ(job.strategy.execution.update_in_backward, Toggle::On);
  EXPECT_EQ(job.strategy.execution.paged_optimizer, Toggle::On);
  EXPECT_EQ(optimizer_from(request.optimizer.value_or("")), Optimizer::Adam8bit);
  const Export out = written(s, "torchtune").value();
  const auto needs = [](const ExportFile& f) {
    return f.path == "requirements.txt" && f.content.find("bitsandbytes==") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(out.files.begin(), out.files.end(), needs));
  RequestSpec adapters = s;
  adapters.finetune = "lora";
  EXPECT_THAT(refusal(adapters, "torchtune"), HasSubstr("of all weights alone"));
  RequestSpec shards = s;
  shards.instances = "ml.p5.48xlarge";
  shards.global_batch = "16";
  EXPECT_THAT(refusal(shards, "torchtune"), HasSubstr("no shards of FSDP"));
}

TEST_P(TuningTools, RecomputeAndOffloadAsPlanned) {
  RequestSpec s = spec("full");
  s[Dimension::Recompute] = "full";
  s[Dimension::Offload] = "params";
  const auto [job, request] = read_back(s, GetParam().target);
  EXPECT_EQ(request[Dimension::Recompute], "full");
  EXPECT_EQ(*job.strategy.parameter_offload, "cpu");
  EXPECT_EQ(*job.strategy.optimizer_offload, "cpu");
}

TEST_P(TuningTools, LearnPairsWhereTheToolDoes) {
  RequestSpec s = spec("lora");
  s.loss = "dpo";
  if (GetParam().kind == JobKind::Verl) {
    EXPECT_THAT(refusal(s, GetParam().target), HasSubstr("the loss of dpo"));
    return;
  }
  const auto [job, request] = read_back(s, GetParam().target);
  EXPECT_EQ(request.loss, "dpo");
  EXPECT_EQ(request[Dimension::MicroBatch], "2") << "sequences, of one pair";
  EXPECT_EQ(request.global_batch, "64");
}

TEST_P(TuningTools, RefuseWhatTheToolHasNoWordsFor) {
  RequestSpec scratch = spec("full");
  scratch.finetune.reset();
  EXPECT_THAT(refusal(scratch, GetParam().target), HasSubstr("trains on from a model's weights"));
  RequestSpec tensor = spec("full", "torchtitan");
  tensor[Dimension::Tensor] = "8";
  tensor[Dimension::PureHalf].reset();
  EXPECT_THAT(refusal(tensor, GetParam().target), HasSubstr("tensor parallelism"));
  RequestSpec lion = spec("full");
  lion.optimizer = "lion";
  EXPECT_THAT(refusal(lion, GetParam().target), HasSubstr("no optimizer lion"));
  RequestSpec graded = spec("full");
  graded[Dimension::Sharding] = "fsdp-grad-op";
  EXPECT_THAT(refusal(graded, GetParam().target), HasSubstr("fsdp-grad-op"));
}

INSTANTIATE_TEST_SUITE_P(All, TuningTools, testing::ValuesIn(kTools), [](const auto& info) {
  std::string name = info.param.target;
  std::erase(name, '-');
  return name;
});

TEST(Torchtune, HoldsWhatItTrainsInOneFormat) {
  RequestSpec s = spec("full");
  s[Dimension::PureHalf].reset();
  EXPECT_THAT(refusal(s, "torchtune"), HasSubstr("the plan in fp32"));
  EXPECT_THAT(refusal(s, "torchtune"), HasSubstr("--pure-half on"));
  s.dtype = "fp32";
  EXPECT_TRUE(read_back(s, "torchtune").job.strategy.fp32.is(true));
}

TEST(Torchtune, QuantizesBasesAndAdaptsPartOfTheLayers) {
  RequestSpec s = spec("qlora");
  s.lora_targets = "query-value";
  const auto [job, request] = read_back(s, "torchtune");
  EXPECT_EQ(request.finetune, "qlora");
  EXPECT_EQ(*job.strategy.lora_targets, "query-value");
}

TEST(Torchtune, KnowsItsModels) {
  RequestSpec s = spec("full");
  s.model = "falcon-7b";
  EXPECT_THAT(refusal(s, "torchtune"), HasSubstr("implements no falcon-7b"));
  for (const TorchtuneModel& model : torchtune_models()) {
    SCOPED_TRACE(model.name);
    const ModelPreset* const preset = shipped().find_model(model.name);
    ASSERT_NE(preset, nullptr);
    EXPECT_EQ(preset->architecture.name, model.name);
    s.model = model.name;
    s.instances = "ml.p5en.48xlarge";
    const auto out = written(s, "torchtune");
    ASSERT_TRUE(out) << to_string(out.error());
    EXPECT_THAT(out->files.front().content, HasSubstr("torchtune.models." + model.package + "." + model.builder));
  }
}

TEST(HyperpodRecipes, SayHowLongTheyTrain) {
  EXPECT_EQ(*read_back(spec("lora"), "hyperpod-llmft").job.strategy.steps, 382);
  EXPECT_EQ(*read_back(spec("lora"), "hyperpod-verl").job.strategy.steps, 382);
}

TEST(HyperpodRecipes, ShardOverANode) {
  RequestSpec s = spec("full");
  s[Dimension::Sharding] = "fsdp-hybrid";
  s[Dimension::ShardDegree] = "8";
  EXPECT_EQ(*read_back(s, "hyperpod-llmft").job.strategy.sharding, "HYBRID_SHARD");
  EXPECT_EQ(*read_back(s, "hyperpod-verl").job.strategy.shard_degree, 8);
  EXPECT_EQ(*read_back(s, "verl").job.strategy.shard_degree, 8);
}

TEST(Verl, KeepsStatesOnTheHostByOneSwitch) {
  // param_offload and optimizer_offload free nothing while the model trains.
  const std::string own = "defaults: [sft_trainer_engine, _self_]\nengine:\n  strategy: fsdp2\n  ";
  const auto job = [&](const std::string& text, const char* name = "verl_sft.yaml") {
    return read_job(own + text + "\nmodel:\n  path: Qwen/Qwen2.5-7B\n", name, JobKind::Verl);
  };
  const auto moved = job("param_offload: true\n  optimizer_offload: true");
  ASSERT_TRUE(moved);
  EXPECT_FALSE(moved->strategy.parameter_offload.stated);
  EXPECT_EQ(moved->unread.size(), 2U);
  const auto kept = job("offload_policy: true");
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept->strategy.parameter_offload, "cpu");
  EXPECT_EQ(*kept->strategy.optimizer_offload, "cpu");
  EXPECT_EQ(*kept->strategy.global_batch, 256) << "verl's own, as the file goes on from it";
  EXPECT_EQ(*kept->strategy.sequence_length, 1024);
}

TEST(Verl, SaysWhichOtherFileItCannotRead) {
  const auto job =
      read_job("defaults: [team_base, _self_]\nmodel:\n  path: Qwen/Qwen2.5-7B\n", "v.yaml", JobKind::Verl);
  ASSERT_TRUE(job);
  EXPECT_THAT(job->not_modelled, HasSubstr("goes on from another one"));
}

TEST(HyperpodRecipes, OfVerlHoldMastersOfMixedPrecision) {
  RequestSpec s = spec("full");
  s[Dimension::PureHalf].reset();
  EXPECT_EQ(read_back(s, "hyperpod-verl").job.strategy.execution.pure_half, Toggle::Default);
  EXPECT_EQ(read_back(s, "verl").job.strategy.execution.pure_half, Toggle::Default);
}

}  // namespace
}  // namespace smplan
