#include "cli/render/findings.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/escape.hpp"
#include "base/figures.hpp"
#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"

namespace smplan::cli {
namespace {

/// Of a text in an annotation or a test report; the job may hold megabytes.
constexpr std::size_t kMaxShown = 4096;

std::string colored(Severity severity, std::string_view text, const Style& style) {
  if (!style.color) return std::string(text);
  const char* code = severity == Severity::Error ? "31" : severity == Severity::Warning ? "33" : "36";
  return fmt::format("\x1b[1;{}m{}\x1b[0m", code, text);
}

std::string plural(int n, std::string_view word) { return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s"); }

std::string place(const Findings& findings, const Finding& f) {
  std::string out = printable(findings.file_of(f.where));
  if (f.where.line > 0) out += fmt::format(":{}", f.where.line);
  if (!f.where.path.empty()) out += ' ' + printable(f.where.path);
  return out;
}

std::string prediction_text(const Prediction& p) {
  const Plan& plan = p.plan;
  const std::string whole = p.length_unknown.empty()
                                ? fmt::format("{} in all, {}", format_duration(p.time_to_train),
                                              plan.price == nullptr ? "price unknown" : format_usd(p.cost))
                                : "no time or money: " + printable(p.length_unknown);
  return fmt::format("\nPredicted: {} of {} device memory{} (out of memory: {}), {} a step, {}\n  {} x {}, {}, {}\n{}",
                     format_bytes(plan.memory.wanted), format_bytes(plan.memory.limit),
                     plan.memory.fits() ? "" : ", does not fit", format_chance(p.out_of_memory),
                     format_duration(plan.step.time()), whole, plan.instance_count, plan.instance->name,
                     plan.stack->name, to_string(plan.strategy),
                     p.left_open.empty() ? ""
                                         : fmt::format("  The file leaves to the script: {}; {}\n", p.left_open,
                                                       plan.memory.fits() ? "the fastest that fits is shown"
                                                                          : "what comes nearest to fitting is shown"));
}

/// GitHub's escapes: in a message, and more of them in a property.
std::string escape_github(std::string_view text, bool property) {
  std::string out;
  for (const char c : printable(text, kMaxShown)) {
    if (c == '%') {
      out += "%25";
    } else if (property && c == ':') {
      out += "%3A";
    } else if (property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

std::string escape_xml(std::string_view text) {
  return escape_markup(printable(text, kMaxShown));  // XML 1.0 knows no control characters, not even escaped
}

}  // namespace

namespace {

/// Without why rules were not run, which is the same for most of many jobs.
std::string findings_of(const Findings& findings, const Style& style) {
  std::string out;
  for (const Finding& f : findings.findings) {
    out += fmt::format("{} {}: {}\n  {}\n  fix: {}\n", colored(f.severity, to_string(f.severity), style), f.rule,
                       printable(f.message), place(findings, f), printable(f.fix));
  }
  for (const auto& [finding, reason] : findings.ignored) {
    out += fmt::format("ignored {} at {}{}\n", finding.rule, place(findings, finding),
                       reason.empty() ? "" : ": " + printable(reason));
  }
  if (findings.prediction) out += prediction_text(*findings.prediction);
  for (const Prediction& other : findings.other_predictions) out += prediction_text(other);
  for (const auto& [type, why] : findings.not_predicted) {
    out += fmt::format("\nNot predicted: {}: {}\n", printable(type), printable(why));
  }
  for (const Unread& setting : findings.unread) {
    const std::string place = setting.where.name().empty() ? "" : printable(setting.where.name()) + ' ';
    out += fmt::format("not read: {}{}\n", place, printable(setting.why));
  }
  if (!out.empty()) out += '\n';
  return out + fmt::format("{}: {}, {}, {}; {} run, {} not run\n", printable(findings.file),
                           plural(findings.count(Severity::Error), "error"),
                           plural(findings.count(Severity::Warning), "warning"),
                           plural(findings.count(Severity::Info), "note"), plural(findings.rules_run, "rule"),
                           findings.skipped.size());
}

}  // namespace

std::string findings_text(const Findings& findings, const Style& style) {
  std::string out = findings_of(findings, style);
  std::map<std::string, int> reasons;
  for (const SkippedRule& s : findings.skipped) ++reasons[s.reason];
  for (const auto& [reason, n] : reasons) out += fmt::format("  not run: {} {}\n", n, printable(reason));
  return out;
}

std::string findings_github(const Findings& findings) {
  std::string out;
  for (const Finding& f : findings.findings) {
    const std::string_view command = f.severity == Severity::Error     ? "error"
                                     : f.severity == Severity::Warning ? "warning"
                                                                       : "notice";
    out += fmt::format("::{} file={},line={},title={}::{}. {} ({})\n", command,
                       escape_github(findings.file_of(f.where), true), std::max(1, f.where.line), f.rule,
                       escape_github(f.message, false), escape_github(f.fix, false),
                       escape_github(f.where.path.empty() ? "whole file" : f.where.path, false));
  }
  return out;
}

namespace {

std::string junit_suite(const Findings& findings, bool strict) {
  const auto fails = [&](const Finding& f) {
    return f.severity == Severity::Error || (strict && f.severity == Severity::Warning);
  };
  std::string cases;
  int failed = 0;
  int tests = 0;
  for (const RuleFamily& family : rule_families()) {
    for (const Rule& rule : family.rules) {
      const auto skipped = std::find_if(findings.skipped.begin(), findings.skipped.end(),
                                        [&](const SkippedRule& s) { return s.rule == rule.id; });
      ++tests;
      cases += fmt::format("    <testcase classname=\"{}\" name=\"{} {}\"", escape_xml(family.title), rule.id,
                           escape_xml(rule.title));
      if (skipped != findings.skipped.end()) {
        cases += fmt::format("><skipped message=\"{}\"/></testcase>\n", escape_xml(skipped->reason));
        continue;
      }
      std::string body;
      std::string notes;
      for (const Finding& f : findings.findings) {
        if (f.rule != rule.id) continue;
        const std::string text = fmt::format("{}: {}. {}", place(findings, f), f.message, f.fix);
        if (fails(f)) {
          body += fmt::format("\n      {}", escape_xml(text));
        } else {
          notes += fmt::format("\n      {}", escape_xml(text));
        }
      }
      failed += body.empty() ? 0 : 1;
      if (!body.empty()) body = fmt::format("<failure type=\"{}\">{}\n    </failure>", rule.id, body);
      if (!notes.empty()) body += fmt::format("<system-out>{}\n    </system-out>", notes);
      cases += body.empty() ? "/>\n" : ">" + body + "</testcase>\n";
    }
  }
  return fmt::format(
      "  <testsuite name=\"smplan check {}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}  "
      "</testsuite>\n",
      escape_xml(findings.file), tests, failed, findings.skipped.size(), cases);
}

std::string junit_report(std::string_view suites) {
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{}</testsuites>\n", suites);
}

}  // namespace

std::string findings_junit(const Findings& findings, bool strict) {
  return junit_report(junit_suite(findings, strict));
}

int CheckedJobs::count(Severity severity) const {
  int sum = 0;
  for (const Findings& job : jobs) sum += job.count(severity);
  return sum;
}

std::string jobs_text(const CheckedJobs& checked, const Style& style) {
  std::string out;
  for (const Findings& job : checked.jobs) {
    out += findings_of(job, style);
    if (!job.findings.empty() || job.prediction) out += '\n';
  }
  for (const NoJob& file : checked.unreadable) {
    out += fmt::format("{}: not checked: {}\n", printable(file.file), printable(file.why));
  }
  const auto failed = std::count_if(checked.jobs.begin(), checked.jobs.end(),
                                    [](const Findings& job) { return job.count(Severity::Error) > 0; });
  out +=
      fmt::format("{}, {} with errors: {}, {}, {}", plural(static_cast<int>(checked.jobs.size()), "job"), failed,
                  plural(checked.count(Severity::Error), "error"), plural(checked.count(Severity::Warning), "warning"),
                  plural(checked.count(Severity::Info), "note"));
  if (!checked.unreadable.empty()) out += fmt::format("; {} not checked", checked.unreadable.size());
  return out + '\n';
}

std::string jobs_json(const CheckedJobs& checked) {
  Json out;
  out["schema"] = "smplan.checks/1";
  out["jobs"] = Json::array();
  for (const Findings& job : checked.jobs) out["jobs"].push_back(json_of(job));
  out["not_checked"] = Json::array();
  for (const NoJob& file : checked.unreadable) {
    out["not_checked"].push_back({{"file", file.file}, {"reason", file.why}});
  }
  Json& summary = out["summary"];
  summary["jobs"] = checked.jobs.size();
  summary["errors"] = checked.count(Severity::Error);
  summary["warnings"] = checked.count(Severity::Warning);
  summary["infos"] = checked.count(Severity::Info);
  return out.dump(2) + "\n";
}

std::string jobs_github(const CheckedJobs& checked) {
  std::string out;
  for (const Findings& job : checked.jobs) out += findings_github(job);
  for (const NoJob& file : checked.unreadable) {
    out += fmt::format("::error file={}::{}\n", escape_github(file.file, true), escape_github(file.why, false));
  }
  return out;
}

std::string jobs_junit(const CheckedJobs& checked, bool strict) {
  std::string suites;
  for (const Findings& job : checked.jobs) suites += junit_suite(job, strict);
  for (const NoJob& file : checked.unreadable) {
    suites += fmt::format(
        "  <testsuite name=\"smplan check {0}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n"
        "    <testcase classname=\"Files\" name=\"{0}\"><error>{1}</error></testcase>\n  </testsuite>\n",
        escape_xml(file.file), escape_xml(file.why));
  }
  return junit_report(suites);
}

}  // namespace smplan::cli
