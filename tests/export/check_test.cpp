#include "fixture.hpp"

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
  neuron.tp = "8";
  requests.push_back(neuron);
  RequestSpec smddp = test::request("fsdp", "llama-3-8b", "ml.p4d.24xlarge", "4");
  smddp.collectives = "smddp";
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

}  // namespace
}  // namespace smplan
