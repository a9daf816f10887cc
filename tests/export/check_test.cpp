#include "fixture.hpp"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "planner/answer/plan_file.hpp"
#include "planner/preflight/check.hpp"

// The gate that users run before submission must let our own exports through.

namespace smplan {
namespace {

const SagemakerLimits& limits() {
  static const Result<SagemakerLimits> shipped = SagemakerLimits::shipped();
  EXPECT_TRUE(shipped.has_value());
  return *shipped;
}

/// Kind of an exported file by its name; nullopt for what `check` does not read.
std::optional<JobKind> kind_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name == "create_training_job.json") return JobKind::CreateTrainingJob;
  if (name == "estimator.json") return JobKind::Estimator;
  if (name == "model_trainer.json") return JobKind::ModelTrainer;
  if (name == "recipe.yaml") return JobKind::HyperpodRecipe;
  if (name == "ds_config.json") return JobKind::DeepSpeed;
  if (name == "accelerate_config.yaml") return JobKind::Accelerate;
  if (name == "megatron_args.txt") return JobKind::Megatron;
  if (name == "torchtitan.toml") return JobKind::TorchTitan;
  if (name == "smp_parameters.json") return JobKind::Smp;
  return std::nullopt;
}

/// Errors that the rules find in a file of the plan, told what the plan knows.
std::string errors_in(const ExportFile& file, JobKind kind, const TrainingPlan& plan) {
  const Result<Job> job = read_job(file.content, file.path, kind);
  if (!job) return to_string(job.error());
  CheckOptions options;
  options.request.region = plan.region;
  options.n_gpus = plan.world_size();
  const Result<Findings> found = check_job(*job, test::shipped(), limits(), options);
  if (!found) return to_string(found.error());
  std::string errors;
  for (const Finding& finding : found->findings) {
    if (finding.severity == Severity::Error) errors += finding.rule + " " + finding.message + "\n";
  }
  return errors;
}

TEST(Check, FindsNoErrorInAnyExport) {
  std::vector<RequestSpec> requests = {
      test::request("megatron"),
      test::expert_request("mixtral-8x7b", "ml.p5.48xlarge", "8"),
      test::request("fsdp"),
      test::request("fsdp", "llama-2-13b", "ml.g5.48xlarge", "4"),
      test::request("deepspeed"),
      test::request("ddp", "gpt2", "ml.g4dn.12xlarge"),
      test::request("torchtitan"),
      test::request("smp-v2"),
      test::request("smp-v1", "gpt2", "ml.p4d.24xlarge"),
      test::request("horovod", "bert-large", "ml.p4d.24xlarge"),
  };
  RequestSpec neuron = test::request("neuron", "llama-3-8b", "ml.trn1.32xlarge");
  neuron[Dimension::Tensor] = "8";
  requests.push_back(neuron);
  RequestSpec smddp = test::request("fsdp", "llama-3-8b", "ml.p4d.24xlarge", "4");
  smddp[Dimension::Collectives] = "smddp";
  requests.push_back(smddp);
  RequestSpec adapter = test::request("hyperpod-adapter", "llama-3-8b", "ml.p5.48xlarge");
  adapter.global_batch = "16";
  requests.push_back(adapter);
  int judged = 0;
  for (const RequestSpec& request : requests) {
    const TrainingPlan plan = test::plan(request);
    for (const ExportTarget& target : export_targets()) {
      const Result<Export> out = test::exported(plan, target.name);
      if (!out) continue;  // refused by name: targets_test has those
      for (const ExportFile& file : out->files) {
        const std::optional<JobKind> kind = kind_of(file.path);
        if (!kind) continue;
        ++judged;
        EXPECT_EQ(errors_in(file, *kind, plan), "") << target.name << " " << file.path << " of " << *request.stack;
      }
    }
  }
  EXPECT_GE(judged, 50);
}

/// Warnings and errors on the job that a request's best plan is exported as, by rule; nullopt where it has no plan.
std::optional<std::map<std::string, std::string>> complaints_about_best(const RequestSpec& spec) {
  const auto request = resolve(spec, test::shipped(), std::nullopt);
  if (!request) return std::map<std::string, std::string>{{"request", to_string(request.error())}};
  const PlanSet set = search(*request, test::shipped());
  if (set.plans.empty()) return std::nullopt;
  const TrainingPlan plan = training_plan_of(*request, set.plans.front());
  ExportOptions account;
  account.role = "arn:aws:iam::123456789012:role/SageMakerRole";
  account.bucket = "team-training";
  // Where a tool trains by its file, that is what is exported.
  const bool by_tool = request->target != nullptr;
  const Result<Export> out =
      export_plan({plan, account, test::shipped()}, by_tool ? request->target->name : "create-training-job");
  if (!out) return std::map<std::string, std::string>{{"export", to_string(out.error())}};
  std::map<std::string, std::string> complaints;
  for (const ExportFile& file : out->files) {
    const std::optional<JobKind> kind = kind_of(file.path);
    if (kind != JobKind::CreateTrainingJob && !(by_tool && &file == &out->files.front())) continue;
    const Result<Job> job = read_job(file.content, file.path, by_tool ? std::nullopt : kind);
    if (!job) return std::map<std::string, std::string>{{"read", to_string(job.error())}};
    CheckOptions options;
    options.request.region = plan.region;
    options.n_gpus = plan.world_size();
    // Plans say which quotas they need; this account has them.
    const bool spot = plan.market == Market::Spot;
    options.facts.quotas = {
        {"Longest run time for a training job", 2419200},
        {"Number of instances for a training job", plan.instance_count},
        {fmt::format("{} for {}training job usage", plan.instance->name, spot ? "spot " : ""), plan.instance_count}};
    const Result<Findings> found = check_job(*job, test::shipped(), limits(), options);
    if (!found) return std::map<std::string, std::string>{{"check", to_string(found.error())}};
    for (const Finding& finding : found->findings) {
      if (finding.severity == Severity::Info) continue;
      // Of the user's data and chat template.
      if (finding.rule == "C211" && by_tool) continue;
      // The ARN of a training plan is known once it is bought.
      if (finding.rule == "C211" && plan.market == Market::CapacityBlock) continue;
      // Spot was asked for, and the plan says that it may never start.
      if (finding.rule == "C033" && spot) continue;
      // No image with kernels for Volta is patched any more: CUDA 13 dropped it.
      if (finding.rule == "C073" && plan.instance->accelerator.starts_with("V100")) continue;
      complaints[std::string(finding.rule)] = fmt::format("{} x {} {}: {}", plan.instance_count, plan.instance->name,
                                                          to_string(plan.market), finding.message);
    }
  }
  return complaints;
}

// Either the rule or the rank is wrong where the best plan breaks a rule.
TEST(Check, TheBestPlanOfARequestPassesWithoutWarnings) {
  int asked = 0;
  int planned = 0;
  std::map<std::string, std::pair<int, std::string>> counted;
  const auto ask = [&](RequestSpec spec) {
    spec.top = "1";
    ++asked;
    const auto complaints = complaints_about_best(spec);
    if (!complaints) return;
    ++planned;
    for (const auto& [rule, words] : *complaints) {
      auto& entry = counted[rule];
      if (entry.first++ == 0) entry.second = *spec.model + " " + spec.finetune.value_or("") + ": " + words;
    }
  };
  for (const char* model :
       {"gpt2",         "gpt2-xl",    "bert-base",    "bert-large",    "vit-b-16",    "t5-base",     "llama-3.2-1b",
        "llama-3.2-3b", "llama-2-7b", "llama-3.1-8b", "gemma-2-9b",    "llama-2-13b", "qwen2.5-14b", "qwen2.5-32b",
        "opt-6.7b",     "falcon-7b",  "mixtral-8x7b", "qwen3-30b-a3b", "llama-2-70b", "gpt-oss-20b"}) {
    for (const char* tokens : {"200M", "3B", "50B"}) {
      for (const char* market : {"on-demand", "spot", "on-demand,spot,capacity-block"}) {
        RequestSpec spec;
        spec.model = model;
        spec.tokens = tokens;
        spec.market = market;
        spec.count = "1,2,4,8,16,32";
        ask(spec);
      }
    }
    for (const char* mode : {"full", "lora", "qlora"}) {
      for (const char* objective : {"cost", "time"}) {
        RequestSpec spec;
        spec.model = model;
        spec.finetune = mode;
        spec.objective = objective;
        spec.count = "1,2,4,8";
        ask(spec);
      }
    }
  }
  EXPECT_EQ(asked, 300);
  EXPECT_GE(planned, 280) << "those without a plan show nothing";
  for (const auto& [rule, entry] : counted)
    ADD_FAILURE() << rule << ": " << entry.first << " times, first " << entry.second;
}

}  // namespace
}  // namespace smplan
