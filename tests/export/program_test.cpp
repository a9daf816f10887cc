#include "fixture.hpp"

#include <set>

#include <nlohmann/json.hpp>

#include "catalogs/hf_config.hpp"
#include "models/layers/layers.hpp"

namespace smplan {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string file_of(const Export& out, std::string_view path) {
  for (const ExportFile& file : out.files) {
    if (file.path == path) return file.content;
  }
  ADD_FAILURE() << out.target << " has no " << path;
  return {};
}

bool has_file(const Export& out, std::string_view path) {
  return std::any_of(out.files.begin(), out.files.end(), [&](const ExportFile& file) { return file.path == path; });
}

/// `--name` of each setting that a program reads.
std::set<std::string> settings_of(const std::string& program) {
  std::set<std::string> names;
  const std::string call = "p.add_argument(\"--";
  for (std::size_t at = program.find(call); at != std::string::npos; at = program.find(call, at + 1)) {
    const std::size_t begin = at + call.size();
    names.insert(program.substr(begin, program.find('"', begin) - begin));
  }
  return names;
}

TEST(Program, ComesWithEveryStackThatPlainPyTorchOrTrainerRuns) {
  for (const char* stack : {"fsdp", "ddp", "deepspeed", "hf-trainer"}) {
    const TrainingPlan plan = test::plan(test::request(stack, "qwen2.5-0.5b"));
    for (const char* target : {"sagemaker-sdk-v2", "sagemaker-sdk-v3", "create-training-job", "torchrun"}) {
      const Export out = test::exported(plan, target).value();
      EXPECT_THAT(file_of(out, "src/train.py"), HasSubstr("smplan_run.csv"));
      EXPECT_THAT(file_of(out, "src/requirements.txt"), HasSubstr("transformers=="));
      EXPECT_TRUE(has_file(out, "src/smplan_data.py") && has_file(out, "src/model/config.json")) << stack;
      for (const Placeholder& p : out.placeholders) EXPECT_NE(p.text, "train.py") << stack << " " << target;
    }
  }
}

TEST(Program, ComesWithStrategyFilesTooAndWithWhatStartsThem) {
  const TrainingPlan plan = test::plan(test::request("fsdp", "qwen2.5-0.5b"));
  EXPECT_THAT(file_of(test::exported(plan, "fsdp").value(), "launch.sh"), HasSubstr("exec torchrun"));
  const Export accelerate = test::exported(plan, "accelerate").value();
  EXPECT_THAT(file_of(accelerate, "launch.sh"), HasSubstr("exec accelerate launch"));
  EXPECT_THAT(file_of(accelerate, "train.py"), HasSubstr("TrainingArguments"));
}

TEST(Program, IsLeftOutForAScriptOfTheUser) {
  ExportOptions options;
  options.script = "mine.py";
  const Export out = test::exported(test::plan(test::request("fsdp")), "torchrun", options).value();
  EXPECT_FALSE(has_file(out, "src/train.py"));
  EXPECT_THAT(file_of(out, "launch.sh"), AllOf(HasSubstr("mine.py"), Not(HasSubstr("learning_rate"))));
}

TEST(Program, ReadsEverySettingThatItIsGiven) {
  for (const char* stack : {"fsdp", "ddp", "deepspeed", "hf-trainer"}) {
    RequestSpec spec = test::request(stack, "qwen2.5-0.5b");
    for (const char* finetune : {"", "full", "lora"}) {
      if (*finetune != '\0') {
        spec.finetune = finetune;
        spec.lora_embeddings = std::string(finetune) == "lora" ? std::optional<std::string>("on") : std::nullopt;
      }
      spec[Dimension::LossKernel] = "linear";
      spec[Dimension::LigerKernels] = "on";
      spec[Dimension::ReentrantCheckpoint] = "off";
      spec[Dimension::EmptyCache] = "on";
      spec[Dimension::FlashAttention] = "off";
      spec[Dimension::FusedOptimizer] = "off";
      spec[Dimension::HostThreads] = "4";
      spec[Dimension::SoftwareRelease] = "2608";
      const Export out = test::exported(test::plan(spec), "create-training-job").value();
      const std::set<std::string> known = settings_of(file_of(out, "src/smplan_run.py"));
      ASSERT_GT(known.size(), 20U);
      const Json hyper = Json::parse(out.files.front().content)["HyperParameters"];
      for (const auto& [name, value] : hyper.items()) {
        if (name.starts_with("sagemaker_")) continue;
        EXPECT_TRUE(known.count(name)) << stack << " is told " << name << " = " << value;
      }
    }
  }
}

TEST(Program, PagesMomentsOnWholeRanksAlone) {
  for (const char* stack : {"fsdp", "ddp", "deepspeed", "hf-trainer"}) {
    RequestSpec spec = test::request(stack, "qwen2.5-0.5b");
    spec.finetune = "full";
    spec.optimizer = "adamw";
    spec[Dimension::PagedOptimizer] = "on";
    if (std::string_view(stack) == "hf-trainer") spec[Dimension::Sharding] = "none";
    const auto out = test::exported(test::plan(spec), "create-training-job");
    const bool whole = std::string_view(stack) == "ddp" || std::string_view(stack) == "hf-trainer";
    ASSERT_EQ(out.has_value(), whole) << stack;
    if (!whole) continue;
    EXPECT_THAT(out->files.front().content, HasSubstr(R"("paged_optimizer": "\"on\"")"));
    EXPECT_THAT(file_of(*out, "src/requirements.txt"), HasSubstr("bitsandbytes=="));
  }
}

TEST(Program, TrainsThePlansModelFromItsConfiguration) {
  for (const char* model : {"llama-3-8b", "bert-large", "t5-large", "vit-l-16", "gemma-2-9b", "gpt2"}) {
    RequestSpec spec = test::request("fsdp", model, "ml.p5.48xlarge", "2");
    spec.seq_len.reset();
    spec.global_batch = "1024";
    const TrainingPlan plan = test::plan(spec);
    const Export out = test::exported(plan, "torchrun").value();
    const auto config = parse_hf_config(file_of(out, "src/model/config.json"), "config.json");
    ASSERT_TRUE(config) << model;
    const auto read = read_hf_config(*config);
    ASSERT_TRUE(read) << model << to_string(read.error());
    EXPECT_EQ(count_parameters(*read).total(), plan.parameters()) << model;
  }
}

TEST(Program, TrainsOnFromWeightsWhereThePlanDoes) {
  RequestSpec spec = test::request("fsdp", "llama-3.1-8b");
  spec.finetune = "full";
  const Export out = test::exported(test::plan(spec), "torchrun").value();
  EXPECT_FALSE(has_file(out, "src/model/config.json"));
  EXPECT_THAT(file_of(out, "launch.sh"), HasSubstr("--model meta-llama/Llama-3.1-8B"));
  EXPECT_THAT(file_of(out, "NOTES.md"), HasSubstr("HF_TOKEN"));
}

TEST(Program, KnowsTheModelsFlopsAndTheDevicesPeak) {
  const TrainingPlan plan = test::plan(test::request("fsdp", "llama-3-8b"));
  const Json job = Json::parse(file_of(test::exported(plan, "torchrun").value(), "src/smplan_job.json"));
  // 6 N, and 12 layers x width x length of attention: 12 x 32 x 4096 x 8192.
  const double expected = 6 * 7.5e9 + 12.0 * 32 * 4096 * 8192;
  EXPECT_NEAR(job["flops_per_token"].get<double>() / expected, 1, 0.05);
  EXPECT_EQ(job["peak_flops_per_s"], 312e12) << "A100";
  EXPECT_EQ(job["strategy"], "fsdp");
  EXPECT_EQ(job["row"]["model"], "llama-3-8b");
}

TEST(Program, RefusesWhatItCannotTrain) {
  RequestSpec spec = test::request("fsdp", "llama-3.1-8b");
  TrainingPlan plan = test::plan(spec);
  plan.optimizer = Optimizer::Lamb;
  EXPECT_THAT(test::refusal(plan, "torchrun"), HasSubstr("no optimizer lamb with fsdp"));
  ExportOptions own;
  own.script = "mine.py";
  EXPECT_THAT(test::refusal(plan, "torchrun", own), IsEmpty());
  plan = test::plan(spec);
  plan.finetune = FineTune::Qlora;
  plan.lora_rank = 16;
  EXPECT_THAT(test::refusal(plan, "fsdp"), IsEmpty());
  EXPECT_THAT(test::refusal(plan, "accelerate"), HasSubstr("no 4-bit base with fsdp"));
  plan = test::plan(spec);
  plan.precision = Precision::Fp8;
  EXPECT_THAT(test::refusal(plan, "fsdp"), IsEmpty());
  EXPECT_THAT(test::refusal(plan, "accelerate"), HasSubstr("fp8"));
}

// Stage 0 shards nothing, and is DeepSpeed's memory all the same.
TEST(Program, IsDeepSpeedsWhereItsFileLies) {
  TrainingPlan plan = test::plan(test::request("deepspeed", "qwen2.5-0.5b"));
  plan.strategy.sharding = Sharding::None;
  plan.strategy.shard_degree = 1;
  for (const char* target : {"create-training-job", "deepspeed"}) {
    const Export out = test::exported(plan, target).value();
    const std::string folder = std::string(target) == "deepspeed" ? "" : "src/";
    EXPECT_EQ(Json::parse(file_of(out, folder + "smplan_job.json"))["strategy"], "deepspeed") << target;
    EXPECT_EQ(Json::parse(file_of(out, folder + "ds_config.json"))["zero_optimization"]["stage"], 0) << target;
  }
}

TEST(Program, SmddpsLastImageHasNone) {
  TrainingPlan plan = test::plan(test::request("fsdp", "llama-3-8b", "ml.p4d.24xlarge", "4"));
  plan.strategy.collectives = Collectives::Smddp;
  EXPECT_FALSE(has_file(test::exported(plan, "create-training-job").value(), "src/train.py"));
}

TEST(Program, FineTuningOfAllWeightsIsAnotherJobThanPreTraining) {
  TrainingPlan plan = test::plan(test::request("fsdp", "llama-3-8b"));
  const std::string id = plan.id();
  plan.fine_tunes = true;
  EXPECT_NE(plan.id(), id);
}

}  // namespace
}  // namespace smplan
