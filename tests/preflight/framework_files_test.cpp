// Files of training frameworks: what the framework refuses is an error with its setting named, what it takes is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using test::Json;

const Json& jobs() {
  static const Json document = Json::parse(test::read_test_file("frameworks.json"));
  return document["jobs"];
}

Severity severity_from(const std::string& word) { return word == "error" ? Severity::Error : Severity::Warning; }

class FrameworkFile : public ::testing::TestWithParam<std::size_t> {};

TEST_P(FrameworkFile, IsCheckedAsItsLibraryChecksIt) {
  const Json& row = jobs()[GetParam()];
  SCOPED_TRACE(row["what"].get<std::string>());
  CheckOptions options;
  options.n_gpus = row["n_gpus"].get<std::int64_t>();
  if (row.contains("facts")) options.facts = test::facts_from(row["facts"]);
  const Findings found = test::check_text(row["text"], job_kind_from(row["kind"].get<std::string>()), options);
  if (!row.contains("rule")) {
    for (const Finding& f : found.findings) EXPECT_NE(f.severity, Severity::Error) << f.rule << ": " << f.message;
    return;
  }
  const std::string rule = row["rule"];
  const auto at =
      std::find_if(found.findings.begin(), found.findings.end(), [&](const Finding& f) { return f.rule == rule; });
  ASSERT_NE(at, found.findings.end()) << rule;
  EXPECT_EQ(at->severity, severity_from(row["severity"])) << at->message;
  EXPECT_FALSE(at->fix.empty());
  EXPECT_FALSE(at->source.empty());
}

INSTANTIATE_TEST_SUITE_P(All, FrameworkFile, ::testing::Range<std::size_t>(0, jobs().size()));

std::string fix_of(std::string_view text, JobKind kind, std::string_view rule) {
  for (const Finding& f : test::check_text(std::string(text), kind).findings) {
    if (f.rule == rule) return f.fix;
  }
  return "no finding";
}

TEST(FrameworkFiles, LeaveNamesThatOthersTake) {
  const std::string script = "accelerate launch train.py --output_dir o --learning_rate 1e-4 --mine 1";
  EXPECT_EQ(fix_of(script, JobKind::Trl, "C159"), "no finding") << "the user's script may have it";
  EXPECT_NE(fix_of("trl sft --output_dir o --learning_rate 1e-4 --mine 1", JobKind::Trl, "C159"), "no finding");
  const std::string ray = "defaults: [ppo_trainer, _self_]\ndata: {train_batch_size: 64}\nactor_rollout_ref: {}\n";
  EXPECT_EQ(fix_of(ray + "ray_kwargs: {ray_init: {num_gpus: 8}}\n", JobKind::Verl, "C159"), "no finding")
      << "an argument of ray.init()";
  EXPECT_NE(fix_of(ray + "ray_kwargs: {timeline_json_fil: a}\n", JobKind::Verl, "C159"), "no finding");
}

TEST(FrameworkFiles, AreNotToldOfPartsOfOtherFiles) {
  const std::string file = "tokenizer: {_component_: a.b}\nmodel: {_component_: a.c}\nbatch_size: 2\n";
  EXPECT_NE(fix_of(file + "seed: ${folder}\n", JobKind::Torchtune, "C246"), "no finding");
  EXPECT_EQ(fix_of(file + "seed: ${critic.seed}\n", JobKind::Torchtune, "C246"), "no finding");
}

TEST(FrameworkFiles, NameAThousandUnknownKeysAndThatThereAreMore) {
  std::string text = R"({"train_batch_size": 8, "zero_optimization": {"stage": 2)";
  for (int i = 0; i < 5000; ++i) text += ", \"key" + std::to_string(i) + "\": 1";
  const Findings found = test::check_text(text + "}}", JobKind::DeepSpeed);
  const auto of_rule = [](const Finding& f) { return f.rule == "C159"; };
  EXPECT_EQ(std::count_if(found.findings.begin(), found.findings.end(), of_rule), 1001);
  const auto last = std::find_if(found.findings.rbegin(), found.findings.rend(), of_rule);
  EXPECT_THAT(last->message, ::testing::HasSubstr("what follows after 1000 unknown keys"));
}

TEST(FrameworkFiles, SayWhatWasMeant) {
  EXPECT_EQ(
      fix_of(R"({"train_batch_size": 8, "zero_optimization": {"overlap_com": true}})", JobKind::DeepSpeed, "C159"),
      "did you mean overlap_comm?");
  EXPECT_EQ(fix_of("--tensor-model-paralel-size 2", JobKind::Megatron, "C159"),
            "did you mean tensor-model-parallel-size?");
  EXPECT_EQ(fix_of("learning_rate: 1.0e-4\noutput_dir: o\nlr_scheduler_type: cosin\n", JobKind::Trl, "C004"),
            "did you mean cosine?");
  EXPECT_EQ(fix_of("base_model: m\nlearning_rat: 1\nsequence_len: 9\nadapter: lora\n", JobKind::Axolotl, "C159"),
            "did you mean learning_rate?");
  EXPECT_EQ(fix_of("tokenizer: {path: t}\nepochs: 1\nmodel: {_component_: torchtune.models.gemma2.gemma2_2c}\n",
                   JobKind::Torchtune, "C004"),
            "did you mean torchtune.models.gemma2.gemma2_2b?");
}

/// No text of a file breaks the check, whatever its type.
TEST(FrameworkFiles, TakeAnyValueWithoutHarm) {
  const std::vector<std::string> values = {"null",
                                           "true",
                                           "-1",
                                           "1e400",
                                           "\"\"",
                                           "\"$X\"",
                                           "[]",
                                           "[[]]",
                                           "{}",
                                           "[null]",
                                           "\"auto\"",
                                           "9223372036854775807",
                                           "{\"a\": {\"b\": []}}"};
  for (const std::string& value : values) {
    for (const char* key : {"zero_optimization", "optimizer", "train_batch_size", "fsdp_config", "distributed_type",
                            "training", "parallelism", "learning_rate", "lr_scheduler_type"}) {
      const std::string text = "{\"" + std::string(key) + "\": " + value + "}";
      for (const JobKind kind : {JobKind::DeepSpeed, JobKind::Accelerate, JobKind::TorchTitan, JobKind::Trl}) {
        const Result<Job> job = read_job(text, "job.json", kind);
        if (!job) continue;
        EXPECT_TRUE(check_job(*job, test::shipped_catalog(), test::shipped_limits(), {})) << text;
      }
    }
  }
}

}  // namespace
}  // namespace smplan
