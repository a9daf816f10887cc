// Numbers in exports that decide something, at the limit and one beyond.
#include "tests/export/fixture.hpp"

namespace smplan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// `check` C110 wants the same: tests/data/jobs/limits.json.
TEST(HyperpodRecipe, InitialisesLateAboveSixtyBillionParameters) {
  RequestSpec spec = test::request("smp-v2");
  spec[Dimension::Tensor] = "2";
  spec.global_batch = "8";  // recipes do not accumulate
  spec[Dimension::MicroBatch] = "1";
  spec[Dimension::Recompute] = "full";
  TrainingPlan plan = test::plan(spec);
  plan.model.extra_parameters += 60'000'000'000 - plan.parameters();
  EXPECT_THAT(test::text_of(plan, "hyperpod-recipe"), HasSubstr("delayed_param: false"));
  plan.model.extra_parameters += 1;
  EXPECT_THAT(test::text_of(plan, "hyperpod-recipe"), HasSubstr("delayed_param: true"));
}

TEST(Megatron, RepeatsTheDistributedOptimizerWhereItIsOverFewerThanAllReplicas) {
  RequestSpec spec = test::request("megatron");
  spec[Dimension::Data] = "16";
  TrainingPlan plan = test::plan(spec);
  ASSERT_EQ(plan.replicas(), 16);
  plan.strategy.sharding = Sharding::Zero1;
  plan.strategy.shard_degree = 16;
  EXPECT_THAT(test::text_of(plan, "megatron"), Not(HasSubstr("--num-distributed-optimizer-instances")));
  plan.strategy.shard_degree = 8;
  EXPECT_THAT(test::text_of(plan, "megatron"), HasSubstr("--num-distributed-optimizer-instances 2\n"));
}

// Each rank reads the sequences of its micro-batch; a pipeline cuts those of the whole step into micro-batches itself.
TEST(Torchtitan, ReadsAStepAtOnceInAPipelineOnly) {
  RequestSpec spec = test::request("torchtitan");
  spec[Dimension::MicroBatch] = "1";
  spec[Dimension::Data] = "16";
  EXPECT_THAT(test::text_of(test::plan(spec), "torchtitan"), HasSubstr("local_batch_size = 1\n"));
  spec[Dimension::Data] = "8";
  spec[Dimension::Pipeline] = "2";
  EXPECT_THAT(test::text_of(test::plan(spec), "torchtitan"), HasSubstr("local_batch_size = 32\n"));
}

}  // namespace
}  // namespace smplan
