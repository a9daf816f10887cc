#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "planner/answer/plan_file.hpp"
#include "planner/answer/plan_json.hpp"
#include "planner/export/launch.hpp"
#include "planner/search/search.hpp"

namespace smplan::test {

inline const Catalog& shipped() {
  static const Result<Catalog> catalog = Catalog::shipped();
  EXPECT_TRUE(catalog.has_value()) << (catalog ? "" : to_string(catalog.error()));
  return *catalog;
}

/// A small request that fits anywhere; tests change what they are about.
inline RequestSpec request(const std::string& stack, const std::string& model = "llama-3-8b",
                           const std::string& instance = "ml.p4de.24xlarge", const std::string& count = "2") {
  RequestSpec spec;
  spec.model = model;
  spec.instances = instance;
  spec.stack = stack;
  spec.count = count;
  spec.tokens = "10B";
  spec.global_batch = "256";
  spec.top = "1";
  return spec;
}

/// The same with its experts spread, without which they fit on no device.
inline RequestSpec expert_request(const std::string& model, const std::string& instance, const std::string& count) {
  RequestSpec spec = request("megatron", model, instance, count);
  spec[Dimension::Expert] = "8";
  return spec;
}

inline PlanSet answer(const RequestSpec& spec) {
  const auto resolved = resolve(spec, shipped(), std::nullopt, Purpose::Estimate);
  EXPECT_TRUE(resolved.has_value()) << (resolved ? "" : to_string(resolved.error()));
  PlanSet set = search(*resolved, shipped());
  EXPECT_FALSE(set.plans.empty());
  return set;
}

inline TrainingPlan plan(const RequestSpec& spec) {
  const PlanSet set = answer(spec);
  if (set.plans.empty()) throw std::runtime_error("no plan");
  return training_plan_of(set.request, set.plans.front());
}

inline Result<Export> exported(const TrainingPlan& plan, std::string_view target, const ExportOptions& options = {}) {
  return export_plan({plan, options, shipped()}, target);
}

/// All files in one text; the export must succeed.
inline std::string text_of(const TrainingPlan& plan, std::string_view target, const ExportOptions& options = {}) {
  const Result<Export> out = exported(plan, target, options);
  EXPECT_TRUE(out.has_value()) << target << ": " << (out ? "" : to_string(out.error()));
  std::string text;
  if (!out) return text;
  for (const ExportFile& file : out->files) text += file.content;
  return text;
}

/// The reasons of a refusal, one a line; empty if there is none.
inline std::string refusal(const TrainingPlan& plan, std::string_view target, const ExportOptions& options = {}) {
  const Result<Export> out = exported(plan, target, options);
  return out ? std::string() : to_string(out.error());
}

/// Two machines that tune a Llama of 8B, two sequences at a time.
inline RequestSpec tuning(const char* stack, const char* finetune) {
  RequestSpec s;
  s.model = "llama-3.1-8b";
  s.stack = stack;
  s.finetune = finetune;
  s.instances = "ml.p5.48xlarge";
  s.count = "2";
  s.tokens = "50M";
  s.seq_len = "2048";
  s.global_batch = "64";
  s[Dimension::MicroBatch] = "2";
  return s;
}

}  // namespace smplan::test
