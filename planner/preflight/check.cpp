#include "planner/preflight/check.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/printable.hpp"
#include "base/units.hpp"
#include "planner/preflight/check_cache.hpp"
#include "planner/preflight/job_folder.hpp"
#include "planner/preflight/lock.hpp"
#include "planner/preflight/predict.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

/// The machines of the job; where the file names none, those of the flags.
std::vector<Machines> machines_of(const Job& job, const Catalog& catalog, const RequestSpec& flags) {
  std::vector<Machines> machines;
  const auto look_up = [&](const Text& type) -> const InstanceType* {
    if (!type) return nullptr;
    const InstanceType* known = catalog.find_instance(*type);
    return known != nullptr ? known : catalog.find_instance("ml." + *type);
  };
  for (const JobGroup& g : job.groups) {
    machines.push_back({g.type, g.count, look_up(g.type), g.name.value_or("")});
  }
  if (!machines.empty()) return machines;
  Machines one{job.instance_type, job.instance_count, nullptr, ""};
  if (!one.type.stated && flags.instances && flags.instances->find_first_of(",*?") == std::string::npos) {
    one.type.value = *flags.instances;
    one.type.where = {"--instances", 0};
    one.type.stated = true;
  }
  if (!one.count.stated) {
    one.count = job.strategy.nodes;
    const auto n = flags.count ? parse_integer_count(*flags.count, "--count") : Result<std::int64_t>(0);
    if (!one.count && flags.count && n) {
      one.count.value = *n;
      one.count.where = {"--count", 0};
      one.count.stated = true;
    }
  }
  if (!one.type.stated) return machines;
  one.instance = look_up(one.type);
  if (!one.count && !one.count.stated && job.strategy.world && one.instance != nullptr &&
      one.instance->accelerator_count > 0 && *job.strategy.world % one.instance->accelerator_count == 0) {
    one.count.value = *job.strategy.world / one.instance->accelerator_count;
    one.count.where = job.strategy.world.where;
    one.count.stated = true;
  }
  machines.push_back(std::move(one));
  return machines;
}

std::string region_of(const Job& job, const CheckOptions& options) {
  if (options.request.region) return *options.request.region;
  if (job.region) return *job.region;
  if (options.otherwise.region) return *options.otherwise.region;
  return options.environment_region.value_or("");
}

std::vector<const Rule*> rules_by_id() {
  std::vector<const Rule*> rules;
  for (const RuleFamily& family : rule_families()) {
    for (const Rule& rule : family.rules) rules.push_back(&rule);
  }
  std::sort(rules.begin(), rules.end(), [](const Rule* a, const Rule* b) { return a->id < b->id; });
  return rules;
}

/// What is left of a deadline on a day: nothing where it is over.
Seconds left_until(const std::string& instant) {
  const Result<Due> due = parse_due(instant, kLockFile, now());
  return due ? Seconds(static_cast<double>((due->at - due->ordered).count())) : Seconds();
}

/// The limits among the flags, with the checks that a request has, and those of the plan beside the job.
Result<Gates> read_gates(const RequestSpec& flags, const Lock* plan, const Catalog& catalog,
                         const CheckOptions& options) {
  RequestSpec limits;
  limits.deadline = flags.deadline;
  limits.confidence = flags.confidence;
  limits.budget = flags.budget;
  limits.max_hourly = flags.max_hourly;
  if (plan != nullptr) fill_open(limits, plan->goals, {RequestGroup::Goal});
  limits.market = flags.market;
  const bool asked = limits.deadline || limits.confidence || limits.budget || limits.max_hourly || limits.market;
  if (!asked) return Gates();  // a request takes longer than all rules together
  limits.params = "1B";        // any model: only the limits are read
  const Result<PlanRequest>& request = resolved(limits, catalog, options);
  if (!request) return tl::unexpected<Diagnostics>(request.error());
  Gates gates;
  gates.budget = request->budget;
  gates.deadline = request->deadline;
  gates.hourly = request->max_hourly;
  gates.confidence = request->confidence.value_or(Gates::kGateConfidence);
  gates.budget_planned = gates.budget && !flags.budget;
  gates.deadline_planned = gates.deadline && !flags.deadline;
  gates.hourly_planned = gates.hourly && !flags.max_hourly;
  gates.confidence_asked = flags.confidence || gates.budget_planned;
  if (gates.deadline_planned && !plan->due.empty()) gates.deadline = left_until(plan->due);
  if (flags.market) gates.market = request->markets.front();
  return gates;
}

bool length_known(const CheckInput& in) { return in.prediction != nullptr && in.prediction->length_unknown.empty(); }

bool price_known(const CheckInput& in) { return in.prediction != nullptr && in.prediction->plan.price != nullptr; }

/// What a flag asks to be kept to, in words; empty where none asks.
std::string gate_of(const Need& need, const Gates& gates) {
  if (need.kind == Need::Budget && gates.budget && !gates.budget_planned)
    return "the budget of " + format_usd(*gates.budget);
  if (need.kind == Need::Deadline && gates.deadline && !gates.deadline_planned)
    return "the deadline of " + format_duration(*gates.deadline);
  return {};
}

bool given(const Need& need, const CheckInput& in) {
  switch (need.kind) {
    case Need::Nothing:
      return true;
    case Need::Prediction:
      return in.prediction != nullptr;
    case Need::Length:
      return length_known(in);
    case Need::Budget:
      return length_known(in) && price_known(in) && in.gates.budget.has_value();
    case Need::Deadline:
      return length_known(in) && in.gates.deadline.has_value();
    case Need::Hourly:
      return in.gates.hourly.has_value();
    case Need::OfFacts:
      return is_known(*need.fact, in.facts);
    case Need::Folder:
      return in.job.folder != nullptr;
    case Need::Files:
      return in.job.folder != nullptr || !in.job.broken_files.empty() || !in.job.source_without_script.empty() ||
             in.job.split.has_value();
    case Need::Lock:
      return in.drift != nullptr;
  }
  return false;
}

const Ignored* ignored_by(const Finding& finding, const std::vector<Ignored>& ignored) {
  for (const Ignored& entry : ignored) {
    if (entry.rule == finding.rule && (entry.path.empty() || entry.path == finding.where.name())) return &entry;
  }
  return nullptr;
}

void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.where.file, a.where.line, a.rule) < std::tie(b.where.file, b.where.line, b.rule);
  });
}

/// A job of one instance type, with what the models say of it.
struct Case {
  Job job;
  std::vector<Machines> machines;
  std::string region;
  PredictionOutcome outcome;
};

/// What is missing to judge by the models; empty where nothing is.
std::string unknown_of(const Need& need, const CheckInput& in, const Case& one) {
  if (in.prediction == nullptr) return one.outcome.why_not;
  if (!in.prediction->length_unknown.empty()) return in.prediction->length_unknown;
  if (need.kind != Need::Budget || price_known(in)) return {};
  const Plan& plan = in.prediction->plan;
  return fmt::format("no {} price of {} is known in {}", to_string(plan.market), plan.instance->name,
                     in.prediction->request.region);
}

std::string why_not_run(const Rule& rule, const CheckInput& in, const Case& one) {
  std::string reason = reason_not_run(rule.need);
  if (!rule.need.is_modelled()) return reason;
  const std::string unknown = unknown_of(rule.need, in, one);
  return unknown.empty() ? reason : reason + "; " + unknown;
}

/// A limit that was asked for and cannot be judged is not kept.
void refuse_gate(const Rule& rule, const CheckInput& in, const Case& one, const std::string& gate, Report& report) {
  Finding& finding = report.at(one.job.instance_type.stated ? one.job.instance_type.where : one.job.root().where);
  finding.severity = Severity::Error;
  finding.message = gate + " cannot be judged: " + unknown_of(rule.need, in, one);
  const bool predicted = in.prediction != nullptr;
  finding.fix = !predicted          ? reason_not_run(Need::Length)
                : !length_known(in) ? "give --tokens"
                                    : "give one by --catalog, or another --region or --market";
  finding.source = rule.source;
}

/// Runs the rule; returns why it could not judge all that it looks at, empty where it could.
std::string check_noting_unknown(const Rule& rule, const CheckInput& in, Report& report) {
  std::vector<std::string> unknown;
  unknown_values = &unknown;
  rule.check(in, report);
  unknown_values = nullptr;
  return unknown.empty() ? std::string() : "the value of " + unknown.front() + " is not known";
}

/// The rule over every case: what it says of all of them alike is said once.
void run_rule(const Rule& rule, const std::vector<CheckInput>& inputs, const std::vector<Case>& cases,
              std::vector<Finding>& found, Findings& out) {
  if ((rule.kinds & one(out.kind)) == 0) {
    out.skipped.push_back({rule.id, "does not apply to " + std::string(in_words(out.kind))});
    return;
  }
  std::vector<Finding> said;
  Report report(rule, said);
  bool ran = false;
  std::string reason;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (given(rule.need, inputs[i])) {
      const std::string unknown = check_noting_unknown(rule, inputs[i], report);
      ran = ran || unknown.empty() || !said.empty();
      if (reason.empty()) reason = unknown;
      continue;
    }
    if (reason.empty()) reason = why_not_run(rule, inputs[i], cases[i]);
    const std::string gate = gate_of(rule.need, inputs[i].gates);
    if (!gate.empty()) refuse_gate(rule, inputs[i], cases[i], gate, report);
  }
  if (ran) {
    ++out.rules_run;
  } else {
    out.skipped.push_back({rule.id, reason});
  }
  const auto same = [](const Finding& a) {
    return [&a](const Finding& b) { return a.rule == b.rule && a.where == b.where && a.message == b.message; };
  };
  for (Finding& finding : said) {
    if (std::none_of(found.begin(), found.end(), same(finding)) || inputs.size() == 1)
      found.push_back(std::move(finding));
  }
}

/// What the plan in the job's folder gives to the check.
struct FromLock {
  std::optional<Lock> plan;                  ///< nullopt where there is none of this job
  std::optional<std::vector<Change>> drift;  ///< nullopt without a plan
  std::string why_not;                       ///< the plan is there and does not count
};

/// Reads the plan beside the job: it says what neither files nor flags say, and what has drifted from it.
FromLock take_lock(const Job& job, const Catalog& catalog, CheckOptions& options) {
  FromLock out;
  if (job.folder == nullptr || !job.folder->lock) return out;
  Result<Lock> lock = read_lock(*job.folder->lock, catalog);
  if (!lock) {
    out.why_not = to_string(lock.error().front());
    return out;
  }
  Result<std::vector<Change>> changes = drift_of(*job.folder, *lock, catalog, *options.cache);
  if (changes) {
    out.drift = drift_of_flags(options.request, *lock, catalog);
    out.drift->insert(out.drift->end(), changes->begin(), changes->end());
  } else {
    out.why_not = "the plan is none of this job: " + to_string(changes.error().front());
  }
  // A plan may be written in the words of another framework than its own, which it says nothing of.
  const std::optional<std::string> stack = job.kind == JobKind::Accelerate ? std::nullopt : stack_of(job);
  if (stack && *stack != *lock->said.stack) return out;
  options.otherwise = lock->said;
  RequestSpec& asked = options.request;
  if (models_alike(asked, *lock, catalog)) {
    asked.params = asked.model = asked.hf_config = std::nullopt;
    asked.arch = lock->said.arch;
  }
  // Flags of the machines count only where the file names none.
  if (!asked.instances) asked.instances = lock->said.instances;
  if (!asked.count) asked.count = lock->said.count;
  if (changes) out.plan = std::move(*lock);
  return out;
}

void take_predictions(std::vector<Case>& cases, Findings& out) {
  for (Case& one : cases) {
    if (!one.outcome.prediction) {
      if (cases.size() > 1) out.not_predicted.emplace_back(one.job.instance_type.value_or("?"), one.outcome.why_not);
    } else if (!out.prediction) {
      out.prediction = std::move(one.outcome.prediction);
    } else {
      out.other_predictions.push_back(std::move(*one.outcome.prediction));
    }
  }
}

}  // namespace

std::span<const RuleFamily> rule_families() {
  static const std::array<RuleFamily, 32> kFamilies = {{{"Request schema", schema_rules()},
                                                        {"Limits of single settings", limit_rules()},
                                                        {"Time limits, spot, retries", time_rules()},
                                                        {"Warm pools", warm_pool_rules()},
                                                        {"Launchers", launcher_rules()},
                                                        {"Classes and arguments of the SDK", sdk_interface_rules()},
                                                        {"Framework versions and images", framework_rules()},
                                                        {"Instance groups", group_rules()},
                                                        {"SMDDP", smddp_rules()},
                                                        {"Model-parallel library 1", smp_v1_rules()},
                                                        {"Model-parallel library 2", smp_v2_rules()},
                                                        {"Training Compiler", compiler_rules()},
                                                        {"Instances, storage, network", instance_rules()},
                                                        {"Arithmetic of the plan", plan_rules()},
                                                        {"Predictions", prediction_rules()},
                                                        {"Precision and kernels", precision_rules()},
                                                        {"DeepSpeed", deepspeed_rules()},
                                                        {"FSDP and accelerate", fsdp_rules()},
                                                        {"HyperPod recipes", recipe_rules()},
                                                        {"HyperPod jobs", hyperpod_rules()},
                                                        {"TorchTitan", torchtitan_rules()},
                                                        {"Megatron", megatron_rules()},
                                                        {"Data", data_rules()},
                                                        {"Checkpoints", checkpoint_rules()},
                                                        {"Debugger and profiler", debugger_rules()},
                                                        {"Quotas, regions, secrets", account_rules()},
                                                        {"The folder of a job", folder_rules()},
                                                        {"Frameworks' settings together", combination_rules()},
                                                        {"References between settings", reference_rules()},
                                                        {"Names of the model's modules", module_rules()},
                                                        {"Images by name", image_rules()},
                                                        {"Slurm", slurm_rules()}}};
  return kFamilies;
}

const Rule* find_rule(std::string_view id) {
  for (const RuleFamily& family : rule_families()) {
    for (const Rule& rule : family.rules) {
      if (rule.id == id) return &rule;
    }
  }
  return nullptr;
}

Diagnostic unknown_rule(std::string_view id, std::string_view where) {
  std::string_view last;
  for (const RuleFamily& family : rule_families()) {
    for (const Rule& rule : family.rules) last = std::max(last, rule.id);
  }
  return {"unknown-rule", std::string(where), "there is no rule " + quote(id),
          "rules are C001 to " + std::string(last) + ", see docs/checks.md"};
}

int Findings::count(Severity severity) const {
  return static_cast<int>(
      std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.severity == severity; }));
}

std::string Findings::file_of(const Where& where) const {
  if (where.file.empty()) return file;
  return (std::filesystem::path(file).parent_path() / where.file).lexically_normal().generic_string();
}

std::vector<Job> alternatives_of(const Job& job) {
  if (job.preferences.empty() || job.instance_type.stated || !job.groups.empty()) return {job};
  std::vector<Job> jobs;
  for (const JobPreference& preference : job.preferences) {
    if (jobs.size() == kMaxPreferences) break;  // the rest is refused
    Job one = job;
    one.instance_type = preference.type;
    if (preference.count.stated) one.instance_count = preference.count;
    jobs.push_back(std::move(one));
  }
  return jobs;
}

const Job& estimated_of(const std::vector<Job>& alternatives, const RequestSpec& flags) {
  const auto named = std::find_if(alternatives.begin(), alternatives.end(),
                                  [&](const Job& one) { return one.instance_type.is(flags.instances.value_or("")); });
  return named == alternatives.end() ? alternatives.front() : *named;
}

Result<RequestSpec> request_of_job(Job job, const Catalog& catalog, const RequestSpec& flags,
                                   const std::optional<std::string>& environment_region) {
  const auto refuse = [&](const std::string& reason, std::string hint) {
    return tl::unexpected<Diagnostics>(Diagnostics{{"unsupported", job.file, reason, std::move(hint)}});
  };
  const std::vector<Job> alternatives = alternatives_of(job);
  job = estimated_of(alternatives, flags);
  CheckOptions options;
  options.cache = std::make_shared<CheckCache>();
  options.request = flags;
  options.environment_region = environment_region;
  take_lock(job, catalog, options);
  if (!names_model(options.request)) options.request.model = model_of(job, catalog);
  if (const Result<void> completed = complete_job(job, catalog, options); !completed) {
    return tl::unexpected<Diagnostics>(completed.error());
  }
  if (!job.not_modelled.empty()) return refuse(job.not_modelled, "docs/ci.md lists what is read");
  if (!job.adapters_unknown.empty() && !flags.finetune) return refuse(job.adapters_unknown, "add --finetune");
  if (!job.split_unknown.empty() && !flags.zero_stage && !flags[Dimension::Sharding]) {
    return refuse(job.split_unknown, "add --sharding");
  }
  if (!names_model(options.request)) {
    return refuse(job.model ? fmt::format("the catalog has no model `{}`", printable(*job.model, 96))
                            : std::string("the file names no model"),
                  "add --model, --hf-config or --params");
  }
  std::vector<Machines> machines = machines_of(job, catalog, options.request);
  // An estimate takes one instance where nobody says how many: a step's sequences are counted for it.
  const bool count_open = machines.size() == 1 && !machines.front().count.stated && !options.otherwise.count;
  if (count_open) machines.front().count = derived(std::int64_t{1}, {});
  RequestSpec spec = request_of(job, machines, catalog, region_of(job, options), options.request, options.otherwise);
  if (count_open) spec.count.reset();
  return spec;
}

Result<Findings> check_job(const Job& given_job, const Catalog& catalog, const SagemakerLimits& limits,
                           const CheckOptions& given_options) {
  CheckOptions options = given_options;
  if (options.cache == nullptr) options.cache = std::make_shared<CheckCache>();
  const FromLock from_lock = take_lock(given_job, catalog, options);
  const Lock* plan = from_lock.plan ? &*from_lock.plan : nullptr;
  const Result<Gates> gates = read_gates(given_options.request, plan, catalog, options);
  if (!gates) return tl::unexpected<Diagnostics>(gates.error());
  if (!names_model(options.request)) options.request.model = model_of(given_job, catalog);
  std::vector<Case> cases;
  for (Job& job : alternatives_of(given_job)) {
    if (const Result<void> completed = complete_job(job, catalog, options); !completed) {
      return tl::unexpected<Diagnostics>(completed.error());
    }
    Case one{std::move(job), {}, {}, {}};
    one.machines = machines_of(one.job, catalog, options.request);
    one.region = region_of(one.job, options);
    one.outcome = predict(one.job, one.machines, one.region, catalog, options);
    cases.push_back(std::move(one));
  }
  std::vector<CheckInput> inputs;
  inputs.reserve(cases.size());
  for (const Case& one : cases) {
    const std::optional<Prediction>& p = one.outcome.prediction;
    inputs.push_back({one.job, catalog, limits, options.facts, p ? &*p : nullptr, *gates, one.region, one.machines,
                      &given_job, one.outcome.plan_inside_domain, from_lock.drift ? &*from_lock.drift : nullptr,
                      from_lock.why_not});
  }
  Findings out;
  out.drift = from_lock.drift;
  out.file = given_job.file;
  out.kind = given_job.kind;
  out.unread = given_job.unread;
  std::vector<Finding> found;
  for (const Rule* rule : rules_by_id()) run_rule(*rule, inputs, cases, found, out);
  sort_findings(found);
  for (Finding& finding : found) {
    if (const Ignored* entry = ignored_by(finding, options.ignored)) {
      out.ignored.emplace_back(std::move(finding), entry->reason);
    } else {
      out.findings.push_back(std::move(finding));
    }
  }
  take_predictions(cases, out);
  return out;
}

}  // namespace smplan
