#include <array>

#include "planner/preflight/fields.hpp"
#include "planner/preflight/job_command.hpp"

namespace smplan {
namespace {

/// What the training containers read to decide which processes to start.
/// Source: aws/sagemaker-training-toolkit 3383937, params.py and entry_point.py.
void read_launcher(const Node& h, Launcher& launcher) {
  struct Key {
    std::string_view name;
    Switch Launcher::*field;
  };
  constexpr std::array<Key, 7> kKeys = {{
      {"sagemaker_torch_distributed_enabled", &Launcher::torchrun},
      {"sagemaker_distributed_dataparallel_enabled", &Launcher::smddp},
      {"sagemaker_mpi_enabled", &Launcher::mpi},
      {"sagemaker_parameter_server_enabled", &Launcher::parameter_server},
      {"sagemaker_multi_worker_mirrored_strategy_enabled", &Launcher::multi_worker_mirrored},
      {"sagemaker_pytorch_xla_multi_worker_enabled", &Launcher::xla},
      {"sagemaker_pytorch_ddp_enabled", &Launcher::pytorchddp},
  }};
  for (const Key& key : kKeys) {
    const Node* node = h.find(key.name);
    Switch& on = launcher.*key.field;
    on = switch_field(node);
    if (!on.stated) continue;
    // The container decodes JSON and takes Python's truth of it: 1 starts too, and so does False, which is no JSON.
    if (!is_placeholder(node->text)) on.value = truth_in_python(decoded_hyperparameter(*node));
    launcher.stated = true;
    launcher.where = on.where;
  }
  launcher.processes_per_node = count_field(h.find("sagemaker_mpi_num_of_processes_per_host"));
  launcher.mpi_options = text_field(h.find("sagemaker_mpi_custom_mpi_options"));
  if (const Node* groups = h.find("sagemaker_distribution_instance_groups")) {
    Result<Node> list = parse_document(groups->text, "hyperparameter", Syntax::Json);
    if (list && list->is_array()) {
      for (Node& item : list->items) {
        item.where = groups->where;
        launcher.groups.push_back(text_field(&item));
      }
    }
  }
  if (const Node* packed = h.find("mp_parameters")) {
    launcher.stated = true;
    launcher.where = packed->where;
    launcher.smp = derived(true, packed->where);
    if (packed->is_object()) {
      launcher.smp_parameters = packed;
      return;
    }
    Result<Node> inner = parse_document(packed->text, "mp_parameters", Syntax::Json);
    if (inner && inner->is_object()) {
      for (Node& item : inner->items) item.where = packed->where;
      inner->where = packed->where;
      launcher.own_smp_parameters = std::move(*inner);
    }
  }
}

JobChannel read_channel(const Node& node) {
  JobChannel channel;
  channel.where = node.where;
  channel.name = text_field(node.find("ChannelName"));
  channel.input_mode = text_field(node.find("InputMode"));
  channel.compression = text_field(node.find("CompressionType"));
  channel.record_wrapper = text_field(node.find("RecordWrapperType"));
  if (const Node* s3 = node.at({"DataSource", "S3DataSource"})) {
    channel.s3_uri = text_field(s3->find("S3Uri"));
    channel.s3_type = text_field(s3->find("S3DataType"));
    channel.attributes = s3->find("AttributeNames");
    channel.distribution = text_field(s3->find("S3DataDistributionType"));
    if (const Node* groups = s3->find("InstanceGroupNames")) {
      for (const Node& group : groups->items) channel.groups.push_back(text_field(&group));
    }
  }
  if (const Node* disk = node.at({"DataSource", "FileSystemDataSource"})) {
    channel.file_system_id = text_field(disk->find("FileSystemId"));
    channel.directory = text_field(disk->find("DirectoryPath"));
    channel.file_system_type = text_field(disk->find("FileSystemType"));
  }
  return channel;
}

void read_resources(const Node& r, Job& job) {
  job.instance_type = text_field(r.find("InstanceType"));
  job.instance_count = count_field(r.find("InstanceCount"));
  job.volume_gb = count_field(r.find("VolumeSizeInGB"));
  job.volume_kms_key = text_field(r.find("VolumeKmsKeyId"));
  job.keep_alive_s = count_field(r.find("KeepAlivePeriodInSeconds"));
  job.training_plan = text_field(r.find("TrainingPlanArn"));
  job.placement = r.find("InstancePlacementConfig");
  read_preferences(r.find("InstancePreferences"), {"InstanceType", "InstanceCount", "TrainingPlanArns"}, job);
  if (const Node* groups = r.find("InstanceGroups")) {
    for (const Node& g : groups->items) {
      job.groups.push_back({g.where, text_field(g.find("InstanceGroupName")), text_field(g.find("InstanceType")),
                            count_field(g.find("InstanceCount"))});
    }
  }
}

}  // namespace

void read_create_training_job(const Node& root, Job& job) {
  job.name = text_field(root.find("TrainingJobName"));
  job.role = text_field(root.find("RoleArn"));
  if (const Node* a = root.find("AlgorithmSpecification")) {
    read_image(a->find("TrainingImage"), job);
    job.algorithm = text_field(a->find("AlgorithmName"));
    job.input_mode = text_field(a->find("TrainingInputMode"));
    job.metrics = a->find("MetricDefinitions");
    job.entrypoint_words = a->find("ContainerEntrypoint");
    job.argument_words = a->find("ContainerArguments");
    read_container_command(job.entrypoint_words, job.argument_words, job);
  }
  if (const Node* r = root.find("ResourceConfig")) read_resources(*r, job);
  if (const Node* s = root.find("StoppingCondition")) {
    job.max_run_s = count_field(s->find("MaxRuntimeInSeconds"));
    job.max_wait_s = count_field(s->find("MaxWaitTimeInSeconds"));
    job.max_pending_s = count_field(s->find("MaxPendingTimeInSeconds"));
  }
  if (const Node* o = root.find("OutputDataConfig")) {
    job.output_uri = text_field(o->find("S3OutputPath"));
    job.output_compression = text_field(o->find("CompressionType"));
  }
  job.retries = count_field(root.at({"RetryStrategy", "MaximumRetryAttempts"}));
  job.spot = switch_field(root.find("EnableManagedSpotTraining"));
  job.network_isolation = switch_field(root.find("EnableNetworkIsolation"));
  job.encrypt_traffic = switch_field(root.find("EnableInterContainerTrafficEncryption"));
  job.infra_check = switch_field(root.at({"InfraCheckConfig", "EnableInfraCheck"}));
  job.checkpoint = root.find("CheckpointConfig");
  job.checkpoint_uri = text_field(root.at({"CheckpointConfig", "S3Uri"}));
  job.checkpoint_path = text_field(root.at({"CheckpointConfig", "LocalPath"}));
  job.channel_list = root.find("InputDataConfig");
  if (job.channel_list != nullptr) {
    for (const Node& channel : job.channel_list->items) job.channels.push_back(read_channel(channel));
  }
  job.hyperparameters = root.find("HyperParameters");
  job.environment = root.find("Environment");
  job.tags = root.find("Tags");
  job.subnets = root.at({"VpcConfig", "Subnets"});
  job.security_groups = root.at({"VpcConfig", "SecurityGroupIds"});
  job.debugger = root.find("DebugHookConfig");
  job.profiler = root.find("ProfilerConfig");
  job.serverless = root.has("ServerlessJobConfig");
  if (job.hyperparameters != nullptr) {
    const Node& h = *job.hyperparameters;
    read_launcher(h, job.launcher);
    read_script_settings(h, job);
    job.entry_point = unquoted(text_field(h.find("sagemaker_program")));
    job.region = unquoted(text_field(h.find("sagemaker_region")));
    if (const Node* compiler = h.find("sagemaker_training_compiler_enabled")) job.compiler = compiler;
  }
}

}  // namespace smplan
