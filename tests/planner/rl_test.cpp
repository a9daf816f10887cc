#include <algorithm>

#include "fixtures.hpp"
#include "planner/rl/rl_search.hpp"

namespace smplan {
namespace {

using test::catalog;

RlSpec spec_of(const char* model, const char* instances, const char* count) {
  RlSpec spec;
  spec.request.model = model;
  spec.request.instances = instances;
  spec.request.count = count;
  spec.prompts = "64";
  spec.samples = "8";
  return spec;
}

RlRequest request_of(const RlSpec& spec) {
  Result<RlRequest> r = resolve_rl(spec, catalog(), std::nullopt);
  if (!r) {
    ADD_FAILURE() << to_string(r.error());
    return {};
  }
  return std::move(*r);
}

RlPlanSet set_of(const RlSpec& spec) {
  const RlRequest request = request_of(spec);
  return rl_search(request, catalog());
}

RlPlan best_of(const RlSpec& spec) {
  RlPlanSet set = set_of(spec);
  EXPECT_FALSE(set.plans.empty());
  return set.plans.empty() ? RlPlan() : std::move(set.plans.front());
}

/// The place of the one fault.
std::string fault_of(const RlSpec& spec) {
  const Result<RlRequest> r = resolve_rl(spec, catalog(), std::nullopt);
  if (r || r.error().size() != 1) return r ? "none" : to_string(r.error());
  EXPECT_FALSE(r.error().front().hint.empty());
  return r.error().front().location;
}

TEST(RlStep, SumsItsPartsAndOverlapsThemWhereSplit) {
  const RlParts p{.generate = Seconds(10),
                  .score = Seconds(1),
                  .log_probs = Seconds(2),
                  .reference = Seconds(2),
                  .critic = Seconds(3),
                  .update = Seconds(4),
                  .sync = Seconds(0.5),
                  .swap = Seconds(0.25)};
  EXPECT_DOUBLE_EQ(rl_step_time(p, RlPlacement::Colocated).value(), 22.75);
  EXPECT_DOUBLE_EQ(rl_step_time(p, RlPlacement::SplitSync).value(), 22.75);
  EXPECT_DOUBLE_EQ(rl_step_time(p, RlPlacement::Split).value(), 12.75);
  RlParts slow = p;
  slow.generate = Seconds(20);
  EXPECT_DOUBLE_EQ(rl_step_time(slow, RlPlacement::Split).value(), 20.75);
}

TEST(RlStep, AddsDeviationsOfKindsInSquares) {
  const RlParts middle{.generate = Seconds(10), .update = Seconds(10)};
  const RlParts low{.generate = Seconds(7), .update = Seconds(6)};
  const RlParts high{.generate = Seconds(22), .update = Seconds(15)};
  const RlInterval sum = rl_interval(low, middle, high, RlPlacement::Colocated);
  EXPECT_DOUBLE_EQ(sum.p10.value(), 15);  // 3 and 4
  EXPECT_DOUBLE_EQ(sum.p90.value(), 33);  // 12 and 5
  const RlInterval longer = rl_interval(low, middle, high, RlPlacement::Split);
  EXPECT_DOUBLE_EQ(longer.p10.value(), 7);
  EXPECT_DOUBLE_EQ(longer.p90.value(), 22);
}

TEST(RlStep, ListsEveryPartOnce) {
  RlParts parts;
  for (const RlPart& part : rl_parts()) parts.*part.time = Seconds(1);
  EXPECT_DOUBLE_EQ(rl_step_time(parts, RlPlacement::Colocated).value(), static_cast<double>(rl_parts().size()));
}

TEST(RlRequest, FillsWhatIsLeftOpenAndSaysSo) {
  RlSpec spec;
  spec.request.model = "llama-3.1-8b";
  const RlRequest r = request_of(spec);
  EXPECT_EQ(r.algorithm.name, "grpo");
  EXPECT_EQ(r.sequences(), 128 * 8);
  EXPECT_EQ(r.generated(), 128 * 8);
  EXPECT_EQ(r.lengths.limit, 2048);
  EXPECT_EQ(r.steps, 200);
  EXPECT_EQ(r.engine->name, "vllm");
  EXPECT_EQ(r.placements.size(), 2U);
  EXPECT_GE(r.assumptions.size(), 10U);
  const Workload& w = r.training.workload;
  EXPECT_EQ(w.seq_len, 512 + 2048);
  EXPECT_EQ(w.computed_seq_len(), 512 + 1024);
  EXPECT_EQ(w.global_batch, 1024);
  EXPECT_DOUBLE_EQ(w.tokens, 200.0 * 1024 * 1536);
  EXPECT_TRUE(w.fine_tunes);
}

TEST(RlRequest, CountsEpochsOfADataSet) {
  RlSpec spec = spec_of("qwen2.5-0.5b", "ml.p5.48xlarge", "1");
  spec.epochs = "2";
  spec.dataset_prompts = "10k";
  EXPECT_EQ(request_of(spec).steps, 313);  // 20,000 prompts by 64
}

TEST(RlRequest, TakesMiniBatchesThatDivide) {
  RlSpec spec = spec_of("qwen2.5-0.5b", "ml.p5.48xlarge", "1");
  spec.algorithm = "dapo";
  EXPECT_EQ(request_of(spec).algorithm.mini_batches, 16);
  EXPECT_EQ(request_of(spec).training.workload.global_batch, 32);
  EXPECT_EQ(request_of(spec).generated(), 3 * 512);
  spec.prompts = "9";
  spec.samples = "1";
  EXPECT_EQ(request_of(spec).algorithm.mini_batches, 1);
  spec.mini_batches = "2";
  EXPECT_EQ(fault_of(spec), "--mini-batches");
}

TEST(RlRequest, NamesTheFlagOfEachFault) {
  const RlSpec good = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1");
  const auto with = [&](std::optional<std::string> RlSpec::*member, const char* value) {
    RlSpec spec = good;
    spec.*member = value;
    return fault_of(spec);
  };
  for (const RlName& name : rl_names()) {
    if (name.flag == "--epochs" || name.flag == "--dataset-prompts" || name.flag == "--critic") continue;
    EXPECT_EQ(with(name.member, "no such thing"), name.flag);
  }
  EXPECT_EQ(with(&RlSpec::response_limit, "100"), "--response-limit");
  EXPECT_EQ(with(&RlSpec::critic, "llama-3.1-8b"), "--critic");
  EXPECT_EQ(with(&RlSpec::length_variation, "6"), "--length-variation");
  EXPECT_EQ(with(&RlSpec::epochs, "2"), "--dataset-prompts");
  EXPECT_EQ(with(&RlSpec::prompts, "1000000"), "none");
}

TEST(RlRequest, SpeaksOfPromptsAndResponsesWhereTheModelIsShort) {
  EXPECT_EQ(fault_of(spec_of("gpt2", "ml.p5.48xlarge", "1")), "--prompt-length and --response-limit");
  EXPECT_EQ(fault_of(spec_of("t5-large", "ml.p5.48xlarge", "1")), "MODEL");
  EXPECT_EQ(fault_of(spec_of("llama-3.1-8b", "ml.trn1.32xlarge", "1")), "--instances");
}

TEST(RlSearch, SumsTheStepOfEachPlacement) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "2");
  spec.placement = "colocated,split,split-sync";
  const RlPlanSet set = set_of(spec);
  ASSERT_EQ(set.plans.size(), 3U);
  for (const RlPlan& p : set.plans) {
    const RlParts& t = p.parts;
    EXPECT_GT(t.generate.value(), 0);
    EXPECT_GT(t.update, t.log_probs);
    EXPECT_EQ(t.log_probs, t.reference);
    EXPECT_DOUBLE_EQ(t.critic.value(), 0);
    EXPECT_GT(t.sync.value(), 0);
    EXPECT_LT(p.interval.p10, p.step());
    EXPECT_GT(p.interval.p90, p.step());
    const Seconds sum = t.generate + t.score + t.training() + t.sync + t.swap;
    if (p.placement == RlPlacement::Split) {
      EXPECT_EQ(p.training_instances + p.rollout_instances, 2);
      EXPECT_LT(p.step(), sum);
    } else {
      EXPECT_DOUBLE_EQ(p.step().value(), sum.value());
    }
    EXPECT_NEAR(p.cost.productive.value(), 200 * p.step().value(), 1e-6 * p.cost.productive.value());
    EXPECT_DOUBLE_EQ(p.cost.hourly.value(), 2 * p.price->rate.value());
  }
}

TEST(RlSearch, KeepsBothHalvesOfAStepInMemory) {
  for (const char* model : {"qwen2.5-0.5b", "llama-3.1-8b", "qwen2.5-32b"}) {
    for (const RlPlan& p : set_of(spec_of(model, "ml.p4d.24xlarge,ml.p5.48xlarge", "1,2,4")).plans) {
      EXPECT_LE(p.memory.training, p.memory.limit) << model;
      EXPECT_LE(p.memory.generation, p.memory.limit * 0.92 + Bytes(1)) << model;
      EXPECT_LE(p.memory.host, p.memory.host_limit) << model;
      EXPECT_TRUE(p.engine.fits());
      const double asleep = p.placement == RlPlacement::Colocated ? 3 : 0;
      EXPECT_NEAR(in_gib(p.memory.training - p.training.memory.wanted), asleep, 1e-9);
    }
  }
}

TEST(RlSearch, OffloadsWhatDoesNotFitBesideTheEngine) {
  RlSpec spec = spec_of("llama-3.1-70b", "ml.p5.48xlarge", "1");
  const RlPlan p = best_of(spec);
  EXPECT_TRUE(p.offloads);
  // Framework and engine alone are on the device, and states travel twice.
  EXPECT_NEAR(p.memory.generation.value(), (p.engine.total() + p.training.memory.components.framework).value(), 1);
  EXPECT_GT(p.parts.swap.value(), 1);
}

TEST(RlSearch, IsNeverFasterWithMoreSamplesOrLongerResponses) {
  RlSpec spec = spec_of("qwen2.5-7b", "ml.p5.48xlarge", "1");
  spec.placement = "colocated";
  Seconds before;
  for (const char* samples : {"2", "4", "8", "16", "32"}) {
    spec.samples = samples;
    const Seconds step = best_of(spec).step();
    EXPECT_GT(step, before) << samples;
    before = step;
  }
  spec.samples = "8";
  spec.response_limit = "4096";
  before = Seconds();
  for (const char* length : {"128", "256", "512", "1024", "2048"}) {
    spec.response_length = length;
    const Seconds step = best_of(spec).step();
    EXPECT_GT(step, before) << length;
    before = step;
  }
}

TEST(RlSearch, TrainsACriticInPpoAlone) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1");
  spec.algorithm = "ppo";
  const RlPlan same = best_of(spec);
  ASSERT_TRUE(same.critic.has_value());
  EXPECT_GT(same.parts.critic, 0.5 * same.parts.update);
  spec.critic = "llama-3.2-1b";
  EXPECT_LT(best_of(spec).parts.critic, 0.5 * same.parts.critic);
}

TEST(RlSearch, AsksNoReferenceInDapo) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1");
  spec.algorithm = "dapo";
  EXPECT_DOUBLE_EQ(best_of(spec).parts.reference.value(), 0);
}

TEST(RlSearch, ComparesWithAFrozenCopyAsTheRequestSays) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1");
  spec.kl = "off";
  EXPECT_EQ(best_of(spec).parts.reference, Seconds());
  spec.algorithm = "dapo";
  spec.kl = "on";
  EXPECT_GT(best_of(spec).parts.reference, Seconds());
}

TEST(RlSearch, RunsNoMoreResponsesAtOnceThanItMay) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1");
  const RlPlan free = best_of(spec);
  spec.concurrency = "48";
  const RlPlan few = best_of(spec);
  EXPECT_LE(few.engine.running * few.replicas, 48);
  EXPECT_GT(few.step(), free.step());
  // One at once is one of all replicas, however many there are.
  const auto generating = [](RlSpec s, const char* at_once) {
    s.concurrency = at_once;
    s.rollout_tp = "1";
    const RlPlan plan = best_of(s);
    EXPECT_EQ(plan.replicas, 8);
    return plan.parts.generate.value();
  };
  EXPECT_NEAR(generating(spec, "1") / generating(spec, "2"), 2, 0.05);
  spec.replica_sequences = "2";
  EXPECT_LE(best_of(spec).engine.running, 2);
}

TEST(RlSearch, WaitsUntilTheLastResponseHasStarted) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1");
  spec.start_rate = "2";
  const RlPlan plan = best_of(spec);
  EXPECT_DOUBLE_EQ(plan.parts.generate.value(), 256) << "64 x 8 responses at two a second";
  EXPECT_LE(plan.interval.p10, plan.step());
  spec.start_rate = "1M";
  EXPECT_LT(best_of(spec).parts.generate.value(), 256);
}

TEST(RlRequest, CutsResponsesWhereTheSequenceIsFull) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1");
  spec.prompt_length = "512";
  spec.sequence_limit = "4096";
  EXPECT_EQ(request_of(spec).lengths.limit, 3584);
  spec.response_limit = "2048";
  EXPECT_EQ(request_of(spec).lengths.limit, 2048) << "the smaller of the two";
  spec.sequence_limit = "1k";
  EXPECT_EQ(fault_of(spec), "--sequence-limit");
  spec.sequence_limit = "100";
  EXPECT_EQ(fault_of(spec), "--sequence-limit");
}

TEST(RlRequest, RefusesRatesAndSwitchesThatAreNone) {
  const auto fault = [](std::optional<std::string> RlSpec::*member, const char* text) {
    RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1");
    spec.*member = text;
    return fault_of(spec);
  };
  EXPECT_EQ(fault(&RlSpec::kl, "maybe"), "--kl");
  EXPECT_EQ(fault(&RlSpec::concurrency, "0"), "--concurrency");
  EXPECT_EQ(fault(&RlSpec::replica_sequences, "-1"), "--replica-sequences");
  EXPECT_EQ(fault(&RlSpec::start_rate, "1e9"), "--start-rate");
  EXPECT_EQ(fault(&RlSpec::start_rate, "1e-9"), "--start-rate");
}

TEST(RlSearch, SendsAdaptersAlone) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "2");
  spec.placement = "split";
  const RlPlan whole = best_of(spec);
  spec.request.finetune = "lora";
  const RlPlan adapters = best_of(spec);
  EXPECT_LT(adapters.parts.sync, 0.1 * whole.parts.sync);
  // The frozen base is its own reference.
  EXPECT_LT(adapters.memory.host, whole.memory.host);
  EXPECT_GT(adapters.parts.reference.value(), 0);
}

TEST(RlSearch, AddsWhatScoringTakes) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1");
  spec.placement = "colocated";
  const RlPlan plain = best_of(spec);
  spec.reward_seconds = "7";
  const RlPlan waiting = best_of(spec);
  EXPECT_DOUBLE_EQ(waiting.parts.score.value(), 7);
  EXPECT_NEAR((waiting.step() - plain.step()).value(), 7, 1e-9);
  spec.reward_model = "llama-3.1-8b";
  EXPECT_GT(best_of(spec).parts.score.value(), 7.5);
}

TEST(RlSearch, RanksByTheObjective) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1,2,4");
  const RlPlanSet cheap = set_of(spec);
  spec.request.objective = "time";
  const RlPlanSet fast = set_of(spec);
  ASSERT_GE(cheap.plans.size(), 3U);
  for (std::size_t i = 1; i < cheap.plans.size(); ++i) {
    EXPECT_LE(cheap.plans[i - 1].cost.total(), cheap.plans[i].cost.total());
    EXPECT_LE(fast.plans[i - 1].cost.time_to_train(), fast.plans[i].cost.time_to_train());
  }
  spec.request.top = "1";
  EXPECT_EQ(set_of(spec).plans.size(), 1U);
}

TEST(RlSearch, KeepsTheLimitsOfTheWholeRun) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1");
  spec.request.deadline = "30m";
  const RlPlanSet late = set_of(spec);
  EXPECT_TRUE(late.plans.empty());
  ASSERT_TRUE(late.nearest_miss.has_value());
  EXPECT_EQ(late.nearest_miss->rejection.reason, RejectionReason::Deadline);
  spec.request.deadline = "3d";
  spec.request.budget = "10";
  EXPECT_EQ(set_of(spec).nearest_miss->rejection.reason, RejectionReason::Budget);
  spec.request.budget = "100000";
  EXPECT_FALSE(set_of(spec).plans.empty());
  spec.request.max_hourly = "5";
  EXPECT_EQ(set_of(spec).nearest_miss->rejection.reason, RejectionReason::Hourly);
}

TEST(RlSearch, SaysWhatIsShortWhereNothingFits) {
  const RlPlanSet set = set_of(spec_of("llama-3.1-405b", "ml.g5.12xlarge", "1"));
  EXPECT_TRUE(set.plans.empty());
  ASSERT_TRUE(set.nearest_miss.has_value());
  EXPECT_EQ(set.nearest_miss->what, "training");
  EXPECT_GT(set.nearest_miss->rejection.needed, set.nearest_miss->rejection.available);
}

TEST(RlSearch, TakesTheDegreesThatAreNamed) {
  RlSpec spec = spec_of("llama-3.1-8b", "ml.p5.48xlarge", "1");
  spec.rollout_tp = "2";
  EXPECT_EQ(best_of(spec).rollout_tensor, 2);
  EXPECT_EQ(best_of(spec).replicas, 4);
  spec.rollout_tp = "3";
  EXPECT_EQ(set_of(spec).nearest_miss->rejection.reason, RejectionReason::Divisibility);
}

TEST(RlSearch, AnswersTheSameOnAnyNumberOfThreads) {
  const RlRequest request = request_of(spec_of("llama-3.1-8b", "ml.p5.48xlarge,ml.p4d.24xlarge", "1,2"));
  const RlPlanSet one = rl_search(request, catalog(), {.threads = 1});
  const RlPlanSet four = rl_search(request, catalog(), {.threads = 4});
  ASSERT_EQ(one.plans.size(), four.plans.size());
  for (std::size_t i = 0; i < one.plans.size(); ++i) {
    EXPECT_EQ(one.plans[i].parts, four.plans[i].parts);
    EXPECT_TRUE(one.plans[i].training.same_as(four.plans[i].training));
  }
}

}  // namespace
}  // namespace smplan
