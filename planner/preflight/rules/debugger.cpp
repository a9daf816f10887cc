// SageMaker Debugger and Profiler.
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

bool is_off(const Node* node) {
  return node == nullptr || node->is_null() || (node->kind == Node::Kind::Bool && !node->truth) ||
         truth_of(*node) == false;
}

void hook_on(const CheckInput& in, Report& report) {
  const Job& job = in.job;
  const bool estimator = job.kind == JobKind::Estimator;
  // The SDK switches the hook on unless told not to; the API leaves it off.
  const bool on = estimator ? job.debugger == nullptr || !is_off(job.debugger)
                            : job.debugger != nullptr && job.debugger->is_object();
  if (!on || is_local(job)) return;
  const Launcher& l = job.launcher;
  const bool new_torch = in.pytorch() && job.framework_version && !below(job.framework_version, "2.0");
  const bool compiled = job.compiler != nullptr && !job.compiler->is_null();
  if (!new_torch && !l.smddp.is(true) && !l.smp.is(true) && !compiled) return;
  Finding& finding =
      report.at(job.debugger != nullptr ? job.debugger->where : job.root().where, {new_torch  ? "PyTorch 2"
                                                                                   : compiled ? "the Training Compiler"
                                                                                              : "smdistributed"});
  if (!estimator) {
    finding.fix = "drop DebugHookConfig";
  } else if (job.debugger == nullptr) {
    finding.edits = {{Edit::Kind::Insert, "", "\"debugger_hook_config\": false"}};
  } else {
    finding.edits = {{Edit::Kind::Set, job.debugger->where.path, "false"}};
  }
}

void framework_profile(const CheckInput& in, Report& report) {
  const Job& job = in.job;
  if (job.profiler == nullptr || !job.framework_version) return;
  const Node* params = job.profiler->find("framework_profile_params");
  if (params == nullptr || is_off(params)) return;
  const bool removed = in.pytorch() ? !below(job.framework_version, "2.0")
                                    : job.framework == Framework::TensorFlow && !below(job.framework_version, "2.12");
  if (removed) report.at(*params, {*job.framework_version});
}

void region(const CheckInput& in, Report& report) {
  if (in.region.empty() || !contains(in.limits.no_debugger_regions, in.region)) return;
  for (const Node* node : {in.job.debugger, in.job.profiler}) {
    if (!is_off(node)) report.at(*node, {in.region});
  }
}

void rule_count(const CheckInput& in, Report& report) {
  const auto judge = [&](const Node* list, std::string_view what) {
    if (list != nullptr && list->is_array() && list->items.size() > 20) {
      report.at(*list, {count_text(static_cast<std::int64_t>(list->items.size())), std::string(what)});
    }
  };
  const Node& root = in.job.root();
  judge(root.find("DebugRuleConfigurations"), "rule configurations");
  judge(root.find("ProfilerRuleConfigurations"), "rule configurations");
  judge(root.at({"DebugHookConfig", "CollectionConfigurations"}), "collections");
  judge(root.find("rules"), "rule configurations");
  judge(root.at({"debugger_hook_config", "collection_configs"}), "collections");
}

constexpr Rule kDebuggerRules[] = {
    {"C198", Severity::Warning, "Debugger hook",
     "the hook is on with PyTorch 2, smdistributed or the Training Compiler",
     "the debugger hook, which the SDK switches on, does not work with {}", "set debugger_hook_config=False",
     "SageMaker Python SDK v2.257.6; notebooks of aws/amazon-sagemaker-examples", kRequest | kEstimator, Need::Nothing,
     hook_on},
    {"C199", Severity::Warning, "Framework profiling",
     "framework profiling with PyTorch 2.0 or TensorFlow 2.12 and later",
     "framework version {} gives no framework metrics", "use torch.profiler or Nsight; system metrics stay",
     "SageMaker Python SDK v2.257.6, fw_utils.py", kRequest | kEstimator, Need::Nothing, framework_profile},
    {"C200", Severity::Error, "Debugger's regions", "debugger or profiler in a region without them",
     "{} has neither debugger nor profiler", "switch them off",
     "SageMaker Python SDK v2.257.6, image_uri_config and utils", kRequest | kEstimator, Need::Nothing, region},
    {"C201", Severity::Error, "Debugger rules", "more than 20 rule configurations or collections",
     "{} {}, 20 are allowed", "drop some", kApi, kRequest | kEstimator, Need::Nothing, rule_count},
};

}  // namespace

std::span<const Rule> debugger_rules() { return kDebuggerRules; }

}  // namespace smplan
