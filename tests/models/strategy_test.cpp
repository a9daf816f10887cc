#include "models/job/strategy.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smplan {
namespace {

using testing::Contains;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

Workload llama_8b() {
  Workload w;
  w.architecture.name = "llama-3-8b";
  w.architecture.n_layers = 32;
  w.architecture.hidden = 4096;
  w.architecture.n_heads = 32;
  w.architecture.n_kv_heads = 8;
  w.architecture.head_dim = 128;
  w.architecture.ffn_hidden = 14336;
  w.architecture.vocab = 128256;
  w.seq_len = 8192;
  w.global_batch = 64;
  return w;
}

Stack everything() {
  Stack s;
  s.name = "everything";
  s.tensor_parallel = s.sequence_parallel = s.pipeline_parallel = s.context_parallel = s.expert_parallel = true;
  s.shardings = {Sharding::None, Sharding::Zero1, Sharding::Zero3};
  s.recomputes = {Recompute::None, Recompute::Full};
  s.schedules = {Schedule::OneFOneB, Schedule::Interleaved};
  s.collectives = {Collectives::Nccl};
  s.offloads = {"none", "optimizer"};
  s.precisions = {"bf16"};
  return s;
}

struct Case {
  const char* name;
  void (*change)(Strategy&, Workload&, Stack&);
  Validity verdict;
  const char* flag;
};

class StrategyCheck : public testing::TestWithParam<Case> {};

TEST_P(StrategyCheck, NamesTheBrokenRule) {
  Strategy strategy;
  Workload workload = llama_8b();
  Stack stack = everything();
  GetParam().change(strategy, workload, stack);
  EXPECT_EQ(quick_check(strategy, workload, stack), GetParam().verdict);
  const Diagnostics found = check(strategy, workload, stack);
  if (GetParam().verdict == Validity::Ok) {
    EXPECT_THAT(found, IsEmpty());
    return;
  }
  EXPECT_THAT(found, Contains(testing::AllOf(Field(&Diagnostic::code, std::string(to_string(GetParam().verdict))),
                                             Field(&Diagnostic::location, testing::StartsWith(GetParam().flag)))));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, StrategyCheck,
    testing::Values(
        Case{"OneDevice", [](Strategy&, Workload&, Stack&) {}, Validity::Ok, ""},
        Case{"EightWayTensor", [](Strategy& s, Workload&, Stack&) { s.tensor_parallel = 8; }, Validity::Ok, ""},
        Case{"KvHeadsAreCopied", [](Strategy& s, Workload&, Stack&) { s.tensor_parallel = 16; }, Validity::Ok, ""},
        Case{"HeadsDoNotDivide", [](Strategy& s, Workload&, Stack&) { s.tensor_parallel = 3; }, Validity::Divisibility,
             "--tp"},
        Case{"FfnDoesNotDivide",
             [](Strategy& s, Workload& w, Stack&) {
               s.tensor_parallel = 8;
               w.architecture.ffn_hidden = 14337;
             },
             Validity::Divisibility, "--tp"},
        Case{"UnevenStagesAreAllowed", [](Strategy& s, Workload&, Stack&) { s.pipeline_parallel = 5; }, Validity::Ok,
             ""},
        Case{"MoreStagesThanLayers", [](Strategy& s, Workload&, Stack&) { s.pipeline_parallel = 64; },
             Validity::Divisibility, "--pp"},
        Case{"SomeLayersRecomputed",
             [](Strategy& s, Workload&, Stack& stack) {
               s.pipeline_parallel = 4;
               s.recompute = Recompute::Full;
               s.recompute_layers = 8;
               stack.partial_recompute = true;
             },
             Validity::Ok, ""},
        Case{"MoreLayersRecomputedThanAChunkHas",
             [](Strategy& s, Workload&, Stack& stack) {
               s.pipeline_parallel = 4;
               s.recompute = Recompute::Full;
               s.recompute_layers = 9;
               stack.partial_recompute = true;
             },
             Validity::Divisibility, "--recompute-layers"},
        Case{"FewerThanNoLayersRecomputed",
             [](Strategy& s, Workload&, Stack&) {
               s.recompute = Recompute::Full;
               s.recompute_layers = -1;
             },
             Validity::OutOfRange, "--recompute-layers"},
        Case{"LayersOfNoRecomputation",
             [](Strategy& s, Workload&, Stack& stack) {
               s.recompute_layers = 8;
               stack.partial_recompute = true;
             },
             Validity::Unsupported, "--recompute-layers"},
        Case{"StackRecomputesAllLayers",
             [](Strategy& s, Workload&, Stack&) {
               s.recompute = Recompute::Full;
               s.recompute_layers = 8;
             },
             Validity::Unsupported, "--recompute-layers"},
        Case{"SomeLayersRecomputedAndAllOffloaded",
             [](Strategy& s, Workload&, Stack& stack) {
               s.recompute = Recompute::Full;
               s.recompute_layers = 8;
               s.offload.activations = true;
               stack.partial_recompute = true;
               stack.offloads = {"none", "activations"};
             },
             Validity::Unsupported, "--offload"},
        Case{"OffloadBesideRecomputation",
             [](Strategy& s, Workload&, Stack& stack) {
               s.recompute = Recompute::Full;
               s.offload.activations = true;
               stack.offloads = {"none", "activations"};
             },
             Validity::Ok, ""},
        Case{"OffloadAloneBesideRecomputation",
             [](Strategy& s, Workload&, Stack& stack) {
               s.recompute = Recompute::Full;
               s.offload.activations = true;
               stack.offloads = {"none", "activations"};
               stack.offloads_activations_alone = true;
             },
             Validity::Unsupported, "--offload"},
        Case{"OffloadAloneInAPipeline",
             [](Strategy& s, Workload&, Stack& stack) {
               s.pipeline_parallel = 2;
               s.offload.activations = true;
               stack.offloads = {"none", "activations"};
               stack.offloads_activations_alone = true;
             },
             Validity::Unsupported, "--offload"},
        Case{"InterleavedChunksDoNotDivide",
             [](Strategy& s, Workload&, Stack&) {
               s.pipeline_parallel = 4;
               s.virtual_pipeline = 3;
               s.schedule = Schedule::Interleaved;
             },
             Validity::Divisibility, "--vpp"},
        Case{"EmbeddingAndHeadTakeALayersPlace",
             [](Strategy& s, Workload& w, Stack&) {
               w.architecture.n_layers = 126;  // Llama-3.1-405B: 126 + 2 in 64 chunks
               s.pipeline_parallel = 8;
               s.virtual_pipeline = 8;
               s.schedule = Schedule::Interleaved;
             },
             Validity::Ok, ""},
        Case{"InterleavingNeedsMicroBatchesPerRank",
             [](Strategy& s, Workload& w, Stack&) {
               s.pipeline_parallel = 4;
               s.virtual_pipeline = 2;
               s.schedule = Schedule::Interleaved;
               w.global_batch = 6;
             },
             Validity::Divisibility, "--vpp"},
        Case{"SequenceDoesNotDivide",
             [](Strategy& s, Workload& w, Stack&) {
               s.context_parallel = 2;
               w.seq_len = 8190;
             },
             Validity::Divisibility, "--cp"},
        Case{"BatchDoesNotDivide", [](Strategy& s, Workload&, Stack&) { s.micro_batch = 3; }, Validity::Divisibility,
             "--dp"},
        Case{"ShardDegreeDoesNotDivide",
             [](Strategy& s, Workload&, Stack&) {
               s.data_parallel = 4;
               s.sharding = Sharding::Zero3;
               s.shard_degree = 3;
             },
             Validity::Divisibility, "--shard-degree"},
        Case{"ExpertsMaySpanTensorRanks",
             [](Strategy& s, Workload& w, Stack&) {
               w.architecture.moe.n_experts = 64;
               w.architecture.moe.top_k = 6;
               w.architecture.moe.expert_ffn_hidden = 1408;
               s.data_parallel = 4;
               s.tensor_parallel = 2;
               s.expert_parallel = 8;
             },
             Validity::Ok, ""},
        Case{"ExpertGroupTooLarge",
             [](Strategy& s, Workload& w, Stack&) {
               w.architecture.moe.n_experts = 64;
               w.architecture.moe.expert_ffn_hidden = 1408;
               s.data_parallel = 4;
               s.expert_parallel = 8;
             },
             Validity::Divisibility, "--ep"},
        Case{"CutExpertsTakeTensorTimesExpertRanks",
             [](Strategy& s, Workload& w, Stack&) {
               w.architecture.moe.n_experts = 64;
               w.architecture.moe.expert_ffn_hidden = 1408;
               s.data_parallel = 4;
               s.tensor_parallel = 2;
               s.expert_parallel = 8;
               s.expert_tensor_parallel = 2;
             },
             Validity::Divisibility, "--ep"},
        Case{"ExpertsDoNotCut",
             [](Strategy& s, Workload& w, Stack&) {
               w.architecture.moe.n_experts = 64;
               w.architecture.moe.expert_ffn_hidden = 1409;
               s.data_parallel = 4;
               s.expert_parallel = 2;
               s.expert_tensor_parallel = 2;
             },
             Validity::Divisibility, "--tp"},
        Case{"StackLacksCutExperts",
             [](Strategy& s, Workload& w, Stack& stack) {
               w.architecture.moe.n_experts = 64;
               w.architecture.moe.expert_ffn_hidden = 1408;
               s.data_parallel = 4;
               s.expert_tensor_parallel = 2;
               stack.expert_parallel = false;
             },
             Validity::Unsupported, "--ep"},
        Case{"NoExperts",
             [](Strategy& s, Workload&, Stack&) {
               s.data_parallel = 2;
               s.expert_parallel = 2;
             },
             Validity::Unsupported, "--ep"},
        Case{"SequenceParallelNeedsTensor", [](Strategy& s, Workload&, Stack&) { s.sequence_parallel = true; },
             Validity::Unsupported, "--sequence-parallel"},
        Case{"ZeroThreeExcludesPipelines",
             [](Strategy& s, Workload&, Stack&) {
               s.pipeline_parallel = 2;
               s.sharding = Sharding::Zero3;
             },
             Validity::Unsupported, "--zero-stage"},
        Case{"StackLacksTensor",
             [](Strategy& s, Workload&, Stack& stack) {
               s.tensor_parallel = 2;
               stack.tensor_parallel = false;
             },
             Validity::Unsupported, "--tp"},
        Case{"StackLacksPrecision", [](Strategy&, Workload& w, Stack&) { w.precision = Precision::Fp8; },
             Validity::Unsupported, "--dtype"},
        Case{"StackLacksNvme",
             [](Strategy& s, Workload&, Stack&) { s.offload = {.optimizer = true, .to_nvme = true}; },
             Validity::Unsupported, "--offload"},
        Case{"DeepSpeedOffloadsWhatZeroShards",
             [](Strategy& s, Workload&, Stack& stack) {
               stack.deepspeed_engine = true;
               s.offload.optimizer = true;
             },
             Validity::Unsupported, "--offload"},
        Case{"DeepSpeedOffloadsInTheFirstStage",
             [](Strategy& s, Workload&, Stack& stack) {
               stack.deepspeed_engine = true;
               s.sharding = Sharding::Zero1;
               s.offload.optimizer = true;
             },
             Validity::Ok, ""},
        Case{"OtherStacksOffloadWithoutZero", [](Strategy& s, Workload&, Stack&) { s.offload.optimizer = true; },
             Validity::Ok, ""},
        Case{"DeepSpeedReachesNvmeInTheThirdStageOnly",
             [](Strategy& s, Workload&, Stack& stack) {
               stack.deepspeed_engine = true;
               stack.offloads = {"none", "optimizer", "nvme"};
               s.sharding = Sharding::Zero2;
               s.offload = {.optimizer = true, .to_nvme = true};
             },
             Validity::Unsupported, "--offload"},
        Case{"DeepSpeedReachesNvmeInTheThirdStage",
             [](Strategy& s, Workload&, Stack& stack) {
               stack.deepspeed_engine = true;
               stack.offloads = {"none", "optimizer", "nvme"};
               s.sharding = Sharding::Zero3;
               s.offload = {.optimizer = true, .to_nvme = true};
             },
             Validity::Ok, ""},
        Case{"StackLacksOffload", [](Strategy& s, Workload&, Stack&) { s.offload.parameters = true; },
             Validity::Unsupported, "--offload"},
        Case{"StackLacksRecompute", [](Strategy& s, Workload&, Stack&) { s.recompute = Recompute::Selective; },
             Validity::Unsupported, "--recompute"},
        Case{"ZeroDegree", [](Strategy& s, Workload&, Stack&) { s.tensor_parallel = 0; }, Validity::OutOfRange,
             "--dp"}),
    [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

TEST(StrategyCheck, CollectsEveryFault) {
  Strategy strategy;
  strategy.tensor_parallel = 3;
  strategy.micro_batch = 3;
  strategy.recompute = Recompute::Selective;
  EXPECT_THAT(check(strategy, llama_8b(), everything()), SizeIs(5));  // heads, key-value heads, ffn, batch, recompute
}

TEST(StrategyRules, OfLayersThatReadEarlierOnesRefuseAPipeline) {
  Workload borrows = llama_8b();
  borrows.architecture.shared_key_values.n_layers = 4;
  Workload embeds = llama_8b();
  embeds.architecture.layer_embeddings = {.width = 256, .vocab = 1000};
  Strategy staged;
  staged.pipeline_parallel = 2;
  EXPECT_FALSE(broken_rule("layers-of-one-stage", staged, llama_8b(), everything()));
  for (const Workload& w : {borrows, embeds}) {
    EXPECT_THAT(broken_rule("layers-of-one-stage", staged, w, everything())->message,
                testing::HasSubstr("no pipeline hands on"));
    EXPECT_FALSE(broken_rule("layers-of-one-stage", Strategy(), w, everything()));
  }
}

TEST(StrategyRules, HaveNamesAndAreAskedOneByOne) {
  const std::vector<std::string_view> ids = strategy_rule_ids();
  EXPECT_EQ(std::set<std::string_view>(ids.begin(), ids.end()).size(), ids.size());
  Strategy cut;
  cut.tensor_parallel = 3;
  for (const std::string_view id : ids) {
    const std::vector<BrokenRule> broken = broken_rules(cut, llama_8b(), everything());
    const bool named = std::any_of(broken.begin(), broken.end(), [&](const BrokenRule& r) { return r.id == id; });
    EXPECT_EQ(broken_rule(id, cut, llama_8b(), everything()).has_value(), named) << id;
  }
  EXPECT_FALSE(broken_rule("heads-by-tensor", cut, Workload(), everything())) << "not known";
  EXPECT_EQ(broken_rule("heads-by-tensor", cut, llama_8b(), everything())->message,
            "32 attention heads do not divide by tensor parallel 3");
}

// Arithmetic that nobody gets round is never; what a framework leaves out others may have added.
TEST(StrategyRules, TellWhatNeverHappensFromWhatIsNotOffered) {
  Strategy staged;
  staged.tensor_parallel = 3;
  staged.pipeline_parallel = 2;
  staged.sharding = Sharding::Zero3;
  std::map<std::string_view, bool> happens;
  for (const BrokenRule& rule : broken_rules(staged, llama_8b(), everything())) happens[rule.id] = rule.happens;
  EXPECT_FALSE(happens.at("heads-by-tensor"));
  EXPECT_TRUE(happens.at("zero-one-with-pipeline"));
}

TEST(StrategyText, SaysOnlyWhatDiffers) {
  EXPECT_EQ(to_string(Strategy{}), "single");
  Strategy s;
  s.tensor_parallel = 8;
  s.pipeline_parallel = 2;
  s.data_parallel = 4;
  s.sequence_parallel = true;
  s.sharding = Sharding::Zero1;
  s.shard_degree = 4;
  s.micro_batch = 2;
  s.recompute = Recompute::Selective;
  EXPECT_EQ(to_string(s), "tp8 pp2 dp4 sp zero1 shard4 mb2 selective");
  s.recompute = Recompute::Full;
  s.recompute_layers = 12;
  EXPECT_EQ(to_string(s), "tp8 pp2 dp4 sp zero1 shard4 mb2 full12");
}

TEST(OffloadText, ReadsBackWhatItWrites) {
  for (int bits = 0; bits < 16; ++bits) {
    const Offload o{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
    const auto read = offload_from(to_string(o));
    if (o.to_nvme && !o.optimizer && !o.parameters) {
      EXPECT_FALSE(read);
    } else {
      EXPECT_EQ(read, o);
    }
  }
  EXPECT_FALSE(offload_from("optimiser"));
  EXPECT_FALSE(offload_from("optimizer+optimizer"));
  EXPECT_FALSE(offload_from(""));
}

TEST(Ranks, MultiplyToTheCluster) {
  Strategy s;
  s.data_parallel = 4;
  s.tensor_parallel = 8;
  s.pipeline_parallel = 2;
  s.context_parallel = 2;
  EXPECT_EQ(s.gpus(), 128);
  s.micro_batch = 2;
  EXPECT_EQ(s.micro_batches(llama_8b()), 8);
}

}  // namespace
}  // namespace smplan
