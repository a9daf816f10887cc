#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

struct Tool {
  const char* target;
  const char* file;
  JobKind kind;
};
constexpr Tool kTools[] = {{"trl", "trl.yaml", JobKind::Trl},
                           {"axolotl", "axolotl.yaml", JobKind::Axolotl},
                           {"llama-factory", "llama_factory.yaml", JobKind::LlamaFactory}};

class ToolFiles : public testing::TestWithParam<Tool> {
 protected:
  Catalog catalog = *Catalog::shipped();

  RequestSpec spec(const char* stack, const char* finetune) {
    RequestSpec s = test::tuning(stack, finetune);
    s[Dimension::Recompute] = "full";
    // Those that may recompute some layers.
    if (s.stack == "fsdp" || s.stack == "megatron") s[Dimension::Recompute] = "none";
    return s;
  }
  Result<Export> written(const RequestSpec& s, bool lock = false) {
    const auto request = resolve(s, catalog, std::nullopt, Purpose::Estimate);
    if (!request) return tl::unexpected<Diagnostics>(request.error());
    const auto set = estimate(*request, catalog);
    if (!set) return tl::unexpected<Diagnostics>(set.error());
    const TrainingPlan plan = training_plan_of(*request, set->plans.front());
    const ExportOptions options;
    return export_plan({plan, options, catalog, lock ? "{}" : ""}, GetParam().target);
  }
  std::string text(const Export& out, std::string_view name) {
    for (const ExportFile& f : out.files) {
      if (f.path == name) return f.content;
    }
    return {};
  }
  Job read_back(const RequestSpec& s) {
    const auto out = written(s);
    EXPECT_TRUE(out) << to_string(out.error());
    if (!out) return {};
    EXPECT_EQ(out->files.front().path, GetParam().file);
    auto job = read_job(text(*out, GetParam().file), GetParam().file, std::nullopt);
    EXPECT_TRUE(job) << to_string(job.error());
    EXPECT_EQ(job->kind, GetParam().kind);
    return std::move(*job);
  }
  std::string refusal(const RequestSpec& s) {
    const auto out = written(s);
    return out ? std::string() : to_string(out.error());
  }
};

TEST_P(ToolFiles, SayWhatTheReaderOfTheToolReads) {
  RequestSpec s = spec("deepspeed", "lora");
  s.zero_stage = "2";
  s.lora_rank = "32";
  const Job job = read_back(s);
  const JobStrategy& read = job.strategy;
  EXPECT_EQ(job.not_modelled, "");
  EXPECT_EQ(*job.model, "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(*read.finetune, "lora");
  EXPECT_EQ(*read.lora_rank, 32);
  EXPECT_EQ(*read.lora_targets, "linear");
  EXPECT_EQ(*read.sequence_length, 2048);
  EXPECT_EQ(*read.micro_batch, 2);
  EXPECT_EQ(*read.accumulation, 2);
  EXPECT_EQ(*read.steps, 382);
  EXPECT_TRUE(read.packing.is(true));
  EXPECT_TRUE(read.bf16.is(true));
  EXPECT_EQ(*read.recompute, "full");
  EXPECT_EQ(*read.stack, "deepspeed");
  EXPECT_EQ(*read.loss, "sft");
  const auto out = written(s);
  EXPECT_THAT(text(*out, "ds_config.json"), HasSubstr("\"stage\": 2"));
}

TEST_P(ToolFiles, NameTheLayersAsTransformersNamesThem) {
  for (const char* model : {"phi-4", "pythia-1b", "gpt2", "mpt-7b", "opt-1.3b", "deepseek-v2-lite", "nemotron-h-8b"}) {
    for (const char* targets : {"query-value", "attention", "linear"}) {
      SCOPED_TRACE(fmt::format("{} {}", model, targets));
      RequestSpec s = spec("hf-trainer", "lora");
      s.model = model;
      s.seq_len = "512";
      s.lora_targets = targets;
      const Job job = read_back(s);
      // Of latent attention all layers carry adapters.
      const bool latent = std::string_view(model).starts_with("deepseek") && std::string_view(targets) == "query-value";
      EXPECT_EQ(*job.strategy.lora_targets, latent ? "attention" : targets);
      const auto found = check_job(job, catalog, *SagemakerLimits::shipped(), {});
      ASSERT_TRUE(found) << to_string(found.error());
      for (const Finding& finding : found->findings) EXPECT_NE(finding.rule, "C233") << finding.message;
    }
  }
}

TEST_P(ToolFiles, PageTheMomentsOfBitsandbytes) {
  for (const char* optimizer : {"adamw", "adam8bit", "lion"}) {
    RequestSpec s = spec("hf-trainer", "qlora");
    s.optimizer = optimizer;
    s[Dimension::PagedOptimizer] = "on";
    const Job job = read_back(s);
    EXPECT_EQ(optimizer_from(*job.strategy.optimizer), optimizer_from(optimizer));
    EXPECT_EQ(job.strategy.execution.paged_optimizer, Toggle::On) << optimizer;
  }
}

TEST_P(ToolFiles, SayTheKindOfTheAdapters) {
  for (const char* kind : {"rslora", "dora", "pissa"}) {
    RequestSpec s = spec("hf-trainer", "lora");
    s.adapters = kind;
    if (std::string_view(GetParam().file) == "trl.yaml" && std::string_view(kind) == "pissa") {
      EXPECT_THAT(refusal(s), HasSubstr("no words for adapters of the kind pissa"));
    } else {
      EXPECT_EQ(*read_back(s).strategy.adapters, kind);
    }
  }
}

TEST_P(ToolFiles, SayWhatIsTrainedBesideFrozenLayers) {
  for (const char* trained : {"last:8", "first:2", "last:8+head", "last:8+embedding+head", "16-23"}) {
    RequestSpec s = spec("deepspeed", "full");
    s.zero_stage = "2";
    s.trained_layers = trained;
    if (std::string_view(GetParam().target) == "trl") {
      EXPECT_THAT(refusal(s), HasSubstr("no words for training of"));
      EXPECT_THAT(refusal(s), HasSubstr("axolotl")) << "who has";
      continue;
    }
    if (std::string_view(GetParam().target) == "llama-factory" && std::string_view(trained) == "16-23") {
      EXPECT_THAT(refusal(s), HasSubstr("the first blocks or the last ones"));
      continue;
    }
    const Job job = read_back(s);
    EXPECT_EQ(job.not_modelled, "") << trained;
    RequestSpec flags;
    flags.instances = s.instances;
    flags.count = s.count;
    flags.zero_stage = s.zero_stage;  // which stands in DeepSpeed's own file
    const auto again = request_of_job(job, catalog, flags, std::nullopt);
    ASSERT_TRUE(again) << to_string(again.error());
    const auto request = resolve(*again, catalog, std::nullopt, Purpose::Estimate);
    ASSERT_TRUE(request) << to_string(request.error());
    EXPECT_EQ(to_string(*request->workload.trained_layers), trained);
  }
}

TEST_P(ToolFiles, CountPairsForTheSequencesOfAPreferenceLoss) {
  RequestSpec s = spec("hf-trainer", "qlora");
  s.loss = "dpo";
  s.mean_seq_len = "900";
  const Job job = read_back(s);
  EXPECT_EQ(*job.strategy.finetune, "qlora");
  EXPECT_EQ(*job.strategy.loss, "dpo");
  EXPECT_EQ(*job.strategy.micro_batch, 1) << "pairs";
  // And back: the job is the same question.
  RequestSpec flags;
  flags.instances = "ml.p5.48xlarge";
  flags.count = "2";
  const auto again = request_of_job(job, catalog, flags, std::nullopt);
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ((*again)[Dimension::MicroBatch], "2");
  EXPECT_EQ(again->global_batch, "64");
  EXPECT_EQ(again->loss, "dpo");
}

TEST_P(ToolFiles, ShardByFsdp) {
  RequestSpec s = spec("fsdp", "full");
  s[Dimension::Sharding] = "fsdp-full";
  const Job job = read_back(s);
  EXPECT_EQ(*job.strategy.stack, "fsdp");
  EXPECT_EQ(*job.strategy.finetune, "full");
  EXPECT_EQ(*job.strategy.recompute, "none");
}

TEST_P(ToolFiles, HoldTrainedWeightsAsThePlanCountsThem) {
  RequestSpec s = spec("hf-trainer", "full");
  s.model = "qwen2.5-1.5b";
  const bool axolotl = GetParam().kind == JobKind::Axolotl;
  if (axolotl) {
    EXPECT_THAT(refusal(s), HasSubstr("keeps no fp32 weights"));
  } else {
    EXPECT_EQ(read_back(s).strategy.execution.pure_half, Toggle::Default) << "fp32 masters";
  }
  s[Dimension::PureHalf] = "on";
  EXPECT_EQ(read_back(s).strategy.execution.pure_half, Toggle::On);
}

TEST_P(ToolFiles, RefuseWhatTheToolHasNoWordsFor) {
  RequestSpec scratch = spec("fsdp", "full");
  scratch.finetune.reset();
  EXPECT_THAT(refusal(scratch), HasSubstr("trains on from a model's weights"));
  RequestSpec hybrid = spec("fsdp", "full");
  hybrid[Dimension::Sharding] = "fsdp-hybrid";
  hybrid[Dimension::ShardDegree] = "8";
  EXPECT_THAT(refusal(hybrid), HasSubstr("fsdp-hybrid"));
  RequestSpec tensor = spec("megatron", "full");
  tensor[Dimension::Tensor] = "8";
  EXPECT_THAT(refusal(tensor), HasSubstr("tensor parallelism"));
}

INSTANTIATE_TEST_SUITE_P(All, ToolFiles, testing::ValuesIn(kTools), [](const auto& info) {
  std::string name = info.param.target;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace smplan
