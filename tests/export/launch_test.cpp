#include "fixture.hpp"

#include <nlohmann/json.hpp>

namespace smplan {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

Json request_of(const TrainingPlan& plan, const ExportOptions& options = {}) {
  const Result<Export> out = test::exported(plan, "create-training-job", options);
  EXPECT_TRUE(out.has_value()) << (out ? "" : to_string(out.error()));
  return out ? Json::parse(out->files.front().content) : Json();
}

TrainingPlan fsdp() { return test::plan(test::request("fsdp")); }

TEST(CreateTrainingJob, CarriesTheHyperparametersThatStartEveryProcess) {
  const Json hyper = request_of(fsdp())["HyperParameters"];
  EXPECT_EQ(hyper["sagemaker_torch_distributed_enabled"], "true");
  EXPECT_EQ(hyper["sagemaker_instance_type"], "\"ml.p4de.24xlarge\"");
  EXPECT_EQ(hyper["sagemaker_program"], "\"train.py\"");
  for (const auto& [name, value] : hyper.items()) EXPECT_TRUE(value.is_string()) << name;
}

// The plan was priced and timed with these: a job without them is another one.
TEST(CreateTrainingJob, KeepsThePoolAndTheInputModeOfThePlan) {
  RequestSpec spec = test::request("fsdp");
  spec.jobs = "5";
  spec.warm_pool = "on";
  spec.job_gap = "20m";
  spec.dataset = "2TB";
  spec.input_mode = "file";
  const TrainingPlan plan = test::plan(spec);
  EXPECT_EQ(request_of(plan)["ResourceConfig"]["KeepAlivePeriodInSeconds"], 1200);
  EXPECT_EQ(request_of(plan)["AlgorithmSpecification"]["TrainingInputMode"], "File");
  ExportOptions stated;
  stated.warm_pool = Seconds(1800);
  stated.input_mode = "FastFile";
  EXPECT_EQ(request_of(plan, stated)["ResourceConfig"]["KeepAlivePeriodInSeconds"], 1800);
  EXPECT_EQ(request_of(plan, stated)["AlgorithmSpecification"]["TrainingInputMode"], "FastFile");
}

TEST(CreateTrainingJob, SaysWhereItsStorageIsNotThatOfThePlan) {
  RequestSpec spec = test::request("fsdp");
  spec.dataset = "2TB";
  spec.input_mode = "fsx-lustre";
  spec.checkpoint_storage = "fsx-lustre";
  const TrainingPlan plan = test::plan(spec);
  EXPECT_THAT(test::text_of(plan, "create-training-job"),
              AllOf(HasSubstr("counts on fsx-lustre for its data"), HasSubstr("counts on fsx-lustre for checkpoints")));
  ExportOptions mounted;
  mounted.file_system = "fs-0123456789abcdef0";
  EXPECT_THAT(test::text_of(plan, "create-training-job", mounted), Not(HasSubstr("for its data")));
}

TEST(CreateTrainingJob, UsesAnImageThatIsPatchedWhenTheCatalogWasMade) {
  EXPECT_EQ(request_of(fsdp())["AlgorithmSpecification"]["TrainingImage"],
            "763104351884.dkr.ecr.us-east-1.amazonaws.com/"
            "pytorch-training:2.10.0-gpu-py313-cu130-ubuntu22.04-sagemaker");
  EXPECT_THAT(test::text_of(fsdp(), "create-training-job"), HasSubstr("patched until 2027-01-21, as of 2026-11-20"));
}

TEST(CreateTrainingJob, MayRunAQuarterLongerThanPredictedOrUpToItsSlowEnd) {
  TrainingPlan plan = fsdp();
  plan.prediction.time_to_train = Seconds(100000);
  plan.prediction.step = Seconds(10);
  plan.prediction.step_p90 = Seconds(11);
  EXPECT_EQ(request_of(plan)["StoppingCondition"]["MaxRuntimeInSeconds"], 125400)
      << "100,000 s x 1.25 = 125,000 s, in whole ten minutes: 209 x 600 s";
  plan.prediction.step_p90 = Seconds(15);
  EXPECT_EQ(request_of(plan)["StoppingCondition"]["MaxRuntimeInSeconds"], 150000) << "100,000 s x 15/10";
}

TEST(CreateTrainingJob, NeverRunsLongerThanTwentyEightDaysAndSaysWhatFollows) {
  TrainingPlan plan = fsdp();
  plan.prediction.time_to_train = days(70);
  EXPECT_EQ(request_of(plan)["StoppingCondition"]["MaxRuntimeInSeconds"], 28 * 86400);
  EXPECT_THAT(test::text_of(plan, "create-training-job"), HasSubstr("3 jobs in a row")) << "70 days / 28 = 2.5";
}

TEST(CreateTrainingJob, SaysWhichUsualQuotasItPasses) {
  const auto notes = [](const TrainingPlan& plan) { return test::exported(plan, "create-training-job").value().notes; };
  TrainingPlan plan = fsdp();
  EXPECT_THAT(notes(plan),
              Contains(HasSubstr("\"ml.p4de.24xlarge for training job usage\" of 2, a new account has 0")));
  EXPECT_THAT(notes(plan), Each(Not(HasSubstr("Longest run time"))));
  plan.prediction.time_to_train = days(10);
  EXPECT_THAT(notes(plan), Contains(HasSubstr("s, a new account has 432000")));
  RequestSpec many = test::request("fsdp", "llama-3-8b", "ml.p4de.24xlarge", "24");
  many.global_batch = "768";
  EXPECT_THAT(notes(test::plan(many)),
              Contains(HasSubstr("\"Number of instances for a training job\" of 24, a new account has 20")));
}

TEST(CreateTrainingJob, SaysThatHorovodIsNotInTheImage) {
  const TrainingPlan plan = test::plan(test::request("horovod", "bert-large", "ml.p4d.24xlarge"));
  EXPECT_THAT(test::exported(plan, "create-training-job").value().notes, Contains(HasSubstr("without Horovod")));
}

TEST(CreateTrainingJob, WaitsForSpotTwiceTheRunAndAtMostThirtyDays) {
  TrainingPlan plan = fsdp();
  EXPECT_FALSE(request_of(plan)["StoppingCondition"].contains("MaxWaitTimeInSeconds"));
  EXPECT_FALSE(request_of(plan).contains("EnableManagedSpotTraining"));
  plan.market = Market::Spot;
  plan.prediction.time_to_train = Seconds(100000);
  plan.prediction.step_p90 = plan.prediction.step;
  Json request = request_of(plan);
  EXPECT_EQ(request["EnableManagedSpotTraining"], true);
  EXPECT_EQ(request["StoppingCondition"]["MaxWaitTimeInSeconds"], 250800) << "2 x 125,400 s";
  EXPECT_TRUE(request.contains("CheckpointConfig"));
  plan.prediction.time_to_train = days(20);
  EXPECT_EQ(request_of(plan)["StoppingCondition"]["MaxWaitTimeInSeconds"], 30 * 86400);
}

TEST(CreateTrainingJob, KeepsNoWarmPoolOfSpotInstances) {
  TrainingPlan plan = fsdp();
  ExportOptions options;
  options.warm_pool = Seconds(1800);
  EXPECT_EQ(request_of(plan, options)["ResourceConfig"]["KeepAlivePeriodInSeconds"], 1800);
  plan.market = Market::Spot;
  EXPECT_THAT(test::refusal(plan, "create-training-job", options), HasSubstr("no warm pool of spot instances"));
  plan.market = Market::OnDemand;
  options.warm_pool = Seconds(21601);
  EXPECT_THAT(test::refusal(plan, "create-training-job", options), HasSubstr("not between 1 s and 6 h"));
}

TEST(CreateTrainingJob, AsksForAVolumeOnlyWhereTheTypeHasNoDisksOfItsOwn) {
  EXPECT_FALSE(request_of(fsdp())["ResourceConfig"].contains("VolumeSizeInGB"));
  const TrainingPlan plan = test::plan(test::request("ddp", "gpt2", "ml.p3.16xlarge"));
  EXPECT_EQ(request_of(plan)["ResourceConfig"]["VolumeSizeInGB"], 34)
      << "30 GB that a job has, and 2 checkpoints of 124.4e6 x 12 B = 3.0 GB that fill 90 % of 4 GB";
}

// What is billed is what is asked for: data that is copied lies on the volume too.
TEST(CreateTrainingJob, VolumeIsTheOneThatTheBillCounts) {
  RequestSpec spec = test::request("ddp", "gpt2", "ml.p3.16xlarge");
  spec.dataset = "2TB";
  spec.input_mode = "file";
  const PlanSet set = test::answer(spec);
  const TrainingPlan plan = training_plan_of(set.request, set.plans.front());
  const auto size = request_of(plan)["ResourceConfig"]["VolumeSizeInGB"].get<std::int64_t>();
  EXPECT_EQ(size, static_cast<std::int64_t>(set.plans.front().cost.volume_size.value() / 1e9));
  EXPECT_GT(size, 2000);
  EXPECT_THAT(test::exported(plan, "create-training-job").value().notes,
              Contains(HasSubstr("\"Size of EBS volume for an instance\"")));
}

TEST(CreateTrainingJob, VolumeHoldsTheDataThatTheExportCopiesAndThePlanStreams) {
  RequestSpec spec = test::request("ddp", "gpt2", "ml.p3.16xlarge");
  spec.dataset = "900GB";
  spec.input_mode = "fastfile";
  ExportOptions copied;
  copied.input_mode = "File";
  EXPECT_EQ(request_of(test::plan(spec))["ResourceConfig"]["VolumeSizeInGB"], 34);
  EXPECT_EQ(request_of(test::plan(spec), copied)["ResourceConfig"]["VolumeSizeInGB"], 1034) << "34 GB + 900 GB / 0.9";
  spec.dataset = "17TB";
  EXPECT_THAT(test::refusal(test::plan(spec), "create-training-job", copied), HasSubstr("of a job's volume"));
  spec.dataset.reset();
  spec.input_mode.reset();
  EXPECT_THAT(test::exported(test::plan(spec), "create-training-job", copied).value().notes,
              Contains(HasSubstr("has no room for data")));
}

// CUDA 13 compiles for nothing older than Turing: a job of its image fails at the first kernel.
TEST(CreateTrainingJob, TakesAnImageWithKernelsForTheDevice) {
  const TrainingPlan old = test::plan(test::request("ddp", "gpt2", "ml.p3dn.24xlarge"));
  EXPECT_THAT(request_of(old)["AlgorithmSpecification"]["TrainingImage"].get<std::string>(),
              HasSubstr("pytorch-training:2.8.0-gpu-py312-cu129"));
  EXPECT_THAT(test::text_of(old, "create-training-job"),
              HasSubstr("PyTorch 2.8.0, the last with kernels for V100-32GB, past its end of patches"));
  const TrainingPlan turing = test::plan(test::request("ddp", "gpt2", "ml.g4dn.12xlarge"));
  EXPECT_THAT(request_of(turing)["AlgorithmSpecification"]["TrainingImage"].get<std::string>(), HasSubstr("cu130"));
}

TEST(SaveInterval, IsThatOfTheGoodputInEveryTargetThatCanSayIt) {
  RequestSpec spec = test::request("fsdp");
  const PlanSet set = test::answer(spec);
  TrainingPlan plan = training_plan_of(set.request, set.plans.front());
  const Plan& best = set.plans.front();
  ASSERT_TRUE(best.cost.checkpoint.has_value());
  EXPECT_DOUBLE_EQ(plan.save_interval.value().value(), best.cost.loss.interval.value());
  plan.prediction.step = Seconds(10);
  plan.save_interval = Seconds(1234);
  EXPECT_EQ(plan.save_steps(), 123);
  EXPECT_EQ(request_of(plan)["HyperParameters"]["save_interval"], "123");
  EXPECT_THAT(test::text_of(plan, "fsdp"), HasSubstr("SAVE_INTERVAL = 123 "));
  EXPECT_THAT(test::text_of(plan, "torchtitan"), HasSubstr("interval = 123\n"));
  plan.gradient_accumulation = 2;  // a recipe for fine-tuning, which knows all or nothing to recompute
  plan.fine_tunes = true;
  plan.strategy.recompute = Recompute::Full;
  plan.strategy.recompute_layers = 0;
  plan.strategy.sharding = Sharding::FsdpHybrid;
  plan.strategy.shard_degree = 8;
  EXPECT_THAT(test::text_of(plan, "hyperpod-recipe"), HasSubstr("save_steps: 123\n"));
  TrainingPlan megatron = test::plan(test::request("megatron"));
  megatron.prediction.step = Seconds(10);
  megatron.save_interval = Seconds(1234);
  EXPECT_THAT(test::text_of(megatron, "megatron"), HasSubstr("--save-interval 123\n"));
  EXPECT_THAT(test::text_of(megatron, "hyperpod-recipe"), HasSubstr("every_n_train_steps: 123\n"));
  RequestSpec adapter = test::request("hyperpod-adapter");
  adapter.global_batch = "32";
  EXPECT_THAT(test::text_of(test::plan(adapter), "hyperpod-recipe"), HasSubstr("every_n_train_steps: "));
}

TEST(SaveInterval, IsAWholeNumberOfStepsOfTheRun) {
  TrainingPlan plan = fsdp();
  plan.prediction.step = Seconds(10);
  plan.save_interval = Seconds(1);
  EXPECT_EQ(plan.save_steps(), 1);
  plan.save_interval = days(1000);
  EXPECT_EQ(plan.save_steps(), plan.steps()) << "at the end";
  plan.save_interval.reset();
  EXPECT_EQ(plan.save_steps(), plan.steps()) << "a plan without checkpoints saves the result";
}

// Accelerate accumulates whole gradients unless it synchronises each batch, and the plan has room for sharded ones.
TEST(Accelerate, AccumulatesAsThePlanCounts) {
  TrainingPlan plan = test::plan(test::request("fsdp"));
  plan.strategy.recompute = Recompute::Full;
  const auto note = [&] {
    ExportOptions own;
    own.script = "mine.py";
    const Result<Export> out = test::exported(plan, "accelerate", own);
    EXPECT_TRUE(out.has_value()) << (out ? "" : to_string(out.error()));
    std::string notes;
    for (const std::string& said : out ? out->notes : std::vector<std::string>{}) notes += said + ' ';
    return notes;
  };
  plan.gradient_accumulation = 4;
  EXPECT_THAT(note(), HasSubstr("GradientAccumulationPlugin(num_steps=4, sync_each_batch=True)"));
  plan.strategy.execution.unsharded_gradients = Toggle::On;
  EXPECT_THAT(note(), HasSubstr("Accelerator(gradient_accumulation_steps=4)"));
  plan.strategy.execution.unsharded_gradients = Toggle::Default;
  plan.gradient_accumulation = 1;
  EXPECT_THAT(note(), HasSubstr("Accelerator(gradient_accumulation_steps=1)"));
}

TEST(Requirements, AreWrittenWhereTheImageLacksWhatTheScriptNeeds) {
  const auto requirements = [](const TrainingPlan& plan, std::string_view target) {
    const Result<Export> out = test::exported(plan, target);
    EXPECT_TRUE(out.has_value()) << (out ? "" : to_string(out.error()));
    for (const ExportFile& file : out.value().files) {
      if (file.path.ends_with("requirements.txt")) return file.path + ": " + file.content;
    }
    return std::string("none");
  };
  const TrainingPlan deepspeed = test::plan(test::request("deepspeed"));
  TrainingPlan accelerated = deepspeed;
  accelerated.strategy.recompute = Recompute::Full;
  EXPECT_EQ(requirements(deepspeed, "create-training-job"),
            "src/requirements.txt: deepspeed==0.19.5\ntransformers==5.24.0\ndatasets==5.2.0\n");
  EXPECT_THAT(requirements(deepspeed, "deepspeed"), testing::StartsWith("requirements.txt: deepspeed==0.19.5\n"));
  EXPECT_THAT(requirements(accelerated, "accelerate"), AllOf(HasSubstr("deepspeed=="), HasSubstr("accelerate==")));
  EXPECT_THAT(test::text_of(deepspeed, "sagemaker-sdk-v3"), HasSubstr("\"requirements\": \"requirements.txt\""))
      << "the SDK 3 installs what it is told to";
  EXPECT_EQ(requirements(test::plan(test::request("horovod", "bert-large", "ml.p4d.24xlarge")), "sagemaker-sdk-v2"),
            "src/requirements.txt: horovod\n");
  EXPECT_EQ(requirements(test::plan(test::request("torchtitan")), "sagemaker-sdk-v3"),
            "src/requirements.txt: torchtitan==0.2.2\n");
  RequestSpec adapters = test::request("hf-trainer");
  adapters.finetune = "qlora";
  EXPECT_THAT(requirements(test::plan(adapters), "sagemaker-sdk-v2"),
              AllOf(HasSubstr("transformers=="), HasSubstr("peft=="), HasSubstr("bitsandbytes==")));
  ExportOptions own;
  own.script = "mine.py";
  EXPECT_THAT(test::text_of(fsdp(), "sagemaker-sdk-v3", own), Not(HasSubstr("requirements")));
}

TEST(CreateTrainingJob, ReadsAFileSystemInsideItsNetwork) {
  ExportOptions options;
  EXPECT_FALSE(request_of(fsdp(), options).contains("VpcConfig"));
  options.file_system = "fs-0123456789abcdef0";
  const Json request = request_of(fsdp(), options);
  EXPECT_EQ(request["InputDataConfig"][0]["DataSource"]["FileSystemDataSource"]["FileSystemId"], *options.file_system);
  EXPECT_EQ(request["VpcConfig"]["Subnets"].size(), 1u) << "Lustre lives in one availability zone";
}

TEST(CreateTrainingJob, SetsUpEfaBetweenNodesOnly) {
  EXPECT_EQ(request_of(fsdp())["Environment"]["FI_EFA_USE_DEVICE_RDMA"], "1");
  const TrainingPlan one = test::plan(test::request("fsdp", "llama-3-8b", "ml.p4de.24xlarge", "1"));
  EXPECT_FALSE(request_of(one)["Environment"].contains("FI_PROVIDER"));
  const TrainingPlan ethernet = test::plan(test::request("ddp", "gpt2", "ml.g5.2xlarge"));
  EXPECT_FALSE(request_of(ethernet)["Environment"].contains("FI_PROVIDER"));
}

TEST(CreateTrainingJob, TagsThePlanAndSharesNoCheckpointsWithAnother) {
  const TrainingPlan plan = fsdp();
  const Json request = request_of(plan);
  EXPECT_EQ(request["Tags"][0]["Value"], plan.id());
  EXPECT_THAT(request["CheckpointConfig"]["S3Uri"].get<std::string>(), HasSubstr(plan.id().substr(0, 8)));
}

TEST(CreateTrainingJob, OfAReservedTypeNamesItsTrainingPlan) {
  const TrainingPlan plan = test::plan(test::request("megatron", "llama-3-8b", "ml.p5e.48xlarge"));
  EXPECT_THAT(request_of(plan)["ResourceConfig"]["TrainingPlanArn"].get<std::string>(), HasSubstr("training-plan/"));
}

TEST(CreateTrainingJob, IsRefusedWhereNoImageIsServed) {
  TrainingPlan plan = fsdp();
  plan.region = "mars-north-1";
  EXPECT_THAT(test::refusal(plan, "create-training-job"), HasSubstr("served in mars-north-1"));
  EXPECT_EQ(test::refusal(plan, "torchrun"), "") << "a shell script needs no image";
}

TEST(Smddp, TakesTheLastPyTorchThatHasIt) {
  RequestSpec spec = test::request("fsdp", "llama-3-8b", "ml.p4d.24xlarge", "4");
  spec[Dimension::Collectives] = "smddp";
  const TrainingPlan plan = test::plan(spec);
  const Json request = request_of(plan);
  EXPECT_THAT(request["AlgorithmSpecification"]["TrainingImage"].get<std::string>(),
              HasSubstr("pytorch-training:2.2.0-gpu-py310"));
  EXPECT_EQ(request["HyperParameters"]["sagemaker_distributed_dataparallel_enabled"], "true");
  EXPECT_FALSE(request["Environment"].contains("PYTORCH_CUDA_ALLOC_CONF"));
  EXPECT_THAT(test::text_of(plan, "fsdp"), HasSubstr("init_process_group(\"smddp\")"));
  EXPECT_THAT(test::refusal(plan, "sagemaker-sdk-v3"), HasSubstr("does not start processes by SMDDP"));
}

TEST(JobName, FitsSageMakerWhateverTheModelIsCalled) {
  TrainingPlan plan = fsdp();
  plan.model.name = "--Llama_3.1 (8B) / instruct, tuned on everything";
  const ExportOptions options;
  const std::string name = job_name_of({plan, options, test::shipped()});
  EXPECT_EQ(name, "Llama-3-1-8B-instruct-tu-x2-" + plan.id().substr(0, 8));
  plan.model.name = "模型";
  EXPECT_EQ(job_name_of({plan, options, test::shipped()}).substr(0, 4), "p4de");
}

TEST(ExportOptions, AreRefusedBeforeTheServiceWould) {
  const auto complaint = [](const ExportOptions& options) { return to_string(check(options)); };
  EXPECT_THAT(complaint({.role = "MyRole"}), HasSubstr("arn:aws:iam::<12 digits>"));
  EXPECT_EQ(complaint({.role = "arn:aws-cn:iam::123456789012:role/service-role/x"}), "");
  EXPECT_THAT(complaint({.bucket = "s3://bucket"}), HasSubstr("--bucket"));
  EXPECT_EQ(complaint({.bucket = "my-bucket.1"}), "");
  EXPECT_THAT(complaint({.job_name = "a_b"}), HasSubstr("--job-name"));
  EXPECT_THAT(complaint({.job_name = "-a"}), HasSubstr("--job-name"));
  EXPECT_THAT(complaint({.script = "train.sh"}), HasSubstr("--script"));
  EXPECT_THAT(complaint({.script = "/train.py"}), HasSubstr("--script"));
  EXPECT_THAT(complaint({.file_system = "fs-xyz"}), HasSubstr("--file-system"));
  ExportOptions pipe;
  pipe.input_mode = "Pipe";
  EXPECT_THAT(test::refusal(fsdp(), "create-training-job", pipe), HasSubstr("Pipe cannot feed several processes"));
}

TEST(Placeholders, AreOnlyThoseThatTheFilesShow) {
  ExportOptions options;
  options.role = "arn:aws:iam::123456789012:role/r";
  options.bucket = "bucket";
  options.script = "train.py";
  const Result<Export> all = test::exported(fsdp(), "create-training-job", options);
  ASSERT_TRUE(all.has_value());
  EXPECT_TRUE(all->placeholders.empty());
  EXPECT_THAT(all->files.front().content, Not(HasSubstr("REPLACE-ME")));
  const Result<Export> none = test::exported(fsdp(), "create-training-job");
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->placeholders.size(), 2u) << "role, bucket";
}

}  // namespace
}  // namespace smplan
