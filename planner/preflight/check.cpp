#include "planner/preflight/check.hpp"

#include <algorithm>
#include <array>

#include "base/units.hpp"
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

bool given(Need need, const CheckInput& in) {
  const Facts& f = in.facts;
  switch (need) {
    case Need::Nothing:
      return true;
    case Need::Prediction:
      return in.prediction != nullptr;
    case Need::Budget:
      return in.prediction != nullptr && in.budget.has_value();
    case Need::Quotas:
      return f.quotas.has_value();
    case Need::Buckets:
      return f.buckets.has_value();
    case Need::Datasets:
      return f.datasets.has_value();
    case Need::Subnets:
      return f.subnets.has_value();
    case Need::SecurityGroups:
      return f.security_groups.has_value();
    case Need::PreviousJob:
      return f.previous_job.has_value();
    case Need::Script:
      return f.script.has_value();
    case Need::SdkVersion:
      return f.sagemaker_sdk.has_value();
    case Need::TorchTitanVersion:
      return f.torchtitan.has_value();
    case Need::JobRate:
      return f.jobs_per_second.has_value();
    case Need::WarmPoolTotal:
      return f.warm_pool_total_s.has_value();
  }
  return false;
}

const Ignored* ignored_by(const Finding& finding, const std::vector<Ignored>& ignored) {
  for (const Ignored& entry : ignored) {
    if (entry.rule == finding.rule && (entry.path.empty() || entry.path == finding.where.path)) return &entry;
  }
  return nullptr;
}

void sort_findings(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.where.line, a.rule) < std::tie(b.where.line, b.rule);
  });
}

}  // namespace

std::span<const RuleFamily> rule_families() {
  static const std::array<RuleFamily, 25> kFamilies = {{{"Request schema", schema_rules()},
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
                                                        {"TorchTitan", torchtitan_rules()},
                                                        {"Megatron", megatron_rules()},
                                                        {"Data", data_rules()},
                                                        {"Checkpoints", checkpoint_rules()},
                                                        {"Debugger and profiler", debugger_rules()},
                                                        {"Quotas, regions, secrets", account_rules()}}};
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

Result<Findings> check_job(const Job& given_job, const Catalog& catalog, const SagemakerLimits& limits,
                           const CheckOptions& options) {
  Job job = given_job;
  if (const Result<void> completed = complete_job(job, catalog, options); !completed) {
    return tl::unexpected<Diagnostics>(completed.error());
  }
  std::optional<Usd> budget;
  if (options.request.budget) {
    const Result<Usd> parsed = parse_usd(*options.request.budget, "--budget");
    if (!parsed) return tl::unexpected<Diagnostics>(parsed.error());
    budget = *parsed;
  }
  std::vector<Machines> machines = machines_of(job, catalog, options.request);
  const std::string region = region_of(job, options);
  PredictionOutcome outcome = predict(job, machines, region, catalog, options);

  Findings out;
  out.file = job.file;
  out.kind = job.kind;
  out.prediction = std::move(outcome.prediction);
  const CheckInput input{job,
                         catalog,
                         limits,
                         options.facts,
                         out.prediction ? &*out.prediction : nullptr,
                         budget,
                         region,
                         std::move(machines),
                         outcome.plan_inside_domain};
  std::vector<Finding> found;
  for (const Rule* rule : rules_by_id()) {
    if ((rule->kinds & one(job.kind)) == 0) {
      out.skipped.push_back({rule->id, "does not apply to " + std::string(in_words(job.kind))});
    } else if (!given(rule->need, input)) {
      const bool modelled = rule->need == Need::Prediction || rule->need == Need::Budget;
      const bool failed = modelled && out.prediction == std::nullopt && !outcome.why_not.empty();
      out.skipped.push_back(
          {rule->id, std::string(reason_not_run(rule->need)) + (failed ? "; " + outcome.why_not : "")});
    } else {
      Report report(*rule, found);
      rule->check(input, report);
      ++out.rules_run;
    }
  }
  sort_findings(found);
  for (Finding& finding : found) {
    if (const Ignored* entry = ignored_by(finding, options.ignored)) {
      out.ignored.emplace_back(std::move(finding), entry->reason);
    } else {
      out.findings.push_back(std::move(finding));
    }
  }
  return out;
}

}  // namespace smplan
