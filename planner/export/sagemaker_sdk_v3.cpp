#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "planner/export/text.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {
Json distributed(const ExportJob& job, const Launch& launch) {
  Json out;
  out["class"] = launch.launcher == LaunchMethod::Mpi ? "MPI" : "Torchrun";
  // Left out where types of a list may differ: the container then starts one for each device that it finds.
  if (job.options.fallbacks.empty()) out["process_count_per_node"] = launch.processes_per_host;
  if (launch.launcher == LaunchMethod::SmpV2) {
    for (const auto& setting : launch.library_parameters) out["smp"][setting.first] = Json::parse(setting.second);
  }
  return out;
}

Json data_source(const DataChannel& c) {
  if (c.file_system.empty()) {
    return {{"s3_data_type", "S3Prefix"}, {"s3_uri", c.s3_uri}, {"s3_data_distribution_type", "FullyReplicated"}};
  }
  return {{"file_system_id", c.file_system},
          {"file_system_access_mode", "ro"},
          {"file_system_type", "FSxLustre"},
          {"directory_path", c.directory}};
}

Json compute(const ExportJob& job, const Launch& launch) {
  Json out;
  const auto choice = [](const std::string& type, std::int32_t count) {
    return Json{{"instance_type", type}, {"instance_count", count}};
  };
  if (job.options.fallbacks.empty()) {
    out = choice(job.plan.instance->name, job.plan.instance_count);
  } else {
    out["instance_preferences"].push_back(choice(job.plan.instance->name, job.plan.instance_count));
    for (const InstanceChoice& other : job.options.fallbacks) {
      out["instance_preferences"].push_back(choice(other.type, other.count));
    }
  }
  if (launch.volume_gb > 0) out["volume_size_in_gb"] = launch.volume_gb;
  if (launch.keep_alive_s > 0) out["keep_alive_period_in_seconds"] = launch.keep_alive_s;
  if (launch.max_wait_s > 0) out["enable_managed_spot_training"] = true;
  if (!launch.training_plan_arn.empty()) out["training_plan_arn"] = launch.training_plan_arn;
  return out;
}

/// Arguments of ModelTrainer; the data, which `train()` takes, stands beside them.
Json arguments(const ExportJob& job, const Launch& launch, bool requirements) {
  Json out;
  out["training_image"] = launch.image_uri;
  out["role"] = launch.role;
  out["base_job_name"] = launch.job_name;
  out["source_code"] = Json{{"source_dir", "src"}, {"entry_script", launch.script}};
  if (requirements) out["source_code"]["requirements"] = "requirements.txt";
  out["distributed"] = distributed(job, launch);
  out["compute"] = compute(job, launch);
  out["stopping_condition"]["max_runtime_in_seconds"] = launch.max_run_s;
  if (launch.max_wait_s > 0) out["stopping_condition"]["max_wait_time_in_seconds"] = launch.max_wait_s;
  out["checkpoint_config"] = Json{{"s3_uri", launch.checkpoint_uri}, {"local_path", std::string(kCheckpointPath)}};
  out["output_data_config"] = Json{{"s3_output_path", launch.output_uri}, {"compression_type", "NONE"}};
  if (!launch.subnets.empty()) {
    out["networking"] = Json{{"subnets", launch.subnets}, {"security_group_ids", launch.security_groups}};
  }
  out["training_input_mode"] = launch.input_mode;
  for (const auto& variable : launch.environment) out["environment"][variable.first] = variable.second;
  for (const auto& setting : launch.hyperparameters) {
    out["hyperparameters"][setting.first] = Json::parse(setting.second);
  }
  for (const auto& tag : launch.tags) out["tags"].push_back(Json{{"key", tag.first}, {"value", tag.second}});
  return out;
}

struct ArgumentClass {
  const char* argument;
  const char* name;
};
constexpr ArgumentClass kClasses[] = {{"source_code", "SourceCode"},
                                      {"compute", "Compute"},
                                      {"stopping_condition", "StoppingCondition"},
                                      {"checkpoint_config", "CheckpointConfig"},
                                      {"output_data_config", "OutputDataConfig"},
                                      {"networking", "Networking"},
                                      {"smp", "SMP"}};

/// Of lists.
constexpr ArgumentClass kListedClasses[] = {{"tags", "Tag"}, {"instance_preferences", "InstancePreference"}};

std::string call(std::string_view name, const Json& members, int indent);

std::string value_text(const std::string& key, const Json& value, int indent) {
  for (const ArgumentClass& known : kClasses) {
    if (key == known.argument) return call(known.name, value, indent);
  }
  if (key == "distributed") {
    Json members = value;
    members.erase("class");
    return call(value["class"].text(), members, indent);
  }
  for (const ArgumentClass& known : kListedClasses) {
    if (key != known.argument) continue;
    std::string text = "[";
    for (const Json& one : value.elements()) text += (text.size() > 1 ? ", " : "") + call(known.name, one, -1);
    return text + "]";
  }
  return python_literal(value, indent);
}

/// `Name(key=value, ...)`, an argument a line; on one line where `indent` is negative.
std::string call(std::string_view name, const Json& members, int indent) {
  std::string text = std::string(name) + '(';
  const std::string margin(static_cast<std::size_t>(std::max(indent, 0)), ' ');
  for (const auto& [key, value] : members.members()) {
    if (indent < 0) {
      text += fmt::format("{}{}={}", text.back() == '(' ? "" : ", ", key, value_text(key, value, 0));
    } else {
      text += fmt::format("\n{}    {}={},", margin, key, value_text(key, value, indent + 4));
    }
  }
  return indent < 0 ? text + ')' : text + '\n' + margin + ')';
}

std::string inputs(const Launch& launch) {
  std::string text = "[";
  for (const DataChannel& c : launch.channels) {
    text += fmt::format("\n    InputData(channel_name={}, data_source={}),", json_string(c.name),
                        call(c.file_system.empty() ? "S3DataSource" : "FileSystemDataSource", data_source(c), 4));
  }
  return text + "\n]";
}

/// Version 3.20 is the one that exports are tested with; its Compute takes lists of types since sagemaker-core 2.22.0,
/// which sagemaker 3.22 asks for. Source: sagemaker-core 2.21.0 and 2.22.0, core/training/configs.py, read 2026-11-29.
std::string_view needed_sdk(const ExportJob& job) { return job.options.fallbacks.empty() ? "3.20" : "3.22"; }

std::string script(const ExportJob& job, const Launch& launch, const Json& kwargs) {
  const bool lustre = !launch.channels.front().file_system.empty();
  const bool vpc = !launch.subnets.empty();
  const bool smp = launch.launcher == LaunchMethod::SmpV2;
  return fmt::format(
      "{}# Needs: pip install 'sagemaker>={},<4'. Replace what NOTES.md lists, then: python launch.py\n"
      "{}"
      "from sagemaker.train import ModelTrainer\n"
      "from sagemaker.train.configs import (\n"
      "    CheckpointConfig,\n    Compute,\n{}    InputData,\n{}    OutputDataConfig,\n{}    SourceCode,\n"
      "    StoppingCondition,\n    Tag,\n)\n"
      "from sagemaker.train.distributed import {}{}\n{}\n"
      "trainer = {}\n\n"
      "inputs = {}\n\n"
      "if __name__ == \"__main__\":\n"
      "    trainer.train(input_data_config=inputs, wait=False)\n",
      commented(provenance_lines(job)), needed_sdk(job), commented({"Image: " + launch.image_note}),
      lustre ? "    FileSystemDataSource,\n" : "", vpc ? "    Networking,\n" : "", lustre ? "" : "    S3DataSource,\n",
      smp ? "SMP, " : "", kwargs["distributed"]["class"].text(),
      job.options.fallbacks.empty() ? "" : "from sagemaker.core.shapes import InstancePreference\n",
      call("ModelTrainer", kwargs, 0), inputs(launch));
}

}  // namespace

void write_sagemaker_sdk_v3(const ExportJob& job, Export& out, Diagnostics& faults) {
  const Launch launch = prepare_launch(job, out, faults);
  out.notes.insert(out.notes.end(), launch.notes.begin(), launch.notes.end());
  if (!job.options.fallbacks.empty()) {
    out.notes.push_back(
        fmt::format("A list of types (instance_preferences) needs sagemaker {} or later, which brings "
                    "sagemaker-core 2.22 and botocore 1.43.90.",
                    needed_sdk(job)));
  }
  const Json kwargs = arguments(job, launch, has_requirements(out));
  Json described;
  described["class"] = "ModelTrainer";
  described.update(kwargs);
  for (const DataChannel& c : launch.channels) {
    described["input_data_config"].push_back(Json{{"channel_name", c.name}, {"data_source", data_source(c)}});
  }
  const std::vector<ExportFile> own = {{"launch.py", script(job, launch, kwargs)},
                                       {"model_trainer.json", described.dump(2) + "\n"}};
  out.files.insert(out.files.begin(), own.begin(), own.end());
}

}  // namespace smplan
