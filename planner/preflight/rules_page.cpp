#include <algorithm>

#include <fmt/format.h>

#include "base/markdown.hpp"
#include "planner/preflight/check.hpp"

namespace smplan {
namespace {

std::string kinds_in_words(Kinds kinds) {
  if (kinds == kAnyKind) return "all";
  std::string out;
  for (int i = 0; i < kJobKindCount; ++i) {
    const auto kind = static_cast<JobKind>(i);
    if ((kinds & one(kind)) != 0) out += (out.empty() ? "" : ", ") + std::string(to_string(kind));
  }
  return out;
}

/// Rules that are not run without the fact; `-` where there is none.
std::string rules_that_need(const Fact& fact) {
  std::string ids;
  for (const RuleFamily& family : rule_families()) {
    for (const Rule& rule : family.rules) {
      if (rule.need.fact == &fact) ids += (ids.empty() ? "" : ", ") + std::string(rule.id);
    }
  }
  return ids.empty() ? "-" : ids;
}

/// `bytes` (number), `files` (number).
template <typename Row, std::size_t N>
std::string members(const Row (&rows)[N]) {
  std::string out;
  for (const Row& row : rows) out += fmt::format("{}`{}` ({})", out.empty() ? "" : ", ", row.key, row.form);
  return out;
}

std::string facts_in_words() {
  std::string out =
      "\n## Facts\n\n"
      "A facts file is `{\"schema\": \"smplan.facts/1\", ...}` with any of these. Each may be left out.\n\n"
      "| fact | value | not run without it |\n| --- | --- | --- |\n";
  for (const Fact& fact : kFacts) {
    out += fmt::format("| `{}` | {} | {} |\n", fact.key, markdown_cell(fact.form), rules_that_need(fact));
  }
  out += fmt::format("\nAn object of `datasets` has any of: {}.\n", members(kDatasetFacts));
  out += fmt::format("\nThe object `script` has any of: {}.\n", members(kScriptFacts));
  return out;
}

}  // namespace

std::string rules_page() {
  int errors = 0;
  int warnings = 0;
  int infos = 0;
  for (const RuleFamily& family : rule_families()) {
    for (const Rule& rule : family.rules) {
      errors += rule.severity == Severity::Error ? 1 : 0;
      warnings += rule.severity == Severity::Warning ? 1 : 0;
      infos += rule.severity == Severity::Info ? 1 : 0;
    }
  }
  std::string out = fmt::format(
      "# Rules of `smplan check`\n\n"
      "Generated from the rule table by `scripts/checks_page`; do not edit.\n\n"
      "```sh\n"
      "smplan check job.json                          # text; --format json, sarif, github or junit\n"
      "smplan check job.json --model llama-2-13b      # memory, time and money too\n"
      "smplan plan --params 1B --format json | smplan export --plan - --target sagemaker-sdk-v2 --output job\n"
      "smplan check job/                              # a folder: its files against each other and its plan.json\n"
      "smplan check job/ job.json                     # several at once, and folders of jobs\n"
      "smplan check job.json --facts facts.json       # what only the account, the data and the script can say\n"
      "smplan check job.json --fix                    # rewrites what is safe (of YAML, TOML: values), and says what\n"
      "smplan check job.json --ignore C116,C202       # or --ignore-file: a line each, C116 [/path] # reason\n"
      "python -m smplan check launch.py               # a launch script, read by its syntax tree and never run\n"
      "```\n\n"
      "It exits with 0 where there is no error (with `--strict`: no warning), with 1 where there is, with 2 where the\n"
      "file cannot be read. `action.yml` is a GitHub Action, `.pre-commit-hooks.yaml` a pre-commit hook.\n\n"
      "`--budget`, `--deadline` (with `--confidence`, 90 % by default) and `--max-hourly` are gates: a job that breaks "
      "one\n"
      "fails, and so does one that cannot be judged, with the reason. The degrees of a job stand in its file, or in\n"
      "megatron_args.txt, torchtitan.toml or ds_config.json beside it; what these leave open its plan.json\n"
      "says. Where a list of types is tried in order (InstancePreferences), every rule looks at every type. A recipe\n"
      "says epochs and not how much data they are: with\n"
      "`--tokens` its time and money are judged too. Steps of reinforcement learning are predicted by `smplan rl "
      "--from`.\n\n"
      "{} rules: {} errors, {} warnings, {} notes. A rule may not apply to the kind of file, or need\n"
      "more than the file says. The answer lists it as not run, with the reason. `{{}}` in a message stands for what\n"
      "was found.\n",
      errors + warnings + infos, errors, warnings, infos);
  out += facts_in_words();
  for (const RuleFamily& family : rule_families()) {
    out += fmt::format(
        "\n## {}\n\n| id | severity | when | message | what to do | applies to | source |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n",
        family.title);
    for (const Rule& rule : family.rules) {
      const std::string need = reason_not_run(rule.need);
      out += fmt::format("| {} | {} | **{}**: {}{} | {} | {} | {} | {} |\n", rule.id, to_string(rule.severity),
                         markdown_cell(rule.title), markdown_cell(rule.condition),
                         need.empty() ? "" : fmt::format(" ({})", need), markdown_cell(rule.message),
                         markdown_cell(rule.fix), kinds_in_words(rule.kinds), markdown_cell(rule.source));
    }
  }
  return out;
}

}  // namespace smplan
