#pragma once

#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "planner/preflight/check.hpp"
#include "tests/support/spec_field.hpp"

namespace smplan::test {

using Json = nlohmann::ordered_json;

inline std::string read_test_file(const std::string& path) {
  std::ifstream in(std::string(SMPLAN_TEST_DATA) + "/data/jobs/" + path);
  if (!in) throw std::runtime_error("no test file " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Clean jobs by kind, and for every rule a change that breaks it and one that does not.
inline const Json& rule_cases() {
  static const Json cases = Json::parse(read_test_file("rules.json"));
  return cases;
}

inline JobKind kind_of_base(const std::string& base) {
  if (base == "request") return JobKind::CreateTrainingJob;
  if (base == "trainer") return JobKind::ModelTrainer;
  if (base == "recipe") return JobKind::HyperpodRecipe;
  return job_kind_from(base).value();
}

/// A job in the syntax of its kind: arguments for Megatron, overrides for verl, JSON for the rest (which YAML readers
/// take too).
inline std::string job_text(const std::string& base, const Json& job) {
  if (base == "verl") {
    std::string text = "python3 -m verl.trainer.main_ppo";
    for (const auto& [key, value] : job.items()) {
      text += " " + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    return text;
  }
  if (base != "megatron") return job.dump(2);
  std::string text;
  for (const auto& [key, value] : job.items()) {
    text += "--" + key + (value.is_boolean() ? "" : " " + value.dump()) + "\n";
  }
  return text;
}

inline RequestSpec request_from(const Json& flags) {
  RequestSpec spec;
  const std::pair<const char*, SpecField> kFields[] = {
      {"model", &RequestSpec::model},
      {"params", &RequestSpec::params},
      {"stack", &RequestSpec::stack},
      {"tokens", &RequestSpec::tokens},
      {"seq_len", &RequestSpec::seq_len},
      {"dtype", &RequestSpec::dtype},
      {"count", &RequestSpec::count},
      {"instances", &RequestSpec::instances},
      {"region", &RequestSpec::region},
      {"budget", &RequestSpec::budget},
      {"offload", Dimension::Offload},
      {"max_oom_probability", &RequestSpec::max_oom_probability},
      {"min_headroom", &RequestSpec::min_headroom},
      {"global_batch", &RequestSpec::global_batch},
      {"global_batch_tokens", &RequestSpec::global_batch_tokens},
      {"market", &RequestSpec::market},
      {"lora_rank", &RequestSpec::lora_rank},
      {"zero_stage", &RequestSpec::zero_stage},
      {"dp", Dimension::Data},
      {"tp", Dimension::Tensor},
      {"pp", Dimension::Pipeline},
      {"vpp", Dimension::VirtualPipeline},
      {"cp", Dimension::Context},
      {"ep", Dimension::Expert},
      {"etp", Dimension::ExpertTensor},
      {"micro_batch", Dimension::MicroBatch},
      {"sequence_parallel", Dimension::SequenceParallel},
      {"sharding", Dimension::Sharding},
      {"shard_degree", Dimension::ShardDegree},
      {"recompute", Dimension::Recompute},
      {"deadline", &RequestSpec::deadline},
      {"confidence", &RequestSpec::confidence},
      {"max_hourly", &RequestSpec::max_hourly},
      {"finetune", &RequestSpec::finetune},
  };
  for (const auto& [key, value] : flags.items()) {
    bool known = false;
    for (const auto& [name, field] : kFields) {
      if (key != name) continue;
      field.of(spec) = value.get<std::string>();
      known = true;
    }
    if (!known) throw std::runtime_error("unknown flag in rules.json: " + key);
  }
  return spec;
}

inline const Catalog& shipped_catalog() {
  static const Catalog catalog = Catalog::shipped().value();
  return catalog;
}

inline const SagemakerLimits& shipped_limits() {
  static const SagemakerLimits limits = SagemakerLimits::shipped().value();
  return limits;
}

/// Facts of a row, with the schema that all have.
inline Facts facts_from(const Json& facts) {
  Json document = facts;
  document["schema"] = "smplan.facts/1";
  return read_facts(parse_json(document.dump(), "facts").value()).value();
}

/// The answer to a job text; a refusal is a failure of the test.
inline Findings check_text(const std::string& text, std::optional<JobKind> kind, const CheckOptions& options = {}) {
  const Result<Job> job = read_job(text, "job", kind);
  if (!job) throw std::runtime_error(to_string(job.error()));
  Result<Findings> findings = check_job(*job, shipped_catalog(), shipped_limits(), options);
  if (!findings) throw std::runtime_error(to_string(findings.error()));
  return std::move(*findings);
}

/// `which` is `plant` or `neighbour`; its facts and flags are `facts`, `neighbour_facts`, ...
inline CheckOptions options_of(const Json& row, const std::string& which) {
  const std::string prefix = which == "plant" ? "" : "neighbour_";
  CheckOptions options;
  if (row.contains(prefix + "facts")) options.facts = facts_from(row[prefix + "facts"]);
  if (row.contains(prefix + "flags")) options.request = request_from(row[prefix + "flags"]);
  return options;
}

inline std::vector<std::string> rules_of(const Findings& findings) {
  std::vector<std::string> ids;
  for (const Finding& f : findings.findings) ids.push_back(f.rule);
  return ids;
}

}  // namespace smplan::test
