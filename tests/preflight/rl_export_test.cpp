// Jobs of verl that plans of reinforcement learning become: each is read back to the step that it was written from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_reader.hpp"
#include "planner/export/folder.hpp"
#include "planner/preflight/beside.hpp"
#include "planner/preflight/check.hpp"
#include "planner/preflight/job_rl.hpp"
#include "planner/rl/rl_export.hpp"

namespace smplan {
namespace {

using testing::HasSubstr;
using testing::Not;

const Catalog& shipped() {
  static const Catalog kCatalog = *Catalog::shipped();
  return kCatalog;
}

RlSpec spec_of(const char* count = "1") {
  RlSpec spec;
  spec.request.model = "llama-3.1-8b";
  spec.request.instances = "ml.p5.48xlarge";
  spec.request.count = count;
  spec.prompts = "64";
  spec.samples = "8";
  spec.framework = "verl";
  return spec;
}

/// The best plan of a request, with what it points into.
struct Answer {
  RlRequest request;
  RlPlanSet set;
};
Answer answer_of(const RlSpec& spec) {
  Result<RlRequest> request = resolve_rl(spec, shipped(), std::nullopt);
  EXPECT_TRUE(request) << (request ? "" : to_string(request.error()));
  if (!request) return {};
  Answer out{std::move(*request), {}};
  out.set = rl_search(out.request, shipped());
  EXPECT_FALSE(out.set.plans.empty());
  return out;
}

Result<Export> written(const Answer& answer, std::string_view target, const ExportOptions& options = {}) {
  return export_rl({answer.request, answer.set.plans.front(), 1, options, shipped()}, target);
}

/// The file that stands for the whole; the export must succeed.
ExportFile file_of(const Answer& answer, std::string_view target) {
  const Result<Export> out = written(answer, target);
  EXPECT_TRUE(out) << (out ? "" : to_string(out.error()));
  return out ? out->files.front() : ExportFile();
}

std::string refusal(const RlSpec& spec, std::string_view target = "verl") {
  const Answer answer = answer_of(spec);
  if (answer.set.plans.empty()) return "no plan";
  const Result<Export> out = written(answer, target);
  return out ? std::string() : to_string(out.error());
}

Job read(const ExportFile& file, std::string_view text) {
  Result<Job> job = read_job(text, file.path, std::nullopt);
  EXPECT_TRUE(job) << (job ? "" : to_string(job.error()));
  return job ? std::move(*job) : Job();
}

/// What the reader makes of a job, without a flag.
RlSpec read_back(const ExportFile& file) {
  Result<RlSpec> spec = rl_spec_of_job(read(file, file.content), shipped(), {});
  EXPECT_TRUE(spec) << (spec ? "" : to_string(spec.error()));
  return spec ? std::move(*spec) : RlSpec();
}

struct Case {
  const char* what;
  void (*change)(RlSpec&);
  const char* count;
};
constexpr Case kCases[] = {{"grpo, colocated", [](RlSpec& s) { s.placement = "colocated"; }, "1"},
                           {"ppo with a critic of its own",
                            [](RlSpec& s) {
                              s.algorithm = "ppo";
                              s.critic = "llama-3.2-1b";
                              s.prompts = "512";
                              s.samples = "1";
                              s.request.stack = "fsdp";
                            },
                            "2"},
                           {"rloo, ahead on other instances",
                            [](RlSpec& s) {
                              s.algorithm = "rloo";
                              s.placement = "split";
                              s.mini_batches = "4";
                            },
                            "2"},
                           {"grpo, waiting on other instances", [](RlSpec& s) { s.placement = "split-sync"; }, "4"},
                           {"dapo", [](RlSpec& s) { s.algorithm = "dapo"; }, "1"},
                           {"grpo without a frozen copy", [](RlSpec& s) { s.kl = "off"; }, "1"},
                           {"dapo with one",
                            [](RlSpec& s) {
                              s.algorithm = "dapo";
                              s.kl = "on";
                            },
                            "1"},
                           {"few responses at once, one after the other",
                            [](RlSpec& s) {
                              s.concurrency = "64";
                              s.start_rate = "4";
                            },
                            "1"},
                           {"adapters",
                            [](RlSpec& s) {
                              s.request.finetune = "lora";
                              s.request.lora_rank = "32";
                              s.placement = "colocated";
                            },
                            "1"},
                           {"a reward model, lengths and fixed degrees",
                            [](RlSpec& s) {
                              s.reward_model = "llama-3.2-1b";
                              s.placement = "colocated";
                              s.response_length = "900";
                              s.response_limit = "3000";
                              s.length_variation = "0.5";
                              s.request.stack = "megatron";
                              s.request[Dimension::Tensor] = "4";
                              s.passes = "2";
                              s.steps = "33";
                            },
                            "1"},
                           {"a reward function, SGLang",
                            [](RlSpec& s) {
                              s.reward_seconds = "12s";
                              s.engine = "sglang";
                              s.rollout_dtype = "fp8";
                              s.request.stack = "fsdp";
                              s.length_shape = "exponential";
                            },
                            "1"}};

class VerlJobs : public testing::TestWithParam<Case> {};

TEST_P(VerlJobs, SayTheStepThatTheyWereWrittenFrom) {
  RlSpec spec = spec_of(GetParam().count);
  GetParam().change(spec);
  const Answer answer = answer_of(spec);
  ASSERT_FALSE(answer.set.plans.empty());
  const ExportFile file = file_of(answer, "verl");
  EXPECT_EQ(file.path, "verl_rl.yaml");
  const Answer again = answer_of(read_back(file));
  ASSERT_FALSE(again.set.plans.empty());
  const RlPlan& before = answer.set.plans.front();
  const RlPlan& after = again.set.plans.front();
  EXPECT_EQ(before.step().value(), after.step().value());
  EXPECT_EQ(before.interval.p90.value(), after.interval.p90.value());
  EXPECT_EQ(before.training.strategy, after.training.strategy);
  EXPECT_EQ(before.placement, after.placement);
  EXPECT_EQ(before.rollout_tensor, after.rollout_tensor);
  EXPECT_EQ(before.instances, after.instances);
  EXPECT_EQ(answer.request.steps, again.request.steps);
  EXPECT_EQ(answer.request.algorithm.name, again.request.algorithm.name);
  EXPECT_EQ(answer.request.algorithm.mini_batches, again.request.algorithm.mini_batches);
}

INSTANTIATE_TEST_SUITE_P(All, VerlJobs, testing::ValuesIn(kCases));

TEST(VerlJob, SaysPlacementsByVerlsTrainers) {
  RlSpec spec = spec_of("2");
  spec.placement = "colocated";
  EXPECT_THAT(file_of(answer_of(spec), "verl").content, HasSubstr("trainer_mode: \"sync\""));
  spec.placement = "split";
  const std::string ahead = file_of(answer_of(spec), "verl").content;
  EXPECT_THAT(ahead, HasSubstr("trainer_mode: \"separate_async\""));
  EXPECT_THAT(ahead, HasSubstr("num_warmup_batches: 1"));
  EXPECT_THAT(ahead, HasSubstr("hybrid_engine: false"));
  spec.placement = "split-sync";
  EXPECT_THAT(file_of(answer_of(spec), "verl").content, HasSubstr("num_warmup_batches: 0"));
}

TEST(VerlJob, IsWhatSageMakerStarts) {
  ExportOptions options;
  options.bucket = "mine";
  RlSpec spec = spec_of("2");
  const Result<Export> out = written(answer_of(spec), "create-training-job", options);
  ASSERT_TRUE(out) << to_string(out.error());
  const std::string& request = out->files.front().content;
  EXPECT_THAT(request, HasSubstr(R"("sagemaker_program": "\"start_verl.py\"")"));
  EXPECT_THAT(request, HasSubstr(R"("InstanceCount": 2)"));
  EXPECT_THAT(request, HasSubstr("s3://mine/"));
  EXPECT_THAT(request, Not(HasSubstr("sagemaker_torch_distributed_enabled"))) << "the script starts once a machine";
  EXPECT_THAT(request, Not(HasSubstr("expandable_segments"))) << "the engine's sleep does without";
  std::vector<std::string> paths;
  for (const ExportFile& file : out->files) paths.push_back(file.path);
  EXPECT_THAT(paths, testing::ElementsAre("create_training_job.json", "src/verl_rl.yaml", "src/start_verl.py",
                                          "src/requirements.txt", "NOTES.md"));
}

TEST(VerlJob, PassesItsOwnCheck) {
  ExportOptions options;
  options.bucket = "mine";
  options.role = "arn:aws:iam::123456789012:role/training";
  const Answer answer = answer_of(spec_of("2"));
  for (const char* target : {"verl", "create-training-job", "hyperpod-verl"}) {
    const Result<Export> out = written(answer, target, options);
    if (!out) continue;  // split, or by Megatron
    Job job = read(out->files.front(), out->files.front().content);
    const Result<Findings> found = check_job(job, shipped(), *SagemakerLimits::shipped(), {});
    ASSERT_TRUE(found) << to_string(found.error());
    for (const Finding& finding : found->findings) {
      EXPECT_NE(finding.severity, Severity::Error) << target << ": " << finding.rule << " " << finding.message;
    }
  }
}

TEST(VerlJob, IsARecipeWhereAwsHasSuch) {
  RlSpec spec = spec_of();
  spec.placement = "colocated";
  spec.request.stack = "fsdp";
  const Answer answer = answer_of(spec);
  const ExportFile file = file_of(answer, "hyperpod-verl");
  const Answer again = answer_of(read_back(file));
  ASSERT_FALSE(again.set.plans.empty());
  EXPECT_EQ(again.set.plans.front().step().value(), answer.set.plans.front().step().value());
  spec.algorithm = "rloo";
  EXPECT_THAT(refusal(spec, "hyperpod-verl"), HasSubstr("learn by grpo"));
  spec = spec_of("2");
  spec.placement = "split";
  spec.request.stack = "megatron";
  const std::string both = refusal(spec, "hyperpod-verl");
  EXPECT_THAT(both, HasSubstr("train by FSDP"));
  EXPECT_THAT(both, HasSubstr("generate on the devices that train"));
}

TEST(VerlJob, IsReadFromTheFolderOfAnyTarget) {
  RlSpec spec = spec_of("2");
  const Answer answer = answer_of(spec);
  for (const char* target : {"verl", "create-training-job"}) {
    SCOPED_TRACE(target);
    const std::string folder = testing::TempDir() + "smplan-rl-" + target;
    const Result<Export> out = written(answer, target);
    ASSERT_TRUE(out) << to_string(out.error());
    ASSERT_TRUE(write_export(folder, out->files));
    const Result<std::string> file = job_file_of(folder);
    ASSERT_TRUE(file) << to_string(file.error());
    Result<Job> job = read_job(read_text_file(*file).value(), *file, std::nullopt);
    ASSERT_TRUE(job) << to_string(job.error());
    read_beside(*job, folder);
    const Result<RlSpec> said = rl_spec_of_job(*job, shipped(), {});
    ASSERT_TRUE(said) << to_string(said.error());
    EXPECT_EQ(said->prompts, spec.prompts);
    EXPECT_EQ(said->request.instances, spec.request.instances);
  }
}

TEST(VerlJob, IsKnownByAllThatDecidesIt) {
  const auto id = [](const RlSpec& spec) {
    const Result<Export> out = written(answer_of(spec), "verl");
    return out ? out->plan_id : to_string(out.error());
  };
  RlSpec spec = spec_of();
  spec.placement = "colocated";
  const std::string first = id(spec);
  EXPECT_EQ(first.size(), 16U);
  EXPECT_EQ(id(spec), first);
  spec.engine = "sglang";
  EXPECT_NE(id(spec), first);
}

TEST(VerlJob, RefusesWhatVerlHasNoWordsFor) {
  const auto refused = [](void (*change)(RlSpec&), const char* count = "1") {
    RlSpec spec = spec_of(count);
    change(spec);
    return refusal(spec);
  };
  EXPECT_THAT(refused([](RlSpec& s) { s.request.finetune = "qlora"; }), HasSubstr("verl quantizes no base"));
  EXPECT_THAT(refused([](RlSpec& s) {
                s.request.stack = "fsdp";
                s.request[Dimension::Compile] = "layers";
              }),
              HasSubstr("verl compiles no layers"));
  EXPECT_THAT(refused([](RlSpec& s) {
                s.request.stack = "fsdp";
                s.request[Dimension::RecomputeLayers] = "7";
              }),
              HasSubstr("recomputes all layers or none"));
  EXPECT_THAT(refused([](RlSpec& s) { s.request.stack = "deepspeed"; }), HasSubstr("FSDP or Megatron, the plan by"));
  EXPECT_THAT(refused(
                  [](RlSpec& s) {
                    s.request.finetune = "lora";
                    s.placement = "split";
                  },
                  "2"),
              HasSubstr("sends whole weights"));
  EXPECT_THAT(refused(
                  [](RlSpec& s) {
                    s.reward_model = "llama-3.2-1b";
                    s.placement = "split";
                  },
                  "2"),
              HasSubstr("no room for a reward model"));
  EXPECT_THAT(refused([](RlSpec& s) {
                s.reward_model = "llama-3.2-1b";
                s.algorithm = "dapo";
                s.placement = "colocated";
              }),
              HasSubstr("filters groups before"));
  EXPECT_THAT(refused([](RlSpec& s) {
                s.prompts = "8";
                s.samples = "64";
                s.mini_batches = "16";
              }),
              HasSubstr("8 do not divide into 16"));
  const Answer any = answer_of(spec_of());
  EXPECT_FALSE(written(any, "trl"));
  ExportOptions script;
  script.script = "mine.py";
  EXPECT_FALSE(written(any, "verl", script));
}

TEST(VerlJob, IsReadWithEveryFaultOfWhatStandsBeside) {
  const ExportFile file = file_of(answer_of(spec_of()), "verl");
  const auto fault = [&](const std::string& line) {
    std::string text = file.content;
    const std::size_t at = text.find("  framework:");
    EXPECT_NE(at, std::string::npos);
    text.insert(at, line);
    const Result<RlSpec> spec = rl_spec_of_job(read(file, text), shipped(), {});
    return spec ? std::string() : to_string(spec.error());
  };
  EXPECT_THAT(fault("  respones: \"3\"\n"), HasSubstr("/smplan/respones"));
  EXPECT_THAT(fault("  seq_len: \"3\"\n"), HasSubstr("no member of a request"));
  EXPECT_THAT(fault("  tp: [3]\n"), HasSubstr("not a text"));
  EXPECT_EQ(fault("  tp: 4\n"), "");
}

TEST(VerlJob, IsReadAsItWasChanged) {
  const ExportFile file = file_of(answer_of(spec_of()), "verl");
  std::string text = file.content;
  const std::string before = "train_batch_size: 64";
  const std::size_t at = text.find(before);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, before.size(), "train_batch_size: 128");
  const Result<RlSpec> spec = rl_spec_of_job(read(file, text), shipped(), {});
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->prompts, "128");
  RlSpec flags;
  flags.prompts = "32";
  EXPECT_EQ(rl_spec_of_job(read(file, text), shipped(), flags)->prompts, "32") << "flags go first";
}

}  // namespace
}  // namespace smplan
