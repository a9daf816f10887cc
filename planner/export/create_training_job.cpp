#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "planner/export/writers.hpp"

namespace smplan {
namespace {
/// What the containers read to start more than one process a node; without them they start one. The values are
/// JSON in strings. Source: requests that the SageMaker Python SDK v2.257.7 sends, seen 2026-11-21.
void add_launcher(Json& hyper, const ExportJob& job, const Launch& launch) {
  const auto set = [&](const char* key, const std::string& json) { hyper[key] = json; };
  const auto mpi = [&] {
    set("sagemaker_mpi_enabled", "true");
    set("sagemaker_mpi_num_of_processes_per_host", fmt::format("{}", launch.processes_per_host));
    set("sagemaker_mpi_custom_mpi_options", "\"\"");
  };
  switch (launch.launcher) {
    case LaunchMethod::SmpV2:
    case LaunchMethod::Torchrun:
      set("sagemaker_torch_distributed_enabled", "true");
      break;
    case LaunchMethod::Smddp:
      set("sagemaker_distributed_dataparallel_enabled", "true");
      set("sagemaker_distributed_dataparallel_custom_mpi_options", "\"\"");
      break;
    case LaunchMethod::SmpV1:
    case LaunchMethod::Mpi:
      mpi();
      break;
    case LaunchMethod::Recipe:  // the target is not in its list: only the SDK reads recipes
    case LaunchMethod::Script:
      break;
  }
  if (!launch.library_parameters.empty()) {
    Json parameters = Json::object();
    for (const auto& setting : launch.library_parameters) parameters[setting.first] = Json::parse(setting.second);
    set("mp_parameters", parameters.dump());
    set("sagemaker_distributed_dataparallel_enabled", "false");
  }
  if (launch.launcher != LaunchMethod::Mpi) set("sagemaker_instance_type", json_string(job.plan.instance->name));
}

Json hyperparameters(const ExportJob& job, const Launch& launch) {
  Json hyper;
  hyper["sagemaker_program"] = json_string(launch.script);
  hyper["sagemaker_submit_directory"] = json_string(launch.code_uri);
  hyper["sagemaker_container_log_level"] = "20";
  hyper["sagemaker_job_name"] = json_string(launch.job_name);
  hyper["sagemaker_region"] = json_string(job.plan.region);
  add_launcher(hyper, job, launch);
  for (const auto& setting : launch.hyperparameters) hyper[setting.first] = setting.second;
  return hyper;
}

Json channel(const DataChannel& c, const std::string& input_mode) {
  Json out;
  out["ChannelName"] = c.name;
  if (c.file_system.empty()) {
    out["DataSource"]["S3DataSource"] =
        Json{{"S3DataType", "S3Prefix"}, {"S3Uri", c.s3_uri}, {"S3DataDistributionType", "FullyReplicated"}};
    out["InputMode"] = input_mode;
  } else {
    out["DataSource"]["FileSystemDataSource"] = Json{{"FileSystemId", c.file_system},
                                                     {"FileSystemType", "FSxLustre"},
                                                     {"DirectoryPath", c.directory},
                                                     {"FileSystemAccessMode", "ro"}};
  }
  return out;
}

Json resources(const ExportJob& job, const Launch& launch) {
  Json out;
  const auto choice = [](const std::string& type, std::int32_t count) {
    return Json{{"InstanceType", type}, {"InstanceCount", count}};
  };
  if (job.options.fallbacks.empty()) {
    out = choice(job.plan.instance->name, job.plan.instance_count);
  } else {
    out["InstancePreferences"].push_back(choice(job.plan.instance->name, job.plan.instance_count));
    for (const InstanceChoice& other : job.options.fallbacks) {
      out["InstancePreferences"].push_back(choice(other.type, other.count));
    }
  }
  if (launch.volume_gb > 0) out["VolumeSizeInGB"] = launch.volume_gb;
  if (launch.keep_alive_s > 0) out["KeepAlivePeriodInSeconds"] = launch.keep_alive_s;
  if (!launch.training_plan_arn.empty()) out["TrainingPlanArn"] = launch.training_plan_arn;
  return out;
}

Json request(const ExportJob& job, const Launch& launch) {
  Json out;
  out["TrainingJobName"] = launch.job_name;
  out["RoleArn"] = launch.role;
  out["AlgorithmSpecification"] = Json{{"TrainingImage", launch.image_uri}, {"TrainingInputMode", launch.input_mode}};
  out["HyperParameters"] = hyperparameters(job, launch);
  out["InputDataConfig"] = Json::array();
  for (const DataChannel& c : launch.channels) out["InputDataConfig"].push_back(channel(c, launch.input_mode));
  out["OutputDataConfig"] = Json{{"S3OutputPath", launch.output_uri}, {"CompressionType", "NONE"}};
  out["ResourceConfig"] = resources(job, launch);
  out["StoppingCondition"]["MaxRuntimeInSeconds"] = launch.max_run_s;
  if (launch.max_wait_s > 0) {
    out["StoppingCondition"]["MaxWaitTimeInSeconds"] = launch.max_wait_s;
    out["EnableManagedSpotTraining"] = true;
  }
  out["CheckpointConfig"] = Json{{"S3Uri", launch.checkpoint_uri}, {"LocalPath", std::string(kCheckpointPath)}};
  if (!launch.subnets.empty()) {
    out["VpcConfig"] = Json{{"SecurityGroupIds", launch.security_groups}, {"Subnets", launch.subnets}};
  }
  // No DebugHookConfig: the debugger's hook breaks FSDP, DeepSpeed and PyTorch 2. The profiler costs memory.
  out["ProfilerConfig"]["DisableProfiler"] = true;
  Json environment = Json::object();
  for (const auto& variable : launch.environment) environment[variable.first] = variable.second;
  if (!environment.empty()) out["Environment"] = environment;
  out["Tags"] = Json::array();
  for (const auto& tag : launch.tags) out["Tags"].push_back(Json{{"Key", tag.first}, {"Value", tag.second}});
  return out;
}

}  // namespace

void add_training_job(const ExportJob& job, const Launch& launch, Export& out) {
  out.notes.insert(out.notes.end(), launch.notes.begin(), launch.notes.end());
  // Source: botocore 1.43.89 and 1.43.90, data/sagemaker/2017-07-24/service-2.json, ResourceConfig, read 2026-11-29.
  if (!job.options.fallbacks.empty()) {
    out.notes.emplace_back(
        "A list of types (InstancePreferences) needs botocore 1.43.90 or later: older boto3, and an AWS command line "
        "of "
        "before, refuse the request as one with an unknown parameter.");
  }
  out.notes.push_back(fmt::format("Pack src/{} into {} (files at the top of the archive) before submitting.",
                                  out.brings_program ? "" : " with your script", launch.code_uri));
  out.files.insert(out.files.begin(), {"create_training_job.json", request(job, launch).dump(2) + "\n"});
}

void write_create_training_job(const ExportJob& job, Export& out, Diagnostics& faults) {
  add_training_job(job, prepare_launch(job, out, faults), out);
}

}  // namespace smplan
