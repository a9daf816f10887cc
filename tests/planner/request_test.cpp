#include "planner/request/request.hpp"
#include "planner/search/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/layers/layers.hpp"
#include "planner/request/defaults.hpp"
#include "planner/request/fields.hpp"
#include "planner/request/names.hpp"
#include "tests/planner/fixtures.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/spec_field.hpp"

namespace smplan::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RequestSpec spec_13b() {
  RequestSpec spec;
  spec.params = "13B";
  return spec;
}

Diagnostics faults_of(const RequestSpec& spec, Purpose purpose = Purpose::Plan) {
  const auto r = resolve(spec, catalog(), std::nullopt, purpose);
  return r ? Diagnostics{} : r.error();
}

/// The only fault of a spec; fails if there are more or none.
Diagnostic fault_of(const RequestSpec& spec, Purpose purpose = Purpose::Plan) {
  const Diagnostics faults = faults_of(spec, purpose);
  EXPECT_EQ(faults.size(), 1U) << to_string(faults);
  return faults.empty() ? Diagnostic{} : faults.front();
}

using Field = SpecField;

TEST(Resolve, FillsAPractitionersDefaults) {
  const PlanRequest r = request_of(spec_13b());
  const double parameters = static_cast<double>(count_parameters(r.workload.architecture).total());
  EXPECT_NEAR(parameters, 13e9, 0.02 * 13e9);
  EXPECT_DOUBLE_EQ(r.workload.tokens, 20 * parameters);
  EXPECT_EQ(r.workload.seq_len, 4096);
  EXPECT_EQ(r.workload.global_batch, 1024);
  EXPECT_EQ(r.workload.precision, Precision::Bf16);
  EXPECT_TRUE(r.precision_defaulted);
  EXPECT_EQ(r.workload.optimizer, Optimizer::AdamW);
  EXPECT_EQ(r.region, "us-east-1");
  EXPECT_EQ(r.markets, std::vector<Market>{Market::OnDemand});
  EXPECT_EQ(r.counts.size(), 128U);
  EXPECT_EQ(r.objective, Objective::Cost);
  EXPECT_EQ(r.top, 10);
  EXPECT_THAT(r.assumptions, Contains(HasSubstr("20 per parameter")));
}

TEST(Resolve, PlansByDefaultWithTypesThatCanBeOrderedAndHaveAPrice) {
  const PlanRequest r = request_of(spec_13b());
  ASSERT_FALSE(r.instances.empty());
  for (const InstanceType* i : r.instances) {
    EXPECT_EQ(i->support, TrainingSupport::OnDemand) << i->name;
    EXPECT_GT(i->accelerator_count, 0) << i->name;
    EXPECT_NE(catalog().find_price(i->name, r.region, r.markets.front()), nullptr) << i->name;
  }
  // Everything else is named with its reason, but for measured systems and types without accelerators.
  for (const InstanceType& i : catalog().instances()) {
    const bool used = std::find(r.instances.begin(), r.instances.end(), &i) != r.instances.end();
    const bool named = std::any_of(r.left_out.begin(), r.left_out.end(),
                                   [&](const auto& entry) { return entry.first == i.name && !entry.second.empty(); });
    const bool of_interest = i.support != TrainingSupport::Reference && i.accelerator_count > 0;
    EXPECT_EQ(used || named, of_interest) << i.name;
    EXPECT_FALSE(used && named) << i.name;
  }
}

TEST(Resolve, TakesTheRegionFromFlagThenEnvironment) {
  RequestSpec spec = spec_13b();
  EXPECT_EQ(resolve(spec, catalog(), "us-west-2")->region, "us-west-2");
  spec.region = "us-east-1";
  EXPECT_EQ(resolve(spec, catalog(), "us-west-2")->region, "us-east-1");
  spec.region = "us-esat-1";
  const Diagnostic d = fault_of(spec);
  EXPECT_EQ(d.location, "--region");
  EXPECT_THAT(d.hint, HasSubstr("us-east-1"));
}

TEST(Resolve, ReadsNumbersWithTheirSuffixes) {
  RequestSpec spec = spec_13b();
  spec.tokens = "300B";
  spec.seq_len = "8k";
  spec.global_batch_tokens = "4M";
  spec.deadline = "7d";
  spec.budget = "$50,000";
  spec.max_hourly = "500";
  spec.min_headroom = "5%";
  spec.count = "1..4,8";
  const PlanRequest r = request_of(spec);
  EXPECT_DOUBLE_EQ(r.workload.tokens, 300e9);
  EXPECT_EQ(r.workload.seq_len, 8192) << "k of a length is 1024";
  EXPECT_EQ(r.workload.global_batch, 512);  // 4M / 8192 = 488, within 5 % of a power of two
  EXPECT_EQ(r.deadline, days(7));
  EXPECT_EQ(r.budget, Usd(50000));
  EXPECT_DOUBLE_EQ(in_usd_per_hour(*r.max_hourly), 500);
  EXPECT_DOUBLE_EQ(r.min_headroom, 0.05);
  EXPECT_THAT(r.counts, ElementsAre(1, 2, 3, 4, 8));
}

TEST(Resolve, ZeroStagesMeanTheirFsdpCounterpartsToo) {
  RequestSpec spec = spec_13b();
  spec.zero_stage = "3";
  const PlanRequest r = request_of(spec);
  EXPECT_TRUE(r[Dimension::Sharding].allows(Sharding::Zero3));
  EXPECT_TRUE(r[Dimension::Sharding].allows(Sharding::FsdpFull));
  EXPECT_FALSE(r[Dimension::Sharding].allows(Sharding::Zero1));
}

TEST(Resolve, NamedTypesThatNeedAPlanAreMarkedNotDropped) {
  RequestSpec spec = spec_13b();
  spec.market = "capacity-block";
  const PlanRequest r = request_of(spec);
  const bool plan_only = std::any_of(r.instances.begin(), r.instances.end(),
                                     [](const InstanceType* i) { return i->support == TrainingSupport::PlanOnly; });
  EXPECT_TRUE(plan_only);
}

struct BadSpec {
  const char* name;
  test::SpecField field;
  const char* value;
  const char* location;
  const char* says;
};
class ResolveRefuses : public ::testing::TestWithParam<BadSpec> {};

TEST_P(ResolveRefuses, AndNamesTheFlag) {
  RequestSpec spec = spec_13b();
  GetParam().field.of(spec) = GetParam().value;
  const Diagnostics faults = faults_of(spec);
  ASSERT_FALSE(faults.empty());
  EXPECT_EQ(faults.front().location, GetParam().location);
  EXPECT_THAT(to_string(faults.front()), HasSubstr(GetParam().says));
  for (const Diagnostic& d : faults) EXPECT_FALSE(d.code.empty() || d.message.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Flags, ResolveRefuses,
    ::testing::Values(
        BadSpec{"Params", &RequestSpec::params, "banana", "--params", "banana"},
        BadSpec{"TinyParams", &RequestSpec::params, "1", "--params", ""},
        BadSpec{"TwoModels", &RequestSpec::model, "llama-2-13b", "--params and --model", "exactly one"},
        BadSpec{"NegativeTokens", &RequestSpec::tokens, "-5", "--tokens", ""},
        BadSpec{"ZeroTokens", &RequestSpec::tokens, "0", "--tokens", ""},
        BadSpec{"ZeroSeqLen", &RequestSpec::seq_len, "0", "--seq-len", "between 1"},
        BadSpec{"SmallBatch", &RequestSpec::global_batch_tokens, "100", "--global-batch-tokens", "one sequence"},
        BadSpec{"FractionBatch", &RequestSpec::global_batch, "1.5", "--global-batch", "whole number"},
        BadSpec{"Dtype", &RequestSpec::dtype, "bf61", "--dtype", "bf16"},
        BadSpec{"Optimizer", &RequestSpec::optimizer, "adamm", "--optimizer", "adamw"},
        BadSpec{"LoraRank", &RequestSpec::lora_rank, "8", "--lora-rank", "--finetune"},
        BadSpec{"Adapters", &RequestSpec::adapters, "dora", "--adapters", "--finetune"},
        BadSpec{"UnknownAdapters", &RequestSpec::adapters, "vera", "--adapters", "lora"},
        BadSpec{"Instance", &RequestSpec::instances, "ml.p4d.24xlrge", "--instances", "ml.p4d.24xlarge"},
        BadSpec{"Glob", &RequestSpec::instances, "ml.q*", "--instances", ""},
        BadSpec{"EmptyEntry", &RequestSpec::instances, "ml.p5.48xlarge,,", "--instances", "empty"},
        BadSpec{"Count", &RequestSpec::count, "0", "--count", "between 1 and 2048"},
        BadSpec{"Backwards", &RequestSpec::count, "8..2", "--count", "2..8"},
        BadSpec{"Market", &RequestSpec::market, "spott", "--market", "spot"},
        BadSpec{"Stack", &RequestSpec::stack, "megatronn", "--stack", "megatron"},
        BadSpec{"Collectives", Dimension::Collectives, "gloo", "--collectives", "nccl"},
        BadSpec{"Tp", Dimension::Tensor, "two", "--tp", "whole number"},
        BadSpec{"HugeTp", Dimension::Tensor, "99999999999999999999", "--tp", ""},
        BadSpec{"ZeroStage", &RequestSpec::zero_stage, "4", "--zero-stage", "0 and 3"},
        BadSpec{"Recompute", Dimension::Recompute, "al", "--recompute", "full"},
        BadSpec{"RecomputeLayers", Dimension::RecomputeLayers, "0", "--recompute-layers", "between 1 and"},
        BadSpec{"MoreLayersThanTheModel", Dimension::RecomputeLayers, "41..50", "--recompute-layers", "has 40"},
        BadSpec{"Offload", Dimension::Offload, "gpu", "--offload", "optimizer"},
        BadSpec{"SequenceParallel", Dimension::SequenceParallel, "maybe", "--sequence-parallel", "true"},
        BadSpec{"ExpertsOfDense", Dimension::Expert, "4", "--ep", "no experts"},
        BadSpec{"CutExpertsOfDense", Dimension::ExpertTensor, "4", "--etp", "no experts"},
        BadSpec{"LoraEmbeddings", &RequestSpec::lora_embeddings, "on", "--lora-embeddings", "full training"},
        BadSpec{"VirtualTokens", &RequestSpec::virtual_tokens, "20", "--virtual-tokens", "no virtual tokens"},
        BadSpec{"AdapterCount", &RequestSpec::adapter_count, "4", "--adapter-count", "without adapters"},
        BadSpec{"TrainedLayers", &RequestSpec::trained_layers, "tail", "--trained-layers", "last:8"},
        BadSpec{"MoreTrainedThanTheModel", &RequestSpec::trained_layers, "last:41", "--trained-layers",
                "has 40 blocks"},
        BadSpec{"FusedLoss", &RequestSpec::fused_loss, "liger", "--fused-loss", "true"},
        BadSpec{"Deadline", &RequestSpec::deadline, "7", "--deadline", ""},
        BadSpec{"Budget", &RequestSpec::budget, "lots", "--budget", "lots"},
        BadSpec{"NoBudget", &RequestSpec::budget, "0", "--budget", "nothing"},
        BadSpec{"Headroom", &RequestSpec::min_headroom, "100%", "--min-headroom", "all the memory"},
        BadSpec{"Objective", &RequestSpec::objective, "speed", "--objective", "unknown"},
        BadSpec{"Top", &RequestSpec::top, "0", "--top", "between 1"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Resolve, VirtualTokensAdaptNoLayer) {
  RequestSpec spec = spec_13b();
  spec.finetune = "lora";
  spec.adapters = "p-tuning";
  const auto workload = [&] { return resolve(spec, catalog(), std::nullopt, Purpose::Plan).value().workload; };
  const std::int64_t length = workload().data_lengths().longest;
  EXPECT_EQ(workload().seq_len, length + 20) << "as many as PEFT's pages have";
  spec.virtual_tokens = "100";
  EXPECT_EQ(workload().seq_len, length + 100);
  EXPECT_EQ(workload().data_lengths().longest, length);
  const auto faults = [&] {
    const auto request = resolve(spec, catalog(), std::nullopt, Purpose::Plan);
    return request ? std::string() : to_string(request.error());
  };
  spec.lora_rank = "8";
  EXPECT_THAT(faults(), AllOf(HasSubstr("--lora-rank"), HasSubstr("ptuning adapts no layer")));
  spec.lora_rank.reset();
  spec.virtual_tokens = "0";
  EXPECT_THAT(faults(), HasSubstr("--virtual-tokens"));
  // Positions of a prefix are learned too.
  spec = {.model = "gpt2", .seq_len = "1024", .finetune = "lora", .adapters = "prefix-tuning"};
  EXPECT_THAT(faults(), AllOf(HasSubstr("1024 positions, the sequence has 1044"), HasSubstr("--seq-len 1004 or less")));
  // Keys of a prefix are counted for layers that hold keys of one width.
  spec = {.model = "deepseek-v3", .finetune = "lora", .adapters = "prefix-tuning"};
  EXPECT_THAT(faults(), HasSubstr("what prefixtuning puts before the sequences of deepseek-v3 is not modelled"));
}

TEST(Resolve, FreezingGoesOnFromWeights) {
  const auto trained = [](const char* text) {
    RequestSpec spec = spec_13b();
    spec.trained_layers = text;
    const auto request = resolve(spec, catalog(), std::nullopt, Purpose::Plan);
    if (!request) return to_string(request.error());
    EXPECT_TRUE(request->workload.fine_tunes);
    return to_string(*request->workload.trained_layers);
  };
  EXPECT_EQ(trained("8"), "last:8");
  EXPECT_EQ(trained("32-39"), "last:8") << "a range to the end";
  EXPECT_EQ(trained("32-"), "last:8");
  EXPECT_EQ(trained("30-+head"), "last:10+head");
  EXPECT_EQ(trained("0-"), "first:40");
  EXPECT_EQ(trained("16-23"), "16-23");
  RequestSpec adapters = spec_13b();
  adapters.trained_layers = "last:8";
  adapters.finetune = "lora";
  EXPECT_EQ(faults_of(adapters).front().location, "--trained-layers");
}

TEST(Resolve, RefusesChunksOfAPipelineThatCannotBe) {
  const auto refused = [](const char* pp, const char* vpp) {
    RequestSpec spec = spec_13b();
    if (pp != nullptr) spec[Dimension::Pipeline] = pp;
    spec[Dimension::VirtualPipeline] = vpp;
    const Diagnostics faults = faults_of(spec);
    return !faults.empty() && faults.front().location == "--vpp and --pp";
  };
  EXPECT_TRUE(refused("1", "2"));
  EXPECT_TRUE(refused("1", "2,5"));
  EXPECT_FALSE(refused("1", "1,2"));
  EXPECT_FALSE(refused("1,2", "2"));
  EXPECT_FALSE(refused("2", "2"));
  EXPECT_FALSE(refused(nullptr, "2"));
}

struct Limit {
  const char* name;
  test::SpecField field;
  const char* last;
  const char* beyond;
  const char* location;
};
class ResolveLimits : public ::testing::TestWithParam<Limit> {};

TEST_P(ResolveLimits, TakeTheLastValueAndRefuseTheNext) {
  const Limit& limit = GetParam();
  const auto refused = [&](const char* value) {
    RequestSpec spec = spec_13b();
    limit.field.of(spec) = value;
    for (const Diagnostic& d : faults_of(spec)) {
      if (d.location == limit.location) return true;
    }
    return false;
  };
  EXPECT_FALSE(refused(limit.last));
  EXPECT_TRUE(refused(limit.beyond));
}

INSTANTIATE_TEST_SUITE_P(
    Flags, ResolveLimits,
    ::testing::Values(Limit{"SeqLen", &RequestSpec::seq_len, "16777216", "16777217", "--seq-len"},
                      Limit{"OneToken", &RequestSpec::seq_len, "1", "0", "--seq-len"},
                      Limit{"Batch", &RequestSpec::global_batch, "16777216", "16777217", "--global-batch"},
                      Limit{"OneSequence", &RequestSpec::global_batch, "1", "0", "--global-batch"},
                      Limit{"BatchTokens", &RequestSpec::global_batch_tokens, "4096", "4095", "--global-batch-tokens"},
                      Limit{"MostTokens", &RequestSpec::global_batch_tokens, "68719476736", "68719480832",
                            "--global-batch-tokens"},
                      Limit{"Count", &RequestSpec::count, "2048", "2049", "--count"},
                      Limit{"Jobs", &RequestSpec::jobs, "1000000", "1000001", "--jobs"},
                      Limit{"OneJob", &RequestSpec::jobs, "1", "0", "--jobs"},
                      Limit{"OneInstance", &RequestSpec::count, "1", "0", "--count"},
                      Limit{"Top", &RequestSpec::top, "1000", "1001", "--top"},
                      Limit{"Headroom", &RequestSpec::min_headroom, "99.9%", "100%", "--min-headroom"},
                      Limit{"Budget", &RequestSpec::budget, "0.01", "0", "--budget"},
                      Limit{"Hourly", &RequestSpec::max_hourly, "0.01", "0", "--max-hourly"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Resolve, TakesForAHybridTheStacksThatHaveItsKernels) {
  RequestSpec spec;
  spec.model = "nemotron-h-8b";
  for (const Stack* stack : request_of(spec).stacks) EXPECT_TRUE(stack->state_mixers) << stack->id;
  spec.stack = "torchtitan";
  const Diagnostic fault = fault_of(spec);
  EXPECT_EQ(fault.location, "--stack");
  EXPECT_EQ(
      fault.message,
      "torchtitan (FSDP2, TP, PP, CP, EP) has no state mixers, nemotron-h-8b has (Mamba-2 or the gated delta rule)");
  EXPECT_THAT(fault.hint, HasSubstr("megatron"));
  EXPECT_THAT(fault.hint, Not(HasSubstr("torchtitan")));
}

TEST(Resolve, CollectsEveryFaultInOnePass) {
  RequestSpec spec = spec_13b();
  spec.tokens = "none";
  spec.instances = "ml.p9.48xlarge";
  spec[Dimension::Tensor] = "x";
  spec.deadline = "soon";
  std::vector<std::string> where;
  for (const Diagnostic& d : faults_of(spec)) where.push_back(d.location);
  EXPECT_THAT(where, ElementsAre("--tokens", "--instances", "--tp", "--deadline"));
}

TEST(Resolve, NeedsAModel) {
  const Diagnostic d = fault_of(RequestSpec{});
  EXPECT_EQ(d.code, "no-model");
}

TEST(Resolve, SaysWhyNoTypeIsLeft) {
  RequestSpec spec = spec_13b();
  spec.instances = "ml.p3.2xlarge";
  spec.region = "ap-northeast-1";
  const Diagnostics faults = faults_of(spec);
  ASSERT_FALSE(faults.empty());
  EXPECT_THAT(to_string(faults), HasSubstr("ml.p3.2xlarge"));
}

TEST(Resolve, ShowsThreeReasonsAndCountsTheRest) {
  const auto refusal_of = [](const char* instances) {
    RequestSpec spec = spec_13b();
    spec.instances = instances;
    spec.region = "ap-northeast-1";
    spec.market = "capacity-block";
    return fault_of(spec).message;
  };
  const std::string three = refusal_of("ml.p3.2xlarge,ml.p3.8xlarge,ml.p3.16xlarge");
  EXPECT_THAT(three, HasSubstr("ml.p3.16xlarge"));
  EXPECT_THAT(three, Not(HasSubstr("more")));
  EXPECT_THAT(refusal_of("ml.p3.2xlarge,ml.p3.8xlarge,ml.p3.16xlarge,ml.g5.xlarge"), HasSubstr("; and 1 more"));
}

TEST(ResolveEstimate, IsAboutOneTypeAndOneCount) {
  RequestSpec spec = spec_13b();
  spec.count = "8,16";
  std::vector<std::string> where;
  for (const Diagnostic& d : faults_of(spec, Purpose::Estimate)) where.push_back(d.location);
  EXPECT_THAT(where, ElementsAre("--instances", "--count"));
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "8";
  const auto r = resolve(spec, catalog(), std::nullopt, Purpose::Estimate);
  ASSERT_TRUE(r) << to_string(r.error());
  EXPECT_THAT((*r)[Dimension::Tensor].values, ElementsAre(1));
  EXPECT_THAT((*r)[Dimension::Pipeline].values, ElementsAre(1));
  EXPECT_TRUE((*r)[Dimension::Data].any());
}

TEST(ResolveEstimate, RefusesDegreesThatDoNotMultiplyToTheDevices) {
  RequestSpec spec = spec_13b();
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "8";
  spec[Dimension::Tensor] = "8";
  spec[Dimension::Data] = "4";
  const Diagnostic d = fault_of(spec, Purpose::Estimate);
  EXPECT_EQ(d.location, "--dp");
  EXPECT_THAT(d.message, HasSubstr("64"));
}

TEST(Defaults, BatchesAreThoseOfTheScalingLaw) {
  // Bi et al. 2024, table 2: 2304 sequences of 4096 for 7B and 4608 for 67B, 2T tokens each.
  EXPECT_NEAR(default_batch_tokens(Flops(6 * 6.9e9 * 2e12)) / (2304 * 4096), 1, 0.05);
  EXPECT_NEAR(default_batch_tokens(Flops(6 * 67.4e9 * 2e12)) / (4608 * 4096), 1, 0.05);
  EXPECT_DOUBLE_EQ(default_batch_tokens(Flops(1e20)), 0.2920 * std::pow(1e20, 0.3271));
}

TEST(Defaults, BatchGrowsWithModelAndTokensAndIsAPowerOfTwo) {
  const auto batch = [](const char* model, double tokens) {
    return default_global_batch(catalog().find_model(model)->architecture, tokens, 4096);
  };
  EXPECT_EQ(batch("llama-2-7b", 140e9), 1024);
  EXPECT_EQ(batch("llama-2-7b", 2e12), 2048);
  EXPECT_EQ(batch("llama-2-70b", 2e12), 4096);
  EXPECT_EQ(batch("mixtral-8x7b", 140e9), 1024) << "13B of 47B parameters are active";
  EXPECT_EQ(sequences_of(4e6, 4096), 1024);
  EXPECT_EQ(sequences_of(3e6, 4096), 732);
  EXPECT_EQ(sequences_of(1, 4096), 1);
}

TEST(Defaults, PublishedBatchesDivide) {
  EXPECT_EQ(published_batch(1538 * 2048, 2048), 1536);
  EXPECT_EQ(published_batch(15360 * 4096, 4096), 15360);
  EXPECT_EQ(published_batch(4e6, 4096), 1024);
  EXPECT_EQ(published_batch(63 * 512, 512), 64);
  EXPECT_EQ(published_batch(40 * 512, 512), 40);
}

TEST(Defaults, APresetsPublishedBatchIsTakenAndNamed) {
  RequestSpec spec;
  spec.model = "deepseek-v3";
  const PlanRequest r = request_of(spec);
  EXPECT_EQ(r.workload.global_batch, 15360);
  EXPECT_THAT(fmt::format("{}", fmt::join(r.assumptions, "; ")),
              HasSubstr("15360 sequences (62.9M tokens: DeepSeek-AI 2024 (V3)"));
  spec.seq_len = "8192";
  EXPECT_EQ(request_of(spec).workload.global_batch, 7680) << "tokens are what was published";
  spec.finetune = "full";
  EXPECT_EQ(request_of(spec).workload.global_batch, 128) << "of pre-training, not of fine-tuning";
}

TEST(Defaults, ABatchWithinATwentiethOfAPowerOfTwoIsThatPower) {
  EXPECT_EQ(sequences_of(1024, 1), 1024);
  EXPECT_EQ(sequences_of(976, 1), 1024);
  EXPECT_EQ(sequences_of(975, 1), 975);
  EXPECT_EQ(sequences_of(1077, 1), 1024);
  EXPECT_EQ(sequences_of(1078, 1), 1078);
}

TEST(Defaults, SequencesAreThoseOfTheModelAndAtMost4096ByThemselves) {
  Architecture a = small_model(4, 512, 8);
  a.max_positions = 1024;
  EXPECT_EQ(default_seq_len(a, 0), 1024);
  EXPECT_EQ(default_seq_len(a, 8192), 8192) << "what the preset says";
  a.max_positions = 131072;
  EXPECT_EQ(default_seq_len(a, 0), 4096);
  a.max_positions = 0;
  EXPECT_EQ(default_seq_len(a, 0), 4096);
}

TEST(Defaults, FineTuningTrainsOnTheSameTokensWhateverIsTrained) {
  RequestSpec spec = spec_13b();
  EXPECT_FALSE(request_of(spec).workload.fine_tunes);
  EXPECT_DOUBLE_EQ(request_of(spec).workload.tokens,
                   20.0 * static_cast<double>(count_parameters(request_of(spec).workload.architecture).total()));
  for (const char* mode : {"full", "lora", "qlora"}) {
    for (const char* rank : {"8", "256"}) {
      spec.finetune = mode;
      if (std::string_view(mode) != "full") spec.lora_rank = rank;
      const PlanRequest r = request_of(spec);
      EXPECT_TRUE(r.workload.fine_tunes);
      EXPECT_DOUBLE_EQ(r.workload.tokens, 3 * 52002 * 128.0) << mode;
      EXPECT_EQ(r.workload.global_batch, 128);
      spec.lora_rank.reset();
    }
  }
}

TEST(Fields, RangesAreSortedWithoutRepeats) {
  Diagnostics out;
  EXPECT_THAT(parse_integers("8, 1..3,2", "--tp", 1, 64, out), ElementsAre(1, 2, 3, 8));
  EXPECT_THAT(out, IsEmpty());
}

TEST(Resolve, ADeadlineOnADayIsTheTimeThatIsLeftUntilItsEnd) {
  const test::EnvironmentVariable zone("TZ", "America/Los_Angeles");
  const Instant thursday = *instant_of(*parse_civil_time("2026-11-26T17:00-08:00", ""), "", "");
  const auto deadline = [&](const char* text) {
    RequestSpec spec = spec_13b();
    spec.deadline = text;
    return resolve(spec, catalog(), std::nullopt, Purpose::Plan, thursday);
  };
  const auto friday = deadline("Friday");
  ASSERT_TRUE(friday);
  EXPECT_EQ(*friday->deadline, hours(31)) << "Thursday evening's and all of Friday";
  EXPECT_EQ(to_string(*friday->due), "2026-11-27 24:00 UTC-08:00");
  EXPECT_THAT(friday->assumptions, Contains("the run is ordered at 2026-11-26 17:00 UTC-08:00 and must be done "
                                            "by 2026-11-27 24:00 UTC-08:00, the end of that day"));
  EXPECT_EQ(*deadline("36h")->deadline, hours(36));
  EXPECT_FALSE(deadline("36h")->due);
  EXPECT_EQ(deadline("2026-02-30").error().front().location, "--deadline");
}

/// What a request asks for, without the sentences that quote it.
std::string meaning(const PlanRequest& r) {
  std::vector<std::string> parts{
      r.workload.architecture.name,
      format_shortest(r.workload.tokens),
      std::to_string(r.workload.seq_len),
      std::to_string(r.workload.global_batch),
      std::string(to_string(r.workload.precision)),
      std::string(to_string(r.workload.optimizer)),
      std::string(to_string(r.workload.finetune)),
      r.region,
      market_list(r),
      std::to_string(r.deadline.value_or(Seconds(0)).value()),
      std::to_string(r.run.series.gap.value()),
      format_shortest(r.min_headroom),
      format_shortest(r.confidence.value_or(0)),
      format_shortest(r.budget.value_or(Usd(0)).value()),
      std::string(to_string(r.objective)),
      to_string(r.scenario),
      std::string(to_string(r.run.checkpoint_target)),
      std::to_string(r.run.data ? static_cast<int>(r.run.data->mode.value_or(InputMode::File)) : -1)};
  for (const InstanceType* i : r.instances) parts.push_back(i->name);
  for (const std::int32_t n : r.counts) parts.push_back(std::to_string(n));
  for (const std::int32_t n : r[Dimension::Tensor].values) parts.push_back(std::to_string(n));
  for (const Stack* stack : r.stacks) parts.emplace_back(stack->id);
  for (const Sharding sharding : r[Dimension::Sharding].as<Sharding>()) parts.emplace_back(to_string(sharding));
  for (const Recompute recompute : r[Dimension::Recompute].as<Recompute>()) parts.emplace_back(to_string(recompute));
  for (const Offload& offload : r[Dimension::Offload].as<Offload>()) parts.push_back(to_string(offload));
  for (const Collectives collectives : r[Dimension::Collectives].as<Collectives>())
    parts.emplace_back(to_string(collectives));
  return fmt::format("{}", fmt::join(parts, " | "));
}

struct TypedWord {
  Field field;
  const char* typed;
  const char* meant;
};

TEST(TypedWords, AreTakenWhereNothingElseCanBeMeant) {
  constexpr TypedWord kWords[] = {
      {&RequestSpec::tokens, "1.4t", "1.4T"},
      {&RequestSpec::tokens, "300bn", "300B"},
      {&RequestSpec::tokens, "300 Billion", "300B"},
      {&RequestSpec::global_batch_tokens, "4m", "4M"},
      {&RequestSpec::seq_len, "4k", "4096"},
      {&RequestSpec::seq_len, "8K", "8192"},
      {&RequestSpec::seq_len, "32k", "32768"},
      {&RequestSpec::seq_len, "128k", "131072"},
      {&RequestSpec::seq_len, "1M", "1048576"},
      {&RequestSpec::finetune, "LoRA", "lora"},
      {&RequestSpec::finetune, "QLoRA", "qlora"},
      {&RequestSpec::dtype, "BF16", "bf16"},
      {&RequestSpec::dtype, "bf-16", "bf16"},
      {&RequestSpec::optimizer, "AdamW", "adamw"},
      {&RequestSpec::optimizer, "SGD Momentum", "sgd-momentum"},
      {&RequestSpec::optimizer, "sgd_momentum", "sgd-momentum"},
      {&RequestSpec::instances, "ml.P5.48XLARGE", "ml.p5.48xlarge"},
      {&RequestSpec::instances, "p5.48xlarge", "ml.p5.48xlarge"},
      {&RequestSpec::instances, "P4D.24xlarge, p5.48xlarge", "ml.p4d.24xlarge,ml.p5.48xlarge"},
      {&RequestSpec::instances, "p5*", "ml.p5*"},
      {&RequestSpec::instances, "ML.P5*", "ml.p5*"},
      {&RequestSpec::instances, "p5", "ml.p5.*"},
      {&RequestSpec::instances, "ml.p5", "ml.p5.*"},
      {&RequestSpec::instances, "P4d", "ml.p4d.24xlarge"},
      {&RequestSpec::region, "US-WEST-2", "us-west-2"},
      {&RequestSpec::market, "all", "on-demand,spot,capacity-block,savings-plan"},
      {&RequestSpec::market, "ALL", "on-demand,spot,capacity-block,savings-plan"},
      {&RequestSpec::market, "On-Demand,SPOT", "on-demand,spot"},
      {&RequestSpec::market, "on_demand", "on-demand"},
      {&RequestSpec::market, "Training Plan", "training-plan"},
      {&RequestSpec::stack, "pytorch-fsdp", "fsdp"},
      {&RequestSpec::stack, "pytorch fsdp", "fsdp"},
      {&RequestSpec::stack, "FSDP", "fsdp"},
      {&RequestSpec::stack, "Megatron_LM", "megatron"},
      {&RequestSpec::stack, "deep-speed", "deepspeed"},
      {&RequestSpec::stack, "openrlhf", "deepspeed"},
      {Dimension::Collectives, "NCCL", "nccl"},
      {&RequestSpec::count, "1-8", "1..8"},
      {&RequestSpec::count, "1 - 8", "1..8"},
      {&RequestSpec::count, "2,4-6", "2,4,5,6"},
      {Dimension::Tensor, "1-4", "1..4"},
      {Dimension::Sharding, "ZeRO-3", "zero3"},
      {Dimension::Sharding, "FSDP_FULL", "fsdp-full"},
      {Dimension::Recompute, "Selective", "selective"},
      {Dimension::Offload, "Optimizer+NVMe", "optimizer+nvme"},
      {&RequestSpec::checkpoint_storage, "S3", "s3"},
      {&RequestSpec::checkpoint_storage, "FSx Lustre", "fsx-lustre"},
      {&RequestSpec::objective, "Time", "time"},
      {&RequestSpec::deadline, "14 days", "14d"},
      {&RequestSpec::deadline, "2weeks", "2w"},
      {&RequestSpec::deadline, "36 Hours", "36h"},
      {&RequestSpec::deadline, "1 h 30 min", "1.5h"},
      {&RequestSpec::min_headroom, "5", "5%"},
      {&RequestSpec::min_headroom, "10 %", "10%"},
      {&RequestSpec::budget, "$1.5m", "1.5M"},
      {&RequestSpec::what_if, "EFA=2X", "efa=2x"},
      {&RequestSpec::what_if, "memory_bandwidth=+10%", "memory-bandwidth=+10%"},
  };
  const auto understood = [](Field field, const char* text) {
    RequestSpec spec = spec_13b();
    field.of(spec) = text;
    return resolve(spec, catalog(), std::nullopt);
  };
  for (const TypedWord& word : kWords) {
    const auto typed = understood(word.field, word.typed);
    const auto meant = understood(word.field, word.meant);
    ASSERT_TRUE(meant) << word.meant << ": " << to_string(meant.error());
    ASSERT_TRUE(typed) << word.typed << ": " << to_string(typed.error());
    EXPECT_EQ(meaning(*typed), meaning(*meant)) << word.typed;
  }
  RequestSpec small;
  small.params = "13b";
  EXPECT_EQ(meaning(request_of(small)), meaning(request_of(spec_13b())));
}

struct RefusedWord {
  Field field;
  const char* typed;
  const char* hint;
};

TEST(TypedWords, AreRefusedWithAHintWhereTheyCouldMeanSomethingElse) {
  constexpr RefusedWord kWords[] = {
      {&RequestSpec::tokens, "300GB", "suffixes: k, M, B (or G), T, in powers of 1000"},
      {&RequestSpec::dataset, "500gb", "write 500GB or 500GiB; sizes are in bytes"},
      {&RequestSpec::dataset, "500G", "write 500GB or 500GiB"},
      {&RequestSpec::deadline, "3M", "months differ in length: write days such as 30d; minutes are 3min"},
      {&RequestSpec::deadline, "2 months", "months differ in length: write days such as 30d; minutes are 2min"},
      {&RequestSpec::deadline, "14", "write for example 36h or 7d"},
      {&RequestSpec::min_headroom, "1.5", "write 1.5% for a percentage"},
      {&RequestSpec::seq_len, "4kB", "give a whole number from 1 to 16777216"},
      {&RequestSpec::seq_len, "1.3k", "give a whole number from 1 to 16777216"},
      {&RequestSpec::instances, "p9", "`smplan catalog list instances` lists the known"},
      {&RequestSpec::count, "8-1", "write 1..8"},
      {&RequestSpec::count, "1-8-9", "give a whole number from 1 to 2048"},
      {&RequestSpec::optimizer, "shampoo", "known: adamw"},
      {Dimension::Offload, "nvme", "nvme says where states wait: write optimizer+nvme or optimizer+params+nvme"},
      {&RequestSpec::stack, "Nemo Megatron", "did you mean"},
      {&RequestSpec::stack, "colossalai-gemini", "`smplan catalog list stacks` lists the known"},
      {&RequestSpec::what_if, "efa=20%", "write efa=+10%, efa=-20% or efa=2x"},
  };
  for (const RefusedWord& word : kWords) {
    RequestSpec spec = spec_13b();
    word.field.of(spec) = word.typed;
    EXPECT_THAT(fault_of(spec).hint, HasSubstr(word.hint)) << word.typed;
  }
}

TEST(TypedWords, OfModelsThatAreNotKnownHaveHints) {
  struct Case {
    const char* model;
    const char* hint;
  };
  constexpr const char* kNoConvolutions =
      "smplan knows transformers (decoders, encoders, T5, ViT) and state-space models, no convolutional networks";
  constexpr Case kCases[] = {{"bert", "did you mean bert-base, bert-large?"},
                             {"resnet50", kNoConvolutions},
                             {"EfficientNet-B0", kNoConvolutions},
                             {"llama-2-13", "did you mean llama-2-13b"},
                             {"zzzzzzzzzzzzzzzz", "`smplan models list` lists the known"}};
  for (const Case& c : kCases) {
    RequestSpec spec;
    spec.model = c.model;
    EXPECT_THAT(fault_of(spec).hint, HasSubstr(c.hint)) << c.model;
  }
}

TEST(TypedWords, LengthsSayWhatTheyAreTakenAs) {
  RequestSpec spec = spec_13b();
  spec.seq_len = "4k";
  EXPECT_THAT(request_of(spec).assumptions, Contains("--seq-len 4k is taken as 4096"));
  for (const char* plain : {"4096", "4e3"}) {
    spec.seq_len = plain;
    EXPECT_THAT(request_of(spec).assumptions, Not(Contains(HasSubstr("is taken as")))) << plain;
  }
}

TEST(Estimate, IsOfOneInstanceUnlessACountIsGiven) {
  RequestSpec spec = spec_13b();
  spec.instances = "ml.p4d.24xlarge";
  const auto one = resolve(spec, catalog(), std::nullopt, Purpose::Estimate);
  ASSERT_TRUE(one) << to_string(one.error());
  EXPECT_THAT(one->counts, ElementsAre(1));
  EXPECT_THAT(one->assumptions, Contains("1 instance"));
  spec.count = "1,2";
  EXPECT_EQ(fault_of(spec, Purpose::Estimate).location, "--count");
  spec.count.reset();
  spec.instances = "p5";
  EXPECT_EQ(fault_of(spec, Purpose::Estimate).location, "--instances") << "a family of several";
}

TEST(RequestWords, AreHintedAtWhereOtherToolsHaveThem) {
  const auto hint = [](const char* words) {
    const auto read = read_request_words(words, {}, "ALTERNATIVE");
    return read ? std::string() : read.error().front().hint;
  };
  EXPECT_EQ(hint("epochs=3"), "give --tokens: samples x tokens of a sample x epochs");
  EXPECT_EQ(hint("batch-size=3"), hint_for_foreign_word("batch_size"));
  EXPECT_EQ(hint("instances=ml.p5.48xlarge,count=4"), "write blanks between words: 'instances=ml.p5.48xlarge count=4'");
  EXPECT_EQ(hint("instances=ml.p5.48xlarge,ml.p4d.24xlarge count=4"), "") << "a list of one setting";
  EXPECT_EQ(hint("what-if=price=-20%,efa=2x"), "") << "changes are no settings";
  EXPECT_EQ(hint_for_foreign_word("tokens"), "");
}

TEST(Resolve, TakesSeveralMarketsOnce) {
  RequestSpec spec = spec_13b();
  spec.market = "spot,on-demand,spot,training-plan";
  const PlanRequest r = request_of(spec);
  EXPECT_THAT(r.markets, ElementsAre(Market::Spot, Market::OnDemand, Market::CapacityBlock));
  EXPECT_EQ(market_list(r), "spot,on-demand,capacity-block");
  spec.market = "spot,lease";
  EXPECT_EQ(fault_of(spec).location, "--market");
}

TEST(Resolve, PlansRunOutOfMemoryAtMostOnceInTwenty) {
  RequestSpec spec = spec_13b();
  EXPECT_EQ(request_of(spec).max_oom_probability, 0.05);
  EXPECT_EQ(request_of(spec).min_headroom, 0);
  spec.max_oom_probability = "1%";
  EXPECT_EQ(request_of(spec).max_oom_probability, 0.01);
  for (const char* bad : {"0", "100%", "often"}) {
    spec.max_oom_probability = bad;
    EXPECT_EQ(fault_of(spec).location, "--max-oom-probability") << bad;
  }
}

TEST(Resolve, DeadlinesAndBudgetsMeanNineTimesInTen) {
  RequestSpec spec = spec_13b();
  EXPECT_FALSE(request_of(spec).confidence);
  spec.confidence = "80%";
  EXPECT_EQ(fault_of(spec).location, "--confidence");
  for (const bool deadline : {true, false}) {
    RequestSpec limited = spec_13b();
    (deadline ? limited.deadline : limited.budget) = deadline ? "7d" : "50000";
    EXPECT_EQ(request_of(limited).confidence, 0.9);
    limited.confidence = "60%";
    EXPECT_EQ(request_of(limited).confidence, 0.6);
  }
}

TEST(Resolve, TheHorizonIsOneJobUnlessADeadlineSetsIt) {
  RequestSpec spec = spec_13b();
  EXPECT_EQ(request_of(spec).horizon, days(28));
  spec.deadline = "7d";
  EXPECT_EQ(request_of(spec).horizon, days(7));
  spec.deadline = "100d";
  EXPECT_EQ(request_of(spec).horizon, days(100));
}

TEST(Resolve, AWarmPoolWaitsForASeriesSixHoursAtMost) {
  RequestSpec spec = spec_13b();
  spec.jobs = "2";
  spec.warm_pool = "on";
  const auto wait = [&](const char* gap) {
    spec.job_gap = gap;
    return request_of(spec).assumptions;
  };
  EXPECT_THAT(wait("60m"), Not(Contains(HasSubstr("warm pool wait"))));
  EXPECT_THAT(wait("61m"), Contains(HasSubstr("a quota that lets a warm pool wait")));
  EXPECT_THAT(wait("6h"), Contains(HasSubstr("a quota that lets a warm pool wait")));
  spec.job_gap = "361m";
  EXPECT_EQ(fault_of(spec).location, "--job-gap");
  spec.job_gap = "1m";
  spec.jobs = "1";
  EXPECT_EQ(fault_of(spec).location, "--job-gap") << "there is no gap";
  spec.job_gap.reset();
  EXPECT_EQ(fault_of(spec).location, "--warm-pool");
  spec.jobs = "2";
  spec.market = "spot";
  EXPECT_EQ(fault_of(spec).location, "--warm-pool");
}

TEST(Resolve, SaysHowARunStartsFailsAndIsSaved) {
  const auto operation = [](const RequestSpec& spec) {
    for (const std::string& said : request_of(spec).assumptions) {
      if (said.starts_with("hardware fails")) return said;
    }
    return std::string();
  };
  RequestSpec spec = spec_13b();
  const Operations& o = request_of(spec).run.operations;
  const std::string start = format_duration(o.provisioning + o.image_pull + o.model_init + o.first_step);
  EXPECT_THAT(operation(spec), HasSubstr("a start takes " + start));
  EXPECT_THAT(operation(spec), HasSubstr("checkpoints go to s3"));
  EXPECT_THAT(operation(spec), HasSubstr("data is streamed fast enough"));
  EXPECT_THAT(operation(spec), Not(HasSubstr("reclaimed")));
  spec.checkpoint_storage = "none";
  spec.dataset = "1GB";
  spec.market = "on-demand,spot";
  EXPECT_THAT(operation(spec), Not(HasSubstr("checkpoints")));
  EXPECT_THAT(operation(spec), Not(HasSubstr("streamed")));
  EXPECT_THAT(operation(spec), HasSubstr("reclaimed capacity is back"));
}

TEST(Resolve, ADataSetHasFilesAndSamples) {
  RequestSpec spec = spec_13b();
  spec.dataset = "2TB";
  spec.dataset_files = "1000000000000";
  spec.data_region = "eu-west-1";
  EXPECT_EQ(request_of(spec).run.data->files, 1'000'000'000'000);
  EXPECT_TRUE(request_of(spec).run.data->other_region);
  spec.data_region = "us-east-1";
  EXPECT_FALSE(request_of(spec).run.data->other_region);
  spec.sample_size = "0";
  EXPECT_EQ(fault_of(spec).location, "--sample-size");
  spec.sample_size.reset();
  spec.dataset_files = "1000000000001";
  EXPECT_EQ(fault_of(spec).location, "--dataset-files");
  spec.dataset_files.reset();
  spec.dataset = "0";
  EXPECT_EQ(fault_of(spec).location, "--dataset");
}

TEST(Resolve, ASampleNeedsADataSet) {
  RequestSpec spec = spec_13b();
  spec.sample_size = "600kB";
  EXPECT_EQ(fault_of(spec).location, "--sample-size");
  spec.dataset = "2TB";
  EXPECT_EQ(request_of(spec).run.data->sample, Bytes(600e3));
}

TEST(ResolveFormats, FrameworksWordsAreTakenAndSaid) {
  struct Word {
    const char* word;
    Precision precision;
    bool pure;
  };
  for (const Word& w : {Word{"bf16-true", Precision::Bf16, true}, Word{"pure bf16", Precision::Bf16, true},
                        Word{"16-true", Precision::Fp16, true}, Word{"bf16-mixed", Precision::Bf16, false},
                        Word{"AMP", Precision::Fp16, false}, Word{"mixed_float16", Precision::Fp16, false},
                        Word{"nvfp4", Precision::Fp4, false}, Word{"mxfp8", Precision::Fp8, false},
                        Word{"float32", Precision::Fp32, false}}) {
    RequestSpec spec = spec_13b();
    spec.dtype = w.word;
    const PlanRequest r = request_of(spec);
    EXPECT_EQ(r.workload.precision, w.precision) << w.word;
    EXPECT_EQ(r[Dimension::PureHalf].values == std::vector{dimension_value(Toggle::On)}, w.pure) << w.word;
    EXPECT_FALSE(r.precision_defaulted) << w.word;
    EXPECT_THAT(r.assumptions, Contains(HasSubstr(fmt::format("--dtype {} is taken as", w.word))));
  }
  RequestSpec plain = spec_13b();
  plain.dtype = "fp4";
  EXPECT_THAT(request_of(plain).assumptions, Not(Contains(HasSubstr("--dtype"))));
  RequestSpec unknown = spec_13b();
  unknown.dtype = "int8";
  EXPECT_EQ(fault_of(unknown).location, "--dtype");
}

TEST(ResolveFormats, TheLossHasWords) {
  for (const auto& [word, fused] : {std::pair("plain", false), std::pair("off", false), std::pair("fused", true),
                                    std::pair("Chunked", true), std::pair("on", true)}) {
    RequestSpec spec = spec_13b();
    spec.fused_loss = word;
    spec.stack = "fsdp";
    const Stack* stack = request_of(spec).stacks.front();
    EXPECT_EQ(stack->execution.loss_kernel, fused ? LossKernel::Linear : LossKernel::Default) << word;
  }
  RequestSpec unknown = spec_13b();
  unknown.fused_loss = "sometimes";
  EXPECT_THAT(fault_of(unknown).hint, HasSubstr("chunked"));
}

TEST(ResolveStacks, WhatANamePromisesAndIsNotModelledIsSaid) {
  for (const auto& [name, id] :
       {std::pair("trl", "hf-trainer"), std::pair("openrlhf", "deepspeed"), std::pair("OpenRLHF", "deepspeed")}) {
    RequestSpec spec = spec_13b();
    spec.stack = name;
    const PlanRequest r = request_of(spec);
    ASSERT_EQ(r.stack_notes.size(), 1U) << name;
    EXPECT_EQ(r.stack_notes.front().first->id, id);
    EXPECT_THAT(r.stack_notes.front().second, HasSubstr("not modelled"));
  }
  RequestSpec plain = spec_13b();
  plain.stack = "deepspeed";
  EXPECT_THAT(request_of(plain).stack_notes, IsEmpty());
  for (const char* name : {"verl", "NeMo-RL", "slime"}) {
    RequestSpec spec = spec_13b();
    spec.stack = name;
    EXPECT_THAT(fault_of(spec).message, HasSubstr("reinforcement")) << name;
  }
}

std::vector<std::string> notes_of(RequestSpec spec) {
  spec.model = "bert-large";
  spec.instances = "ml.p4d.24xlarge";
  if (!spec.count) spec.count = "2";
  const PlanRequest r = request_of(spec);
  const Result<PlanSet> set = estimate(r, catalog(), {});
  EXPECT_TRUE(set) << to_string(set.error());
  return set ? set->plans.front().warnings : std::vector<std::string>{};
}

// What is asked for and not modelled stands in the plan, not only among what was assumed.
TEST(EstimateNotes, SayWhatIsNotModelled) {
  RequestSpec spec;
  spec.stack = "TRL";
  EXPECT_THAT(notes_of(spec), Contains(HasSubstr("reinforcement and preference learning")));
  spec.stack = "ddp";
  EXPECT_THAT(notes_of(spec), Not(Contains(HasSubstr("not modelled"))));
  EXPECT_THAT(notes_of(spec), Not(Contains(HasSubstr("SMDDP"))));
  spec[Dimension::Collectives] = "smddp";
  EXPECT_THAT(notes_of(spec), Contains(HasSubstr("SMDDP is priced as NCCL")));
  RequestSpec pure;
  pure.stack = "fsdp";
  pure.dtype = "bf16-true";
  EXPECT_THAT(notes_of(pure), Contains(HasSubstr("without fp32 copies")));
  RequestSpec served;
  served.stack = "parameter-server";
  served.dtype = "fp16";
  EXPECT_THAT(notes_of(served), Contains(HasSubstr("7 of the 8 devices of each ml.p4d.24xlarge stay idle")));
}

TEST(EstimateNotes, AParameterServerHasAWorkerAHost) {
  RequestSpec spec;
  spec.model = "bert-large";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "4";
  spec.stack = "parameter-server";
  spec.dtype = "fp16";
  spec[Dimension::Data] = "4";
  const Result<PlanSet> set = estimate(request_of(spec), catalog(), {});
  ASSERT_TRUE(set) << to_string(set.error());
  EXPECT_EQ(set->plans.front().gpus(), 4);
  spec[Dimension::Data] = "32";
  EXPECT_FALSE(resolve(spec, catalog(), std::nullopt, Purpose::Estimate));
}

// Whose program trains decides how sure its time is, not how long it is.
TEST(ResolveProgram, ATunedRecipeIsSurerAndAsFast) {
  RequestSpec spec = spec_13b();
  spec.instances = "ml.p5.48xlarge";
  spec.count = "4";
  spec.stack = "megatron";
  const PlanSet user = search(request_of(spec), catalog());
  const auto says = [](const PlanSet& set) {
    const std::vector<std::string>& all = set.request.assumptions;
    return std::any_of(all.begin(), all.end(),
                       [](const std::string& s) { return s.starts_with("a user's own program"); });
  };
  EXPECT_TRUE(says(user));
  spec.program = "tuned";
  const PlanSet tuned = search(request_of(spec), catalog());
  EXPECT_FALSE(says(tuned));
  ASSERT_FALSE(user.plans.empty());
  ASSERT_FALSE(tuned.plans.empty());
  const StepEstimate& a = user.plans.front().step;
  const StepEstimate& b = tuned.plans.front().step;
  EXPECT_EQ(a.time(), b.time());
  EXPECT_LT(b.p90 / b.p10, 0.9 * (a.p90 / a.p10));
  spec.program = "fast";
  EXPECT_THAT(fault_of(spec).hint, HasSubstr("tuned"));
}

TEST(ResolveStacks, AStackOfOneMachineDoesNotSpanSeveral) {
  RequestSpec spec = spec_13b();
  spec.stack = "MirroredStrategy";
  spec.count = "2";
  EXPECT_THAT(fault_of(spec).hint, HasSubstr("MultiWorkerMirroredStrategy"));
  spec.count = "1..4";
  EXPECT_EQ(request_of(spec).stacks.front()->id, "mirrored");
  spec.stack = "multi_worker_mirrored_strategy";
  spec.count = "2";
  EXPECT_EQ(request_of(spec).stacks.front()->id, "multi-worker-mirrored");
}

}  // namespace
}  // namespace smplan::test
