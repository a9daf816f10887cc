#pragma once

#include <fmt/format.h>

#include "base/units.hpp"
#include "catalogs/price.hpp"
#include "models/job/strategy.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan::test {

/// What was predicted of a job: what its file and flags say, and what they leave open. The best of what is open is the
/// search's to choose, and no part of this.
inline std::string described(const Prediction& p) {
  const Workload& w = p.request.workload;
  std::string out = fmt::format("{} x {} ({}), {}, batch {} x {}, {} tokens", p.plan.instance_count,
                                p.plan.instance->name, to_string(p.request.markets.front()),
                                to_string(p.plan.precision), w.global_batch, w.seq_len, format_count(w.tokens));
  if (p.left_open.empty()) out += ", " + p.plan.stack->id + ": " + to_string(p.plan.strategy);
  if (w.finetune != FineTune::Full) {
    out += fmt::format(", {} of rank {}{}", to_string(w.finetune), w.lora.rank,
                       w.lora.train_embeddings ? " with embeddings" : "");
  }
  if (!p.left_open.empty()) out += ", open: " + p.left_open;
  if (p.tokens_assumed) out += ", tokens assumed";
  if (!p.length_unknown.empty()) out += ", " + p.length_unknown;
  return out;
}

/// The prediction of the row's job, or why there is none, behind what every job without one is told.
inline std::string prediction_of(const Json& row) {
  const std::string base = row["base"];
  Json job = rule_cases()["bases"][base];
  if (row.contains("with")) job.merge_patch(row["with"]);
  const std::string text = row.contains("text") ? row["text"].get<std::string>() : job_text(base, job);
  const Findings found = check_text(text, kind_of_base(base), options_of(row, "plant"));
  if (found.prediction) return described(*found.prediction);
  for (const SkippedRule& s : found.skipped) {
    const std::size_t why = s.reason.find("; ");
    if (s.rule == "C144" && why != std::string::npos) return s.reason.substr(why + 2);
  }
  return "";
}

}  // namespace smplan::test
