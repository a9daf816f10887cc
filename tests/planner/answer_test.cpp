// The whole way from a request to what people and programs read.

#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/csv_reader.hpp"
#include "planner/analysis/explain.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/search/estimate.hpp"
#include "planner/search/search.hpp"
#include "tests/planner/fixtures.hpp"
#include "tests/support/spec_field.hpp"

namespace smplan::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using Json = nlohmann::json;

PlanSet plans_of(const RequestSpec& spec) { return search(request_of(spec), catalog(), {.threads = 2}); }

RequestSpec small_request() {
  RequestSpec spec;
  spec.params = "7B";
  spec.instances = "ml.p4d.24xlarge,ml.p5.48xlarge";
  spec.count = "1..8";
  return spec;
}

double sum_of(const Json& parts) {
  double sum = 0;
  for (const auto& part : parts) sum += part.get<double>();
  return sum;
}

TEST(PlanJson, PartsSumToTotalsAndDegreesMultiplyToDevices) {
  const Json out = Json::parse(to_json(plans_of(small_request())));
  ASSERT_FALSE(out["plans"].empty());
  std::int64_t rank = 0;
  for (const Json& p : out["plans"]) {
    EXPECT_EQ(p["rank"], ++rank);
    EXPECT_NEAR(sum_of(p["step_components_s"]), p["step_time_s"].get<double>(), 1e-9 * p["step_time_s"].get<double>());
    EXPECT_NEAR(sum_of(p["memory"]["components_gib"]), p["memory"]["peak_gib"].get<double>(), 1e-9);
    EXPECT_NEAR(sum_of(p["cost"]["components_usd"]), p["cost"]["total_usd"].get<double>(), 1e-6);
    EXPECT_NEAR(sum_of(p["time_components_s"]), p["time_to_train_s"].get<double>(), 1e-3);
    const Json& d = p["parallel"];
    const auto of = [&](const char* name) { return d[name].get<std::int64_t>(); };
    EXPECT_EQ(of("data") * of("tensor") * of("pipeline") * of("context"), p["n_gpus"].get<std::int64_t>());
    EXPECT_EQ(of("data") * p["micro_batch"].get<std::int64_t>() * p["gradient_accumulation"].get<std::int64_t>(),
              p["global_batch"].get<std::int64_t>());
    EXPECT_TRUE(p["memory"]["fits"].get<bool>());
    EXPECT_LT(p["step_time_interval_s"][0], p["step_time_s"]);
    EXPECT_GT(p["step_time_interval_s"][1], p["step_time_s"]);
  }
}

TEST(PlanJson, FrontierIsUndominatedAndRanksPointIntoThePlans) {
  const Json out = Json::parse(to_json(plans_of(small_request())));
  const Json& frontier = out["frontier"];
  ASSERT_FALSE(frontier.empty());
  for (std::size_t i = 1; i < frontier.size(); ++i) {
    EXPECT_GT(frontier[i]["total_usd"], frontier[i - 1]["total_usd"]);
    EXPECT_LT(frontier[i]["time_to_train_s"], frontier[i - 1]["time_to_train_s"]);
  }
  for (const Json& rank : out["pareto"]) {
    const Json& plan = out["plans"][rank.get<std::size_t>() - 1];
    for (const Json& other : out["plans"]) {
      const bool beaten =
          other["time_to_train_s"] < plan["time_to_train_s"] && other["cost"]["total_usd"] < plan["cost"]["total_usd"];
      EXPECT_FALSE(beaten);
    }
  }
}

TEST(PlanJson, WritesTheDataPathInMegabytesASecond) {
  RequestSpec spec = small_request();
  spec.dataset = "2TB";
  const PlanSet set = plans_of(spec);
  const InputPlan& plan = *set.plans.at(0).cost.input;
  const Json input = Json::parse(to_json(set))["plans"][0]["operation"]["input"];
  EXPECT_EQ(input["needed_mb_per_s"], plan.needed.value() / 1e6);
  EXPECT_EQ(input["storage_mb_per_s"], plan.storage.value() / 1e6);
  EXPECT_EQ(input["loaders_mb_per_s"], plan.loaders.value() / 1e6);
  EXPECT_EQ(input["delivered_mb_per_s"], std::min(input["storage_mb_per_s"], input["loaders_mb_per_s"]));
  EXPECT_EQ(input["keeps_fed"], input["needed_mb_per_s"] <= input["delivered_mb_per_s"]);
}

TEST(PlanJson, EndsWithANewlineAndWritesCountsWhole) {
  const std::string text = to_json(plans_of(small_request()));
  EXPECT_EQ(text.back(), '\n');
  EXPECT_THAT(text, HasSubstr("\"count\": \"1..8\""));
  EXPECT_THAT(text, HasSubstr("\"seq_len\": 4096,"));
}

TEST(PlanJson, RefusesNumbersThatAreNotFinite) {
  PlanSet set = plans_of(small_request());
  set.plans.front().step.mfu = std::nan("");
  EXPECT_THROW(to_json(set), std::logic_error);
}

TEST(PlanCsv, HasARowAPlan) {
  const PlanSet set = plans_of(small_request());
  const auto table = parse_csv(to_csv(set), "plans.csv");
  ASSERT_TRUE(table) << to_string(table.error());
  ASSERT_EQ(table->rows.size(), set.plans.size());
  EXPECT_EQ(table->field(table->rows[0], "instance_type"), set.plans[0].instance->name);
}

TEST(Search, ShowsIdeasNotCoatsOfOne) {
  const PlanSet set = plans_of(small_request());
  for (std::size_t i = 0; i < set.plans.size(); ++i) {
    int same_group = 0;
    for (std::size_t j = 0; j < set.plans.size(); ++j) {
      const Plan& a = set.plans[i];
      const Plan& b = set.plans[j];
      if (a.instance != b.instance || a.instance_count != b.instance_count) continue;
      ++same_group;
      const bool same_split = a.stack == b.stack && a.strategy.tensor_parallel == b.strategy.tensor_parallel &&
                              a.strategy.pipeline_parallel == b.strategy.pipeline_parallel &&
                              a.strategy.context_parallel == b.strategy.context_parallel;
      EXPECT_TRUE(i == j || !same_split);
    }
    EXPECT_LE(same_group, set.variants_per_group);
  }
}

TEST(Search, SaysWhatIsShortWhenNothingFits) {
  RequestSpec spec;
  spec.params = "70B";
  spec.instances = "ml.g5.xlarge";
  spec.count = "1";
  const PlanSet set = plans_of(spec);
  EXPECT_TRUE(set.plans.empty());
  ASSERT_TRUE(set.nearest_miss);
  EXPECT_EQ(set.nearest_miss->rejection.reason, RejectionReason::Memory);
  EXPECT_GT(set.nearest_miss->rejection.needed, set.nearest_miss->rejection.available);
  EXPECT_GT(set.rejected[static_cast<std::size_t>(RejectionReason::Memory)], 0U);
  EXPECT_EQ(set.search.pruned, 0U);
  const Json out = Json::parse(to_json(set));
  EXPECT_EQ(out["nearest_miss"]["reason"], "memory");
}

TEST(Search, UsesFp16WhereTheDeviceHasNoBf16) {
  RequestSpec spec;
  spec.model = "gpt2";
  spec.instances = "ml.g4dn.12xlarge";
  spec.count = "1";
  const PlanSet set = plans_of(spec);
  ASSERT_FALSE(set.plans.empty());
  EXPECT_EQ(set.plans.front().precision, Precision::Fp16);
  spec.dtype = "bf16";
  const PlanSet strict = plans_of(spec);
  EXPECT_TRUE(strict.plans.empty());
  EXPECT_GT(strict.rejected[static_cast<std::size_t>(RejectionReason::Unsupported)], 0U);
}

PlanSet estimate_of(RequestSpec spec) {
  const auto request = resolve(spec, catalog(), std::nullopt, Purpose::Estimate);
  EXPECT_TRUE(request) << to_string(request.error());
  auto set = estimate(*request, catalog());
  EXPECT_TRUE(set) << to_string(set.error());
  return *set;
}

// LLaMA-13B on 64 A100-40GB: a replica's states alone are 16 bytes a parameter, 208 GB.
TEST(Estimate, RefusesPlainDataParallelOf13BAndTakesItSharded) {
  RequestSpec spec;
  spec.model = "llama-13b";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "8";
  spec.stack = "ddp";
  spec[Dimension::Sharding] = "none";
  const PlanSet plain = estimate_of(spec);
  ASSERT_EQ(plain.plans.size(), 1U);
  EXPECT_FALSE(plain.plans[0].memory.fits());
  const MemoryComponents& c = plain.plans[0].memory.components;
  EXPECT_NEAR((c.weights + c.gradients + c.optimizer).value(), 208e9, 2e9);
  spec.stack = "fsdp";
  spec[Dimension::Sharding] = "fsdp-full";
  const PlanSet sharded = estimate_of(spec);
  EXPECT_TRUE(sharded.plans[0].memory.fits());
  EXPECT_EQ(sharded.plans[0].strategy.shard_degree, 64);
}

// 16 bytes a parameter on the host: 208 GB of LLaMA-13B, which 192 GiB do not hold and 768 GiB do.
TEST(Estimate, DoesNotFitWhereTheHostLacksRoomForWhatIsOffloaded) {
  RequestSpec spec;
  spec.model = "llama-13b";
  spec.instances = "ml.g5.12xlarge";
  spec.count = "1";
  spec.stack = "deepspeed";
  spec[Dimension::Sharding] = "zero3";
  spec[Dimension::Offload] = "optimizer+params";
  spec[Dimension::MicroBatch] = "1";
  spec[Dimension::Recompute] = "full";
  spec.global_batch = "8";
  const PlanSet small = estimate_of(spec);
  const MemoryEstimate& memory = small.plans[0].memory;
  EXPECT_TRUE(memory.fits_device());
  EXPECT_LT(memory.host_limit, 0.925 * small.plans[0].instance->host_memory) << "system and processes need some";
  EXPECT_FALSE(memory.fits());
  EXPECT_THAT(small.plans[0].warnings, Contains(HasSubstr("out of host memory: offloading needs")));
  spec.instances = "ml.g5.48xlarge";
  EXPECT_TRUE(estimate_of(spec).plans[0].memory.fits());
}

TEST(Estimate, OfWhatIsSoldInUltraServersIsOfWholeOnes) {
  RequestSpec spec;
  spec.model = "llama-2-7b";
  spec.instances = "ml.p6e-gb200.36xlarge";
  spec.stack = "fsdp";
  const auto told = [&](const char* count) {
    spec.count = count;
    const auto request = resolve(spec, catalog(), std::nullopt, Purpose::Estimate);
    return request ? std::string() : to_string(request.error());
  };
  EXPECT_THAT(told("4"), HasSubstr("sold in 9 or 18 instances, and 4 is no sum of these"));
  EXPECT_THAT(told("4"), HasSubstr("give --count 9"));
  EXPECT_THAT(told("20"), HasSubstr("give --count 18 or 27"));
  EXPECT_EQ(told("9"), "");
  EXPECT_EQ(told("36"), "");
}

TEST(Plans, OfWhatIsSoldInUltraServersAreOfWholeOnes) {
  RequestSpec spec;
  spec.model = "gpt2";
  spec.instances = "ml.p6e-gb200.36xlarge";
  spec.market = "capacity-block";
  spec.global_batch = "288";
  spec.count = "1..40";
  spec.stack = "fsdp";
  spec.top = "1000";
  std::set<std::int32_t> counts;
  for (const Plan& p : plans_of(spec).plans) counts.insert(p.instance_count);
  EXPECT_EQ(counts, (std::set<std::int32_t>{9, 18, 36})) << "27 instances do not share 288 sequences";
  spec.count = "4..8";
  const auto request = resolve(spec, catalog(), std::nullopt);
  ASSERT_FALSE(request);
  EXPECT_THAT(to_string(request.error()), HasSubstr("sold in 9 or 18 instances, and no count asked for is a sum"));
}

TEST(Estimate, TakesTheDegreesThatAreGivenAndOneElsewhere) {
  RequestSpec spec;
  spec.model = "llama-2-70b";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "32";
  spec[Dimension::ShardDegree] = "256";
  spec.stack = "smp-v2";
  const PlanSet set = estimate_of(spec);
  EXPECT_EQ(set.plans[0].strategy.tensor_parallel, 1);
  EXPECT_EQ(set.plans[0].strategy.data_parallel, 256);
  EXPECT_EQ(set.plans[0].strategy.shard_degree, 256);
  EXPECT_THAT(set.request.assumptions.back(), HasSubstr("the fastest that fits: sharding fsdp-full, micro-batch"));
  EXPECT_TRUE(set.plans[0].memory.fits());
}

TEST(Estimate, TrainsInFp16WhereTheDeviceHasNoBf16AndNoneWasAskedFor) {
  RequestSpec spec;
  spec.params = "350M";
  spec.instances = "ml.p3.16xlarge";
  spec.count = "1";
  spec.stack = "fsdp";
  const PlanSet set = estimate_of(spec);
  const Plan& plan = set.plans.front();
  EXPECT_EQ(plan.precision, Precision::Fp16);
  const Result<Plan> alone = evaluate(set.request, catalog(), *plan.instance, 1, *plan.stack, plan.strategy);
  ASSERT_TRUE(alone) << to_string(alone.error());
  EXPECT_EQ(alone->precision, Precision::Fp16);
  EXPECT_EQ(alone->step.time(), plan.step.time());
}

TEST(Estimate, OfAStackWhoseKernelsTheDeviceCannotRunIsRefused) {
  RequestSpec spec;
  spec.params = "350M";
  spec.instances = "ml.g4dn.12xlarge";
  spec.count = "1";
  spec.stack = "deepspeed";
  EXPECT_EQ(estimate_of(spec).plans.front().stack->id, "deepspeed");
  spec.stack = "megatron";
  const auto request = resolve(spec, catalog(), std::nullopt, Purpose::Estimate);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().front().location, "--stack");
  EXPECT_THAT(request.error().front().hint, HasSubstr("needs Ampere or newer"));
  spec.instances = "ml.g5.12xlarge";
  EXPECT_EQ(estimate_of(spec).plans.front().stack->id, "megatron");
}

TEST(Plan, OnADeviceWhoseCapabilityNobodyHasPublishedTakesItsVendorsStacks) {
  Catalog catalog = test::catalog();
  const Result<JsonValue> overlay = parse_json(
      R"({"schema": "smplan.catalog/1", "accelerators": [{"key": "L4", "name": "L4", "vendor": "nvidia",
          "marketing_memory_gib": 24, "device_memory_mib": 22559, "memory_bandwidth_gb_per_s": 300,
          "peak_tflops": {"fp32": 30.3, "tf32": 60, "fp16": 121, "bf16": 121, "fp8": 242},
          "source": "test", "as_of": "2026"}]})",
      "overlay.json");
  ASSERT_TRUE(overlay && catalog.merge(*overlay));
  RequestSpec spec;
  spec.params = "350M";
  spec.instances = "ml.g6.12xlarge";
  spec.count = "1";
  const Result<PlanRequest> any = resolve(spec, catalog, std::nullopt);
  ASSERT_TRUE(any) << to_string(any.error());
  const PlanSet set = search(*any, catalog, {});
  ASSERT_FALSE(set.plans.empty());
  for (const Plan& plan : set.plans) EXPECT_TRUE(plan.stack->is_built_for(Vendor::Nvidia)) << plan.stack->id;
  spec.stack = "neuron";
  EXPECT_FALSE(resolve(spec, catalog, std::nullopt)) << "which is AWS's";
  spec.stack = "megatron";
  EXPECT_TRUE(resolve(spec, catalog, std::nullopt)) << "it may well be new enough";
}

TEST(Estimate, ThatIsStoppedBeforeItHasAPlanFailsWithAReason) {
  RequestSpec spec;
  spec.params = "350M";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "1";
  const auto request = resolve(spec, catalog(), std::nullopt, Purpose::Estimate);
  ASSERT_TRUE(request);
  Monitor stopped;
  stopped.stop();
  const auto set = estimate(*request, catalog(), {.monitor = &stopped});
  ASSERT_FALSE(set);
  EXPECT_FALSE(set.error().empty());
}

/// One dimension of an estimate that no candidate can have, and what is said of it.
struct Impossible {
  const char* name;
  const char* model;
  const char* stack;
  test::SpecField field;
  const char* value;
  const char* location;
  const char* says;
};
class EstimateRefuses : public ::testing::TestWithParam<Impossible> {};

TEST_P(EstimateRefuses, OnlyWhatIsWrongInTheWordsOfItsRule) {
  const Impossible& wrong = GetParam();
  RequestSpec spec;
  spec.model = wrong.model;
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "3";
  spec.stack = wrong.stack;
  spec.global_batch = "192";
  wrong.field.of(spec) = wrong.value;
  const auto request = resolve(spec, catalog(), std::nullopt, Purpose::Estimate);
  ASSERT_TRUE(request) << to_string(request.error());
  const auto set = estimate(*request, catalog());
  ASSERT_FALSE(set);
  for (const Diagnostic& d : set.error()) EXPECT_EQ(d.location, wrong.location) << to_string(d);
  EXPECT_THAT(set.error().front().message, HasSubstr(wrong.says));
}

INSTANTIATE_TEST_SUITE_P(
    Dimensions, EstimateRefuses,
    ::testing::Values(
        Impossible{"Tensor", "llama-2-13b", "megatron", Dimension::Tensor, "3", "--tp", "40 attention heads"},
        Impossible{"Pipeline", "gpt2", "megatron", Dimension::Pipeline, "24", "--pp", "12 layers are too few for 24"},
        Impossible{"Chunks", "llama-2-13b", "megatron", Dimension::VirtualPipeline, "2", "--vpp", "need each other"},
        Impossible{"Context", "llama-2-13b", "megatron", Dimension::Context, "3", "--cp --sequence-parallel",
                   "context parallel 3"},
        Impossible{"Experts", "mixtral-8x7b", "megatron", Dimension::Expert, "3", "--ep", "8 experts"},
        Impossible{"CutExperts", "mixtral-8x7b", "megatron", Dimension::ExpertTensor, "3", "--tp",
                   "feed-forward width"},
        Impossible{"Shards", "llama-2-13b", "megatron", Dimension::ShardDegree, "5", "--shard-degree",
                   "shard degree 5 does not divide data x context = 24"},
        Impossible{"MicroBatch", "llama-2-13b", "megatron", Dimension::MicroBatch, "3", "--dp --micro-batch",
                   "data parallel 24 x micro-batch 3"},
        Impossible{"Sharding", "llama-2-13b", "megatron", Dimension::Sharding, "zero3", "--sharding", "zero3"},
        Impossible{"Recompute", "llama-2-13b", "ddp", Dimension::Recompute, "selective", "--recompute", "selective"},
        Impossible{"Offload", "llama-2-13b", "ddp", Dimension::Offload, "optimizer", "--offload", "optimizer"},
        Impossible{"Sequence", "llama-2-13b", "megatron", Dimension::SequenceParallel, "true", "--sequence-parallel",
                   "needs tensor parallelism"},
        Impossible{"Collectives", "llama-2-13b", "megatron", Dimension::Collectives, "smddp", "--collectives",
                   "smddp"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Estimate, OfDeepSpeedOffloadsOnlyWhatItsStageCan) {
  RequestSpec spec;
  spec.model = "llama-2-13b";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "1";
  spec.stack = "deepspeed";
  spec.global_batch = "8";
  struct Case {
    const char* sharding;
    const char* offload;
    const char* says;  ///< nullptr: taken
  };
  for (const Case& c : {Case{"none", "optimizer", "offloads the optimizer in a ZeRO stage only"},
                        Case{"zero2", "optimizer+nvme", "offloads to NVMe with zero3 only, not with zero2"},
                        Case{"zero1", "optimizer", nullptr}, Case{"zero3", "optimizer+nvme", nullptr}}) {
    spec[Dimension::Sharding] = c.sharding;
    spec[Dimension::Offload] = c.offload;
    const auto request = resolve(spec, catalog(), std::nullopt, Purpose::Estimate);
    ASSERT_TRUE(request) << to_string(request.error());
    const auto set = estimate(*request, catalog());
    EXPECT_EQ(set.has_value(), c.says == nullptr) << c.sharding;
    if (!set) {
      EXPECT_THAT(to_string(set.error()), HasSubstr(c.says));
    }
  }
}

TEST(Estimate, OfMoreRanksThanNumbersHoldIsRefused) {
  RequestSpec spec;
  spec.model = "llama-2-13b";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "1";
  spec[Dimension::Tensor] = "4096";
  spec[Dimension::Pipeline] = "4096";
  spec[Dimension::Context] = "4096";
  const auto request = resolve(spec, catalog(), std::nullopt, Purpose::Estimate);
  ASSERT_TRUE(request);
  const auto set = estimate(*request, catalog());
  ASSERT_FALSE(set);
  EXPECT_THAT(to_string(set.error()), HasSubstr("the strategy is for 68719476736 devices, 1 x ml.p4d.24xlarge has 8"));
}

TEST(Warnings, TellOldAndDerivedPrices) {
  PlanRequest request = request_of(small_request());
  const PlanSet set = search(request, catalog());
  Plan plan = set.plans.front();
  Price price = *plan.price;
  price.basis = PriceBasis::Measured;
  price.provenance.as_of = "2026-01-01";
  plan.price = &price;
  const std::size_t quiet = plan_warnings(request, plan).size();
  request.today = "2026-04-01";  // 90 days
  EXPECT_EQ(plan_warnings(request, plan).size(), quiet);
  request.today = "2026-04-02";
  EXPECT_EQ(plan_warnings(request, plan).size(), quiet + 1);
  EXPECT_THAT(plan_warnings(request, plan).back(), HasSubstr("91 days old"));
  price.basis = PriceBasis::Derived;
  EXPECT_EQ(plan_warnings(request, plan).size(), quiet + 2);
}

TEST(Warnings, BeginWhereTheTextSays) {
  PlanRequest request = request_of(small_request());
  Plan plan = search(request, catalog()).plans.front();
  plan.memory.limit = gib(100);
  plan.memory.wanted = gib(50);
  plan.out_of_memory_probability = 0;
  plan.step.mfu = 0.5;
  plan.unmeasured.clear();
  plan.cost = {};
  const auto warned = [&](const char* of) {
    for (const std::string& warning : plan_warnings(request, plan)) {
      if (warning.find(of) != std::string::npos) return true;
    }
    return false;
  };
  const auto peak = [&](double part, double chance) {
    plan.memory.wanted = gib(100 * part);
    plan.out_of_memory_probability = chance;
  };
  peak(0.9, 0.05);
  EXPECT_FALSE(warned("stays free"));
  peak(0.9, 0.051);
  EXPECT_TRUE(warned("stays free"));
  peak(1, 0.5);
  EXPECT_TRUE(warned("stays free") && !warned("out of memory"));
  peak(1.001, 0.51);
  EXPECT_TRUE(warned("out of memory") && !warned("stays free"));
  peak(0.5, 0);
  plan.step.mfu = 0.15;
  EXPECT_FALSE(warned("utilisation"));
  plan.step.mfu = 0.149;
  EXPECT_TRUE(warned("utilisation"));
  EXPECT_FALSE(warned("no measured run"));
  plan.unmeasured = {"pipeline parallelism"};
  EXPECT_TRUE(warned("no measured run of ") && warned("pipeline parallelism"));
  plan.cost.productive = days(28);
  EXPECT_FALSE(warned("restarts from checkpoints"));
  plan.cost.productive = days(28.01);
  EXPECT_TRUE(warned("restarts from checkpoints"));
  EXPECT_FALSE(warned("cost is not known"));
  plan.price = nullptr;
  EXPECT_TRUE(warned("cost is not known"));
}

TEST(Warnings, OfATrainingPlanAreItsSizeAndLength) {
  const PlanRequest request = request_of(small_request());
  Plan plan = search(request, catalog()).plans.front();
  plan.market = Market::CapacityBlock;
  plan.cost = {};
  const auto warnings = [&](std::int32_t instances, double length) {
    plan.instance_count = instances;
    plan.cost.productive = days(length);
    return plan_warnings(request, plan).size();
  };
  const std::size_t quiet = warnings(64, 20);
  EXPECT_EQ(warnings(65, 20), quiet + 1);
  const std::size_t long_job = warnings(64, 182);
  EXPECT_EQ(long_job, quiet + 1) << "longer than one job, not longer than a plan";
  EXPECT_EQ(warnings(64, 182.01), long_job + 1);
}

/// A plan of a given time and cost beside the first of a set.
std::string second_against_first(double time_s, double usd) {
  RequestSpec spec;
  spec.model = "gpt2";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "1";
  spec.stack = "ddp";
  PlanSet set = plans_of(spec);
  Plan plain = set.plans.front();
  plain.cost = {};
  plain.cost.productive = Seconds(time_s);
  plain.cost.bill.compute = Usd(usd);
  set.plans = {plain, plain};
  set.plans[1].cost.productive = Seconds(1000);
  set.plans[1].cost.bill.compute = Usd(1000);
  return explain(set, catalog(), 2).at(1);
}

TEST(Explain, SaysHowFarAPlanIsFromTheFirst) {
  EXPECT_THAT(second_against_first(1000, 1000), HasSubstr("(the same) and 16.7 min (the same)"));
  EXPECT_THAT(second_against_first(1000.4, 1000.4), HasSubstr("(the same) and 16.7 min (the same)"));
  EXPECT_THAT(second_against_first(1000.6, 1000.6), HasSubstr("(0.1% dearer) and 16.7 min (0.1% longer)"));
  EXPECT_THAT(second_against_first(1250, 800), HasSubstr("(20.0% cheaper) and 20.8 min (25.0% longer)"));
  EXPECT_THAT(second_against_first(999, 2000), HasSubstr("(100.0% dearer) and 16.6 min (0.1% shorter)"));
  EXPECT_THAT(second_against_first(2500, 2001), HasSubstr("(2.0 times as much) and 41.7 min (2.5 times as much)"));
}

TEST(Explain, ComparesTheWinnerWithItsNeighboursInNumbers) {
  const PlanSet set = plans_of(small_request());
  const std::vector<std::string> lines = explain(set, catalog());
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  EXPECT_THAT(lines.front(), HasSubstr(set.plans[0].instance->name));
  EXPECT_THAT(all, HasSubstr("twice the micro-batch"));
  EXPECT_THAT(all, HasSubstr("another instance type"));
  EXPECT_THAT(all, HasSubstr("Memory: "));
  EXPECT_TRUE(explain(set, catalog(), 99).empty());
}

TEST(Explain, ChangesOneDimensionAtATime) {
  RequestSpec spec;
  spec.model = "gpt2";
  spec.instances = "ml.p4d.24xlarge";
  spec.count = "1";
  spec.stack = "megatron";
  spec[Dimension::Tensor] = "2";
  spec[Dimension::MicroBatch] = "2";
  spec[Dimension::SequenceParallel] = "true";
  spec[Dimension::Sharding] = "zero1";
  const PlanSet set = plans_of(spec);
  const Plan& p = set.plans.at(0);
  ASSERT_EQ(p.strategy.data_parallel, 4);
  std::string all;
  for (const std::string& line : explain(set, catalog())) all += line + "\n";
  const auto says = [&](const std::string& name, auto change) {
    Strategy s = p.strategy;
    change(s);
    s.shard_degree = s.data_parallel;
    const Result<Plan> other = evaluate(set.request, catalog(), *p.instance, 1, *p.stack, s);
    ASSERT_TRUE(other) << name << to_string(other.error());
    EXPECT_THAT(all, HasSubstr("With " + name + ": a step takes " + format_duration(other->step.time()) + " ("));
    EXPECT_THAT(all, HasSubstr(", " + format_bytes(other->memory.peak_device) + " a device."));
  };
  says("half the micro-batch", [](Strategy& s) { s.micro_batch = 1; });
  says("twice the micro-batch", [](Strategy& s) { s.micro_batch = 4; });
  says("twice the tensor parallelism", [](Strategy& s) { s.tensor_parallel = 4, s.data_parallel = 2; });
  says("half the tensor parallelism", [](Strategy& s) {
    s.tensor_parallel = 1;
    s.data_parallel = 8;
    s.sequence_parallel = false;
  });
  says("twice the pipeline", [](Strategy& s) { s.pipeline_parallel = 2, s.data_parallel = 2; });
  for (const Recompute r : {Recompute::Selective, Recompute::Full}) {
    says(std::string(to_string(r)) + " recomputation", [r](Strategy& s) { s.recompute = r; });
  }
}

TEST(Search, ShowsBothEndsOfTheFrontierAndWhatLiesBetween) {
  RequestSpec spec = small_request();
  spec.objective = "pareto";
  for (const std::size_t top : {1U, 2U, 3U}) {
    spec.top = std::to_string(top);
    const PlanSet set = plans_of(spec);
    ASSERT_GT(set.frontier.size(), 3U);
    ASSERT_EQ(set.plans.size(), top);
    EXPECT_TRUE(set.plans.front().same_as(set.frontier.front()));
    if (top > 1) {
      EXPECT_TRUE(set.plans.back().same_as(set.frontier.back()));
    }
    EXPECT_EQ(set.pareto.size(), top) << "each of them lies on it";
  }
}

TEST(Explain, SaysWhatIsNearestWhenNothingFits) {
  RequestSpec spec;
  spec.params = "70B";
  spec.instances = "ml.g5.xlarge";
  spec.count = "1";
  const std::vector<std::string> lines = explain(plans_of(spec), catalog());
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines.back(), HasSubstr("needs "));
}

}  // namespace
}  // namespace smplan::test
