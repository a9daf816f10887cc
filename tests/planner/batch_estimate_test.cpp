#include <gmock/gmock.h>

#include "planner/batch_estimate.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan {
namespace {

using test::catalog;

struct Columns {
  std::vector<std::int32_t> nodes, data, tensor, pipeline, virtual_pipeline, context, expert, shard, micro_batch;
  std::vector<std::int8_t> sharding, recompute, sequence_parallel;
  void add(std::int32_t count, std::int32_t tp, std::int32_t pp, std::int32_t mb, Sharding s, Recompute r) {
    nodes.push_back(count);
    data.push_back(0);
    tensor.push_back(tp);
    pipeline.push_back(pp);
    for (auto* column : {&virtual_pipeline, &context, &expert}) column->push_back(1);
    shard.push_back(0);
    micro_batch.push_back(mb);
    sharding.push_back(static_cast<std::int8_t>(s));
    recompute.push_back(static_cast<std::int8_t>(r));
    sequence_parallel.push_back(0);
  }
  BatchColumns view() const {
    return {nodes,  data,  tensor,      pipeline, virtual_pipeline, context,
            expert, shard, micro_batch, sharding, recompute,        sequence_parallel};
  }
};

PlanRequest request(const char* model = "llama-2-13b") {
  RequestSpec spec;
  spec.model = model;
  spec.instances = "ml.p4d.24xlarge";
  spec.stack = "megatron";
  return test::request_of(spec);
}

TEST(BatchEstimate, GivesMemoryWithoutTime) {
  const PlanRequest r = request();
  const Cluster node = make_cluster(catalog(), *r.instances.front(), 1).value();
  Columns columns;
  for (const std::int32_t tp : {1, 2, 4, 8}) columns.add(2, tp, 1, 1, Sharding::Zero1, Recompute::None);
  const BatchEstimates both = estimate_batch(r.workload, node, *r.stacks.front(), columns.view(), 1);
  const BatchEstimates memory =
      estimate_batch(r.workload, node, *r.stacks.front(), columns.view(), 1, BatchDetail::Memory);
  EXPECT_EQ(memory.peak_gib, both.peak_gib);
  EXPECT_EQ(memory.status, both.status);
  EXPECT_TRUE(memory.step_time_s.empty() && memory.tokens_per_s.empty() && memory.mfu.empty());
}

TEST(BatchEstimate, EveryRowIsWhatEvaluateSays) {
  const PlanRequest r = request();
  const InstanceType& instance = *r.instances.front();
  Columns columns;
  for (const std::int32_t count : {1, 3, 8}) {
    for (const std::int32_t tp : {1, 3, 8, 16}) {
      for (const std::int32_t pp : {1, 4}) {
        for (const std::int32_t mb : {1, 2}) {
          for (const Recompute recompute : {Recompute::None, Recompute::Full}) {
            columns.add(count, tp, pp, mb, Sharding::Zero1, recompute);
          }
        }
      }
    }
  }
  const Result<Cluster> node = make_cluster(catalog(), instance, 1);
  ASSERT_TRUE(node);
  const BatchEstimates batch = estimate_batch(r.workload, *node, *r.stacks.front(), columns.view());
  std::size_t priced = 0;
  for (std::size_t row = 0; row < columns.nodes.size(); ++row) {
    Strategy s;
    s.tensor_parallel = columns.tensor[row];
    s.pipeline_parallel = columns.pipeline[row];
    s.data_parallel = columns.nodes[row] * 8 / (s.tensor_parallel * s.pipeline_parallel);
    s.sharding = Sharding::Zero1;
    s.shard_degree = s.data_parallel;
    s.micro_batch = columns.micro_batch[row];
    s.recompute = static_cast<Recompute>(columns.recompute[row]);
    s.collectives = r.stacks.front()->collectives.front();
    const Result<Plan> plan = evaluate(r, catalog(), instance, columns.nodes[row], *r.stacks.front(), s);
    const auto status = static_cast<BatchStatus>(batch.status[row]);
    ASSERT_EQ(plan.has_value(), status == BatchStatus::Fits || status == BatchStatus::TooLarge) << to_string(s);
    if (!plan) {
      EXPECT_EQ(batch.step_time_s[row], 0);
      continue;
    }
    ++priced;
    EXPECT_EQ(status == BatchStatus::Fits, plan->memory.fits());
    EXPECT_EQ(batch.out_of_memory_probability[row], plan->out_of_memory_probability);
    EXPECT_EQ(batch.peak_gib[row], in_gib(plan->memory.wanted));
    EXPECT_EQ(batch.step_time_s[row], plan->step.time().value());
    EXPECT_EQ(batch.tokens_per_s[row], plan->step.tokens_per_s);
    EXPECT_EQ(batch.mfu[row], plan->step.mfu);
  }
  EXPECT_GT(priced, 20U);
}

TEST(BatchEstimate, ReadsEveryColumn) {
  const PlanRequest r = request("mixtral-8x7b");
  const InstanceType& instance = *r.instances.front();
  const Stack& stack = *r.stacks.front();
  Strategy plain;
  plain.tensor_parallel = 4;
  plain.pipeline_parallel = 4;
  plain.data_parallel = 4;
  plain.sharding = Sharding::Zero1;
  plain.shard_degree = 4;
  plain.collectives = stack.collectives.front();
  std::vector<Strategy> strategies(7, plain);
  strategies[1].virtual_pipeline = 2;
  strategies[1].schedule = Schedule::Interleaved;
  strategies[2].context_parallel = 2;
  strategies[2].data_parallel = 2;
  strategies[3].expert_parallel = 4;
  strategies[3].sequence_parallel = true;
  strategies[4].sequence_parallel = true;
  strategies[5].sharding = Sharding::None;
  strategies[5].shard_degree = 1;
  strategies[6].shard_degree = 2;
  Columns columns;
  for (const Strategy& s : strategies) {
    columns.add(8, 4, 4, 1, s.sharding, Recompute::None);
    columns.data.back() = s.data_parallel;
    columns.virtual_pipeline.back() = s.virtual_pipeline;
    columns.context.back() = s.context_parallel;
    columns.expert.back() = s.expert_parallel;
    columns.shard.back() = s.shard_degree;
    columns.sequence_parallel.back() = s.sequence_parallel ? 1 : 0;
  }
  const BatchEstimates batch =
      estimate_batch(r.workload, make_cluster(catalog(), instance, 1).value(), stack, columns.view());
  for (std::size_t row = 0; row < strategies.size(); ++row) {
    const Result<Plan> plan = evaluate(r, catalog(), instance, 8, stack, strategies[row]);
    const auto status = static_cast<BatchStatus>(batch.status[row]);
    ASSERT_EQ(plan.has_value(), status == BatchStatus::Fits || status == BatchStatus::TooLarge) << row;
    if (!plan) continue;
    EXPECT_EQ(batch.step_time_s[row], plan->step.time().value()) << row;
    EXPECT_EQ(batch.peak_gib[row], in_gib(plan->memory.wanted)) << row;
    if (row > 0) {
      EXPECT_TRUE(batch.step_time_s[row] != batch.step_time_s[0] || batch.peak_gib[row] != batch.peak_gib[0])
          << "a column that makes no difference proves nothing: " << row;
    }
  }
}

TEST(BatchEstimate, SaysWhyARowIsNoPlan) {
  Columns columns;
  columns.add(4, 8, 1, 1, Sharding::Zero1, Recompute::None);
  columns.add(4, 1, 1, 1, Sharding::Zero1, Recompute::None);  // 13B on one A100-40GB each
  columns.add(4, 8, 1, 1, Sharding::Zero1, Recompute::None);
  columns.data.back() = 8;                                    // 64 devices of 32
  columns.add(4, 3, 1, 1, Sharding::Zero1, Recompute::None);  // 40 heads
  columns.add(4, 8, 1, 1, Sharding::Zero3, Recompute::None);  // not Megatron's
  columns.add(0, 1, 1, 1, Sharding::Zero1, Recompute::None);
  const PlanRequest r = request();
  const Result<Cluster> node = make_cluster(catalog(), *r.instances.front(), 1);
  ASSERT_TRUE(node);
  const BatchEstimates batch = estimate_batch(r.workload, *node, *r.stacks.front(), columns.view());
  std::vector<std::string> found;
  for (const std::int8_t status : batch.status) found.emplace_back(to_string(static_cast<BatchStatus>(status)));
  EXPECT_THAT(found,
              testing::ElementsAre("fits", "too_large", "out_of_range", "divisibility", "unsupported", "out_of_range"));
}

TEST(BatchEstimate, KeepsTensorGroupsInsideTheNode) {
  Columns columns;
  columns.add(4, 16, 1, 1, Sharding::Zero1, Recompute::None);
  const PlanRequest r = request("llama-2-70b");
  const Result<Cluster> node = make_cluster(catalog(), *r.instances.front(), 1);
  ASSERT_TRUE(node);
  const BatchEstimates batch = estimate_batch(r.workload, *node, *r.stacks.front(), columns.view());
  EXPECT_EQ(to_string(static_cast<BatchStatus>(batch.status[0])), "topology");
}

TEST(BatchEstimate, ThreadsChangeNothing) {
  Columns columns;
  for (int i = 0; i < 3000; ++i)
    columns.add(1 + i % 32, 1 << (i % 4), 1 << (i % 3), 1, Sharding::Zero1, Recompute::None);
  const PlanRequest r = request();
  const Result<Cluster> node = make_cluster(catalog(), *r.instances.front(), 1);
  ASSERT_TRUE(node);
  const BatchEstimates one = estimate_batch(r.workload, *node, *r.stacks.front(), columns.view(), 1);
  const BatchEstimates four = estimate_batch(r.workload, *node, *r.stacks.front(), columns.view(), 4);
  EXPECT_EQ(one.status, four.status);
  EXPECT_EQ(one.step_time_s, four.step_time_s);
  EXPECT_EQ(one.peak_gib, four.peak_gib);
}

}  // namespace
}  // namespace smplan
