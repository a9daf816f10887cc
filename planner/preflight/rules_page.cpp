#include <algorithm>

#include <fmt/format.h>

#include "planner/preflight/check.hpp"

namespace smplan {
namespace {

/// A cell of a Markdown table must not hold its separator.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string kinds_in_words(Kinds kinds) {
  if (kinds == kAnyKind) return "all";
  std::string out;
  for (int i = 0; i < kJobKindCount; ++i) {
    const auto kind = static_cast<JobKind>(i);
    if ((kinds & one(kind)) != 0) out += (out.empty() ? "" : ", ") + std::string(to_string(kind));
  }
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
      "{} rules: {} errors, {} warnings, {} notes. A rule that does not apply to the kind of file, or that needs more\n"
      "than the file says, is listed in the answer as not run, with the reason. `{{}}` in a message stands for what was\n"
      "found.\n",
      errors + warnings + infos, errors, warnings, infos);
  for (const RuleFamily& family : rule_families()) {
    out += fmt::format("\n## {}\n\n| id | severity | when | message | what to do | applies to | source |\n"
                       "| --- | --- | --- | --- | --- | --- | --- |\n", family.title);
    for (const Rule& rule : family.rules) {
      const std::string_view need = reason_not_run(rule.need);
      out += fmt::format("| {} | {} | **{}**: {}{} | {} | {} | {} | {} |\n", rule.id, to_string(rule.severity),
                         cell(rule.title), cell(rule.condition), need.empty() ? "" : fmt::format(" ({})", need),
                         cell(rule.message), cell(rule.fix), kinds_in_words(rule.kinds), cell(rule.source));
    }
  }
  return out;
}

}  // namespace smplan
