// Files of reinforcement learning as questions to `smplan rl`: AWS's recipes of several turns, and what all tools say
// of a frozen copy and of the engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/preflight/job_rl.hpp"
#include "planner/rl/rl_search.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// As AWS ships it, with what the test changes: aws/sagemaker-hyperpod-recipes 2631995, mtrl-gpt-oss-20b-lora.yaml.
struct Mtrl {
  std::string batch = "{training_batch_size: 128, group_size: 8}";
  std::string model = "{model_name: openai/gpt-oss-20b, max_sequence_length: 65536, lora_rank: 32}";
  std::string rl = "{advantage_method: group_based, loss_fn: ppo}";
  std::string turn = "{max_tokens: 4096}";
  std::string ahead = "3";
  std::string more;
  [[nodiscard]] std::string text() const {
    return "run: {name: mtrl, model_type: mtrl}\nbatch: " + batch + "\nmodel: " + model + "\nrl: " + rl +
           "\nsampling_params: " + turn + "\nasync_config: {max_steps_off_policy: " + ahead +
           "}\nschedule: {epochs: 1, max_steps: 100}\nrollout: {max_concurrency: 96, rollout_tps: 5}\n" + more;
  }
};

Result<RlSpec> read(const std::string& text, JobKind kind = JobKind::HyperpodRecipe, RlSpec flags = {}) {
  Result<Job> job = read_job(text, "job.yaml", kind);
  if (!job) return tl::unexpected<Diagnostics>(job.error());
  return rl_spec_of_job(*job, test::shipped_catalog(), std::move(flags));
}

std::string refusal(const std::string& text) {
  const Result<RlSpec> spec = read(text);
  return spec ? std::string() : to_string(spec.error());
}

TEST(RlOfSeveralTurns, IsReadAsAWSDocumentsIt) {
  const Result<RlSpec> spec = read(Mtrl().text());
  ASSERT_TRUE(spec) << to_string(spec.error());
  EXPECT_EQ(spec->algorithm, "grpo") << "a loss with PPO's clipping has no critic";
  EXPECT_EQ(spec->request.model, "gpt-oss-20b");
  EXPECT_EQ(spec->request.finetune, "lora");
  EXPECT_EQ(spec->request.lora_rank, "32");
  EXPECT_EQ(spec->prompts, "128");
  EXPECT_EQ(spec->samples, "8");
  EXPECT_EQ(spec->response_length, "2048") << "half of a turn";
  EXPECT_EQ(spec->response_limit, std::nullopt);
  EXPECT_EQ(spec->sequence_limit, "65536");
  EXPECT_EQ(spec->concurrency, "96");
  EXPECT_EQ(spec->start_rate, "5");
  EXPECT_EQ(spec->placement, "split");
  EXPECT_EQ(spec->kl, "off");
  EXPECT_EQ(spec->steps, "100");
  EXPECT_EQ(spec->request.count, std::nullopt);
}

TEST(RlOfSeveralTurns, SaysWhatTheFileLeavesOpen) {
  const Result<RlSpec> spec = read(Mtrl().text());
  ASSERT_TRUE(spec);
  for (const char* open : {"how many turns", "serverless", "tools", "3 steps old", "--mini-batches", "data set ends"}) {
    EXPECT_THAT(spec->left_open, Contains(HasSubstr(open)));
  }
  RlSpec flags;
  flags.response_length = "8k";
  const Result<RlSpec> said = read(Mtrl().text(), JobKind::HyperpodRecipe, flags);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->response_length, "8k");
  EXPECT_THAT(said->left_open, Not(Contains(HasSubstr("how many turns"))));
}

TEST(RlOfSeveralTurns, WaitsWhereNoStepIsOffPolicy) {
  const Result<RlSpec> spec = read(Mtrl{.ahead = "0"}.text());
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->placement, "colocated,split-sync");
  EXPECT_THAT(spec->left_open, Not(Contains(HasSubstr("steps old"))));
}

TEST(RlOfSeveralTurns, TakesNoValueThatCannotBe) {
  const Result<RlSpec> none = read(Mtrl{.batch = "{training_batch_size: 128, group_size: 0}", .ahead = "-1"}.text());
  ASSERT_TRUE(none);
  EXPECT_EQ(none->samples, std::nullopt);
  EXPECT_EQ(none->placement, std::nullopt);
  EXPECT_THAT(none->left_open, Contains(AllOf(HasSubstr("group_size"), HasSubstr("taken as not said"))));
  EXPECT_THAT(none->left_open, Contains(HasSubstr("no number of steps")));
  const Result<RlSpec> longer =
      read(Mtrl{.model = "{model_name: openai/gpt-oss-20b, max_sequence_length: 2048}", .turn = "{max_tokens: 1000000}"}
               .text());
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->response_length, "1024") << "no turn is longer than the sequence";
  EXPECT_EQ(longer->request.finetune, "full");
  ASSERT_TRUE(resolve_rl(*longer, test::shipped_catalog(), std::nullopt));
  EXPECT_FALSE(read(Mtrl{.batch = "128"}.text())->prompts);
}

TEST(RlOfSeveralTurns, CountsOtherAdvantagesWithoutACriticAsGrpo) {
  for (const char* method : {"monte_carlo", "reinforce_pp", "reinforce_pp_baseline", "opo", "gpg"}) {
    const Result<RlSpec> spec = read(Mtrl{.rl = std::string("{advantage_method: ") + method + "}"}.text());
    ASSERT_TRUE(spec) << method;
    EXPECT_EQ(spec->algorithm, "grpo");
    EXPECT_THAT(spec->left_open, Contains(HasSubstr(method)));
  }
  EXPECT_EQ(read(Mtrl{.rl = "{advantage_method: rloo}"}.text())->algorithm, "rloo");
  EXPECT_EQ(read(Mtrl{.rl = "{advantage_method: grpo_passk}"}.text())->algorithm, "grpo");
  EXPECT_EQ(read(Mtrl{.rl = "{loss_fn: cispo}"}.text())->algorithm, "grpo");
  EXPECT_THAT(refusal(Mtrl{.rl = "{advantage_method: \"{{advantage_method}}\"}"}.text()), HasSubstr("algorithm"));
  EXPECT_THAT(refusal(Mtrl{.rl = "{advantage_method: mine}"}.text()), HasSubstr("`mine` is not modelled"));
}

// Nobody knows the architecture of Nova: no other reason is given.
TEST(RecipeReading, OfNovaOrAnEvaluationIsRefusedWithItsReason) {
  const char* unpublished = "the architecture of the Nova models is not published";
  EXPECT_THAT(refusal(Mtrl{.model = "{model_name: nova-textgeneration-lite-v2}"}.text()), HasSubstr(unpublished));
  EXPECT_THAT(
      refusal("run: {model_type: \"amazon.nova-2-lite-v1:0:256k\", replicas: 2}\n"
              "training_config: {global_batch_size: 256, rollout: {advantage_strategy: {number_generation: 8}}}\n"),
      HasSubstr(unpublished));
  EXPECT_THAT(refusal("run: {model_type: \"amazon.nova-micro-v1:0:128k\"}\nppo_actor_train: {max_length: 8192}\n"),
              HasSubstr(unpublished));
  EXPECT_THAT(refusal("run: {model_type: mtrl}\neval_metrics_config: {success_threshold: 1.0}\n"
                      "batch: {eval_group_size: 1}\n"),
              HasSubstr("evaluates a model and trains none"));
  RlSpec flags;
  flags.request.model = "qwen3-8b";
  const Result<RlSpec> other =
      read(Mtrl{.model = "{model_name: nova-textgeneration-lite-v2}"}.text(), JobKind::HyperpodRecipe, flags);
  ASSERT_TRUE(other) << "a model as large stands for it";
  EXPECT_EQ(other->prompts, "128");
}

std::string verl(const std::string& actor, const std::string& algorithm, const std::string& rollout) {
  return "actor_rollout_ref: {model: {path: Qwen/Qwen2.5-7B}, actor: {strategy: fsdp" + actor + "}, rollout: {n: 8" +
         rollout + "}}\ndata: {train_batch_size: 64}\nalgorithm: {adv_estimator: grpo" + algorithm + "}\n";
}

TEST(RlOfVerl, ComparesWithAFrozenCopyWhereOneOfItsSwitchesIsOn) {
  const auto kl = [](const std::string& actor, const std::string& algorithm) {
    const Result<RlSpec> spec = read(verl(actor, algorithm, ""), JobKind::Verl);
    return spec ? spec->kl.value_or("as usual") : to_string(spec.error());
  };
  EXPECT_EQ(kl("", ""), "off") << "both are off in verl's own files";
  EXPECT_EQ(kl(", use_kl_loss: true", ""), "on");
  EXPECT_EQ(kl("", ", use_kl_in_reward: true"), "on");
  EXPECT_EQ(kl(", use_kl_loss: false", ", use_kl_in_reward: false"), "off");
  EXPECT_EQ(kl(", use_kl_loss: \"${mine}\"", ""), "as usual");
}

TEST(RlOfVerl, SaysHowManySequencesAReplicaRuns) {
  EXPECT_EQ(read(verl("", "", ", max_num_seqs: 64"), JobKind::Verl)->replica_sequences, "64");
  EXPECT_FALSE(read(verl("", "", ""), JobKind::Verl)->replica_sequences);
}

TEST(RlOfVerl, SaysWhatTakesTimeBesideAStep) {
  const std::string text =
      verl("", "", ", enforce_eager: true") +
      "trainer: {test_freq: 5}\nreward_model: {reward_kwargs: {kwargs: {model_id: bedrock/judge}}}\n";
  const Result<RlSpec> spec = read(text, JobKind::Verl);
  ASSERT_TRUE(spec);
  for (const char* open : {"enforce_eager", "test_freq", "judge"}) {
    EXPECT_THAT(spec->left_open, Contains(HasSubstr(open)));
  }
  EXPECT_THAT(read(verl("", "", ", enforce_eager: false") + "trainer: {test_freq: -1}\n", JobKind::Verl)->left_open,
              testing::IsEmpty());
}

TEST(RlOfVerl, KnowsEveryEstimatorWithoutACritic) {
  for (const char* estimator :
       {"grpo_passk", "reinforce_plus_plus", "reinforce_plus_plus_baseline", "opo", "gpg", "grpo_vectorized"}) {
    std::string text = verl("", "", "");
    text.replace(text.find("adv_estimator: grpo"), 19, std::string("adv_estimator: ") + estimator);
    const Result<RlSpec> spec = read(text, JobKind::Verl);
    ASSERT_TRUE(spec) << estimator;
    EXPECT_EQ(spec->algorithm, "grpo") << estimator;
  }
}

TEST(RlOfNemoRl, ComparesWithAFrozenCopyWhereItsPenaltyCounts) {
  const auto kl = [](const std::string& penalty) {
    const Result<RlSpec> spec = read(
        "grpo: {num_prompts_per_step: 32, num_generations_per_prompt: 16}\n"
        "policy: {model_name: Qwen/Qwen2.5-1.5B, generation: {vllm_kwargs: {max_num_seqs: "
        "512}}}\nloss_fn: {" +
            penalty + "}\n",
        JobKind::NemoRl);
    EXPECT_EQ(spec->replica_sequences, "512");
    return spec->kl.value_or("as usual");
  };
  EXPECT_EQ(kl("reference_policy_kl_penalty: 0.01"), "on");
  EXPECT_EQ(kl("reference_policy_kl_penalty: 0"), "off");
  EXPECT_EQ(kl(""), "as usual");
}

}  // namespace
}  // namespace smplan
