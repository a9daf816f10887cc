#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_writer.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/search/estimate.hpp"
#include "planner/search/search.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Text = std::optional<std::string> RequestSpec::*;
using Flags = std::vector<std::pair<Text, const char*>>;

RequestSpec on_hyperpod(const Flags& flags, const char* platform = "hyperpod-eks") {
  RequestSpec spec;
  spec.params = "13B";
  spec.tokens = "300B";
  spec.instances = "ml.p5.48xlarge";
  spec.count = "8,16";
  spec.platform = platform;
  for (const auto& [member, value] : flags) spec.*member = value;
  return spec;
}

struct Refused {
  const char* platform;
  Flags flags;
  const char* where;
  const char* says;
};

TEST(Recovery, RefusesWhatAClusterOrAJobCannotHave) {
  const Refused kRefused[] = {
      {"hyperpod-slurm", {{&RequestSpec::recovery, "elastic"}}, "--recovery", "hyperpod-slurm has no elastic training"},
      {"hyperpod-slurm", {{&RequestSpec::checkpoint_storage, "memory"}}, "--checkpoint-storage", "hyperpod-eks"},
      {"training-job", {{&RequestSpec::spare_instances, "2"}}, "--spare-instances", "standing cluster"},
      {"training-job", {{&RequestSpec::checkpoint_storage, "memory"}}, "--checkpoint-storage", "training-job has no"},
      {"hyperpod-eks",
       {{&RequestSpec::recovery, "checkpointless"}, {&RequestSpec::checkpoint_storage, "memory"}},
       "--recovery",
       "checkpointless training excludes managed tiered checkpointing"},
      {"hyperpod-eks",
       {{&RequestSpec::recovery, "elastic"}, {&RequestSpec::stack, "megatron"}},
       "--stack",
       "ddp, fsdp"},
      {"hyperpod-eks",
       {{&RequestSpec::recovery, "checkpointless"}, {&RequestSpec::stack, "fsdp"}},
       "--stack",
       "megatron has"},
      {"hyperpod-eks",
       {{&RequestSpec::checkpoint_storage, "s3"}},
       "--checkpoint-storage",
       "fsx-lustre, efs, or memory"},
      {"hyperpod-eks", {{&RequestSpec::preempted_every, "1d"}}, "--preempted-every", "--preempted-for"},
      {"hyperpod-eks",
       {{&RequestSpec::preempted_every, "0s"}, {&RequestSpec::preempted_for, "1h"}},
       "--preempted-every",
       "a time of nothing"},
      {"hyperpod-eks",
       {{&RequestSpec::recovery, "checkpointless"},
        {&RequestSpec::preempted_every, "1d"},
        {&RequestSpec::preempted_for, "1h"}},
       "--recovery",
       "evicted job loses the memory"},
      {"hyperpod-eks", {{&RequestSpec::spare_instances, "-1"}}, "--spare-instances", "between 0"},
      {"hyperpod-eks", {{&RequestSpec::spare_instances, "1001"}}, "--spare-instances", "1000"},
      {"hyperpod", {}, "--platform", "hyperpod-slurm"},
      {"hyperpod-eks", {{&RequestSpec::recovery, "checkpointles"}}, "--recovery", "checkpointless"},
      {"hyperpod-eks",
       {{&RequestSpec::dataset, "2TB"}, {&RequestSpec::input_mode, "fastfile"}},
       "--input-mode",
       "no channels"},
      {"hyperpod-eks",
       {{&RequestSpec::jobs, "3"}, {&RequestSpec::warm_pool, "on"}},
       "--warm-pool",
       "stands between jobs"},
  };
  for (const Refused& refused : kRefused) {
    const auto r = resolve(on_hyperpod(refused.flags, refused.platform), catalog(), std::nullopt);
    ASSERT_FALSE(r) << refused.where << ' ' << refused.says;
    EXPECT_EQ(r.error().size(), 1U) << to_string(r.error());
    EXPECT_EQ(r.error().front().location, refused.where) << to_string(r.error());
    EXPECT_THAT(to_string(r.error()), HasSubstr(refused.says));
  }
}

TEST(Recovery, PlansOnlyStacksThatHaveIt) {
  const PlanRequest elastic = request_of(on_hyperpod({{&RequestSpec::recovery, "elastic"}}));
  for (const Stack* stack : elastic.stacks) EXPECT_TRUE(stack->id == "ddp" || stack->id == "fsdp") << stack->id;
  const PlanRequest memory = request_of(on_hyperpod({{&RequestSpec::recovery, "checkpointless"}}));
  for (const Stack* stack : memory.stacks) EXPECT_EQ(stack->id, "megatron");
  EXPECT_THAT(memory.assumptions, Contains(HasSubstr("num_distributed_optimizer_instances")));
}

TEST(Recovery, OfHyperPodSavesToLustreUnlessSaidOtherwise) {
  EXPECT_EQ(request_of(on_hyperpod({})).run.checkpoint_target, CheckpointTarget::FsxLustre);
  EXPECT_EQ(request_of(on_hyperpod({{&RequestSpec::checkpoint_storage, "memory"}})).run.checkpoint_target,
            CheckpointTarget::Memory);
}

// Every state lies twice, so that one replica can hand it on: the plain plan shards it over all ranks.
TEST(Checkpointless, KeepsEveryStateTwice) {
  for (const bool checkpointless : {false, true}) {
    RequestSpec spec = on_hyperpod({{&RequestSpec::stack, "megatron"}});
    if (checkpointless) spec.recovery = "checkpointless";
    const PlanSet set = search(request_of(spec), catalog(), {});
    ASSERT_FALSE(set.plans.empty());
    bool once = false;
    for (const Plan& plan : set.plans) {
      const Strategy& s = plan.strategy;
      const std::int32_t holders = s.data_parallel * s.context_parallel;
      const std::int32_t copies = s.sharding == Sharding::None ? holders : holders / s.shard_degree;
      once = once || copies == 1;
      if (checkpointless) EXPECT_GE(copies, 2) << to_string(s);
    }
    EXPECT_EQ(once, !checkpointless);
  }
}

TEST(MemoryTier, IsRefusedWhereTheInstancesLackTheMemory) {
  RequestSpec spec = on_hyperpod({{&RequestSpec::checkpoint_storage, "memory"}, {&RequestSpec::stack, "fsdp"}});
  spec.params.reset();
  spec.model = "llama-3.1-405b";
  spec.count = "8";
  const Result<PlanSet> tight = [&] {
    const auto r = resolve(spec, catalog(), std::nullopt, Purpose::Estimate);
    EXPECT_TRUE(r) << to_string(r.error());
    return estimate(*r, catalog(), {});
  }();
  ASSERT_TRUE(tight) << to_string(tight.error());
  // 405B x 12 bytes, twice and for two saves, over 8 instances: 2.4 TB of the 2 TiB.
  const MemoryEstimate& m = tight->plans.front().memory;
  EXPECT_NEAR(m.host_per_node.value(), 405.9e9 * 12 * 4 / 8, 0.02 * m.host_per_node.value());
  EXPECT_FALSE(m.fits_host());
}

TEST(PlanJson, NamesTheClusterOnlyWhereThereIsOne) {
  const PlanSet set = search(request_of(on_hyperpod({{&RequestSpec::checkpoint_storage, "memory"},
                                                     {&RequestSpec::spare_instances, "1"},
                                                     {&RequestSpec::preempted_every, "2d"},
                                                     {&RequestSpec::preempted_for, "90m"}})),
                             catalog(), {});
  ASSERT_FALSE(set.plans.empty());
  const std::string text = to_json(set);
  EXPECT_THAT(text, HasSubstr("\"platform\": \"hyperpod-eks\""));
  EXPECT_THAT(text, HasSubstr("\"spare_instances\": 1"));
  EXPECT_THAT(text, HasSubstr("\"preempted_every_s\": 172800"));
  EXPECT_THAT(text, HasSubstr("\"s3_interval_s\""));
  EXPECT_THAT(text, HasSubstr("\"evictions\""));
  RequestSpec plain = on_hyperpod({});
  plain.platform.reset();
  EXPECT_THAT(to_json(search(request_of(plain), catalog(), {})), ::testing::Not(HasSubstr("platform")));
}

}  // namespace
}  // namespace smplan::test
