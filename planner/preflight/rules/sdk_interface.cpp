// What the SDK's classes take: names, imports, arguments and the fields of their configurations.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "planner/preflight/rules/sdk_calls.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

/// Names that tutorials invent.
bool invented(std::string_view name) {
  return name.find("horovod.Horovod") != std::string_view::npos || name == "Horovod" ||
         name.find("sagemaker.deepspeed") != std::string_view::npos || name == "DeepSpeed" ||
         name.find("PyTorchDDP") != std::string_view::npos || name.starts_with("sagemaker.horovod");
}

void unknown_class_of_v3(const CheckInput& in, const std::string& name, Report& report) {
  if (name == "ModelTrainer" || contains(in.limits.sdk3_trainers, name)) return;
  const auto near = nearest_names(name, in.limits.sdk3_trainers, 1);
  report.at(in.job.class_name, {quote(name)}).fix = near.empty()
                                                        ? "use ModelTrainer, or " + list_text(in.limits.sdk3_trainers)
                                                        : "did you mean " + near.front() + "?";
}

void unknown_class_of_v2(const CheckInput& in, const std::string& name, Report& report) {
  constexpr std::array<std::string_view, 9> kKnown = {"PyTorch", "HuggingFace", "TensorFlow", "Estimator",  "MXNet",
                                                      "Chainer", "SKLearn",     "XGBoost",    "RLEstimator"};
  if (std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end()) return;
  Finding& finding = report.at(in.job.class_name, {quote(name)});
  if (name == "ModelTrainer" || contains(in.limits.sdk3_trainers, name)) {
    finding.fix = name + " is a class of SDK 3: check it with --kind model-trainer";
  }
}

/// What SDK 2 submits with, and SDK 3.
constexpr std::pair<std::string_view, std::string_view> kSubmits[] = {{"train", "fit"}, {"fit", "train"}};

void suggest_nearest(const std::string& name, const std::vector<std::string>& known, Finding& finding) {
  for (const auto& [other, own] : kSubmits) {
    if (name == other && contains(known, own)) finding.fix = "call " + std::string(own) + "()";
    if (name == other) return;
  }
  const auto near = nearest_names(name, known, 1);
  finding.fix = near.empty() ? "see the methods of the class" : "did you mean " + near.front() + "?";
}

void nonexistent_class(const CheckInput& in, Report& report) {
  if (const Text& name = in.job.class_name; name) {
    if (invented(*name)) {
      report.at(name, {quote(*name)});
    } else if (in.job.kind == JobKind::ModelTrainer) {
      unknown_class_of_v3(in, *name, report);
    } else {
      unknown_class_of_v2(in, *name, report);
    }
  }
  for (const CallFault& fault : call_faults(in, CallFault::Kind::UnknownMethod)) {
    suggest_nearest(fault.name, fault.known, report.at(fault.where, {fault.callee}));
  }
  if (!in.facts.script) return;
  for (const std::string& name : in.facts.script->imports.value_or(std::vector<std::string>())) {
    if (invented(name)) {
      report.at(in.job.root().where, {quote(name)});
    } else if (is_missing_import(in.limits, name)) {
      report.at(in.job.root().where, {quote(name)}).fix = "import it from the module that has it";
    }
  }
}

bool imports(const CheckInput& in, std::string_view prefix) {
  for (const std::string& name : in.facts.script->imports.value_or(std::vector<std::string>())) {
    if (name == prefix || name.starts_with(std::string(prefix) + '.')) return true;
  }
  return false;
}

void horovod_on_pytorch(const CheckInput& in, Report& report) {
  if (in.job.launcher.mpi.is(true) && in.pytorch() && in.job.framework_version &&
      !below(in.job.framework_version, "2.0") && imports(in, "horovod")) {
    report.at(in.job.launcher.mpi, {*in.job.framework_version});
  }
}

void unknown_arguments(const CheckInput& in, Report& report) {
  if (in.job.kind == JobKind::ModelTrainer) return;
  std::vector<std::string> known = in.limits.estimator_base;
  for (const EstimatorClass& one : in.limits.estimator_classes) {
    // Without a class every class's arguments may be meant.
    if (in.job.class_name && *in.job.class_name != one.name) continue;
    known.insert(known.end(), one.arguments.begin(), one.arguments.end());
  }
  // Keys of our own format beside the SDK's arguments.
  for (const std::string_view own :
       {"class", "inputs", "job_name", "region", "region_name", "made_by", "calls", "open"})
    known.emplace_back(own);
  for (const Node& argument : in.job.root().items) {
    if (contains(known, argument.key)) continue;
    bool renamed = false;
    for (const auto& [old_name, new_name] : in.limits.renamed) renamed = renamed || old_name == argument.key;
    if (renamed) continue;
    Finding& finding = report.at(argument, {quote(argument.key)});
    // The name that another format has for it is what was meant.
    const std::optional<std::string> meant =
        argument.key == "max_retries" ? "max_retry_attempts" : respelled(in.job.kind, argument.key);
    if (meant && !contains(known, *meant)) {
      finding.fix = meant->empty()
                        ? "version 2 of the SDK has none: send a CreateTrainingJob request, or use SDK 3's ModelTrainer"
                        : "it is an argument of another class: see the estimator's signature";
      continue;
    }
    const auto near = meant ? std::vector<std::string>{*meant} : nearest_names(argument.key, known, 1);
    if (!near.empty()) finding.fix = "did you mean " + near.front() + "?";
  }
}

/// Configurations that ModelTrainer takes, by the argument that holds one; each refuses other fields.
struct Configuration {
  std::string_view argument;
  std::string_view path;
};
constexpr Configuration kConfigurations[] = {
    {"compute", "sagemaker.train.configs.Compute"},
    {"source_code", "sagemaker.train.configs.SourceCode"},
    {"stopping_condition", "sagemaker.train.configs.StoppingCondition"},
    {"networking", "sagemaker.train.configs.Networking"},
    {"checkpoint_config", "sagemaker.train.configs.CheckpointConfig"},
    {"output_data_config", "sagemaker.train.configs.OutputDataConfig"},
};

/// Keys that name an object's class in a file, and are no argument.
bool names_class(std::string_view key) { return key == "class" || key == "_class" || key == "type"; }

void unknown_fields(const Node& object, const SdkCallable* known, Report& report) {
  if (!object.is_object() || known == nullptr) return;
  for (const Node& field : object.items) {
    if (names_class(field.key) || contains(known->made.arguments, field.key)) continue;
    Finding& finding = report.at(field, {quote(field.key), known->made.name});
    const auto near = nearest_names(field.key, known->made.arguments, 1);
    if (!near.empty()) finding.fix = "did you mean " + near.front() + "?";
  }
}

void unknown_fields_in_v3(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  for (const Configuration& known : kConfigurations) {
    const Node* object = root.find(known.argument);
    if (object != nullptr) unknown_fields(*object, in.limits.find_callable(known.path), report);
  }
  if (const Node* d = root.find("distributed")) {
    const std::string name = in.job.launcher.mpi.is(true) ? "MPI" : "Torchrun";
    unknown_fields(*d, in.limits.find_callable("sagemaker.train.distributed." + name), report);
  }
}

/// Calls of a launch script, with the fields of the configurations that they make.
void unknown_arguments_of_calls(const CheckInput& in, Report& report) {
  for (const CallFault& fault : call_faults(in, CallFault::Kind::UnknownArgument)) {
    // ModelTrainer's own are told with what to write in their place.
    if (fault.callee == "ModelTrainer()") continue;
    Finding& finding = report.at(fault.where, {quote(fault.name), fault.callee});
    const auto near = nearest_names(fault.name, fault.known, 1);
    finding.fix = near.empty() ? "it takes " + list_text(fault.known) : "did you mean " + near.front() + "?";
  }
}

void unknown_arguments_in_v3(const CheckInput& in, Report& report) {
  unknown_arguments_of_calls(in, report);
  if (in.job.kind != JobKind::ModelTrainer || other_trainer(in.job) || in.job.root().has("made_by")) return;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kMoved = {{
      {"distribution", "distributed=Torchrun() or MPI()"},
      {"instance_type", "compute=Compute(instance_type=...)"},
      {"instance_count", "compute=Compute(instance_count=...)"},
      {"volume_size", "compute=Compute(volume_size_in_gb=...)"},
      {"use_spot_instances", "compute=Compute(enable_managed_spot_training=...)"},
      {"framework_version", "training_image=..."},
      {"py_version", "training_image=..."},
      {"image_uri", "training_image=..."},
      {"entry_point", "source_code=SourceCode(entry_script=...)"},
      {"source_dir", "source_code=SourceCode(source_dir=...)"},
      {"max_run", "stopping_condition=StoppingCondition(max_runtime_in_seconds=...)"},
      {"max_wait", "stopping_condition=StoppingCondition(max_wait_time_in_seconds=...)"},
      {"checkpoint_s3_uri", "checkpoint_config=CheckpointConfig(s3_uri=...)"},
      {"output_path", "output_data_config=OutputDataConfig(s3_output_path=...)"},
      {"keep_alive_period_in_seconds", "compute=Compute(keep_alive_period_in_seconds=...)"},
      {"subnets", "networking=Networking(subnets=...)"},
      {"security_group_ids", "networking=Networking(security_group_ids=...)"},
      {"enable_network_isolation", "networking=Networking(enable_network_isolation=...)"},
      {"encrypt_inter_container_traffic", "networking=Networking(enable_inter_container_traffic_encryption=...)"},
      {"input_mode", "training_input_mode=..."},
  }};
  for (const Node& argument : in.job.root().items) {
    // What a file says beside the arguments: which region, what to call methods with.
    const bool beside = names_class(argument.key) || argument.key == "region" || argument.key == "region_name" ||
                        argument.key == "calls";
    if (beside || contains(in.limits.model_trainer, argument.key)) continue;
    Finding& finding = report.at(argument, {quote(argument.key), "ModelTrainer"});
    for (const auto& [old_name, now] : kMoved) {
      if (old_name == argument.key) finding.fix = "write " + std::string(now);
    }
  }
  if (!in.job.file.ends_with(".py")) unknown_fields_in_v3(in, report);
}

/// Without a launcher the SDK starts scripts of Python and the shell; the launchers start Python.
void v3_kind_of_script(const Node& script, bool launched, Report& report) {
  const std::string name = script.text.substr(script.text.rfind('/') + 1);
  if (!script.is_string() || is_placeholder(script.text) || name.ends_with(".py")) return;
  if (launched ? name.find('.') == std::string::npos : name.ends_with(".sh")) return;
  report
      .at(script, {(launched ? "an entry_script in Python: " : "an entry_script in Python or the shell: ") +
                   quote(name) + " is none"})
      .fix = "export it to a .py file";
}

void v3_needs_script(const CheckInput& in, Report& report) {
  const Node* d = in.job.root().find("distributed");
  const Node* code = in.job.root().find("source_code");
  if (d != nullptr && !d->is_null() && (code == nullptr || code->is_null())) {
    report.at(*d, {"entry_script: there is no source code at all"});
  }
  if (code == nullptr || !code->is_object()) return;
  const Node* script = code->find("entry_script");
  const bool scripted = script != nullptr && !script->is_null();
  if (d != nullptr && !d->is_null() && !scripted) report.at(*code, {"entry_script"});
  const Node* command = code->find("command");
  if (scripted && (command == nullptr || command->is_null())) {
    v3_kind_of_script(*script, d != nullptr && !d->is_null(), report);
  }
  const Node* folder = code->find("source_dir");
  if (scripted && (folder == nullptr || folder->is_null())) report.at(*code, {"source_dir, where the script is"});
}

void v3_mpi_options(const CheckInput& in, Report& report) {
  const Node* options = in.job.root().at({"distributed", "mpi_additional_options"});
  if (options != nullptr && options->is_string()) report.at(*options);
}

void v2_import_under_v3(const CheckInput& in, Report& report) {
  if (version_before(*in.facts.sagemaker_sdk, "3")) return;
  report.at(in.job.class_name.stated ? in.job.class_name.where : in.job.root().where, {*in.facts.sagemaker_sdk});
}

constexpr Rule kSdkInterfaceRules[] = {
    {"C066", Severity::Error, "No such class", "the estimator's class, an import or a method does not exist in the SDK",
     "the SDK has no {}", "use the PyTorch or TensorFlow estimator with a distribution", kSdk2, kEstimator | kTrainer,
     Need::Nothing, nonexistent_class},
    {"C067", Severity::Warning, "Horovod in a PyTorch container", "an mpi job imports horovod on PyTorch 2 or later",
     "recent PyTorch containers (here {}) come without Horovod", "use DDP or FSDP, or install Horovod", kDocs,
     kSubmitted, &Facts::script, horovod_on_pytorch},
    {"C068", Severity::Warning, "Unknown argument", "an argument is none of the estimator's",
     "{} is taken without a word and dropped", "see the estimator's signature", kSdk2, kEstimator, Need::Nothing,
     unknown_arguments},
    {"C069", Severity::Error, "Argument that the SDK refuses",
     "ModelTrainer, a configuration inside it, or any call that a launch script makes of the SDK, is given an argument "
     "that it has not, such as one of the old estimators",
     "{} is no argument of {}, which refuses unknown ones", "use the SDK's own arguments", kSdkCalls,
     kEstimator | kTrainer, Need::Nothing, unknown_arguments_in_v3},
    {"C070", Severity::Error, "Launcher without script",
     "distributed is set and the source code names no entry_script, or it names one and no source_dir, or one that "
     "nothing starts",
     "the source code lacks {}", "name the script and its folder; a command alone is not launched", kSdk3, kTrainer,
     Need::Nothing, v3_needs_script},
    {"C071", Severity::Error, "MPI options as text", "mpi_additional_options is a string",
     "mpi_additional_options must be a list of words", "split it into words", kSdk3, kTrainer, Need::Nothing,
     v3_mpi_options},
    {"C072", Severity::Warning, "Estimators under SDK v3", "an estimator is to be launched by version 3 of the SDK",
     "SDK {} has no estimators any more", "pin sagemaker<3, or move to ModelTrainer", kSdk3, kEstimator,
     &Facts::sagemaker_sdk, v2_import_under_v3},
};

}  // namespace

std::span<const Rule> sdk_interface_rules() { return kSdkInterfaceRules; }

}  // namespace smplan
