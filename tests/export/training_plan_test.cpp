#include "fixture.hpp"

#include <random>

#include <nlohmann/json.hpp>

#include "catalogs/architecture_json.hpp"

namespace smplan {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

Json document() {
  static const std::string text = to_json(test::answer(test::request("megatron")));
  return Json::parse(text);
}

Result<TrainingPlan> read(const Json& json, std::int64_t rank = 1) {
  const Result<JsonValue> parsed = parse_json(json.dump(), "plan.json");
  EXPECT_TRUE(parsed.has_value());
  return read_training_plan(*parsed, rank, test::shipped());
}

std::string faults(const Json& json, std::int64_t rank = 1) {
  const Result<TrainingPlan> plan = read(json, rank);
  return plan ? std::string() : to_string(plan.error());
}

TEST(TrainingPlan, SaysWhatTheSearchFound) {
  const PlanSet set = test::answer(test::request("megatron"));
  const TrainingPlan plan = training_plan_of(set.request, set.plans.front());
  EXPECT_EQ(plan.strategy, set.plans.front().strategy);
  EXPECT_EQ(plan.instance, set.plans.front().instance);
  EXPECT_EQ(plan.stack->id, "megatron");
  EXPECT_EQ(plan.gradient_accumulation, set.plans.front().micro_batches);
  EXPECT_EQ(plan.world_size(), 16);
  EXPECT_DOUBLE_EQ(plan.prediction.step.value(), set.plans.front().step.time().value());
  EXPECT_EQ(plan.steps(), 4769) << "10e9 tokens / (256 x 8192) = 4768.4, rounded up";
}

/// The plan of a set by way of its file.
TrainingPlan by_file(const PlanSet& set) {
  const Result<TrainingPlan> plan =
      read_training_plan(parse_json(to_json(set), "plan.json").value(), 1, test::shipped());
  EXPECT_TRUE(plan) << (plan ? "" : to_string(plan.error()));
  return plan.value_or(TrainingPlan());
}

// The file is the plan: what is exported from it is what is exported at once.
TEST(PlanFile, HoldsAllThatAnExportNeeds) {
  for (const auto& [model, stack] : {std::pair{"llama-3-8b", "fsdp"},
                                     {"gpt2-xl", "fsdp"},
                                     {"qwen3-8b", "fsdp"},
                                     {"deepseek-moe-16b", "megatron"},
                                     {"deepseek-v2-lite", "megatron"},
                                     {"nemotron-h-8b", "megatron"}}) {
    const bool moe = test::shipped().find_model(model)->architecture.is_moe();
    RequestSpec spec =
        moe ? test::expert_request(model, "ml.p5.48xlarge", "8") : test::request(stack, model, "ml.p5.48xlarge");
    spec.dataset = "2TB";
    spec.input_mode = "file";
    const PlanSet set = test::answer(spec);
    ASSERT_FALSE(set.plans.empty()) << model;
    const TrainingPlan direct = training_plan_of(set.request, set.plans.front());
    const TrainingPlan read = by_file(set);
    EXPECT_EQ(read.model, direct.model) << model;
    EXPECT_EQ(read.id(), direct.id()) << model;
    EXPECT_EQ(read.strategy, direct.strategy);
    EXPECT_EQ(read.save_steps(), direct.save_steps());
    EXPECT_EQ(read.warnings, direct.warnings);
    for (const char* target : {stack, "create-training-job", "sagemaker-sdk-v3", "torchrun"}) {
      EXPECT_EQ(test::text_of(read, target), test::text_of(direct, target)) << model << ' ' << target;
    }
  }
}

TEST(PlanFile, HoldsModelsThatNoCatalogKnows) {
  PlanSet set = test::answer(test::request("fsdp"));
  Architecture& model = set.request.workload.architecture;
  model.name = "our phi";
  model.tied_embeddings = true;
  model.qkv_bias = true;
  model.norm = NormKind::LayerNorm;
  model.rotary_base = 123456;
  EXPECT_EQ(by_file(set).model, model);
}

/// Architectures as files may have them: every preset, with switches turned at random.
TEST(PlanFile, HoldsEveryMemberOfAnArchitecture) {
  std::mt19937 random(41);
  for (const ModelPreset& preset : test::shipped().models()) {
    Architecture a = preset.architecture;
    for (bool* on :
         {&a.gated_mlp, &a.norm_bias, &a.tied_embeddings, &a.mlp_bias, &a.scaled_rotary, &a.final_norm,
          &a.embedding_norm, &a.half_logits, &a.moe.router_bias, &a.moe.expert_bias, &a.moe.shared_expert_gate}) {
      const bool of_experts = on >= &a.moe.shared_expert_gate && !a.is_moe();
      if (!of_experts && random() % 2 == 0) *on = !*on;
    }
    if (!a.has_latent_attention()) a.qkv_bias = a.attention_output_bias = a.qk_norm = random() % 2 == 0;
    a.extra_parameters = static_cast<std::int64_t>(random() % 1000);
    a.extra_parameters_note = "poolers";
    Diagnostics faults;
    const Architecture read = read_architecture(parse_json(architecture_json(a), "architecture").value(), faults);
    EXPECT_TRUE(faults.empty()) << a.name << ": " << to_string(faults);
    EXPECT_EQ(read, a) << a.name;
  }
}

TEST(PlanFile, OfAnEarlierSchemaIsRefusedWithTheWayOut) {
  Json json = document();
  json["schema_version"] = 1;
  EXPECT_THAT(faults(json), HasSubstr("this smplan reads version 2: plan again with the request of the file"));
}

TEST(TrainingPlan, IsReadStrictly) {
  struct Case {
    const char* pointer;
    Json value;
    const char* complaint;
  };
  for (const Case& c : {
           Case{"/schema_version", 3, "schema_version is 3"},
           Case{"/request/model/architecture/hidden", -1, "hidden must be positive"},
           Case{"/request/model/hidden", 64, "hidden is not that of architecture"},
           Case{"/request/model/name", "mine", "name is not that of architecture"},
           Case{"/request/model/hiden", 64, "unknown key 'hiden'"},
           Case{"/plans/0/instance_type", "ml.p4dn.24xlarge", "unknown instance type 'ml.p4dn.24xlarge'"},
           Case{"/plans/0/stack", "megatron-llm", "unknown stack"},
           Case{"/plans/0/parallel/expert", 32, "expert parallel 32 does not divide data x context x tensor = 16"},
           Case{"/plans/0/n_gpus", 8, "8 devices, but 2 x ml.p4de.24xlarge have 16"},
           Case{"/plans/0/parallel/data", 5, "is not the 16 devices"},
           Case{"/plans/0/parallel/tensor", 0, "/plans/0/parallel/tensor"},
           Case{"/plans/0/global_batch", 100, "not 100"},
           Case{"/plans/0/dtype", "bf17", "unknown dtype 'bf17'"},
           Case{"/plans/0/sharding/degree", 3, "degree 3 does not divide"},
           Case{"/plans/0/step_time_interval_s", Json::array({1}), "has 1 values"},
           Case{"/plans/0/cost/market", "cheap", "unknown market 'cheap'"},
           Case{"/plans/0/parallel/tensr", 1, "unknown key 'tensr'"},
       }) {
    Json json = document();
    json[Json::json_pointer(c.pointer)] = c.value;
    const std::string found = faults(json);
    // The world-size complaint names the product, which depends on the plan.
    const std::string wanted = std::string(c.complaint) == "is not the 16 devices" ? "not the 16 devices" : c.complaint;
    EXPECT_THAT(found, HasSubstr(wanted)) << c.pointer;
  }
}

/// The strategy as a plan file has it.
Strategy written_and_read(const Strategy& s) {
  PlanSet set = test::answer(test::request("megatron"));
  set.plans.front().strategy = s;
  const JsonValue file = parse_json(to_json(set), "plan.json").value();
  Diagnostics faults;
  const std::vector<JsonValue> plans = file.find("plans")->as_array(faults);
  const Strategy read = read_plan_strategy(plans.front(), faults);
  EXPECT_TRUE(faults.empty()) << to_string(faults);
  return read;
}

TEST(PlanFile, HoldsEveryDimensionOfAStrategy) {
  std::mt19937 random(40);
  for (int i = 0; i < 500; ++i) {
    Strategy s;
    for (const DimensionRow& row : dimensions()) {
      if (random() % 2 == 0) continue;
      const auto any = static_cast<std::int32_t>(random() % 16);
      const bool words = row.kind == DimensionRow::Kind::Words;
      const std::int32_t value = words ? row.words->values[static_cast<std::size_t>(any) % row.words->values.size()]
                                 : row.kind == DimensionRow::Kind::Switch ? any % 2
                                                                          : any + 1;
      row.set(s, value);
    }
    // Without a pipeline the schedule means nothing.
    if (s.pipeline_parallel == 1) s.schedule = Schedule::OneFOneB;
    EXPECT_EQ(written_and_read(s), s) << to_string(s);
  }
}

TEST(TrainingPlan, NumbersBeyond64BitsTogetherAreInconsistent) {
  Json degrees = document();
  for (const char* axis : {"data", "tensor", "pipeline", "context"}) degrees["plans"][0]["parallel"][axis] = 1 << 17;
  EXPECT_THAT(faults(degrees), HasSubstr("is 295147905179352825856, not the 16 devices"));
  Json widths = document();
  for (const char* width : {"hidden", "n_heads", "head_dim", "ffn_hidden", "vocab"}) {
    widths["request"]["model"]["architecture"][width] = 1 << 24;
  }
  EXPECT_THAT(faults(widths), HasSubstr("more than 1e16 parameters"));
}

TEST(TrainingPlan, NeedsEveryKeyThatDecidesTheJob) {
  for (const char* key : {"instance_type", "instance_count", "n_gpus", "stack", "collectives", "parallel", "sharding",
                          "micro_batch", "gradient_accumulation", "global_batch", "recompute", "offload", "dtype",
                          "memory", "step_time_s", "time_to_train_s", "operation", "cost"}) {
    Json json = document();
    json["plans"][0].erase(key);
    EXPECT_THAT(faults(json), HasSubstr(key)) << "is missing and not missed";
  }
}

TEST(TrainingPlan, SaysOfWhatIsNoPlanOnlyThat) {
  for (const Json& no_plan : {Json::array(), Json(nullptr), Json("plan")}) {
    EXPECT_THAT(faults(no_plan), testing::AllOf(HasSubstr("must be an object"), testing::Not(HasSubstr("--rank"))))
        << no_plan;
  }
}

TEST(TrainingPlan, OfAnotherRankIsNamed) {
  EXPECT_THAT(faults(document(), 2), HasSubstr("the file has 1 plans, there is no 2"));
  Json json = document();
  json["plans"] = Json::array();
  EXPECT_THAT(faults(json), HasSubstr("nothing fitted"));
}

TEST(TrainingPlan, IdDependsOnTheJobAndNotOnPredictions) {
  const TrainingPlan plan = *read(document());
  TrainingPlan other = plan;
  other.prediction.step = Seconds(1);
  other.prediction.total_usd = 1;
  other.rank = 7;
  EXPECT_EQ(other.id(), plan.id());
  EXPECT_EQ(plan.id().size(), 16u);
  const auto differs = [&](auto change) {
    TrainingPlan changed = plan;
    change(changed);
    return changed.id() != plan.id();
  };
  EXPECT_TRUE(differs([](TrainingPlan& p) { p.instance_count = 4; }));
  EXPECT_TRUE(differs([](TrainingPlan& p) { p.strategy.micro_batch += 1; }));
  EXPECT_TRUE(differs([](TrainingPlan& p) { p.strategy.shard_degree += 1; }));
  EXPECT_TRUE(differs([](TrainingPlan& p) { p.seq_len = 2048; }));
  EXPECT_TRUE(differs([](TrainingPlan& p) { p.market = Market::Spot; }));
  EXPECT_TRUE(differs([](TrainingPlan& p) { p.lora_embeddings = true; })) << "or one would resume the other's states";
  EXPECT_TRUE(differs([](TrainingPlan& p) { p.model.tied_embeddings = true; })) << "the same count is no same model";
  EXPECT_TRUE(differs([](TrainingPlan& p) { p.checkpoint_storage = CheckpointTarget::Efs; }));
  for (const DimensionRow& row : dimensions()) {
    EXPECT_TRUE(differs([&](TrainingPlan& p) {
      if (row.dimension == Dimension::Schedule) p.strategy.pipeline_parallel = 8;
      row.set(p.strategy, row.get(p.strategy) + 1);
    })) << row.keyword;
  }
}

}  // namespace
}  // namespace smplan
