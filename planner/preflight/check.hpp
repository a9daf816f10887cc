#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "planner/preflight/rule.hpp"
#include "planner/search/search.hpp"

namespace smplan {

class Json;
struct CheckCache;

/// All rules, by family, in the order of their ids.
std::span<const RuleFamily> rule_families();
/// nullptr if unknown.
const Rule* find_rule(std::string_view id);
/// What to say of an id that no rule has.
Diagnostic unknown_rule(std::string_view id, std::string_view where);

/// A rule that is not to be reported, and why.
struct Ignored {
  std::string rule;
  std::string path;    ///< only findings there; empty is everywhere
  std::string reason;  ///< empty where only --ignore says it
};

struct CheckOptions {
  Facts facts;
  RequestSpec request;  ///< what the file cannot say: --model, --seq-len, --region, --budget ...
  std::optional<std::string> environment_region;
  std::optional<std::int64_t> n_gpus;  ///< accelerators of the job, where its file does not say
  /// What neither the file nor a flag says: of the plan in the job's folder. check_job() fills it.
  RequestSpec otherwise;
  std::vector<Ignored> ignored;
  SearchOptions search;  ///< of the predictions
  /// Where several jobs are checked with the same catalog and options: what one of them found out for the others.
  std::shared_ptr<CheckCache> cache;
};

struct SkippedRule {
  std::string_view rule;
  std::string reason;
};

struct Findings {
  std::string file;
  JobKind kind = JobKind::CreateTrainingJob;
  std::vector<Finding> findings;                         ///< by file, line, then rule
  std::vector<std::pair<Finding, std::string>> ignored;  ///< with the reason given
  int rules_run = 0;
  std::vector<SkippedRule> skipped;
  std::optional<Prediction> prediction;
  /// Of a job whose types are tried in order: of the second and later ones.
  std::vector<Prediction> other_predictions;
  /// From the plan in the job's folder; nullopt without one.
  std::optional<std::vector<Change>> drift;
  /// Settings of the file that were passed over.
  std::vector<Unread> unread;
  /// Types of such a job that could not be predicted, and why.
  std::vector<std::pair<std::string, std::string>> not_predicted;

  [[nodiscard]] int count(Severity severity) const;
  /// The file in which a place stands: the one that was checked, or one that it goes on from.
  [[nodiscard]] std::string file_of(const Where& where) const;
};

/// A job whose types are tried in order is as many jobs, each judged as itself. Beside a type or groups, which the list
/// excludes, there is only the job as it stands.
std::vector<Job> alternatives_of(const Job& job);
/// The one that an estimate is of: on the type that the flags name, else the first.
const Job& estimated_of(const std::vector<Job>& alternatives, const RequestSpec& flags);

/// The job as the question that `smplan estimate` answers, on one of types that are tried in order; flags go
/// before what the file says. Fails where the models do not know this kind of training, or the file leaves open what
/// decides it.
Result<RequestSpec> request_of_job(Job job, const Catalog& catalog, const RequestSpec& flags,
                                   const std::optional<std::string>& environment_region);

/// Every rule over one job. Pure: the same job, catalog and options give the same findings. Fails if the
/// request flags are invalid.
Result<Findings> check_job(const Job& job, const Catalog& catalog, const SagemakerLimits& limits,
                           const CheckOptions& options);

/// Reads an ignore file: lines of `C116 [path] # reason`; the reason is required.
Result<std::vector<Ignored>> read_ignore_file(std::string_view text, std::string_view name);

/// The corrected text, what was changed in words, and which safe edits were left: in YAML and TOML only a single
/// value is replaced, so that comments and layout stay. Findings without a safe edit change nothing.
struct Fixed {
  std::string text;
  std::vector<std::string> changes;
  std::vector<std::string> left;
};
Result<Fixed> apply_fixes(std::string_view text, const Job& job, const std::vector<Finding>& findings);

/// The documented form; and the one of code scanning.
std::string to_json(const Findings& findings);
Json json_of(const Findings& findings);
std::string to_sarif(const Findings& findings);
/// Of several jobs, in one run.
std::string to_sarif(std::span<const Findings> jobs);
/// The page of all rules, in Markdown.
std::string rules_page();

}  // namespace smplan
