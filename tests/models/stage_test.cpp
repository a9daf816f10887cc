#include "models/step/stage.hpp"
#include "models/layers/activations.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "models/layers/rank_parameters.hpp"
#include "models/machine/compute.hpp"
#include "models/memory/memory.hpp"
#include "tests/support/step_fixture.hpp"

namespace smplan {
namespace {

using testing::step_case;
using testing::StepCase;

/// Four equal layers whose passes take round numbers of seconds, so that what shows can be counted.
LayerTable table_of(const Architecture& a) {
  LayerTable table;
  table.stack = layer_stack(a);
  LayerCosts& layer = table.layers[0];
  layer.forward = {.gemm = Seconds(10), .attention = Seconds(4), .elementwise = Seconds(2)};
  layer.backward = {.gemm = Seconds(20), .attention = Seconds(8), .elementwise = Seconds(4)};
  layer.weight_gradient = Seconds(9);
  table.edge.embedding_forward.elementwise = Seconds(0.25);
  table.edge.embedding_backward.elementwise = Seconds(0.5);
  table.edge.head_forward.gemm = Seconds(3);
  table.edge.head_backward.gemm = Seconds(6);
  return table;
}

struct StageCase : StepCase {
  LayerTable table;

  [[nodiscard]] StageCosts stage(std::int32_t index = 0) const {
    const Groups groups = group_shapes(strategy, cluster);
    return StageModel(table, workload, strategy, groups, cluster, stack).stage(index);
  }
  LayerCosts& layer() { return table.layers[0]; }
};

/// One device of which nothing overlaps; each test says what does.
StageCase alone(const char* stack = "megatron") {
  StageCase c{step_case("llama-2-7b", "ml.p4d.24xlarge", 2, stack), {}};
  c.workload.architecture.n_layers = 4;
  c.strategy = Strategy{};
  c.stack.profile = StackProfile{};
  c.table = table_of(c.workload.architecture);
  return c;
}

/// As alone(), its weights over 16 devices; no embedding, so that what the layers send is all.
StageCase sharded(const char* stack) {
  StageCase c = alone(stack);
  c.workload.architecture.vocab = 0;
  c.strategy.data_parallel = 16;
  c.strategy.shard_degree = 16;
  c.strategy.sharding = Sharding::FsdpFull;
  return c;
}

TEST(Stage, IsItsLayersWithTheEmbeddingAndTheHead) {
  const StageCosts costs = alone().stage();
  EXPECT_EQ(costs.forward.gemm, Seconds(4 * 10 + 3));
  EXPECT_EQ(costs.forward.attention, Seconds(4 * 4));
  EXPECT_EQ(costs.forward.elementwise, Seconds(4 * 2 + 0.25));
  EXPECT_EQ(costs.forward.total(), Seconds(67.25));
  EXPECT_EQ(costs.backward.total(), Seconds(4 * 32 + 6.5));
  EXPECT_EQ(costs.weight_gradient, Seconds(4 * 9));
}

TEST(Stage, TheFirstHasTheEmbeddingAndTheLastTheHead) {
  StageCase c = alone();
  c.strategy.pipeline_parallel = 4;
  c.stack.profile.pipeline_overlap = 1;
  EXPECT_EQ(c.stage(0).forward.total(), Seconds(16.25));
  EXPECT_EQ(c.stage(1).forward.total(), Seconds(16));
  EXPECT_EQ(c.stage(3).forward.total(), Seconds(19));
  EXPECT_EQ(c.stage(0).backward.total(), Seconds(32.5));
  EXPECT_EQ(c.stage(3).backward.total(), Seconds(38));
}

TEST(Stage, TransfersHideUnderWhatRunsBesideThemAndNoneTwice) {
  StageCase c = alone();
  c.strategy.sequence_parallel = true;
  c.layer().forward.tensor_comm = Seconds(3);
  c.layer().forward.context_comm = Seconds(2);
  c.layer().forward.expert_comm = Seconds(20);
  c.stack.profile.tensor_overlap = 0.5;
  c.stack.profile.context_overlap = 1;
  c.stack.profile.expert_overlap = 1;
  c.stack.profile.overlap_contention = 0.1;
  const PassParts forward = c.stage().forward;
  EXPECT_EQ(forward.tensor_comm, 4 * Seconds(1.5));
  EXPECT_EQ(forward.context_comm, Seconds());
  // 16 s of compute, of which 3.5 s already hide the other two.
  EXPECT_EQ(forward.expert_comm, 4 * Seconds(20 - 12.5));
  EXPECT_NEAR(forward.gemm.value(), 4 * (10 + 0.1 * (3.5 + 12.5)) + 3, 1e-12);
}

TEST(Stage, TensorRanksOverlapThroughMemoryThatTheyMapOnly) {
  StageCase c = alone();
  c.strategy.sequence_parallel = true;
  c.layer().forward.tensor_comm = Seconds(5);
  c.stack.profile.tensor_overlap = 0.6;
  c.strategy.tensor_parallel = 8;
  c.strategy.data_parallel = 2;
  EXPECT_EQ(c.stage().forward.tensor_comm, Seconds(4 * 2));
  c.strategy.tensor_parallel = 16;
  c.strategy.data_parallel = 1;
  EXPECT_EQ(c.stage().forward.tensor_comm, Seconds(4 * 5)) << "over two nodes";
  c.strategy.tensor_parallel = 8;
  for (const FabricKind without : {FabricKind::Pcie, FabricKind::NvlinkMesh}) {
    c.cluster.fabric.kind = without;
    EXPECT_EQ(c.stage().forward.tensor_comm, Seconds(4 * 5)) << "not between any two";
  }
  c.cluster.fabric.kind = FabricKind::Nvswitch;
  c.workload.precision = Precision::Fp4;
  EXPECT_EQ(c.stage().forward.tensor_comm, Seconds(4 * 5)) << "Userbuffers have no 4-bit products";
  c.workload.precision = Precision::Bf16;
  c.strategy.sequence_parallel = false;
  EXPECT_EQ(c.stage().forward.tensor_comm, Seconds(4 * 5)) << "they gather and scatter";
  c.strategy.sequence_parallel = true;
  c.workload.architecture.latent.kv_lora_rank = 512;
  EXPECT_EQ(c.stage().forward.tensor_comm, Seconds(4 * 5)) << "they have no products of latent attention";
  c.stack.userbuffers = false;
  EXPECT_EQ(c.stage().forward.tensor_comm, Seconds(4 * 2));
}

TEST(Stage, HostAndDeviceTakeTheNormOfTheTwo) {
  StageCase c = alone();
  c.layer().forward.host = Seconds(16);
  c.layer().backward.host = Seconds(0.1);
  EXPECT_NEAR(c.stage().forward.host.value(), 4 * 16 * (std::pow(2, 0.25) - 1), 1e-12) << "as long as each other";
  EXPECT_NEAR(c.stage().backward.host.value(), 0, 1e-7);
  c.layer().forward.host = Seconds(1600);
  EXPECT_NEAR(c.stage().forward.host.value(), 4 * (1600 - 16), 1e-4) << "bound by the host";
}

TEST(Stage, LaunchesThatAreWaitedForHideNothingOfTheHost) {
  StageCase c = alone();
  c.layer().forward.host = Seconds(2);
  EXPECT_LT(c.stage().forward.host, Seconds(0.01));
  c.cluster.blocking_launches = true;
  c.stack.profile.waited_launch = 4;
  EXPECT_EQ(c.stage().forward.host, 4 * 4 * Seconds(2)) << "four layers, each launch four times as long";
  EXPECT_EQ(c.stage().forward.gemm, alone().stage().forward.gemm);
}

TEST(Stage, RecomputationIsTheForwardAgainWithItsTransfersAndHost) {
  StageCase c = alone();
  c.strategy.sequence_parallel = true;
  c.layer().forward.tensor_comm = Seconds(3);
  c.layer().forward.host = Seconds(21);
  c.layer().backward.host = Seconds(30);
  c.strategy.recompute = Recompute::Full;
  const PassParts backward = c.stage().backward;
  EXPECT_EQ(backward.recompute, 4 * Seconds(16));
  EXPECT_EQ(backward.tensor_comm, 4 * Seconds(3));
  // 19 s again and 32 s backward are one pass for the host, which takes 51 s as well.
  EXPECT_NEAR(backward.host.value(), 4 * (std::sqrt(std::hypot(51.0 * 51, 51.0 * 51)) - 51), 1e-12);
  EXPECT_EQ(backward.gemm, Seconds(4 * 20 + 6)) << "booked once";
  EXPECT_EQ(backward.attention, Seconds(4 * 8));
}

TEST(Stage, RecomputationThatStopsEarlyLeavesOutWhatNothingReads) {
  StageCase c = alone();
  c.strategy.recompute = Recompute::Full;
  c.layer().forward.tensor_comm = Seconds(3);
  c.layer().unread = {.gemm = Seconds(4), .tensor_comm = Seconds(1)};
  const PassParts through = c.stage().backward;
  c.stack.checkpoint_stops_early = true;
  const PassParts early = c.stage().backward;
  EXPECT_EQ(through.recompute - early.recompute, Seconds(4 * 4));
  EXPECT_EQ(through.tensor_comm - early.tensor_comm, Seconds(4 * 1));
  EXPECT_EQ(c.stage().forward.tensor_comm, Seconds(4 * 3)) << "the forward pass itself runs whole";
}

TEST(Stage, SelectiveRecomputationIsWhatTheSoftwareDropped) {
  StageCase megatron = alone();
  megatron.strategy.recompute = Recompute::Selective;
  EXPECT_EQ(megatron.stage().backward.recompute, 4 * Seconds(4)) << "the attention core, flash attention too";
  megatron.layer().forward.context_comm = Seconds(100);
  const Seconds shown = megatron.stage().forward.context_comm;
  EXPECT_GT(megatron.stage().backward.recompute, 4 * Seconds(4) + 0.9 * shown) << "and its keys are sent again";
  EXPECT_EQ(megatron.stage().backward.context_comm, Seconds());
  StageCase fsdp = alone("fsdp");
  fsdp.strategy.sharding = Sharding::FsdpFull;
  fsdp.strategy.recompute = Recompute::Selective;
  EXPECT_EQ(fsdp.stage().backward.recompute, 4 * Seconds(2 + 10.0 / 2)) << "every second product";
  fsdp.stack.execution.recompute_modules.add(LayerModule::Norms);
  fsdp.layer().selective = {.elementwise = Seconds(3)};
  EXPECT_EQ(fsdp.stage().backward.recompute, 4 * Seconds(3)) << "modules that are named count";
}

TEST(Stage, SelectedModulesRunUnderTheBackwardPass) {
  StageCase c = alone();
  c.strategy.recompute = Recompute::Selective;
  c.stack.execution.recompute_modules.add(LayerModule::Norms);
  c.layer().selective = {.elementwise = Seconds(2)};
  EXPECT_EQ(c.stage().backward.recompute, 4 * Seconds(2));
  c.layer().backward.host = Seconds(1e-3);
  c.layer().selective.host = Seconds(1e-3);
  EXPECT_NEAR(c.stage().backward.recompute.value(), 4 * 2, 1e-9) << "a device that is busy hides their launches";
  c.strategy.recompute = Recompute::None;
  EXPECT_EQ(c.stage().backward.recompute, Seconds());
}

TEST(Stage, ZeroBubbleLeavesLessOfTheBackwardPassToHideUnder) {
  StageCase c = alone();
  c.strategy.sequence_parallel = true;
  c.layer().backward.tensor_comm = Seconds(15);
  c.stack.profile.tensor_overlap = 1;
  EXPECT_EQ(c.stage().backward.tensor_comm, Seconds());
  c.strategy.schedule = Schedule::ZeroBubble;
  EXPECT_EQ(c.stage().backward.tensor_comm, 4 * Seconds(15 - (20 - 9)));
  EXPECT_EQ(c.stage().backward.gemm, Seconds(4 * 20 + 6));
}

TEST(Stage, BoundariesAreCrossedByEachChunkInBothPasses) {
  StageCase c = alone();
  c.strategy.pipeline_parallel = 2;
  c.strategy.micro_batch = 3;
  const auto crossing = [&](double bytes) {
    return collective_time(CollectiveKind::PointToPoint, Bytes(bytes), group_shapes(c.strategy, c.cluster).pipeline,
                           c.cluster, c.strategy.collectives)
        .time;
  };
  const double activations = 2.0 * 4096 * 3 * 4096;
  EXPECT_EQ(c.stage().forward.pipeline_comm, crossing(activations));
  EXPECT_EQ(c.stage().backward.pipeline_comm, crossing(activations));
  c.strategy.virtual_pipeline = 2;
  c.stack.profile.pipeline_overlap = 0.75;
  EXPECT_NEAR(c.stage().forward.pipeline_comm / crossing(activations), 2 * 0.25, 1e-12);
  c.strategy.context_parallel = 2;
  c.strategy.tensor_parallel = 4;
  c.strategy.sequence_parallel = true;
  EXPECT_NEAR(c.stage().forward.pipeline_comm / crossing(activations / 8), 2 * 0.25, 1e-12);
  c.stack.profile.overlap_contention = 0.2;
  EXPECT_NEAR(c.stage().forward.pipeline_comm / crossing(activations / 8), 2 * (0.25 + 0.75 * 0.2), 1e-12);
  c.cluster.accelerator.architecture = "Hopper GH100";
  EXPECT_NEAR(c.stage().forward.pipeline_comm / crossing(activations / 8), 2 * (0.25 + 0.75 * 0.5), 1e-12);
  c.strategy.pipeline_parallel = 1;
  EXPECT_EQ(c.stage().forward.pipeline_comm, Seconds());
}

TEST(Stage, ATensorGroupThatSendsSlicesGathersThemBehindTheBoundary) {
  StageCase c = alone();
  c.strategy.pipeline_parallel = 2;
  c.strategy.tensor_parallel = 4;
  c.stack.scattered_sends = true;
  const Groups groups = group_shapes(c.strategy, c.cluster);
  const auto time = [&](CollectiveKind kind, double bytes, const GroupShape& group) {
    return collective_time(kind, Bytes(bytes), group, c.cluster, c.strategy.collectives).time;
  };
  const double activations = 2.0 * 4096 * 4096;
  const Seconds slice = time(CollectiveKind::PointToPoint, activations / 4, groups.pipeline);
  EXPECT_EQ(c.stage().forward.pipeline_comm, slice + time(CollectiveKind::AllGather, activations, groups.tensor));
  c.strategy.sequence_parallel = true;
  EXPECT_EQ(c.stage().forward.pipeline_comm, slice);
}

TEST(Stage, ShardedWeightsAreGatheredForEachPassAndTheirGradientsScattered) {
  StageCase c = sharded("fsdp");
  c.stack.gradient_reduce_bytes = 4;
  const double parameters = layer_rank_parameters(*c.table.stack.begin(), c.strategy).dense;
  const auto collective = [&](CollectiveKind kind, double bytes) {
    return collective_time(kind, Bytes(bytes * parameters), group_shapes(c.strategy, c.cluster).shard, c.cluster,
                           c.strategy.collectives)
        .time;
  };
  const Seconds gather = collective(CollectiveKind::AllGather, 2);
  const Seconds scatter = collective(CollectiveKind::ReduceScatter, 4);
  EXPECT_EQ(c.stage().forward.data_comm, 4 * gather);
  EXPECT_EQ(c.stage().backward.data_comm, 4 * (gather + scatter));
  c.strategy.sharding = Sharding::FsdpGradOp;
  EXPECT_EQ(c.stage().backward.data_comm, 4 * scatter) << "kept for the backward pass";
  c.stack.profile.data_overlap = 0.75;
  c.stack.profile.overlap_contention = 0.2;
  EXPECT_NEAR(c.stage().forward.data_comm / (4 * gather), 0.25 + 0.2 * 0.75, 1e-12) << "hidden transfers slow compute";
  c.strategy.pipeline_parallel = 2;
  EXPECT_EQ(c.stage().forward.data_comm, Seconds()) << "a pipeline gathers once a step";
}

TEST(Stage, DeepSpeedCopiesWhatItGathersAndWhatItReduces) {
  StageCase c = sharded("deepspeed");
  c.stack.gradient_reduce_bytes = 4;
  const StageCosts views = c.stage();
  c.strategy.sharding = Sharding::Zero3;
  const double parameters = layer_rank_parameters(*c.table.stack.begin(), c.strategy).dense;
  const auto copy = [&](double bytes) {
    return streaming_time(Bytes(2 * bytes * parameters), c.cluster.accelerator, c.cluster.accelerator_profile);
  };
  EXPECT_NEAR((c.stage().forward.data_comm - views.forward.data_comm) / (4 * copy(2)), 1, 1e-9);
  EXPECT_NEAR((c.stage().backward.data_comm - views.backward.data_comm) / (4 * (copy(2) + copy(4))), 1, 1e-9);
}

TEST(Stage, TheRootUnitIsGatheredBeforeAndScatteredAfterAnythingComputes) {
  StageCase c = sharded("fsdp");
  c.workload.architecture.vocab = 32000;
  c.stack.profile.data_overlap = 1;
  c.stack.profile.overlap_contention = 0;
  const GroupShape shard = group_shapes(c.strategy, c.cluster).shard;
  const auto time = [&](CollectiveKind kind, double bytes) {
    return collective_time(kind, Bytes(bytes), shard, c.cluster, c.strategy.collectives).time;
  };
  const double embedding = 32000.0 * 4096;
  EXPECT_EQ(c.stage().forward.data_comm, time(CollectiveKind::AllGather, 2 * 2 * embedding)) << "the head is in it too";
  EXPECT_EQ(c.stage().backward.data_comm,
            time(CollectiveKind::ReduceScatter, c.stack.gradient_reduce_bytes * 2 * embedding));
  c.stack.torch_parallelism = true;
  EXPECT_EQ(c.stage().forward.data_comm, time(CollectiveKind::AllGather, 2 * embedding)) << "the head is a unit";
  c.workload.finetune = FineTune::Lora;
  EXPECT_EQ(c.stage().backward.data_comm, Seconds());
  c.strategy.pipeline_parallel = 2;
  c.strategy.sharding = Sharding::None;
  EXPECT_EQ(c.stage().forward.data_comm, Seconds());
}

TEST(Stage, FrozenWeightsAreGatheredInTheirFormatAndScatterNothing) {
  StageCase c = sharded("fsdp");
  const double parameters = layer_rank_parameters(*c.table.stack.begin(), c.strategy).dense;
  const auto gather = [&](double bytes) {
    return collective_time(CollectiveKind::AllGather, Bytes(bytes * parameters),
                           group_shapes(c.strategy, c.cluster).shard, c.cluster, c.strategy.collectives)
        .time;
  };
  c.workload.finetune = FineTune::Lora;
  c.workload.precision = Precision::Fp32;
  EXPECT_EQ(c.stage().forward.data_comm, 4 * gather(4));
  c.workload.precision = Precision::Bf16;
  EXPECT_EQ(c.stage().forward.data_comm, 4 * gather(2));
  EXPECT_EQ(c.stage().backward.data_comm, 4 * gather(2));
  c.workload.finetune = FineTune::Qlora;
  EXPECT_EQ(c.stage().forward.data_comm, 4 * gather(0.5 + 1.0 / 64 + 4.0 / (64 * 256))) << "4 bits and their scales";
}

TEST(Stage, OffloadedActivationsWaitForTheLinkOnlyWhereItIsSlower) {
  StageCase c = alone();
  c.strategy.offload.activations = true;
  const Bytes saved = layer_activation_bytes(c.workload, c.table.stack.begin()->spec, c.strategy, c.stack);
  c.cluster.host_link = saved / Seconds(40);
  EXPECT_NEAR(c.stage().forward.offload.value(), 4 * (40 - 16), 1e-9);
  EXPECT_NEAR(c.stage().backward.offload.value(), 4 * (40 - 32), 1e-9);
  c.cluster.host_link = saved / Seconds(15);
  EXPECT_EQ(c.stage().forward.offload, Seconds());
  c.stack.offload_waits = true;
  EXPECT_NEAR(c.stage().forward.offload.value(), 4 * 15, 1e-9) << "copied on the stream that computes";
  EXPECT_NEAR(c.stage().backward.offload.value(), 4 * 15, 1e-9);
}

TEST(Stage, OffloadedActivationsShareThePcieLanesWithTheCollectivesOfCards) {
  StageCase c = alone();
  c.strategy.offload.activations = true;
  c.layer().forward.tensor_comm = Seconds(5);
  const double forward = 10 + 4 + 2;
  c.cluster.host_link =
      layer_activation_bytes(c.workload, c.table.stack.runs[0].spec, c.strategy, c.stack) / Seconds(20);
  EXPECT_NEAR(c.stage().forward.offload.value(), 0, 1e-9) << "beside compute and NVLink";
  c.cluster.fabric.kind = FabricKind::Pcie;
  EXPECT_NEAR(c.stage().forward.offload.value(), 4 * (20 - forward), 1e-9);
}

TEST(RankParameters, OfAllStagesAreThoseOfTheModel) {
  for (const char* name : {"llama-2-7b", "gpt2", "mixtral-8x7b", "deepseek-v3"}) {
    const Architecture a = testing::step_catalog().find_model(name)->architecture;
    const LayerStack stack = layer_stack(a);
    for (const std::int32_t stages : {1, 4}) {
      Strategy s;
      s.pipeline_parallel = stages;
      double sum = 0;
      for (std::int32_t stage = 0; stage < stages; ++stage) sum += stage_rank_parameters(a, stack, s, stage).total();
      const ParameterCount count = count_parameters(a);
      const double copies = stages > 1 && count.head == 0 ? static_cast<double>(count.embedding) : 0;
      // The final norm stands in no layer.
      EXPECT_NEAR(sum, static_cast<double>(count.total()) + copies, 2.0 * static_cast<double>(a.hidden)) << name;
    }
  }
}

TEST(RankParameters, TensorRanksShareProductsAndExpertRanksExperts) {
  const Architecture a = testing::step_catalog().find_model("mixtral-8x7b")->architecture;
  const LayerRun run = *layer_stack(a).begin();
  const LayerParameters whole = layer_parameters(a, run.spec);
  Strategy s;
  s.tensor_parallel = 4;
  s.expert_parallel = 2;
  EXPECT_EQ(rank_experts(a, s), 4);
  EXPECT_DOUBLE_EQ(layer_rank_parameters(run, s).experts, static_cast<double>(whole.experts) / 2);
  s.expert_tensor_parallel = 4;
  EXPECT_DOUBLE_EQ(layer_rank_parameters(run, s).experts, static_cast<double>(whole.experts) / 8);
  EXPECT_DOUBLE_EQ(layer_rank_parameters(run, s).dense,
                   static_cast<double>(whole.attention + whole.mlp) / 4 + static_cast<double>(whole.norms))
      << "norms are on every rank";
}

TEST(Stage, UnderZeroThreeLaunchesTheHooksThatGatherWeights) {
  StageCase c = alone("deepspeed");
  c.stack.profile.gathered_host = 3;
  c.layer().forward.host = Seconds(1600);
  const auto host = [&](Sharding sharding) {
    c.strategy.sharding = sharding;
    return c.stage().forward.host.value();
  };
  EXPECT_NEAR(host(Sharding::Zero3), 4 * (3 * 1600 - 16), 1e-4);
  EXPECT_NEAR(host(Sharding::Zero2), 4 * (1600 - 16), 1e-4);
  EXPECT_EQ(host(Sharding::None), host(Sharding::Zero2));
}

TEST(StageLayers, WhatPredictsFurtherTokensIsOnTheLastStage) {
  for (const char* model : {"nemotron-3-super-120b-a12b", "llama-2-7b"}) {
    Architecture a = testing::step_catalog().find_model(model)->architecture;
    a.prediction.depth = 2;
    const LayerStack stack = layer_stack(a);
    double own = 0;
    for (std::int32_t stage = 0; stage < 4; ++stage) {
      const PerKind<double> layers = stage_layers(stack, stage, 4);
      for (int i = 0; i < stack.n_runs; ++i) {
        const auto run = static_cast<std::size_t>(i);
        if (stack.runs[run].spec.further_token) {
          EXPECT_EQ(layers[run], stage == 3 ? 2 : 0) << model;
        } else {
          own += layers[run];
        }
      }
    }
    EXPECT_DOUBLE_EQ(own, static_cast<double>(a.n_layers)) << model;
  }
}

// Transformers' experts are fetched one by one where ZeRO cuts them: forward, again where the layer is recomputed, and
// backward, 4 ms each.
TEST(ShardedExperts, ThatRunOneByOneAreFetchedOneByOne) {
  StepCase c = step_case("mixtral-8x7b", "ml.p4d.24xlarge", 2, "deepspeed");
  c.strategy.shard_degree = c.strategy.data_parallel;
  c.cluster.host_speed = 1;
  c.stack.profile.gathered_host = 1;
  const auto host = [&](Sharding sharding, Recompute recompute, bool loops) {
    c.strategy.sharding = sharding;
    c.strategy.recompute = recompute;
    c.stack.loops_over_experts = loops;
    return c.step().components.host.value();
  };
  const double expected = 32 * 8 * 4e-3;
  const auto fetched = [&](Sharding sharding, Recompute recompute) {
    const double launched = host(Sharding::Zero2, recompute, true) - host(Sharding::Zero2, recompute, false);
    return host(sharding, recompute, true) - host(sharding, recompute, false) - launched;
  };
  const double micro_batches = static_cast<double>(c.strategy.micro_batches(c.workload));
  EXPECT_NEAR(fetched(Sharding::Zero3, Recompute::None), 2 * expected * micro_batches, 0.01 * expected * micro_batches);
  EXPECT_NEAR(fetched(Sharding::Zero3, Recompute::Full), 3 * expected * micro_batches, 0.01 * expected * micro_batches);
  EXPECT_EQ(fetched(Sharding::Zero2, Recompute::None), 0);
}

}  // namespace
}  // namespace smplan
