#include "fixture.hpp"

#include <random>

#include <nlohmann/json.hpp>

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
  const Result<TrainingPlan> plan = training_plan_of(set, 1, test::shipped());
  ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
  EXPECT_EQ(plan->strategy, set.plans.front().strategy);
  EXPECT_EQ(plan->instance, set.plans.front().instance);
  EXPECT_EQ(plan->stack->id, "megatron");
  EXPECT_EQ(plan->gradient_accumulation, set.plans.front().micro_batches);
  EXPECT_EQ(plan->world_size(), 16);
  EXPECT_DOUBLE_EQ(plan->prediction.step.value(), set.plans.front().step.time().value());
  EXPECT_EQ(plan->steps(), 4769) << "10e9 tokens / (256 x 8192) = 4768.4, rounded up";
}

TEST(TrainingPlan, KnowsTheArchitectureOfPresetsAndOfSizes) {
  EXPECT_EQ(test::plan(test::request("megatron", "gpt2-xl")).model.architecture->norm, NormKind::LayerNorm);
  RequestSpec sized = test::request("megatron");
  sized.model.reset();
  sized.params = "3.3B";
  const TrainingPlan plan = test::plan(sized);
  ASSERT_TRUE(plan.model.architecture.has_value()) << plan.model.name << " is Llama-shaped";
  EXPECT_TRUE(plan.model.architecture->gated_mlp);
}

TEST(TrainingPlan, KnowsTheRotaryBaseOfPresetsAndOfFiles) {
  EXPECT_EQ(test::plan(test::request("megatron")).model.architecture->rotary_base, 500000);
  Json json = document();
  json["request"]["model"]["rotary_base"] = 123456.0;
  json["request"]["model"]["name"] = "our llama";
  const Result<TrainingPlan> plan =
      read_training_plan(parse_json(json.dump(), "plan.json").value(), 1, test::shipped());
  ASSERT_TRUE(plan.has_value()) << to_string(plan.error());
  EXPECT_EQ(plan->model.architecture->rotary_base, 123456);
}

TEST(TrainingPlan, IsReadStrictly) {
  struct Case {
    const char* pointer;
    Json value;
    const char* complaint;
  };
  for (const Case& c : {
           Case{"/schema_version", 2, "schema_version is 2"},
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
  widths["request"]["model"]["name"] = "mine";
  for (const char* width : {"hidden", "n_heads", "head_dim", "ffn_hidden", "vocab"}) {
    widths["request"]["model"][width] = 1 << 24;
  }
  const Result<TrainingPlan> plan = read(widths);
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_FALSE(plan->model.architecture) << "a model of 10^18 parameters is not Llama-shaped";
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
}

}  // namespace
}  // namespace smplan
