// Files of Kubernetes: which of their documents is the job, and what is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using ::testing::HasSubstr;

std::string job_named(const std::string& kind, const std::string& name) {
  return "apiVersion: v1\nkind: " + kind + "\nmetadata:\n  name: " + name +
         "\nspec:\n  nprocPerNode: \"8\"\n  replicaSpecs:\n  - name: pod\n    replicas: 4\n";
}

std::string object_of(const std::string& kind) {
  return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: beside}\ndata: {x: \"1\"}\n";
}

/// Code and message of the refusal; `read` where there is none.
std::string said_of(const std::string& text) {
  const Result<Job> job = read_job(text, "job.yaml", std::nullopt);
  return job ? "read" : job.error().front().code + ": " + job.error().front().message;
}

TEST(DocumentsOfKubernetes, HoldOneJobBesideOtherObjects) {
  const std::string text = object_of("ConfigMap") + "---\n" + job_named("HyperPodPyTorchJob", "llama") + "---\n" +
                           object_of("PersistentVolumeClaim") + "---\n";
  const Result<Job> job = read_job(text, "job.yaml", std::nullopt);
  ASSERT_TRUE(job.has_value()) << to_string(job.error().front());
  EXPECT_EQ(job->kind, JobKind::HyperpodJob);
  EXPECT_TRUE(job->name.is("llama"));
  EXPECT_EQ(job->name.where.line, 9);
  EXPECT_TRUE(job->instance_count.is(4));
}

// It stands: a job does not wait for instances and images, as a training job does.
TEST(DocumentsOfKubernetes, ArePredictedOnACluster) {
  CheckOptions options;
  options.request = test::request_from(
      {{"model", "llama-3.1-8b"}, {"stack", "fsdp"}, {"tokens", "1B"}, {"instances", "ml.p5.48xlarge"}});
  const Findings found = test::check_text(job_named("HyperPodPyTorchJob", "llama"), JobKind::HyperpodJob, options);
  ASSERT_TRUE(found.prediction);
  EXPECT_EQ(found.prediction->request.run.recovery.platform, Platform::HyperPodEks);
  options.request.platform = "hyperpod-slurm";
  const Findings other = test::check_text(job_named("HyperPodPyTorchJob", "llama"), JobKind::HyperpodJob, options);
  ASSERT_TRUE(other.prediction);
  EXPECT_EQ(other.prediction->request.run.recovery.platform, Platform::HyperPodSlurm) << "a flag goes before";
}

TEST(DocumentsOfKubernetes, AreRefusedWithTheNamesOfTheirJobs) {
  EXPECT_THAT(said_of(job_named("HyperPodPyTorchJob", "a") + "---\n" + job_named("PyTorchJob", "b")),
              HasSubstr("several-jobs: holds 2 jobs: HyperPodPyTorchJob a, PyTorchJob b"));
  EXPECT_THAT(said_of(object_of("ConfigMap") + "---\n" + object_of("Secret")), HasSubstr("no-job: "));
  EXPECT_THAT(said_of(job_named("PyTorchJob", "a") + "---\nnum_processes: 8\n"), HasSubstr("yaml-documents: "));
}

TEST(DocumentsOfKubernetes, OfOtherKindsAreRefusedByName) {
  EXPECT_EQ(said_of(job_named("MPIJob", "a")), "other-object: is Kubernetes' MPIJob, which is not checked");
  EXPECT_EQ(said_of(object_of("Deployment") + "spec: {}\n"),
            "other-object: is Kubernetes' Deployment, which is not checked");
  EXPECT_EQ(said_of(object_of("ConfigMap") + "---\n" + job_named("MPIJob", "a")),
            "other-object: is Kubernetes' MPIJob, which is not checked");
  EXPECT_EQ(said_of(job_named("PyTorchJob", "a")), "read");
}

std::string message_of(const std::string& text, JobKind kind, std::string_view rule) {
  for (const Finding& f : test::check_text(text, kind).findings) {
    if (f.rule == rule) return f.message + "; " + f.fix;
  }
  return "no finding";
}

TEST(Messages, NameWhatIsRequestedWithoutALimit) {
  const std::string text =
      "apiVersion: v1\nkind: PyTorchJob\nmetadata: {name: a}\nspec: {pytorchReplicaSpecs: {Worker: {replicas: 1, "
      "template: {spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 8}}}]}}}}}\n";
  EXPECT_EQ(
      message_of(text, JobKind::HyperpodJob, "C236"),
      "the manifest requests nvidia.com/gpu and limits none of it: it needs a limit; write nvidia.com/gpu: 8 under "
      "limits, where a request is not needed");
}

TEST(Messages, NameTheWholePathOfASetting) {
  const std::string text = R"({"train_micro_batch_size_per_gpu": 2, "optimizer": {"type": "OneBitAdam", "params": {}},
                               "zero_optimization": {"stage": 2}})";
  EXPECT_THAT(message_of(text, JobKind::DeepSpeed, "C226"), ::testing::StartsWith("optimizer.type "));
}

TEST(Messages, SayThatANumberIsTooLarge) {
  EXPECT_THAT(message_of(R"({"TrainingJobName": "a", "ResourceConfig": {"InstanceCount": 99999999999999999999}})",
                         JobKind::CreateTrainingJob, "C004"),
              HasSubstr("must be a whole number, is 99999999999999999999, which 64 bits do not hold"));
  EXPECT_THAT(message_of("num_processes: 99999999999999999999\nnum_machines: 1\ndistributed_type: NO\n",
                         JobKind::Accelerate, "C004"),
              HasSubstr("64 bits hold"));
}

TEST(FormsOfTexts, HoldForLongOnesToo) {
  const auto rules = [](const std::string& name) {
    const std::string text =
        R"({"template": "hyp-pytorch-job", "version": 1.1, "image": "x:1", "job_name": ")" + name + "\"}";
    return test::rules_of(test::check_text(text, JobKind::HyperpodJob));
  };
  EXPECT_THAT(rules(std::string(63, 'a')), ::testing::Not(::testing::Contains("C004")));
  EXPECT_THAT(rules(std::string(64, 'a')), ::testing::Contains("C004"));
  EXPECT_THAT(rules(std::string(50'000, 'a')), ::testing::Contains("C004"));
}

}  // namespace
}  // namespace smplan
