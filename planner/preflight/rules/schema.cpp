// What the API's own model says of a request: members, types. botocore checks part of it, the service the rest.
#include <algorithm>
#include <functional>
#include <optional>
#include <regex>
#include <utility>

#include "base/words.hpp"
#include "planner/preflight/rules/sdk_calls.hpp"
#include "planner/preflight/rules/setting_values.hpp"
#include "planner/preflight/rules/settings.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

struct SchemaFault {
  enum class Kind { Unknown, Missing, MissingUnlessServerless, WrongType, Value };
  Kind kind;
  const Node* node;  ///< at fault; for what is missing, the object that lacks it
  const RequestField* field;
  std::string name;    ///< of the member
  std::string detail;  ///< what was expected
  std::string_view fix = {};
};

bool right_kind(const Node& node, RequestField::Type type) {
  using enum RequestField::Type;
  switch (type) {
    case String:
      return node.is_string();
    case Integer:
      return node.kind == Node::Kind::Integer;
    case Boolean:
      return node.kind == Node::Kind::Bool;
    case List:
      return node.is_array();
    case Structure:
    case Map:
      return node.is_object();
  }
  return false;
}

std::string_view type_words(RequestField::Type type) {
  static constexpr std::string_view kWords[] = {"a string",  "a whole number", "a boolean",
                                                "an object", "a list",         "an object"};
  return kWords[static_cast<std::size_t>(type)];
}

/// Limits that a rule of their own reports, so that a fault is said once.
bool has_own_rule(std::string_view path) {
  static constexpr std::string_view kWhole[] = {"TrainingJobName",
                                                "RoleArn",
                                                "HyperParameters",
                                                "HyperParameters<value>",
                                                "Environment",
                                                "Environment<value>",
                                                "Tags",
                                                "Tags[].Key",
                                                "Tags[].Value",
                                                "VpcConfig.Subnets",
                                                "VpcConfig.SecurityGroupIds",
                                                "AlgorithmSpecification.TrainingImage",
                                                "AlgorithmSpecification.MetricDefinitions",
                                                "AlgorithmSpecification.MetricDefinitions[].Name",
                                                "AlgorithmSpecification.MetricDefinitions[].Regex",
                                                "AlgorithmSpecification.ContainerEntrypoint",
                                                "AlgorithmSpecification.ContainerEntrypoint[]",
                                                "AlgorithmSpecification.ContainerArguments",
                                                "AlgorithmSpecification.ContainerArguments[]",
                                                "StoppingCondition.MaxRuntimeInSeconds",
                                                "StoppingCondition.MaxWaitTimeInSeconds",
                                                "StoppingCondition.MaxPendingTimeInSeconds",
                                                "RetryStrategy.MaximumRetryAttempts",
                                                "ResourceConfig.InstancePreferences",
                                                "ResourceConfig.InstancePreferences[].TrainingPlanArns",
                                                "OutputDataConfig.CompressionType",
                                                "DebugRuleConfigurations",
                                                "ProfilerRuleConfigurations",
                                                "DebugHookConfig.CollectionConfigurations"};
  static constexpr std::string_view kEnd[] = {"S3Uri",          "InputMode",     "FileSystemId",
                                              "FileSystemType", "ChannelName",   "InputDataConfig",
                                              "InstanceType",   "InstanceCount", "KeepAlivePeriodInSeconds",
                                              "InstanceGroups", "S3OutputPath",  "VolumeSizeInGB"};
  return std::find(std::begin(kWhole), std::end(kWhole), path) != std::end(kWhole) ||
         std::any_of(std::begin(kEnd), std::end(kEnd), [&](std::string_view own) { return path.ends_with(own); });
}

/// Patterns are matched up to this length: the matcher recurses on every character.
constexpr std::size_t kMaxMatched = 512;

bool is_counted(const Node& node) { return node.is_array() || node.is_object(); }

/// What the value must be, and how to make it so; empty where it is.
std::pair<std::string, std::string_view> value_fault(const Node& node, const RequestField& field) {
  const bool word = node.is_string() || node.is_number();
  if (is_placeholder(node.text)) return {};
  if (word && !field.values.empty() && !contains(field.values, node.text)) {
    return {"one of " + list_text(field.values), "write one of them"};
  }
  const std::int64_t n = node.is_string()   ? static_cast<std::int64_t>(node.text.size())
                         : is_counted(node) ? static_cast<std::int64_t>(node.items.size())
                                            : node.integer;
  const std::string unit = node.is_string() ? " characters" : is_counted(node) ? " entries" : "";
  if (field.max && n > *field.max) {
    return {"at most " + count_text(*field.max) + unit, node.is_string()   ? "shorten it"
                                                        : is_counted(node) ? "drop some"
                                                                           : "write a smaller number"};
  }
  if (field.min && n < *field.min) {
    return {"at least " + count_text(*field.min) + unit, node.is_string()   ? "fill it in, or leave it out"
                                                         : is_counted(node) ? "add some, or leave it out"
                                                                            : "write a larger number"};
  }
  const bool matched = node.is_string() && !field.pattern.empty() && node.text.size() <= kMaxMatched;
  if (matched && !std::regex_match(node.text, std::regex(field.pattern))) {
    return {"text of the form " + field.pattern, "write it in that form"};
  }
  return {};
}

void judge(const Node& node, const RequestField& field, std::string name, std::vector<SchemaFault>& out) {
  if (has_own_rule(field.path)) return;
  auto [expected, fix] = value_fault(node, field);
  if (expected.empty()) return;
  out.push_back({SchemaFault::Kind::Value, &node, &field, std::move(name), std::move(expected), fix});
}

/// A value as a message shows it: of lists how many entries they have.
std::string in_message(const Node& node) {
  if (!is_counted(node)) return node.text.empty() ? "empty" : quote(node.text);
  return node.items.empty() ? "empty" : count_text(static_cast<std::int64_t>(node.items.size())) + " entries long";
}

void walk(const Node& node, const std::string& path, const SagemakerLimits& limits, std::vector<SchemaFault>& out) {
  using enum SchemaFault::Kind;
  const std::string prefix = path.empty() ? "" : path + '.';
  for (const Node& member : node.items) {
    const RequestField* field = limits.find(prefix + member.key);
    if (field == nullptr) {
      const std::vector<std::string> near = nearest_names(member.key, limits.members_of(path), 1);
      out.push_back({Unknown, &member, nullptr, member.key, near.empty() ? "" : near.front()});
      continue;
    }
    if (is_placeholder(member.text)) continue;
    if (!right_kind(member, field->type)) {
      out.push_back({WrongType, &member, field, member.key, std::string(type_words(field->type))});
      continue;
    }
    judge(member, *field, member.key, out);
    if (field->type == RequestField::Type::Structure) walk(member, field->path, limits, out);
    const RequestField* element =
        limits.find(field->path + (field->type == RequestField::Type::Map ? "<value>" : "[]"));
    if (element == nullptr) continue;
    for (const Node& item : member.items) {
      if (is_placeholder(item.text)) continue;
      if (!right_kind(item, element->type)) {
        out.push_back({WrongType, &item, element, item.key, std::string(type_words(element->type))});
      } else if (element->type == RequestField::Type::Structure) {
        walk(item, element->path, limits, out);
      } else {
        judge(item, *element, item.key.empty() ? "an entry of " + member.key : item.key, out);
      }
    }
  }
  for (const RequestField& field : limits.fields) {
    if (!field.path.starts_with(prefix) || (!field.required && !field.required_unless_serverless)) continue;
    const std::string rest = field.path.substr(prefix.size());
    if (rest.find_first_of(".[<") != std::string::npos || node.has(rest)) continue;
    out.push_back({field.required ? Missing : MissingUnlessServerless, &node, &field, rest, ""});
  }
}

std::vector<SchemaFault> schema_faults(const CheckInput& in, SchemaFault::Kind kind) {
  std::vector<SchemaFault> all;
  walk(in.job.root(), "", in.limits, all);
  std::erase_if(all, [&](const SchemaFault& f) { return f.kind != kind; });
  return all;
}

/// Inventions found in the wild, with the member that was meant.
constexpr std::pair<std::string_view, std::string_view> kMeant[] = {
    {"UseSpot", "EnableManagedSpotTraining"},
    {"UseSpotInstances", "EnableManagedSpotTraining"},
    {"WarmPoolConfig", "ResourceConfig.KeepAlivePeriodInSeconds"},
    {"WarmPool", "ResourceConfig.KeepAlivePeriodInSeconds"},
    {"MaxRetries", "RetryStrategy.MaximumRetryAttempts"},
    {"DebuggingHookConfig", "DebugHookConfig"},
    {"EnableSageMakerTrainingCompiler", "HyperParameters.sagemaker_training_compiler_enabled"},
    {"Distribution", "HyperParameters.sagemaker_torch_distributed_enabled"},
};

std::string meant_by(std::string_view name, std::string_view nearest) {
  for (const auto& [written, meant] : kMeant) {
    if (written == name) return std::string(meant);
  }
  // A name of the same length class only: half of the letters changed is another word.
  const std::size_t shorter = std::min(name.size(), nearest.size());
  const bool alike = !nearest.empty() && shorter * 3 >= std::max(name.size(), nearest.size()) * 2 &&
                     (name.substr(0, 4) == nearest.substr(0, 4) || name.size() == nearest.size());
  return alike ? std::string(nearest) : std::string();
}

void unknown_member(const CheckInput& in, Report& report) {
  for (const SchemaFault& f : schema_faults(in, SchemaFault::Kind::Unknown)) {
    const std::string parent = parent_of(f.node->where.path);
    Finding& finding = report.at(*f.node, {quote(f.name), parent.empty() ? "the request" : parent});
    const std::string meant = meant_by(f.name, f.detail);
    if (!meant.empty()) finding.fix = "did you mean " + meant + "? rename it, or delete it";
  }
}

bool given(const Node& root, const SagemakerLimits& limits, std::string_view name) {
  const auto there = [&](std::string_view key) {
    const Node* node = root.find(key);
    return node != nullptr && !node->is_null();
  };
  for (const auto& [old_name, new_name] : limits.renamed) {
    if (new_name == name && there(old_name)) return true;
  }
  return there(name);
}

/// What the class of an estimator needs. Without a class, what each of those needs that take all that is given.
std::vector<ArgumentNeed> needs_of(const CheckInput& in) {
  const Node& root = in.job.root();
  const auto takes = [&](const EstimatorClass& one) {
    if (in.job.class_name.stated) return in.job.class_name.is(one.name);
    return root.has("distribution") && std::all_of(root.items.begin(), root.items.end(), [&](const Node& argument) {
             const bool others = std::any_of(in.limits.estimator_classes.begin(), in.limits.estimator_classes.end(),
                                             [&](const auto& c) { return contains(c.arguments, argument.key); });
             return !others || contains(one.arguments, argument.key);
           });
  };
  std::optional<std::vector<ArgumentNeed>> needs;
  for (const EstimatorClass& one : in.limits.estimator_classes) {
    if (!takes(one)) continue;
    if (!needs) needs = one.needs;
    std::erase_if(*needs, [&](const auto& need) {
      return std::find(one.needs.begin(), one.needs.end(), need) == one.needs.end();
    });
  }
  if (!needs) return {};
  needs->insert(needs->begin(), in.limits.estimator_needs.begin(), in.limits.estimator_needs.end());
  return *needs;
}

/// The names that the nearest way still lacks; empty where one way is given.
std::vector<std::string> lacking(const ArgumentNeed& need, const std::function<bool(std::string_view)>& has,
                                 std::size_t& nearest) {
  std::optional<std::vector<std::string>> least;
  std::size_t most_given = 0;
  for (std::size_t i = 0; i < need.size(); ++i) {
    std::vector<std::string> names;
    for (const std::string& name : need[i]) {
      if (!has(name)) names.push_back(name);
    }
    if (names.empty()) return {};
    const std::size_t given = need[i].size() - names.size();
    if (least && given <= most_given) continue;
    least = std::move(names);
    most_given = given;
    nearest = i;
  }
  return least.value_or(std::vector<std::string>());
}

/// Arguments without which the SDK's constructors raise. Where several kinds of them are missing from a file of
/// arguments, it is a part of a call, in which what belongs together may still be torn (a warning); a script's call is
/// whole, or open.
void missing_argument(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  const bool script = in.job.file.ends_with(".py");
  const auto has = [&](std::string_view name) { return given(root, in.limits, name); };
  const bool of_sdk1 = std::any_of(in.limits.renamed.begin(), in.limits.renamed.end(),
                                   [&](const auto& names) { return root.has(names.first); });
  if (root.has("open") || has("training_recipe")) return;
  std::vector<std::string> told;  // by the signature of the call
  for (const CallFault& fault : call_faults(in, CallFault::Kind::MissingArgument)) told.push_back(fault.name);
  struct Fault {
    std::string names;
    std::string fix;
    bool half_given = false;  ///< of a way whose other arguments are there
  };
  std::vector<Fault> faults;
  for (const ArgumentNeed& need : needs_of(in)) {
    std::size_t nearest = 0;
    const std::vector<std::string> names = lacking(need, has, nearest);
    if (names.empty() ||
        std::any_of(names.begin(), names.end(), [&](const auto& one) { return contains(told, one); })) {
      continue;
    }
    // A role may stand in the SDK's own configuration; SDK 1 chose versions itself.
    if ((script && names.front() == "role") || (of_sdk1 && names.back() == "py_version")) continue;
    Fault& fault = faults.emplace_back();
    fault.half_given = names.size() < need[nearest].size();
    for (const std::string& name : names) fault.names += (fault.names.empty() ? "" : " with ") + name;
    for (std::size_t i = 0; i < need.size(); ++i) {
      if (i == nearest) continue;
      std::string way;
      for (const std::string& name : need[i]) {
        if (!has(name)) way += (way.empty() ? "" : " with ") + name;
      }
      fault.fix += (fault.fix.empty() ? "add it, or " : ", or ") + way;
    }
  }
  const bool part = faults.size() > 1 && !script;
  for (const Fault& fault : faults) {
    if (part && !fault.half_given) continue;
    Finding& finding = report.at(root, {fault.names, "the arguments"});
    if (part) finding.severity = Severity::Warning;
    finding.source = kSdk2;
    if (!fault.fix.empty()) finding.fix = fault.fix;
  }
}

void missing_repository(const CheckInput& in, Report& report) {
  const Node* git = in.job.root().find("git_config");
  if (git == nullptr || !git->is_object() || git->has("repo")) return;
  report.at(*git, {"repo", "git_config"}).source = kSdk2;
}

/// Without it the SDK takes one ml.m5.xlarge.
void missing_compute(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  if (!given(root, in.limits, "distributed") || given(root, in.limits, "compute") || root.has("made_by")) return;
  Finding& finding = report.at(root, {"compute", "the arguments"});
  finding.severity = Severity::Warning;
  finding.message += ": the SDK takes 1 x ml.m5.xlarge, without accelerators";
  finding.source = kSdk3;
}

/// DeepSpeed asserts it, unless the Trainer writes it in.
void missing_batch(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  if (root.has("train_batch_size") || root.has("train_micro_batch_size_per_gpu") || root.has("elasticity")) return;
  if (in.facts.hugging_face_trainer == true) return;
  Finding& finding = report.at(root, {"train_batch_size or train_micro_batch_size_per_gpu", "the file"});
  if (!in.facts.hugging_face_trainer) finding.severity = Severity::Warning;
  finding.fix = "give one of them (facts: \"hugging_face_trainer\": true if the Trainer reads this file)";
  finding.source = "DeepSpeed 0.19.5, runtime/config.py";
}

void missing_in_calls(const CheckInput& in, Report& report) {
  for (const CallFault& fault : call_faults(in, CallFault::Kind::MissingArgument)) {
    report.at(fault.where, {fault.name, fault.callee}).source = kSdkCalls;
  }
}

void missing_member(const CheckInput& in, Report& report) {
  missing_in_calls(in, report);
  if (in.job.kind == JobKind::Estimator) {
    missing_argument(in, report);
    return missing_repository(in, report);
  }
  if (in.job.kind == JobKind::ModelTrainer) return missing_compute(in, report);
  if (in.job.kind == JobKind::DeepSpeed) missing_batch(in, report);
  if ((one(in.job.kind) & kFrameworkFiles) != 0) return missing_settings(in, report);
  for (const SchemaFault& f : schema_faults(in, SchemaFault::Kind::Missing)) {
    // A serverless job brings its own algorithm, resources and output.
    report.at(*f.node, {f.name, f.node->where.path.empty() ? "the request" : f.node->where.path});
  }
}

void missing_unless_serverless(const CheckInput& in, Report& report) {
  if (in.job.serverless) return;
  for (const SchemaFault& f : schema_faults(in, SchemaFault::Kind::MissingUnlessServerless)) {
    report.at(*f.node, {f.name});
  }
}

/// The value in the type that is due, where it can be none else.
std::optional<std::string> retyped(const Node& node, RequestField::Type type) {
  if (type == RequestField::Type::String && (node.is_number() || node.kind == Node::Kind::Bool)) {
    return json_text(node.text);
  }
  if (type == RequestField::Type::Boolean && (node.text == "true" || node.text == "false")) return node.text;
  if (type == RequestField::Type::Integer && node.is_string() && integer_of(node)) return count_text(*integer_of(node));
  return std::nullopt;
}

Finding& report_type(const Node& node, RequestField::Type type, const std::string& expected, Report& report) {
  const std::string is =
      is_over_64_bits(node) ? node.text + ", which 64 bits do not hold" : std::string(kind_name(node.kind));
  Finding& finding = report.at(node, {node.key.empty() ? node.where.path : node.key, expected, is});
  using enum RequestField::Type;
  const bool parts = type == List || type == Structure || type == Map || is_counted(node) || node.is_null();
  if (parts) finding.fix = "write " + expected;
  if (is_over_64_bits(node)) finding.fix = "write a number that 64 bits hold";
  if (const auto value = retyped(node, type)) {
    finding.fix = "write " + *value;
    finding.edits = {{Edit::Kind::Set, node.where.path, *value}};
  }
  return finding;
}

bool right_kind(const Node& node, std::span<const RequestField::Type> types) {
  return std::any_of(types.begin(), types.end(), [&](RequestField::Type type) { return right_kind(node, type); });
}

void expect(const Node* object, std::string_view key, std::span<const RequestField::Type> types, Report& report) {
  const Node* node = object == nullptr ? nullptr : object->find(key);
  if (node == nullptr || node->is_null() || is_placeholder(node->text) || right_kind(*node, types)) return;
  std::string expected;
  for (const RequestField::Type type : types) {
    expected += (expected.empty() ? "" : " or ") + std::string(type_words(type));
  }
  Finding& finding = report_type(*node, types.front(), expected, report);
  // Text is true for the SDK, "false" as well: switching off what it switches on is not ours to do.
  if (types.front() == RequestField::Type::Boolean && truth_of(*node) == false) finding.edits.clear();
}

/// A launcher's dictionary, and what switches it on.
void launcher_types(const Node& launcher, Report& report) {
  using enum RequestField::Type;
  if (!launcher.is_object()) {
    if (launcher.is_null() || is_placeholder(launcher.text)) return;
    Finding& finding = report_type(launcher, Map, "an object", report);
    if (launcher.kind == Node::Kind::Bool && launcher.truth) finding.fix = "write {\"enabled\": true}";
    return;
  }
  const Node* enabled = launcher.find("enabled");
  if (enabled == nullptr || enabled->kind == Node::Kind::Bool || is_placeholder(enabled->text)) return;
  // Of this library alone the SDK asks for True itself; the others start by whatever Python takes for true.
  const bool strict = launcher.key == "modelparallel" && !enabled->is_null();
  if (!strict && !enabled->is_string()) return;
  Finding& finding = report_type(*enabled, Boolean, "a boolean", report);
  if (strict || truth_of(*enabled) != true) finding.edits.clear();  // what it does now would change
  if (strict) finding.fix = "write true: the SDK drops the library without a word for any other value";
}

void environment_types(const CheckInput& in, Report& report) {
  if (in.job.environment == nullptr) return;
  for (const Node& variable : in.job.environment->items) {
    if (!variable.is_string()) report_type(variable, RequestField::Type::String, "a string", report);
  }
}

/// Where a launch script gives a dictionary or a text, and SDK 2 looks for the attributes of an object.
void objects_of_sdk(const CheckInput& in, Report& report) {
  using enum RequestField::Type;
  if (!in.job.file.ends_with(".py")) return;
  const Node& root = in.job.root();
  for (const std::string_view name : {"profiler_config", "debugger_hook_config", "tensorboard_output_config"}) {
    const Node* object = root.find(name);
    if (object == nullptr || !object->is_object() || object->items.empty() || object->has("class")) continue;
    report_type(*object, Structure, "an object of the SDK's class", report).fix = "make it by its class";
  }
  const Node* rules = root.find("rules");
  for (const Node& rule : rules == nullptr ? std::vector<Node>() : rules->items) {
    if (!rule.is_string() || is_placeholder(rule.text)) continue;
    report_type(rule, Structure, "a Rule or ProfilerRule", report).fix = "write Rule.sagemaker(rule_configs...)";
  }
}

/// A dictionary is none of SDK 3's classes of launchers, and lengths are written in thousands. Source: sagemaker-train
/// 1.27.0, train/distributed.py and train/common_utils/finetune_utils.py (_parse_sequence_length).
void objects_of_sdk3(const CheckInput& in, Report& report) {
  const Node* launcher = in.job.root().find("distributed");
  const bool script = in.job.file.ends_with(".py");
  if (script && launcher != nullptr && launcher->is_object() && !launcher->has("class")) {
    report_type(*launcher, RequestField::Type::Structure, "a Torchrun() or MPI()", report).fix = "make it by its class";
  }
  const Node* length = other_trainer(in.job) ? in.job.root().find("sequence_length") : nullptr;
  if (length == nullptr || length->is_null() || is_placeholder(length->text)) return;
  static const std::regex kThousands(R"(\s*\d+[Kk]\s*)");
  if (length->text.size() > kMaxMatched || std::regex_match(length->text, kThousands)) return;
  const auto whole = integer_of(*length);
  report.at(*length, {length->key, "a number of 1024s with a K", shown_value(*length)}).fix =
      whole && *whole > 0 && *whole % 1024 == 0 ? "write \"" + count_text(*whole / 1024) + "K\""
                                                : "write \"8K\", or leave it out";
}

/// What the SDKs pass on of a channel as it is, against the words of the API.
void words_of_channels(const CheckInput& in, Report& report) {
  constexpr std::pair<Text JobChannel::*, std::string_view> kPassedOn[] = {
      {&JobChannel::distribution, "InputDataConfig[].DataSource.S3DataSource.S3DataDistributionType"},
      {&JobChannel::s3_type, "InputDataConfig[].DataSource.S3DataSource.S3DataType"}};
  for (const JobChannel& channel : in.job.channels) {
    for (const auto& [member, path] : kPassedOn) {
      const Text& word = channel.*member;
      const RequestField* field = in.limits.find(path);
      if (field == nullptr || !word || contains(field->values, *word)) continue;
      const std::string name = word.where.path.substr(word.where.path.rfind('/') + 1);
      report.at(word, {name, "one of " + list_text(field->values), quote(*word)}).fix = "write one of them";
    }
  }
}

/// Arguments of the SDKs: some go into the request as they are, of others the SDK reads the members.
void sdk_types(const CheckInput& in, Report& report) {
  using enum RequestField::Type;
  static constexpr RequestField::Type kCount[] = {Integer};
  static constexpr RequestField::Type kSwitch[] = {Boolean};
  const Node& root = in.job.root();
  const bool v3 = in.job.kind == JobKind::ModelTrainer;
  words_of_channels(in, report);
  for (const ArgumentTypes& row : v3 ? in.limits.model_trainer_types : in.limits.estimator_types) {
    for (const std::string& argument : row.arguments) expect(&root, argument, row.types, report);
  }
  if (v3) {
    objects_of_sdk3(in, report);
    const Node* compute = root.find("compute");
    for (const std::string_view key : {"instance_count", "keep_alive_period_in_seconds", "volume_size_in_gb"}) {
      expect(compute, key, kCount, report);
    }
    expect(compute, "enable_managed_spot_training", kSwitch, report);
    for (const std::string_view key :
         {"max_runtime_in_seconds", "max_wait_time_in_seconds", "max_pending_time_in_seconds"}) {
      expect(root.find("stopping_condition"), key, kCount, report);
    }
    const Node* launcher = root.find("distributed");
    expect(launcher, "process_count_per_node", kCount, report);
    for (const std::string_view key : {"hybrid_shard_degree", "tensor_parallel_degree", "context_parallel_degree",
                                       "expert_parallel_degree", "activation_loading_horizon"}) {
      expect(launcher == nullptr ? nullptr : launcher->find("smp"), key, kCount, report);
    }
    return environment_types(in, report);
  }
  objects_of_sdk(in, report);
  if (const Node* distribution = root.find("distribution")) {
    for (const Node& launcher : distribution->items) {
      if (!contains(in.limits.distribution, launcher.key) || launcher.key == "instance_groups") continue;
      launcher_types(launcher, report);
      if (launcher.key != "smdistributed") continue;
      for (const Node& library : launcher.items) launcher_types(library, report);
    }
  }
  environment_types(in, report);
}

void wrong_type(const CheckInput& in, Report& report) {
  if ((one(in.job.kind) & kFrameworkFiles) != 0) return wrong_settings(in, report);
  if (in.job.kind != JobKind::CreateTrainingJob) {
    sdk_types(in, report);
    return;
  }
  for (const SchemaFault& f : schema_faults(in, SchemaFault::Kind::WrongType)) {
    report_type(*f.node, f.field->type, f.detail, report);
  }
  for (const SchemaFault& f : schema_faults(in, SchemaFault::Kind::Value)) {
    report.at(*f.node, {f.name, f.detail, in_message(*f.node)}).fix = f.fix;
  }
}

constexpr Rule kSchemaRules[] = {
    {"C001", Severity::Error, "Unknown request member", "a key is no member of the structure that holds it",
     "{} is no member of {}", "delete it, or use the member that was meant", kApi, kRequest, Need::Nothing,
     unknown_member},
    {"C002", Severity::Error, "Missing required member",
     "a structure lacks a member that the API requires, an estimator one argument that the SDK requires, or (a "
     "warning) one of two that go together where more are missing, or a "
     "launched ModelTrainer its compute, or a DeepSpeed file both batch sizes, or a framework's file a key without "
     "which the framework raises",
     "{} is missing from {}", "add it", kApi, kSubmitted | kFrameworkFiles, Need::Nothing, missing_member},
    {"C003", Severity::Error, "Missing unless serverless",
     "AlgorithmSpecification, ResourceConfig or StoppingCondition is absent and the job is not serverless",
     "{} is missing, and only serverless customization jobs may leave it out", "add it",
     "SageMaker API model: required until botocore 1.41, optional since 1.43 (2026-08-07)", kRequest, Need::Nothing,
     missing_unless_serverless},
    {"C004", Severity::Error, "Wrong type or value",
     "a value has another JSON type than its member, or is outside the member's enumeration or form; in a framework's "
     "file, a value that the framework cannot take, or (a warning) text where it asks for truth",
     "{} must be {}, is {}", "quote hyperparameters and variables; leave booleans and counts bare", kApi,
     kSubmitted | kFrameworkFiles, Need::Nothing, wrong_type},
};

}  // namespace

std::span<const Rule> schema_rules() { return kSchemaRules; }

}  // namespace smplan
