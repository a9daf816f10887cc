#include "fixture.hpp"

namespace smplan {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

RequestSpec elastic(const char* sharding, const char* degree = nullptr) {
  RequestSpec spec = test::request("fsdp", "llama-3-8b", "ml.p4de.24xlarge", "4");
  spec.platform = "hyperpod-eks";
  spec.recovery = "elastic";
  spec[Dimension::Sharding] = sharding;
  spec[Dimension::MicroBatch] = "1";
  spec[Dimension::Recompute] = "full";  // leaves memory for the states of fewer ranks
  if (degree != nullptr) spec[Dimension::ShardDegree] = degree;
  return spec;
}

// A mesh of the planned ranks would end a job that has lost an instance.
TEST(HyperPodJob, OfAnElasticPlanShardsOverTheRanksThatThereAre) {
  const std::string full = test::text_of(test::plan(elastic("fsdp-full")), "hyperpod-job");
  EXPECT_THAT(full,
              AllOf(HasSubstr("REPLICAS = 1 "), HasSubstr("SHARD_DEGREE = int(os.environ.get(\"WORLD_SIZE\", \"32\"))"),
                    HasSubstr("import os\n")));
  const std::string hybrid = test::text_of(test::plan(elastic("fsdp-hybrid", "16")), "hyperpod-job");
  EXPECT_THAT(hybrid, AllOf(HasSubstr("REPLICAS = int(os.environ.get(\"WORLD_SIZE\", \"32\")) // 16"),
                            HasSubstr("SHARD_DEGREE = 16 ")));
  RequestSpec fixed = elastic("fsdp-full");
  fixed.recovery.reset();
  EXPECT_THAT(test::text_of(test::plan(fixed), "hyperpod-job"),
              AllOf(HasSubstr("SHARD_DEGREE = 32 "), Not(HasSubstr("DEGREE = int"))));
}

// 16 ranks hold a copy together, 8 of an instance do not.
TEST(HyperPodJob, OfAnElasticPlanHasCountsThatHoldWholeCopies) {
  EXPECT_THAT(test::text_of(test::plan(elastic("fsdp-hybrid", "16")), "hyperpod-job"),
              HasSubstr("replicaDiscreteValues: [2,4]"));
}

TEST(HyperPodJob, IsRefusedWhereNoOtherCountKeepsTheBatch) {
  RequestSpec spec = elastic("fsdp-hybrid", "32");
  spec[Dimension::Sharding] = "fsdp-full";
  spec[Dimension::ShardDegree].reset();
  TrainingPlan plan = test::plan(spec);
  plan.prediction.peak_gib = plan.prediction.limit_gib;
  EXPECT_THAT(test::refusal(plan, "hyperpod-job"), HasSubstr("no fewer than 4 instances"));
}

// Whatever starts the job: what is billed beside it is nowhere left out.
TEST(SpareInstances, AreInTheNotesOfEveryTarget) {
  std::size_t exported = 0;
  for (const char* platform : {"hyperpod-eks", "hyperpod-slurm"}) {
    for (const char* stack : {"fsdp", "megatron"}) {
      RequestSpec spec = test::request(stack, "llama-3-8b", "ml.p4de.24xlarge", "4");
      spec.platform = platform;
      spec.spare_instances = "2";
      const TrainingPlan plan = test::plan(spec);
      const ExportOptions options;
      for (const ExportTarget& target : export_targets()) {
        const Result<Export> out = export_plan({plan, options, test::shipped()}, target.name);
        if (!out) continue;
        ++exported;
        const std::string said = target.asks_spares ? "asks for 2 spare instances beside its 4: the cluster needs 6"
                                                    : "a cluster of 6 instances of this type, and bills them: the job "
                                                      "takes 4, and 2 stand idle";
        EXPECT_THAT(out->notes, testing::Contains(HasSubstr(said))) << target.name;
      }
    }
  }
  EXPECT_GT(exported, 4U);
}

TEST(HyperPodRecipe, OfALongPlanIsNotEndedAfterTheDaysOfATrainingJob) {
  RequestSpec spec = test::request("fsdp", "llama-3-8b", "ml.p4de.24xlarge", "4");
  spec.platform = "hyperpod-slurm";
  TrainingPlan plan = test::plan(spec);
  plan.gradient_accumulation = 1;
  plan.strategy.recompute = Recompute::Full;
  plan.strategy.recompute_layers = 0;
  plan.prediction.time_to_train = days(60);
  EXPECT_THAT(test::text_of(plan, "hyperpod-recipe"), HasSubstr("\"75-00:00:00\""));
  plan.prediction.time_to_train = days(2);
  EXPECT_THAT(test::text_of(plan, "hyperpod-recipe"), HasSubstr("\"28-00:00:00\""));
}

TEST(HyperPodJob, IsOfAPlanForSuchACluster) {
  EXPECT_THAT(test::refusal(test::plan(test::request("fsdp")), "hyperpod-job"), HasSubstr("the platform training-job"));
  EXPECT_THAT(test::refusal(test::plan(elastic("fsdp-full")), "create-training-job"), HasSubstr("hyperpod-job"));
}

}  // namespace
}  // namespace smplan
