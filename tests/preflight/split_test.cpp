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
Prediction predicted(const std::string& text, JobKind kind, const std::string& model,
                     const std::optional<std::string>& tokens = "10B") {
  CheckOptions options;
  options.request.model = model;
  options.request.instances = "ml.p5.48xlarge";
  options.request.count = "8";
  options.request.tokens = tokens;
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

TEST(RanksOfAScript, AreThoseOfOneNodeWhereTorchrunIsToldNone) {
  const std::string options = " pretrain_gpt.py --tensor-model-parallel-size 4 --pipeline-model-parallel-size 4";
  const auto rules = [&](const std::string& launcher, const CheckOptions& flags) {
    return test::rules_of(test::check_text(launcher + options + "\n", JobKind::Megatron, flags));
  };
  EXPECT_THAT(rules("torchrun --nproc_per_node 8", {}), Contains("C131"));
  EXPECT_THAT(rules("torchrun --nproc_per_node 8 --nnodes 2", {}), Not(Contains("C131")));
  EXPECT_THAT(rules("torchrun --nproc_per_node 8 --nnodes $NODES", {}), Not(Contains("C131")));
  EXPECT_THAT(rules("torchrun --nproc_per_node 8 $RENDEZVOUS", {}), Not(Contains("C131")));
  EXPECT_THAT(rules("torchrun --nproc_per_node 8", on_gpus(16)), Not(Contains("C131")));
  CheckOptions count;
  count.request.count = "2";
  EXPECT_THAT(rules("torchrun --nproc_per_node 8", count), Not(Contains("C131")));
  EXPECT_THAT(rules("if [ $BATCH -ne 0 ]; then\nsrun ./run.sh\nfi\ntorchrun --nproc_per_node 8", {}),
              Not(Contains("C131")))
      << "or the other one may be what runs";
  EXPECT_THAT(rules("#!/bin/bash\n#SBATCH --nodes=2\nsrun torchrun --nproc_per_node 8", {}), Not(Contains("C131")));
}

TEST(TorchTitanToml, SaysItsModelItsStepsAndWhatIsCut) {
  const std::string model = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\n";
  CheckOptions options;
  options.request.instances = "ml.p5.48xlarge";
  options.request.count = "1";
  const Findings found = test::check_text(model + "seq_len = 8192\nsteps = 1000\n", JobKind::TorchTitan, options);
  ASSERT_TRUE(found.prediction);
  EXPECT_EQ(found.prediction->request.workload.architecture.name, "llama-3-8b");
  EXPECT_EQ(found.prediction->request.workload.tokens, 1000.0 * 8 * 8192);
  EXPECT_EQ(found.prediction->plan.strategy.sharding, Sharding::FsdpFull);
}

TEST(TorchTitanPipeline, CutsTheLocalBatch) {
  const std::string pipeline =
      "[parallelism]\ntensor_parallel_degree = 8\npipeline_parallel_degree = 4\n"
      "[training]\nlocal_batch_size = 64\nseq_len = 8192\n";
  const Prediction p = predicted(pipeline, JobKind::TorchTitan, "llama-3-70b");
  EXPECT_EQ(p.plan.strategy.micro_batch, 1);
  EXPECT_EQ(p.request.workload.global_batch, 2 * 64) << "two data ranks";
}

TEST(MegatronArguments, SayHowMemoryIsSaved) {
  const auto strategy = [](const std::string& more) {
    const std::string text = "--tensor-model-parallel-size 8 --seq-length 4096 --micro-batch-size 1 " + more;
    return predicted(text, JobKind::Megatron, "llama-2-70b").plan.strategy;
  };
  const Strategy plain = strategy("");
  EXPECT_EQ(plain.recompute, Recompute::None);
  EXPECT_EQ(plain.sharding, Sharding::None);
  EXPECT_FALSE(plain.offload.any());
  const Strategy saving = strategy("--use-distributed-optimizer --recompute-granularity full --optimizer-cpu-offload");
  EXPECT_EQ(saving.recompute, Recompute::Full);
  EXPECT_EQ(saving.sharding, Sharding::Zero1);
  EXPECT_TRUE(saving.offload.optimizer);
  const std::string full = "--recompute-granularity full --recompute-num-layers 3 --recompute-method ";
  EXPECT_EQ(strategy(full + "block").recompute_layers, 3);
  EXPECT_EQ(strategy(full + "uniform").recompute_layers, 0) << "all, in groups of three";
  EXPECT_EQ(strategy("--recompute-activations").recompute, Recompute::Selective);
  EXPECT_TRUE(strategy("--cpu-offloading-num-layers 8").offload.activations);
}

TEST(TorchTitanToml, SaysHowMemoryIsSaved) {
  const auto strategy = [](const std::string& more) {
    return predicted("[training]\nlocal_batch_size = 1\nseq_len = 4096\n" + more, JobKind::TorchTitan, "llama-2-7b")
        .plan.strategy;
  };
  EXPECT_EQ(strategy("").recompute, Recompute::Selective) << "TorchTitan's default";
  EXPECT_EQ(strategy("[activation_checkpoint]\nmode = \"none\"\n").recompute, Recompute::None);
  EXPECT_EQ(strategy("[activation_checkpoint]\nmode = \"full\"\n").recompute, Recompute::Full);
  EXPECT_TRUE(strategy("enable_cpu_offload = true\n").offload.parameters);
}

/// A request with the hyperparameters that exports write, in JSON inside strings as the SDK sends them.
std::string exported_request(const test::Json& hyperparameters) {
  test::Json job = test::rule_cases()["bases"]["request"];
  job["HyperParameters"].update(hyperparameters);
  return job.dump();
}

TEST(ExportedHyperparameters, ShapeThePrediction) {
  const Prediction p = predicted(exported_request({{"seq_len", "4096"},
                                                   {"micro_batch", "2"},
                                                   {"gradient_accumulation", "4"},
                                                   {"max_steps", "10"},
                                                   {"finetune", "\"qlora\""},
                                                   {"lora_rank", "8"},
                                                   {"lora_embeddings", "true"},
                                                   {"activation_checkpointing_layers", "5"},
                                                   {"activation_checkpointing", "\"full\""}}),
                                 JobKind::CreateTrainingJob, "llama-2-7b", std::nullopt);
  const Workload& work = p.request.workload;
  const std::int64_t batch = 2 * 4 * 16;  // two p4d.24xlarge
  EXPECT_EQ(work.global_batch, batch);
  EXPECT_EQ(work.tokens, 10.0 * static_cast<double>(batch) * 4096);
  EXPECT_EQ(work.finetune, FineTune::Qlora);
  EXPECT_EQ(work.lora.rank, 8);
  EXPECT_TRUE(work.lora.train_embeddings);
  EXPECT_EQ(p.plan.strategy.recompute_layers, 5);
  EXPECT_EQ(p.plan.strategy.recompute, Recompute::Full);
}

TEST(ExportedHyperparameters, AreNotASplitThatStandsElsewhere) {
  CheckOptions options;
  options.request.model = "llama-3-70b";
  const std::string text = exported_request({{"sagemaker_program", "\"smplan_entry.py\""}});
  EXPECT_FALSE(test::check_text(text, JobKind::CreateTrainingJob, options).prediction);
  options.request[Dimension::Tensor] = "8";
  EXPECT_TRUE(test::check_text(text, JobKind::CreateTrainingJob, options).prediction);
}

TEST(TooLittleTime, IsAWarningWhereTokensAreAssumed) {
  CheckOptions options;
  options.request.model = "llama-2-7b";
  const auto severity = [&] {
    for (const Finding& f :
         test::check_text(exported_request(test::Json::object()), JobKind::CreateTrainingJob, options).findings) {
      if (f.rule == "C026") return f.severity;
    }
    return Severity::Info;
  };
  EXPECT_EQ(severity(), Severity::Warning);
  options.request.tokens = "140B";
  EXPECT_EQ(severity(), Severity::Error);
}

}  // namespace
}  // namespace smplan
