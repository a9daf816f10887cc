// A family that no source has heard of is judged by the facts of its entry in the catalog.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/job_cases.hpp"

namespace smplan::test {
namespace {

constexpr const char* kNewFamily = R"({"schema": "smplan.catalog/1", "instances": [{
  "name": "ml.p7.48xlarge", "vcpus": 192, "host_memory_gib": 2048, "accelerator": "B200", "accelerator_count": 8,
  "accelerator_memory_mib": 183359,
  "fabric": {"kind": "nvswitch", "gb_per_s_per_accelerator": 900, "domain_size": 8},
  "network": {"kind": "efa", "gbit_per_s": 3200, "interfaces": 8, "gpudirect_rdma": true},
  "host_link_gb_per_s": 55, "training_support": "on-demand", "source": "a test", "as_of": "2026-11-26"}, {
  "name": "ml.tau1.48xlarge", "vcpus": 192, "host_memory_gib": 2048, "accelerator": "Trainium2",
  "accelerator_count": 64, "accelerator_memory_mib": 24576,
  "fabric": {"kind": "neuronlink", "gb_per_s_per_accelerator": 100, "domain_size": 64},
  "network": {"kind": "efa", "gbit_per_s": 3200, "interfaces": 16, "gpudirect_rdma": true},
  "host_link_gb_per_s": 8, "training_support": "on-demand", "source": "a test", "as_of": "2026-11-26"}, {
  "name": "ml.h1.48xlarge", "vcpus": 192, "host_memory_gib": 2048, "accelerator": "B200", "accelerator_count": 8,
  "accelerator_memory_mib": 183359,
  "fabric": {"kind": "nvswitch", "gb_per_s_per_accelerator": 900, "domain_size": 8},
  "network": {"kind": "efa", "gbit_per_s": 3200, "interfaces": 8, "gpudirect_rdma": true},
  "host_link_gb_per_s": 55, "training_support": "on-demand", "source": "a test", "as_of": "2026-11-26"}]})";

Catalog with_new_family() {
  Catalog catalog = Catalog::shipped().value();
  const Result<void> merged = catalog.merge(parse_json(kNewFamily, "overlay.json").value());
  EXPECT_TRUE(merged) << to_string(merged.error());
  return catalog;
}

std::set<std::string> found_on(const std::string& type, const std::string& more = "") {
  static const Catalog catalog = with_new_family();
  static const SagemakerLimits limits = SagemakerLimits::shipped().value();
  const std::string text = R"({"class": "PyTorch", "role": "arn:aws:iam::123456789012:role/r", "entry_point": "t.py",
    "framework_version": "2.5.1", "py_version": "py311", "instance_count": 4, "max_run": 3600, "max_wait": 7200,
    "use_spot_instances": true, "checkpoint_s3_uri": "s3://b/c", "distribution": {"torch_distributed": {"enabled": true}},
    "instance_type": ")" + type +
                           "\"" + more + "}";
  const Result<Job> job = read_job(text, "job.json", JobKind::Estimator);
  EXPECT_TRUE(job) << to_string(job.error());
  std::set<std::string> rules;
  const Result<Findings> findings = check_job(*job, catalog, limits, {});
  EXPECT_TRUE(findings);
  for (const Finding& finding : findings->findings) rules.insert(finding.rule);
  return rules;
}

TEST(NewFamily, OfAnOverlayIsJudgedAsItsLikes) {
  EXPECT_TRUE(found_on("ml.p5.48xlarge").contains("C033")) << "several are rarely free together on spot";
  EXPECT_TRUE(found_on("ml.p7.48xlarge").contains("C033"));
  EXPECT_FALSE(found_on("ml.g6e.48xlarge").contains("C033"));
}

TEST(NewFamily, HasTrainiumOrGpusByItsEntryAndNotByItsName) {
  const auto with_image = [](const std::string& tag) {
    return R"(, "image_uri": "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training)" + tag + "\"";
  };
  const std::string gpus = with_image(":2.9.0-gpu-py312-cu130-ubuntu22.04-sagemaker");
  const std::string neuron = with_image("-neuronx:2.9.0-neuronx-py312-sdk2.27.1-ubuntu24.04");
  // Another size of the family may be unknown.
  for (const char* type : {"ml.tau1.48xlarge", "ml.tau1.3xlarge", "ml.trn2.48xlarge"}) {
    EXPECT_TRUE(found_on(type, gpus).contains("C058")) << type;
    EXPECT_FALSE(found_on(type, neuron).contains("C058")) << type;
  }
  for (const char* type : {"ml.h1.48xlarge", "ml.h1.3xlarge", "ml.p5.48xlarge"}) {
    EXPECT_TRUE(found_on(type, neuron).contains("C058")) << type;
    EXPECT_FALSE(found_on(type, gpus).contains("C058")) << type;
  }
}

// Source: sagemaker-training 5.1.4, SM_EFA_NCCL_INSTANCES.
TEST(NewFamily, IsNotInTheListsOfOldSoftware) {
  EXPECT_TRUE(found_on("ml.p7.48xlarge").contains("C122")) << "the toolkit does not know its EFA";
  EXPECT_TRUE(found_on("ml.p5en.48xlarge").contains("C122"));
  EXPECT_FALSE(found_on("ml.p5e.48xlarge").contains("C122"));
  EXPECT_FALSE(found_on("ml.p5.48xlarge").contains("C122"));
  const std::string compiler = R"(, "compiler_config": {"class": "TrainingCompilerConfig", "enabled": true})";
  EXPECT_TRUE(found_on("ml.p7.48xlarge", compiler).contains("C115"));
}

}  // namespace
}  // namespace smplan::test
