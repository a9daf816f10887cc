#pragma once

#include "tests/preflight/job_cases.hpp"

namespace smplan::test {

inline std::string edit_text(const Edit& edit) {
  constexpr const char* kWords[] = {"set", "remove", "rename", "insert"};
  return std::string(" [") + kWords[static_cast<std::size_t>(edit.kind)] + " " + edit.path +
         (edit.json.empty() ? "" : " " + edit.json) + "]";
}

/// `/path: message`, with what differs from the rule's own: `(warning) /path: message -> fix [set /path value]`.
inline std::string said(const Finding& f) {
  const Rule& rule = *find_rule(f.rule);
  std::string text = f.severity == rule.severity ? "" : "(" + std::string(to_string(f.severity)) + ") ";
  text += (f.where.name().empty() ? "/" : f.where.name()) + ": " + f.message;
  if (f.fix != rule.fix) text += " -> " + f.fix;
  for (const Edit& edit : f.edits) text += edit_text(edit);
  return text;
}

/// What the row's rule says of the row's job: a base of rules.json changed by `with`, or `text` as it stands.
inline Json answer_to(const Json& row) {
  const std::string base = row["base"];
  std::string text;
  if (row.contains("text")) {
    text = row["text"];
  } else {
    Json job = rule_cases()["bases"][base];
    job.merge_patch(row["with"]);
    text = job_text(base, job);
  }
  CheckOptions options = options_of(row, "plant");
  if (row.contains("n_gpus")) options.n_gpus = row["n_gpus"].get<std::int64_t>();
  Json says = Json::array();
  for (const Finding& f : check_text(text, kind_of_base(base), options).findings) {
    if (f.rule == row["rule"]) says.push_back(said(f));
  }
  return says;
}

}  // namespace smplan::test
