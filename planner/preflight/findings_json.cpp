#include <algorithm>

#include "base/json_writer.hpp"
#include "planner/preflight/check.hpp"

namespace smplan {
namespace {

Json finding_json(const Finding& f, const Findings& of) {
  Json out;
  out["rule"] = f.rule;
  out["severity"] = std::string(to_string(f.severity));
  out["file"] = of.file_of(f.where);
  out["path"] = f.where.path;
  out["line"] = f.where.line > 0 ? Json(f.where.line) : Json(nullptr);
  out["message"] = f.message;
  out["fix"] = f.fix;
  out["source"] = f.source;
  return out;
}

Json change_json(const Change& change) {
  Json out;
  out["change"] = change.sign == '~' ? "changed" : change.sign == '+' ? "added" : "removed";
  out["name"] = change.name;
  out["planned"] = change.sign == '+' ? Json(nullptr) : Json(change.planned);
  out["found"] = change.sign == '-' ? Json(nullptr) : Json(change.found);
  out["file"] = change.file;
  out["path"] = change.where.path;
  return out;
}

Json prediction_json(const Prediction& p) {
  const Plan& plan = p.plan;
  Json out;
  out["instance_type"] = plan.instance->name;
  out["instance_count"] = plan.instance_count;
  out["stack"] = plan.stack->id;
  out["strategy"] = to_string(plan.strategy);
  out["peak_gib"] = in_gib(plan.memory.wanted);
  out["limit_gib"] = in_gib(plan.memory.limit);
  out["fits"] = plan.memory.fits();
  out["out_of_memory_probability"] = p.out_of_memory;
  out["step_time_s"] = plan.step.time().value();
  const bool known = p.length_unknown.empty();
  out["time_to_train_s"] = known ? Json(p.time_to_train.value()) : Json(nullptr);
  out["total_usd"] = known && plan.price != nullptr ? Json(p.cost.value()) : Json(nullptr);
  if (!known) out["length_unknown"] = p.length_unknown;
  if (!p.left_open.empty()) out["left_open"] = p.left_open;
  if (p.better && known) {
    Json& better = out["better"];
    better["instance_type"] = p.better->instance->name;
    better["instance_count"] = p.better->instance_count;
    better["stack"] = p.better->stack->id;
    better["strategy"] = to_string(p.better->strategy);
    better["time_to_train_s"] = p.better->cost.time_to_train().value();
    better["total_usd"] = p.better->cost.total().value();
  }
  return out;
}

std::string_view sarif_level(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Info:
      break;
  }
  return "note";
}

/// An artifact URI is relative and has no blanks or other characters that RFC 3986 forbids in a path.
std::string uri_of(std::string_view file) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : file) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return out;
}

Json sarif_rule(const Rule& rule) {
  Json out;
  out["id"] = std::string(rule.id);
  out["name"] = std::string(rule.title);
  out["shortDescription"]["text"] = std::string(rule.title);
  out["fullDescription"]["text"] = std::string(rule.condition);
  out["help"]["text"] = std::string(rule.fix) + " (source: " + std::string(rule.source) + ")";
  out["defaultConfiguration"]["level"] = std::string(sarif_level(rule.severity));
  return out;
}

Json sarif_result(const Finding& f, const Findings& of, std::size_t rule_index) {
  Json out;
  out["ruleId"] = f.rule;
  out["ruleIndex"] = rule_index;
  out["level"] = std::string(sarif_level(f.severity));
  out["message"]["text"] = f.message + ". " + f.fix;
  Json location;
  location["physicalLocation"]["artifactLocation"]["uri"] = uri_of(of.file_of(f.where));
  location["physicalLocation"]["region"]["startLine"] = std::max(1, f.where.line);
  if (!f.where.path.empty()) location["logicalLocations"].push_back({{"fullyQualifiedName", f.where.path}});
  out["locations"].push_back(std::move(location));
  // Stable over edits elsewhere in the file: rule and place, not the line.
  out["partialFingerprints"]["smplanRuleAndPath/v1"] = f.rule + ":" + f.where.name();
  return out;
}

}  // namespace

Json json_of(const Findings& findings) {
  Json out;
  out["file"] = findings.file;
  out["kind"] = std::string(to_string(findings.kind));
  out["findings"] = Json::array();
  for (const Finding& f : findings.findings) out["findings"].push_back(finding_json(f, findings));
  Json& summary = out["summary"];
  summary["errors"] = findings.count(Severity::Error);
  summary["warnings"] = findings.count(Severity::Warning);
  summary["infos"] = findings.count(Severity::Info);
  summary["rules_run"] = findings.rules_run;
  summary["rules_skipped"] = Json::array();
  for (const SkippedRule& s : findings.skipped) {
    summary["rules_skipped"].push_back({{"rule", std::string(s.rule)}, {"reason", s.reason}});
  }
  if (!findings.ignored.empty()) {
    for (const auto& [finding, reason] : findings.ignored) {
      Json entry = finding_json(finding, findings);
      entry["ignored_because"] = reason;
      out["ignored"].push_back(std::move(entry));
    }
  }
  if (findings.drift) {
    out["drift"] = Json::array();
    for (const Change& change : *findings.drift) out["drift"].push_back(change_json(change));
  }
  if (findings.prediction) out["prediction"] = prediction_json(*findings.prediction);
  for (const Prediction& other : findings.other_predictions) {
    out["other_predictions"].push_back(prediction_json(other));
  }
  for (const Unread& setting : findings.unread) {
    out["not_read"].push_back({{"file", findings.file_of(setting.where)},
                               {"path", setting.where.path},
                               {"line", setting.where.line > 0 ? Json(setting.where.line) : Json(nullptr)},
                               {"reason", setting.why}});
  }
  for (const auto& [type, why] : findings.not_predicted) {
    out["not_predicted"].push_back({{"instance_type", type}, {"reason", why}});
  }
  return out;
}

std::string to_json(const Findings& findings) { return json_of(findings).dump(2) + "\n"; }

std::string to_sarif(const Findings& findings) { return to_sarif(std::span(&findings, 1)); }

std::string to_sarif(std::span<const Findings> jobs) {
  Json run;
  Json& driver = run["tool"]["driver"];
  driver["name"] = "smplan";
  driver["version"] = SMPLAN_VERSION;
  driver["rules"] = Json::array();
  std::vector<std::string> used;
  for (const Findings& job : jobs) {
    for (const Finding& f : job.findings) used.push_back(f.rule);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (const std::string& id : used) driver["rules"].push_back(sarif_rule(*find_rule(id)));
  run["results"] = Json::array();
  for (const Findings& job : jobs) {
    for (const Finding& f : job.findings) {
      const auto index = static_cast<std::size_t>(std::lower_bound(used.begin(), used.end(), f.rule) - used.begin());
      run["results"].push_back(sarif_result(f, job, index));
    }
  }
  Json out;
  out["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  out["version"] = "2.1.0";
  out["runs"].push_back(std::move(run));
  return out.dump(2) + "\n";
}

}  // namespace smplan
