// Time limits, spot capacity, retries.
#include "catalogs/quotas.hpp"
#include "models/run/markets.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kLongestRun = 2'419'200;  // 28 days
constexpr std::int64_t kDefaultRunSdk2 = 86'400;
constexpr std::int64_t kDefaultRunSdk3 = 3'600;
constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kLeastPending = 1800;

/// Where the stopping condition stands: in a request, the object that holds the limits.
Where stopping_place(const Job& job, const Where& otherwise) {
  if (const Node* s = job.root().find("StoppingCondition")) return s->where;
  if (const Node* s = job.root().find("stopping_condition")) return s->where;
  return otherwise;
}

void run_range(const CheckInput& in, Report& report) {
  const Count& run = in.job.max_run_s;
  if (run && (*run < 1 || *run > kLongestRun)) report.at(run, {count_text(*run)});
}

void run_over_quota(const CheckInput& in, Report& report) {
  const Count& run = in.job.max_run_s;
  if (!run || static_cast<double>(*run) <= account_quota("run-time").new_account || *run > kLongestRun) return;
  const std::int64_t* quota = said_of(in.facts.quotas, account_quota("run-time").name());
  if (quota != nullptr && *quota >= *run) return;
  report.at(run, {count_text(*run)});
}

void run_default(const CheckInput& in, Report& report) {
  if (in.job.max_run_s.stated || is_local(in.job)) return;
  // A fragment that names no hardware says nothing about its limits either.
  if (!in.job.instance_type.stated && in.job.groups.empty()) return;
  if (other_trainer(in.job)) return;
  // In a request its absence is refused, which another rule says.
  if (in.job.kind == JobKind::CreateTrainingJob && !in.job.root().has("StoppingCondition")) return;
  const bool v3 = in.job.kind == JobKind::ModelTrainer;
  report.at(stopping_place(in.job, in.job.root().where), {v3 ? "one hour" : "one day"});
}

std::int64_t run_limit(const Job& job) {
  return job.max_run_s.value_or(job.kind == JobKind::ModelTrainer ? kDefaultRunSdk3 : kDefaultRunSdk2);
}

void predicted_over_limit(const CheckInput& in, Report& report) {
  const Seconds limit(static_cast<double>(run_limit(in.job)));
  if (in.prediction->time_to_train <= limit) return;
  Finding& finding =
      report.at(in.job.max_run_s.stated ? in.job.max_run_s.where : stopping_place(in.job, in.job.root().where),
                {format_duration(in.prediction->time_to_train), format_duration(limit)});
  if (run_limit(in.job) == kLongestRun && in.job.checkpoint_uri.stated) {
    finding.severity = Severity::Warning;
    finding.message += ", the longest that a job may run";
    finding.fix = "start it again from its checkpoints, or use more or faster instances";
  }
  if (!in.prediction->tokens_assumed) return;
  finding.severity = Severity::Warning;
  finding.message += ", if it is to see 20 tokens a parameter";
  finding.fix = "say how much it trains on with --tokens";
}

void spot_needs_wait(const CheckInput& in, Report& report) {
  if (!any_spot(in.job) || in.job.max_wait_s.stated) return;
  report.at(stopping_place(in.job, in.job.spot.where), {spelled(in.job.kind, "MaxWaitTimeInSeconds")});
}

void wait_below_run(const CheckInput& in, Report& report) {
  const Count& wait = in.job.max_wait_s;
  if (!wait) return;
  // Without a stated limit the SDK's default counts.
  if (!in.job.max_run_s && in.job.kind == JobKind::CreateTrainingJob) return;
  if (in.job.max_run_s.stated && !in.job.max_run_s) return;
  const std::int64_t run = run_limit(in.job);
  if (*wait < run) report.at(wait, {count_text(*wait), count_text(run)});
}

void wait_without_spot(const CheckInput& in, Report& report) {
  const Count& wait = in.job.max_wait_s;
  if (!wait.stated || any_spot(in.job) || (in.job.spot.stated && !in.job.spot)) return;
  Finding& finding = report.at(wait, {spelled(in.job.kind, "MaxWaitTimeInSeconds")});
  finding.edits = {{Edit::Kind::Remove, wait.where.path, ""}};
}

void spot_without_checkpoint(const CheckInput& in, Report& report) {
  if (!any_spot(in.job) || (in.job.checkpoint != nullptr && !in.job.checkpoint->is_null())) return;
  const std::optional<Seconds> time = predicted_time(in);
  const bool predicted = time.has_value();
  const double seconds = predicted ? time->value() : static_cast<double>(run_limit(in.job));
  Finding& finding =
      report.at(in.job.spot, {format_duration(Seconds(seconds)) + (predicted ? " (predicted)" : " (its limit)")});
  if (seconds <= static_cast<double>(kHour) || (!predicted && !in.job.max_run_s)) finding.severity = Severity::Warning;
}

void spot_built_in_algorithm(const CheckInput& in, Report& report) {
  if (!any_spot(in.job) || !in.job.algorithm || in.job.checkpoint != nullptr) return;
  if (in.job.max_wait_s && *in.job.max_wait_s > kHour) {
    report.at(in.job.max_wait_s, {quote(*in.job.algorithm), count_text(*in.job.max_wait_s)});
  }
}

void no_slack(const CheckInput& in, Report& report) {
  const Count& wait = in.job.max_wait_s;
  if (any_spot(in.job) && wait && in.job.max_run_s && *wait == *in.job.max_run_s) {
    report.at(wait, {count_text(*wait)});
  }
}

void spot_multi_node(const CheckInput& in, Report& report) {
  if (!any_spot(in.job)) return;
  // Who exported a plan on spot was told.
  const auto is_of_spot = [](const Change& change) { return change.name == "spot"; };
  const bool planned = in.drift != nullptr && std::none_of(in.drift->begin(), in.drift->end(), is_of_spot);
  for (const Machines& m : in.machines) {
    if (m.type && m.count && *m.count > 1 && m.instance != nullptr && m.instance->is_scarce()) {
      Finding& finding = report.at(in.job.spot, {count_text(*m.count), *m.type});
      if (planned) finding.severity = Severity::Info;
    }
  }
}

void spot_warm_pool(const CheckInput& in, Report& report) {
  const Count& keep = in.job.keep_alive_s;
  if (any_spot(in.job) && keep && *keep > 0) report.at(keep, {count_text(*keep)});
}

void retry_range(const CheckInput& in, Report& report) {
  const Count& r = in.job.retries;
  if (r && (*r < 1 || *r > 30)) report.at(r, {count_text(*r)});
}

void retry_semantics(const CheckInput& in, Report& report) {
  if (in.job.retries.stated) report.at(in.job.retries);
}

void pending_range(const CheckInput& in, Report& report) {
  const Count& p = in.job.max_pending_s;
  if (p && (*p < kLeastPending || *p > kLongestRun)) report.at(p, {count_text(*p)});
}

void renamed_arguments(const CheckInput& in, Report& report) {
  for (const auto& [old_name, new_name] : in.limits.renamed) {
    const Node* node = in.job.root().find(old_name);
    if (node == nullptr) continue;
    Finding& finding = report.at(*node, {old_name, new_name});
    finding.fix = "rename it to " + new_name;
    if (!in.job.root().has(new_name)) finding.edits = {{Edit::Kind::Rename, node->where.path, new_name}};
  }
}

constexpr Rule kTimeRules[] = {
    {"C023", Severity::Error, "Range of the maximum runtime", "the maximum runtime is under 1 s or over 28 days",
     "a maximum runtime of {} s is outside 1 to 2419200 (28 days)", "split longer runs by checkpoint and resume",
     "SageMaker API reference, StoppingCondition", kSubmitted, Need::Nothing, run_range},
    {"C024", Severity::Warning, "Runtime over the default quota",
     "the maximum runtime is over 432000 s and no raised quota is known",
     "{} s is over the default quota of 432000 s for the longest training job",
     "request the quota \"Longest run time for a training job\", or resume from checkpoints",
     "SageMaker service quotas, 2026-11-20", kSubmitted, Need::Nothing, run_over_quota},
    {"C025", Severity::Warning, "Default runtime", "no maximum runtime is given",
     "no maximum runtime is given, so the job ends after {}", "set it to 1.2 to 1.5 times the expected time",
     "SageMaker Python SDK v2.257.6 estimator.py (86400 s); v3.20.0 (3600 s)", kSubmitted, Need::Nothing, run_default},
    {"C026", Severity::Error, "Too little time",
     "the predicted time is over the maximum runtime (a warning where the tokens are assumed, or where a job with "
     "checkpoints may run no longer)",
     "training is predicted to take {}, the limit is {}", "raise the limit, or use more or faster instances",
     kJudgement, kSubmitted, Need::Length, predicted_over_limit},
    {"C027", Severity::Error, "Spot needs a maximum wait", "spot capacity is asked for without a maximum wait",
     "spot capacity needs {}, at least as long as the maximum runtime", "set it to 1.5 to 2 times the maximum runtime",
     "SageMaker API reference; neither botocore nor the SDK looks", kSubmitted, Need::Nothing, spot_needs_wait},
    {"C028", Severity::Error, "Wait shorter than run", "the maximum wait is below the maximum runtime",
     "a maximum wait of {} s is below the maximum runtime of {} s", "the wait counts the run: make it the longer one",
     kApi, kSubmitted, Need::Nothing, wait_below_run},
    {"C029", Severity::Error, "Wait without spot", "a maximum wait is given without spot capacity",
     "{} is refused unless spot capacity is asked for", "drop it, or ask for spot capacity",
     "service message in Kenza-AI/sagify#111", kSubmitted, Need::Nothing, wait_without_spot},
    {"C030", Severity::Error, "Spot without checkpoints",
     "spot capacity without checkpoints, for a run over one hour (below: a warning)",
     "an interruption of this run of {} starts it again from nothing",
     "give a checkpoint location, save to it and resume from it", kDocs, kSubmitted, Need::Nothing,
     spot_without_checkpoint},
    {"C031", Severity::Error, "Spot with an algorithm that cannot resume",
     "a built-in algorithm without checkpoints waits longer than an hour on spot",
     "{} without checkpoints may wait 3600 s on spot, not {}", "lower the wait, or use an algorithm that checkpoints",
     kDocs, kRequest | kTrainer, Need::Nothing, spot_built_in_algorithm},
    {"C032", Severity::Warning, "No slack for spot", "the maximum wait equals the maximum runtime",
     "wait and runtime are both {} s: no time is left to wait for capacity or to repeat lost work",
     "make the wait 1.5 to 2 times the runtime", kJudgement, kSubmitted, Need::Nothing, no_slack},
    {"C033", Severity::Warning, "Several scarce instances on spot",
     "spot with more than one instance of a type for training at scale (devices behind a switch or NeuronLink; a note "
     "where "
     "the plan beside the job says so)",
     "{} x {} on spot: one reclaimed instance stops all, and together they are rarely free",
     "use a training plan or on-demand instances", kJudgement, kSubmitted, Need::Nothing, spot_multi_node},
    {"C034", Severity::Error, "Spot with a warm pool", "instances are to be kept alive and are spot",
     "warm pools (here {} s) cannot hold spot instances", "drop one of the two",
     "SageMaker developer guide, warm pools; the SDK does not look", kSubmitted, Need::Nothing, spot_warm_pool},
    {"C035", Severity::Error, "Range of retries", "retry attempts are not 1 to 30",
     "{} retry attempts; 1 to 30 are allowed", "give 1 to 30", kApi, kSubmitted, Need::Nothing, retry_range},
    {"C036", Severity::Info, "What retries cover", "a retry strategy is given",
     "retries cover internal server errors only, and all attempts together share the time limits",
     "nothing to do if that is meant", kApi, kSubmitted, Need::Nothing, retry_semantics},
    {"C037", Severity::Error, "Range of the pending time", "the maximum pending time is not 1800 to 2419200 s",
     "a maximum pending time of {} s is outside 1800 to 2419200", "give 1800 to 2419200", kApi, kRequest | kTrainer,
     Need::Nothing, pending_range},
    {"C038", Severity::Warning, "Arguments of SDK v1", "an argument has the name that it had in version 1 of the SDK",
     "{} is called {} since version 2 of the SDK", "use the new name", kSdk2, kEstimator, Need::Nothing,
     renamed_arguments},
};

}  // namespace

std::span<const Rule> time_rules() { return kTimeRules; }

}  // namespace smplan
