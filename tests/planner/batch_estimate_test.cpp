#include <array>
#include <set>

#include <gmock/gmock.h>

#include "planner/search/batch_estimate.hpp"
#include "planner/search/estimate.hpp"
#include "tests/planner/fixtures.hpp"

namespace smplan {
namespace {

using test::catalog;

/// Rows of strategies; a dimension that `open` names is left to the estimate.
struct Columns {
  std::vector<std::int32_t> nodes;
  std::array<std::vector<std::int32_t>, kDimensionCount> dimensions;
  std::set<Dimension> open;
  void add(std::int32_t count, const Strategy& s) {
    nodes.push_back(count);
    for (const DimensionRow& row : smplan::dimensions()) {
      dimensions[static_cast<std::size_t>(row.dimension)].push_back(row.get(s));
    }
  }
  /// Data and shard degree follow.
  void add(std::int32_t count, std::int32_t tp, std::int32_t pp, std::int32_t mb, Sharding s, Recompute r) {
    Strategy row;
    row.data_parallel = row.shard_degree = 0;
    row.tensor_parallel = tp;
    row.pipeline_parallel = pp;
    row.sharding = s;
    row.micro_batch = mb;
    row.recompute = r;
    add(count, row);
  }
  [[nodiscard]] std::int32_t& last(Dimension d) { return dimensions[static_cast<std::size_t>(d)].back(); }
  [[nodiscard]] std::int32_t at(Dimension d, std::size_t row) const {
    return dimensions[static_cast<std::size_t>(d)][row];
  }
  [[nodiscard]] BatchColumns view() const {
    BatchColumns out{nodes, {}, {}};
    for (const DimensionRow& row : smplan::dimensions()) {
      const auto d = static_cast<std::size_t>(row.dimension);
      if (!open.contains(row.dimension)) out.dimensions[d] = dimensions[d];
    }
    return out;
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
  const BatchEstimates both = estimate_batch(r.workload, node, *catalog().find_stack("megatron"), columns.view(), 1);
  const BatchEstimates memory =
      estimate_batch(r.workload, node, *catalog().find_stack("megatron"), columns.view(), 1, BatchDetail::Memory);
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
  const BatchEstimates batch = estimate_batch(r.workload, *node, *catalog().find_stack("megatron"), columns.view());
  std::size_t priced = 0;
  for (std::size_t row = 0; row < columns.nodes.size(); ++row) {
    Strategy s;
    s.tensor_parallel = columns.at(Dimension::Tensor, row);
    s.pipeline_parallel = columns.at(Dimension::Pipeline, row);
    s.data_parallel = columns.nodes[row] * 8 / (s.tensor_parallel * s.pipeline_parallel);
    s.sharding = Sharding::Zero1;
    s.shard_degree = s.data_parallel;
    s.micro_batch = columns.at(Dimension::MicroBatch, row);
    s.recompute = static_cast<Recompute>(columns.at(Dimension::Recompute, row));
    s.collectives = Collectives::Nccl;
    const Result<Plan> plan =
        evaluate(r, catalog(), instance, columns.nodes[row], *catalog().find_stack("megatron"), s);
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
  const Stack& stack = *catalog().find_stack("megatron");
  Strategy plain;
  plain.tensor_parallel = 4;
  plain.pipeline_parallel = 4;
  plain.data_parallel = 4;
  plain.sharding = Sharding::Zero1;
  plain.shard_degree = 4;
  plain.collectives = stack.collectives.front();
  std::vector<Strategy> strategies{plain};
  const auto add = [&](auto change) { change(strategies.emplace_back(plain)); };
  add([](Strategy& s) {
    s.virtual_pipeline = 2;
    s.schedule = Schedule::Interleaved;
  });
  add([](Strategy& s) { s.context_parallel = s.data_parallel = 2; });
  add([](Strategy& s) {
    s.expert_parallel = 4;
    s.sequence_parallel = true;
  });
  add([](Strategy& s) {
    s.expert_parallel = s.expert_tensor_parallel = 2;
    s.sequence_parallel = true;
  });
  add([](Strategy& s) { s.sequence_parallel = true; });
  add([](Strategy& s) { s.micro_batch = 2; });
  add([](Strategy& s) {
    s.sharding = Sharding::None;
    s.shard_degree = 1;
  });
  add([](Strategy& s) { s.shard_degree = 2; });
  add([](Strategy& s) { s.recompute = Recompute::Full; });
  add([](Strategy& s) {
    s.recompute = Recompute::Full;
    s.recompute_layers = 3;
  });
  add([](Strategy& s) { s.offload.optimizer = true; });
  Columns columns;
  for (const Strategy& s : strategies) columns.add(8, s);
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

TEST(BatchEstimate, FillsWhatIsOpen) {
  const PlanRequest r = request();
  const Cluster node = make_cluster(catalog(), *r.instances.front(), 1).value();
  Strategy whole;
  whole.data_parallel = whole.shard_degree = whole.tensor_parallel = 4;
  whole.pipeline_parallel = whole.virtual_pipeline = 2;
  whole.sharding = Sharding::Zero1;
  whole.schedule = Schedule::Interleaved;
  Columns all;
  all.add(4, whole);
  Columns some = all;
  for (const DimensionRow& row : dimensions()) some.open.insert(row.dimension);
  for (const Dimension d : {Dimension::Tensor, Dimension::Pipeline, Dimension::VirtualPipeline}) some.open.erase(d);
  const BatchEstimates stated = estimate_batch(r.workload, node, *catalog().find_stack("megatron"), all.view());
  const BatchEstimates filled = estimate_batch(r.workload, node, *catalog().find_stack("megatron"), some.view());
  EXPECT_EQ(stated.status, std::vector<std::int8_t>{0});
  EXPECT_EQ(filled.step_time_s, stated.step_time_s);
  EXPECT_EQ(filled.peak_gib, stated.peak_gib);
}

TEST(BatchEstimate, SaysWhyARowIsNoPlan) {
  Columns columns;
  columns.add(4, 8, 1, 1, Sharding::Zero1, Recompute::None);
  columns.add(4, 1, 1, 1, Sharding::Zero1, Recompute::None);  // 13B on one A100-40GB each
  columns.add(4, 8, 1, 1, Sharding::Zero1, Recompute::None);
  columns.last(Dimension::Data) = 8;                          // 64 devices of 32
  columns.add(4, 3, 1, 1, Sharding::Zero1, Recompute::None);  // 40 heads
  columns.add(4, 8, 1, 1, Sharding::Zero3, Recompute::None);  // not Megatron's
  columns.add(0, 1, 1, 1, Sharding::Zero1, Recompute::None);
  const PlanRequest r = request();
  const Result<Cluster> node = make_cluster(catalog(), *r.instances.front(), 1);
  ASSERT_TRUE(node);
  const BatchEstimates batch = estimate_batch(r.workload, *node, *catalog().find_stack("megatron"), columns.view());
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
  const BatchEstimates batch = estimate_batch(r.workload, *node, *catalog().find_stack("megatron"), columns.view());
  EXPECT_EQ(to_string(static_cast<BatchStatus>(batch.status[0])), "topology");
}

TEST(BatchEstimate, ThreadsChangeNothing) {
  Columns columns;
  for (int i = 0; i < 3000; ++i)
    columns.add(1 + i % 32, 1 << (i % 4), 1 << (i % 3), 1, Sharding::Zero1, Recompute::None);
  const PlanRequest r = request();
  const Result<Cluster> node = make_cluster(catalog(), *r.instances.front(), 1);
  ASSERT_TRUE(node);
  const BatchEstimates one = estimate_batch(r.workload, *node, *catalog().find_stack("megatron"), columns.view(), 1);
  const BatchEstimates four = estimate_batch(r.workload, *node, *catalog().find_stack("megatron"), columns.view(), 4);
  EXPECT_EQ(one.status, four.status);
  EXPECT_EQ(one.step_time_s, four.step_time_s);
  EXPECT_EQ(one.peak_gib, four.peak_gib);
}

}  // namespace
}  // namespace smplan
