// What a step does once, after its last micro-batch: gradients, optimizer, offloaded states.

#include <gtest/gtest.h>

#include "models/layers/layers.hpp"
#include "models/layers/rank_parameters.hpp"
#include "models/machine/compute.hpp"
#include "models/step/stage.hpp"
#include "tests/support/step_fixture.hpp"

namespace smplan {
namespace {

using testing::step_case;
using testing::StepCase;

/// Nothing hides: what communicates shows whole.
StepCase bare(const char* model, const char* stack, Sharding sharding) {
  StepCase c = step_case(model, "ml.p4d.24xlarge", 2, stack);
  c.stack.profile.data_overlap = 0;
  c.stack.gradient_reduce_bytes = 4;
  c.strategy.sharding = sharding;
  c.strategy.shard_degree = sharding == Sharding::None ? 1 : c.strategy.data_parallel;
  return c;
}

RankParameters held(const StepCase& c) {
  return stage_rank_parameters(c.workload.architecture, layer_stack(c.workload.architecture), c.strategy, 0);
}

StepTail tail_of(const StepCase& c) {
  const Groups groups = group_shapes(c.strategy, c.cluster);
  const LayerTable table = layer_table(c.workload, c.strategy, c.cluster, c.stack);
  return StageModel(table, c.workload, c.strategy, groups, c.cluster, c.stack).tail(0, {});
}

double collective(const StepCase& c, CollectiveKind kind, double bytes, const GroupShape& group) {
  return collective_time(kind, Bytes(bytes), group, c.cluster, c.strategy.collectives).time.value();
}

/// A parameter server on so many hosts, with BERT-large.
StepCase served(std::int32_t hosts) {
  StepCase c = step_case("bert-large", "ml.p4d.24xlarge", hosts, "parameter-server");
  c.workload.seq_len = 512;
  c.workload.precision = Precision::Fp16;
  c.cluster = used_by(c.stack, c.cluster);
  c.strategy.data_parallel = hosts;
  return c;
}

TEST(ParameterServer, OneDeviceOfAHostComputes) {
  const StepCase c = served(4);
  EXPECT_EQ(c.cluster.gpus(), 4);
  StepCase all = step_case("bert-large", "ml.p4d.24xlarge", 4, "horovod");
  all.workload = c.workload;
  EXPECT_GT(c.time().value(), 7 * all.time().value());
  EXPECT_EQ(used_by(all.stack, all.cluster).gpus(), 32);
}

// Gradients go up and weights come down through one card of each host under TCP: (n - 1) / n of each.
TEST(ParameterServer, TimeIsGradientsUpAndWeightsDown) {
  StepCase c = served(8);
  c.stack.profile.data_overlap = 0;
  const double parameters = held(c).dense;
  const double card = c.cluster.network.bandwidth_per_node.value();
  EXPECT_NEAR(card, 400e9 / 8 / 4, 1) << "p4d has four cards of 100 Gbit/s";
  const double wire = 2 * 4 * parameters * 7 / 8 / (card * c.cluster.network_profile.alltoall_efficiency);
  const double link = 2 * 4 * parameters / c.cluster.host_link.value();
  EXPECT_NEAR(tail_of(c).data_comm.value() / (wire + link), 1, 0.01);
  EXPECT_EQ(tail_of(served(1)).data_comm.value(), 0) << "one host has no server";
}

TEST(GradientReduction, IsWhatEachShardingSends) {
  const double weights = held(bare("gpt2", "megatron", Sharding::None)).dense;
  const auto reduced = [&](Sharding sharding, double micro_batches, auto expected) {
    StepCase c = bare("gpt2", "deepspeed", sharding);
    c.workload.global_batch = static_cast<std::int64_t>(c.strategy.data_parallel * micro_batches);
    const GroupShape group = group_shapes(c.strategy, c.cluster).data;
    const double found = c.step().components.data_comm.value();
    EXPECT_NEAR(found / expected(c, group), 1, 1e-12) << to_string(sharding);
  };
  const auto scatter = [&](const StepCase& c, const GroupShape& g) {
    return collective(c, CollectiveKind::ReduceScatter, 4 * weights, g);
  };
  const auto gather = [&](const StepCase& c, const GroupShape& g) {
    return collective(c, CollectiveKind::AllGather, 2 * weights, g);
  };
  reduced(Sharding::None, 3, [&](const StepCase& c, const GroupShape& g) {
    return collective(c, CollectiveKind::AllReduce, 4 * weights, g);
  });
  reduced(Sharding::Zero1, 3, [&](const StepCase& c, const GroupShape& g) { return scatter(c, g) + gather(c, g); });
  reduced(Sharding::Zero2, 3, [&](const StepCase& c, const GroupShape& g) { return 3 * scatter(c, g) + gather(c, g); });
}

TEST(GradientReduction, OfFullPrecisionTakesFourBytesEachWay) {
  StepCase c = bare("gpt2", "megatron", Sharding::Zero1);
  c.stack.gradient_reduce_bytes = 2;
  c.workload.precision = Precision::Fp32;
  const double bytes = 4 * held(c).dense;
  const GroupShape group = group_shapes(c.strategy, c.cluster).data;
  EXPECT_NEAR(tail_of(c).data_comm.value(),
              collective(c, CollectiveKind::ReduceScatter, bytes, group) +
                  collective(c, CollectiveKind::AllGather, bytes, group),
              1e-12);
}

TEST(GradientReduction, OfSynchronousZeroIsAWholeAllReduceThatNothingHidesAndASliceForEachTensorAndRank) {
  StepCase c = bare("gpt2", "nanotron", Sharding::Zero1);
  c.stack.profile.data_overlap = 0.9;
  c.stack.synchronous_zero = true;
  const double weights = held(c).dense;
  const GroupShape group = group_shapes(c.strategy, c.cluster).data;
  const double slices = 12.0 * 6 * c.strategy.data_parallel;
  EXPECT_NEAR(c.step().components.data_comm.value(),
              collective(c, CollectiveKind::AllReduce, 4 * weights, group) +
                  collective(c, CollectiveKind::AllGather, 2 * weights, group) + 12e-6 * slices / c.cluster.host_speed,
              1e-12);
}

TEST(GradientReduction, AfterTheBackwardPassHidesBesideNothing) {
  for (const Sharding sharding : {Sharding::None, Sharding::Zero1}) {
    StepCase overlapped = bare("gpt2", "megatron-2021", sharding);
    overlapped.stack.synchronous_reduction = false;
    overlapped.stack.profile.data_overlap = 0;
    StepCase synchronous = overlapped;
    synchronous.stack.synchronous_reduction = true;
    synchronous.stack.profile.data_overlap = 0.9;
    EXPECT_EQ(synchronous.step().components.data_comm, overlapped.step().components.data_comm) << to_string(sharding);
  }
}

TEST(GradientReduction, OfExpertsIsAmongTheRanksThatShareThem) {
  StepCase c = bare("mixtral-8x7b", "megatron", Sharding::None);
  c.strategy.expert_parallel = 8;
  const RankParameters p = held(c);
  const Groups groups = group_shapes(c.strategy, c.cluster);
  ASSERT_GT(p.experts, 0);
  ASSERT_LT(groups.expert_data.ranks, groups.data.ranks);
  EXPECT_NEAR(c.step().components.data_comm.value(),
              collective(c, CollectiveKind::AllReduce, 4 * p.dense, groups.data) +
                  collective(c, CollectiveKind::AllReduce, 4 * p.experts, groups.expert_data),
              1e-12);
}

TEST(GradientReduction, OfAdaptersIsThatOfTheirFewParameters) {
  StepCase c = bare("llama-2-7b", "megatron", Sharding::None);
  c.workload.finetune = FineTune::Lora;
  const auto adapters = static_cast<double>(lora_parameters(c.workload.architecture, c.workload.lora));
  EXPECT_NEAR(c.step().components.data_comm.value(),
              collective(c, CollectiveKind::AllReduce, 4 * adapters, group_shapes(c.strategy, c.cluster).data), 1e-12);
}

TEST(GradientReduction, HidesUpToItsShareAndContendsForTheRest) {
  StepCase c = bare("gpt2", "ddp", Sharding::None);
  const Seconds whole = c.step().components.data_comm;
  c.stack.profile.data_overlap = 0.75;
  c.stack.profile.overlap_contention = 0;
  EXPECT_NEAR(c.step().components.data_comm / whole, 0.25, 1e-9);
  c.stack.profile.overlap_contention = 0.4;
  EXPECT_NEAR(c.step().components.data_comm / whole, 0.25 + 0.75 * 0.4, 1e-9);
}

// Sharded inside a node, the gradients of a shard are summed over the nodes: an eighth of the parameters.
TEST(GradientReduction, OfAHybridShardCrossesTheReplicasToo) {
  StepCase c = bare("gpt2", "fsdp", Sharding::FsdpHybrid);
  c.strategy.shard_degree = 8;
  const Groups groups = group_shapes(c.strategy, c.cluster);
  ASSERT_EQ(groups.replicate.ranks, 2);
  const double across = collective(c, CollectiveKind::AllReduce, 4 * held(c).total() / 8, groups.replicate);
  c.workload.global_batch = 16;
  EXPECT_NEAR(tail_of(c).data_comm.value(), across, 1e-12);
  c.workload.global_batch = 32;
  EXPECT_NEAR(tail_of(c).data_comm.value(), 2 * across, 1e-12) << "after every micro-batch, unless a script says not";
  c.strategy.pipeline_parallel = 2;
  c.strategy.data_parallel = 8;
  c.strategy.shard_degree = 4;
  c.workload.global_batch = 64;
  const double eight = tail_of(c).data_comm.value();
  c.workload.global_batch = 128;
  EXPECT_NEAR(tail_of(c).data_comm.value(), eight, 1e-12) << "a pipeline reduces once";
}

TEST(GradientReduction, OfExpertsOfAHybridShardCrossesTheirOwnReplicas) {
  StepCase c = bare("mixtral-8x7b", "fsdp", Sharding::FsdpHybrid);
  c.stack.expert_parallel = true;
  c.strategy.shard_degree = 8;
  c.strategy.expert_parallel = 4;
  c.workload.global_batch = 16;
  const Groups groups = group_shapes(c.strategy, c.cluster);
  ASSERT_EQ(groups.expert_shard.ranks, 2);
  ASSERT_EQ(groups.expert_replicate.ranks, 2);
  const RankParameters p = held(c);
  EXPECT_NEAR(tail_of(c).data_comm.value(),
              collective(c, CollectiveKind::AllReduce, 4 * p.dense / 8, groups.replicate) +
                  collective(c, CollectiveKind::AllReduce, 4 * p.experts / 2, groups.expert_replicate),
              1e-12);
}

// Gradients are read for the norm and the update, states and master weights read and written, weights written.
TEST(OptimizerTime, StreamsEveryByteOfTheRanksShare) {
  StepCase c = bare("gpt2", "megatron", Sharding::None);
  const double weights = held(c).total();
  const auto streamed = [&](double bytes) {
    return streaming_time(Bytes(bytes), c.cluster.accelerator, c.cluster.accelerator_profile).value();
  };
  const double each = 2 * c.stack.gradient_bytes + 2 * (c.stack.master_bytes + 8) + c.stack.weight_bytes;
  EXPECT_DOUBLE_EQ(c.step().components.optimizer.value(), streamed(weights * each));
  c.strategy.sharding = Sharding::Zero1;
  c.strategy.shard_degree = 16;
  EXPECT_DOUBLE_EQ(c.step().components.optimizer.value(), streamed(weights / 16 * each));
  c.workload.optimizer = Optimizer::SgdMomentum;
  EXPECT_DOUBLE_EQ(c.step().components.optimizer.value(), streamed(weights / 16 * (each - 8)));
}

// Five steps of three products for each matrix; embedding and head stay with AdamW.
TEST(OptimizerTime, OfMuonOrthogonalisesTheMatricesOfTheRanksShare) {
  StepCase c = bare("llama-2-7b", "fsdp", Sharding::FsdpFull);
  c.workload.optimizer = Optimizer::SgdMomentum;
  const Seconds streamed = tail_of(c).optimizer;
  c.workload.optimizer = Optimizer::Muon;
  const double root = stage_root_parameters(c.workload.architecture, c.strategy, 0);
  const double matrices = (held(c).total() - root) / 16 / (4096.0 * 4096.0);
  const Seconds product = gemm_time({.m = 4096, .n = 4096, .k = 4096}, Precision::Bf16, c.cluster.accelerator,
                                    c.cluster.accelerator_profile);
  EXPECT_NEAR((tail_of(c).optimizer - streamed) / (15 * matrices * product), 1, 1e-9);
  c.workload.finetune = FineTune::Lora;
  c.workload.lora.targets = LoraTargets::Linear;
  const Seconds adapters = tail_of(c).optimizer;
  c.workload.optimizer = Optimizer::SgdMomentum;
  EXPECT_EQ(tail_of(c).optimizer, adapters) << "of adapters nobody does";
}

// fp32 gradients out and 16-bit weights in over the link; scaling, Adam and casts in the host's memory, 46 bytes a
// parameter.
TEST(OffloadedOptimizer, TakesTheLinkTheHostAndTheDisk) {
  StepCase c = bare("gpt2", "deepspeed", Sharding::Zero1);
  c.strategy.offload.optimizer = true;
  c.cluster.host_link = gb_per_s(10);
  c.cluster.local_nvme_read = gb_per_s(4);
  c.cluster.local_nvme_write = gb_per_s(2);
  const double share = held(c).total() / 16;
  const double adam = share / 10e9 * 6 + 8 * share * 46 / 200e9;
  EXPECT_NEAR(c.step().components.offload / Seconds(adam), 1, 1e-9);
  EXPECT_EQ(c.step().components.optimizer, Seconds());
  c.strategy.offload.to_nvme = true;
  const double states = 8 * share * (c.stack.master_bytes + 8);
  EXPECT_NEAR(c.step().components.offload / Seconds(adam + states / 4e9 + states / 2e9), 1, 1e-9);
  c.cluster.local_nvme_write = BytesPerSecond();
  EXPECT_NEAR(c.step().components.offload / Seconds(adam + 2 * states / 4e9), 1, 1e-9) << "written as it is read";
}

// Moments that fit cost nothing; else each step reads all of them through the link and back.
TEST(PagedOptimizer, CrossesTheLinkWhereTheDeviceHasNoRoom) {
  StepCase c = bare("gpt2", "ddp", Sharding::None);
  c.stack.execution.paged_optimizer = Toggle::On;
  c.cluster.host_link = gb_per_s(10);
  EXPECT_EQ(tail_of(c).offload, Seconds());
  c.cluster.device_memory = gib(1);
  EXPECT_NEAR(tail_of(c).offload / Seconds(2 * 8 * held(c).total() / 10e9), 1, 1e-9);
  c.stack.execution.paged_optimizer = Toggle::Off;
  EXPECT_EQ(tail_of(c).offload, Seconds());
}

TEST(OffloadedOptimizer, IsAsFastAsTheHostsProcessorsAndItsKernel) {
  StepCase c = bare("gpt2", "deepspeed", Sharding::Zero3);
  c.strategy.offload.optimizer = true;
  c.cluster.host_link = gb_per_s(10);
  const double share = held(c).total() / 16;
  const double link = share / 10e9 * 6;
  c.cluster.vcpus = 8;
  EXPECT_NEAR(tail_of(c).offload / Seconds(link + 8 * share * 46 / 40e9), 1, 1e-9) << "5 GB/s each";
  c.cluster.vcpus = 0;
  EXPECT_NEAR(tail_of(c).offload / Seconds(link + 8 * share * 46 / 200e9), 1, 1e-9) << "not known";
}

// 46 bytes a parameter at 3 GB/s a thread.
TEST(OffloadedOptimizer, MovesWhatItsThreadsMove) {
  StepCase c = bare("llama-2-7b", "deepspeed", Sharding::Zero2);
  c.strategy.offload.optimizer = true;
  c.cluster.host_link = gb_per_s(1e9);
  const double own = held(c).total() / c.strategy.data_parallel;
  const auto time = [&](std::int32_t threads) {
    c.stack.execution.host_threads = threads;
    return tail_of(c).offload.value();
  };
  EXPECT_NEAR(time(1), 46 * own / 3e9, 1e-6 * time(1));
  EXPECT_NEAR(time(2), 46 * own / 6e9, 1e-6 * time(2));
  EXPECT_DOUBLE_EQ(time(1000), time(0)) << "the node's memory";
  EXPECT_LT(time(0), time(2));
}

// torch keeps gradients and states where the parameters are, and updates there with its own Adam.
TEST(OffloadedParameters, OfFsdpAreUpdatedOnTheHost) {
  StepCase c = bare("gpt2", "fsdp", Sharding::FsdpFull);
  c.strategy.offload.parameters = true;
  c.cluster.host_link = gb_per_s(10);
  const double share = held(c).total() / 16;
  LongestPasses never;
  never.forward = never.backward = Seconds(1e6);
  const Groups groups = group_shapes(c.strategy, c.cluster);
  const LayerTable table = layer_table(c.workload, c.strategy, c.cluster, c.stack);
  const StepTail tail = StageModel(table, c.workload, c.strategy, groups, c.cluster, c.stack).tail(0, never);
  EXPECT_NEAR(tail.offload / Seconds(share / 10e9 * 4 + 6 * 8 * share * 46 / 200e9), 1, 1e-9);
  EXPECT_EQ(tail.optimizer, Seconds());
}

TEST(OffloadedParameters, OnNvmeComeFromTheDiskThatAllDevicesShare) {
  StepCase c = bare("gpt2", "deepspeed", Sharding::Zero3);
  c.strategy.offload = {.parameters = true, .to_nvme = true};
  c.workload.global_batch = 16;
  c.cluster.host_link = gb_per_s(10);
  c.cluster.local_nvme_read = gb_per_s(4);
  const double share = held(c).total() / 16;
  EXPECT_NEAR(tail_of(c).offload / Seconds(2 * 8 * 2 * share / 4e9), 1, 1e-9) << "both passes";
  c.workload.finetune = FineTune::Qlora;
  const double width = 0.5 + 1.0 / 64 + 4.0 / (64 * 256);
  EXPECT_NEAR(tail_of(c).offload / Seconds(2 * 8 * width * share / 4e9), 1, 1e-9) << "4 bits and their scales";
}

TEST(OffloadedParameters, ComeInForBothPassesOfEveryMicroBatch) {
  StepCase c = bare("gpt2", "fsdp", Sharding::FsdpFull);
  c.strategy.offload.parameters = true;
  c.workload.global_batch = 3 * 16;
  const auto at = [&](double gb) {
    c.cluster.host_link = gb_per_s(gb);
    return c.step().components.offload.value();
  };
  const double share = held(c).total() / 16;
  // Half the rate, twice the time: the difference is the transfer at the higher one.
  // In the 4 bytes of their states; the gradients leave once.
  EXPECT_NEAR((at(0.0005) - at(0.001)) / ((3 * 2 * 4 + 4) * share / 0.001e9), 1, 1e-9);
  const double update = 6 * 8 * share * 46 / 200e9;
  EXPECT_NEAR(at(1e6), update, 1e-6 * update) << "a fast link hides beside the passes";
  EXPECT_NEAR(at(0), update, 1e-9 * update) << "an unknown one is not guessed";
}

// In a pipeline the weights of a stage are gathered under its first forward: 16 tokens are too few to hide that.
TEST(OffloadedParameters, LeaveTheNetworkTheTimeThatAPassWaitsForThem) {
  StepCase c = bare("llama-2-7b", "fsdp", Sharding::FsdpFull);
  c.stack.profile.data_overlap = 1;
  c.stack.profile.overlap_contention = 0;
  c.strategy.pipeline_parallel = 2;
  c.strategy.data_parallel = c.strategy.shard_degree = 8;
  c.strategy.offload.parameters = true;
  c.workload.seq_len = 16;
  c.workload.global_batch = 16;
  c.cluster.host_link = gb_per_s(1e6);
  EXPECT_GT(c.step().components.data_comm, Seconds());
  c.cluster.host_link = gb_per_s(0.1);
  EXPECT_EQ(c.step().components.data_comm, Seconds());
}

}  // namespace
}  // namespace smplan
