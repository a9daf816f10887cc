// Plants every fault into many clean jobs that differ in what does not matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/preflight/job_cases.hpp"

namespace smplan {
namespace {

using test::Json;

constexpr int kVariants = 8;

Json shuffled(const Json& object, std::mt19937_64& random) {
  std::vector<std::pair<std::string, Json>> members;
  for (const auto& [key, value] : object.items()) members.emplace_back(key, value);
  for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[random() % i]);
  Json out = Json::object();
  for (auto& [key, value] : members) out[key] = value.is_object() ? shuffled(value, random) : value;
  return out;
}

/// Settings that no rule may mind. Applied before the fault, so that a fault is never covered.
void decorate(const std::string& base, Json& job, std::mt19937_64& random) {
  const std::string n = std::to_string(random() % 1000);
  if (base == "request") {
    job["TrainingJobName"] = "llama-01-" + n;
    job["CheckpointConfig"]["S3Uri"] = "s3://bucket-" + n + "/checkpoints/llama-01-" + n;
    job["Tags"] = {{{"Key", "team"}, {"Value", "team-" + n}}};
    job["HyperParameters"]["learning_rate"] = "0." + n;
    job["Environment"]["RUN_" + n] = "1";
  } else if (base == "estimator") {
    job["base_job_name"] = "llama-" + n;
    job["tags"] = {{{"Key", "team"}, {"Value", n}}};
    job["hyperparameters"]["learning_rate"] = static_cast<double>(random() % 100) / 1000;
    job["checkpoint_s3_uri"] = "s3://bucket-" + n + "/checkpoints/run-" + n;
  } else if (base == "trainer") {
    job["base_job_name"] = "llama-" + n;
    job["environment"] = {{"RUN_" + n, "1"}};
  } else if (base == "recipe") {
    job["run"]["name"] = "llama-" + n;
    job["trainer"]["max_steps"] = 100 + static_cast<int>(random() % 1000);
  } else if (base == "deepspeed") {
    job["steps_per_print"] = 10 + static_cast<int>(random() % 90);
    job["wall_clock_breakdown"] = false;
  } else if (base == "accelerate") {
    job["main_process_port"] = 20000 + static_cast<int>(random() % 1000);
    job["same_network"] = true;
  } else if (base == "megatron") {
    job["lr"] = 0.0001 * static_cast<double>(1 + random() % 9);
    job["train-iters"] = 1000 + static_cast<int>(random() % 1000);
  } else if (base == "verl") {
    job["trainer.total_epochs"] = 1 + static_cast<int>(random() % 30);
    job["trainer.experiment_name"] = "run-" + n;
  } else if (base == "smp") {
    job["hybrid_shard_degree"] = 8 << (random() % 3);
    job["sm_activation_offloading"] = random() % 2 == 0;
  } else if (base == "llama-factory") {
    job["seed"] = static_cast<int>(random() % 1000);
    job["logging_steps"] = 10;
  } else if (base == "hyperpod-job") {
    job["metadata"]["name"] = "llama-" + n;
    job["spec"]["runPolicy"]["jobMaxRetryCount"] = static_cast<int>(random() % 9);
  } else {
    job["training"]["steps"] = 1000 + static_cast<int>(random() % 1000);
    job["metrics"]["log_freq"] = 10;
  }
}

/// Rules found, notes aside: an extra note is no alarm.
std::set<std::string> alarms(const Findings& findings) {
  std::set<std::string> ids;
  for (const Finding& f : findings.findings) {
    if (f.severity != Severity::Info) ids.insert(f.rule);
  }
  return ids;
}

TEST(Mutation, PlantedFaultsAreFoundAndNothingElse) {
  const Json& cases = test::rule_cases();
  std::mt19937_64 random(20261121);
  int planted = 0;
  int found = 0;
  int clean = 0;
  int alarmed = 0;
  for (const Json& row : cases["rows"]) {
    const std::string base = row["base"];
    const std::string rule = row["rule"];
    Json plain = cases["bases"][base];
    plain.merge_patch(row["plant"]);
    const JobKind kind = test::kind_of_base(base);
    const CheckOptions options = test::options_of(row, "plant");
    const bool predicts = row.contains("flags") && row["flags"].contains("model");
    const std::set<std::string> expected = alarms(test::check_text(test::job_text(base, plain), kind, options));
    for (int i = 0; i < (predicts ? 1 : kVariants); ++i) {
      Json job = cases["bases"][base];
      decorate(base, job, random);
      ++clean;
      alarmed += alarms(test::check_text(test::job_text(base, shuffled(job, random)), kind)).empty() ? 0 : 1;
      job.merge_patch(row["plant"]);
      const Findings findings = test::check_text(test::job_text(base, shuffled(job, random)), kind, options);
      ++planted;
      const std::vector<std::string> ids = test::rules_of(findings);
      found += std::count(ids.begin(), ids.end(), rule) > 0 ? 1 : 0;
      ++clean;
      // What the fault itself brings along is no false alarm; anything beyond it is.
      const std::set<std::string> now = alarms(findings);
      const bool more = !std::includes(expected.begin(), expected.end(), now.begin(), now.end());
      alarmed += more ? 1 : 0;
      if (more || std::count(ids.begin(), ids.end(), rule) == 0) {
        ADD_FAILURE() << rule << " in a variant of " << base << ":\n" << to_json(findings);
      }
    }
  }
  RecordProperty("planted", planted);
  RecordProperty("found", found);
  EXPECT_GT(planted, 1500);
  EXPECT_GE(found, planted * 98 / 100);
  EXPECT_LE(alarmed, clean * 2 / 100);
}

}  // namespace
}  // namespace smplan
