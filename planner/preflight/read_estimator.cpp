#include "planner/preflight/fields.hpp"
#include "planner/preflight/image.hpp"
#include "planner/preflight/job_command.hpp"

namespace smplan {
namespace {

Framework framework_of_class(std::string_view name) {
  if (name == "PyTorch") return Framework::PyTorch;
  if (name == "HuggingFace") return Framework::HuggingFace;
  if (name == "TensorFlow") return Framework::TensorFlow;
  return name == "Estimator" ? Framework::Unknown : Framework::Other;
}

Switch enabled(const Node& distribution, std::string_view key) {
  const Node* node = distribution.find(key);
  if (node == nullptr) return {};
  const Node* flag = node->find("enabled");
  if (flag == nullptr) return derived(false, node->where);
  return is_placeholder(flag->text) ? switch_field(flag) : derived(truth_in_python(*flag), flag->where);
}

/// Of the model-parallel library the SDK asks for True itself, and drops it for any other value.
Switch enabled_library(const Node& smdistributed) {
  const Node* flag = smdistributed.at({"modelparallel", "enabled"});
  if (flag == nullptr || flag->kind == Node::Kind::Bool || is_placeholder(flag->text)) {
    return enabled(smdistributed, "modelparallel");
  }
  return derived(false, flag->where);
}

void read_distribution(const Node& d, Launcher& launcher) {
  launcher.stated = true;
  launcher.where = d.where;
  launcher.torchrun = enabled(d, "torch_distributed");
  launcher.mpi = enabled(d, "mpi");
  launcher.parameter_server = enabled(d, "parameter_server");
  launcher.multi_worker_mirrored = enabled(d, "multi_worker_mirrored_strategy");
  launcher.xla = enabled(d, "pytorchxla");
  launcher.pytorchddp = enabled(d, "pytorchddp");
  if (const Node* smd = d.find("smdistributed")) {
    launcher.smddp = enabled(*smd, "dataparallel");
    launcher.smp = enabled_library(*smd);
    launcher.smp_parameters = smd->at({"modelparallel", "parameters"});
  }
  launcher.processes_per_node = count_field(d.at({"mpi", "processes_per_host"}));
  launcher.mpi_options = text_field(d.at({"mpi", "custom_mpi_options"}));
  if (const Node* groups = d.find("instance_groups")) {
    for (const Node& group : groups->items) {
      launcher.groups.push_back(
          text_field(group.is_object() ? first_of(group, {"instance_group_name", "name"}) : &group));
    }
  }
}

/// What fit() takes: one URI, or channels by name, each a URI or a TrainingInput's arguments.
JobChannel read_input(const Node& node, const std::string& name) {
  JobChannel channel;
  channel.where = node.where;
  channel.name = derived(name, node.where);
  if (node.is_string()) {
    channel.s3_uri = text_field(&node);
    return channel;
  }
  channel.s3_uri = text_field(first_of(node, {"s3_data", "s3_uri"}));
  channel.s3_type = text_field(node.find("s3_data_type"));
  channel.distribution = text_field(node.find("distribution"));
  channel.input_mode = text_field(node.find("input_mode"));
  channel.compression = text_field(node.find("compression"));
  channel.record_wrapper = text_field(node.find("record_wrapping"));
  channel.attributes = node.find("attribute_names");
  channel.file_system_id = text_field(node.find("file_system_id"));
  channel.directory = text_field(node.find("directory_path"));
  channel.file_system_type = text_field(node.find("file_system_type"));
  if (const Node* groups = node.find("instance_groups")) {
    for (const Node& group : groups->items) channel.groups.push_back(text_field(&group));
  }
  return channel;
}

/// The arguments of one TrainingInput or FileSystemInput, and not channels by name.
bool is_input(const Node& inputs) {
  const Node* source = first_of(inputs, {"s3_data", "s3_uri", "file_system_id"});
  return source != nullptr && !source->is_object();
}

}  // namespace

void read_estimator(const Node& root, Job& job) {
  job.class_name = text_field(root.find("class"));
  if (job.class_name) job.framework = framework_of_class(*job.class_name);
  if (!job.class_name.stated) {
    job.unread.push_back(
        {root.where, R"(no class is named, such as "class": "PyTorch": what its call needs is not asked)"});
  }
  job.image = image_field(first_of(root, {"image_uri", "image_name"}));
  job.transformers_version = text_field(root.find("transformers_version"));
  job.framework_version = text_field(first_of(root, {"framework_version", "pytorch_version", "tensorflow_version"}));
  if (const auto image = job.image ? parse_image(*job.image) : std::nullopt) {
    const Framework inside = framework_of(image->repository);
    if (job.framework == Framework::Unknown) job.framework = inside;
    // The image decides what runs, whatever framework_version says beside it.
    if (inside == job.framework && inside != Framework::Other && !image->version.empty()) {
      job.framework_version = derived(image->version, job.image.where);
    }
  }
  job.py_version = text_field(root.find("py_version"));
  job.name = text_field(first_of(root, {"job_name", "base_job_name"}));
  job.role = text_field(root.find("role"));
  job.region = text_field(first_of(root, {"region", "region_name"}));
  job.entry_point = text_field(root.find("entry_point"));
  job.input_mode = text_field(root.find("input_mode"));
  job.output_uri = text_field(root.find("output_path"));
  if (const Node* plain = root.find("disable_output_compression"); plain != nullptr && switch_field(plain)) {
    job.output_compression = derived(std::string(*switch_field(plain) ? "NONE" : "GZIP"), plain->where);
  }
  job.instance_type = text_field(first_of(root, {"instance_type", "train_instance_type"}));
  job.instance_count = count_field(first_of(root, {"instance_count", "train_instance_count"}));
  if (const Node* groups = root.find("instance_groups")) {
    for (const Node& g : groups->items) {
      job.groups.push_back({g.where, text_field(first_of(g, {"instance_group_name", "name"})),
                            text_field(g.find("instance_type")), count_field(g.find("instance_count"))});
    }
  }
  job.volume_gb = count_field(first_of(root, {"volume_size", "train_volume_size"}));
  job.volume_kms_key = text_field(root.find("volume_kms_key"));
  job.keep_alive_s = count_field(root.find("keep_alive_period_in_seconds"));
  job.training_plan = text_field(root.find("training_plan"));
  job.placement = root.find("instance_placement_config");
  job.max_run_s = count_field(first_of(root, {"max_run", "train_max_run"}));
  job.max_wait_s = count_field(first_of(root, {"max_wait", "train_max_wait"}));
  job.retries = count_field(root.find("max_retry_attempts"));
  job.spot = switch_field(first_of(root, {"use_spot_instances", "train_use_spot_instances"}));
  job.network_isolation = switch_field(root.find("enable_network_isolation"));
  job.encrypt_traffic = switch_field(root.find("encrypt_inter_container_traffic"));
  job.infra_check = switch_field(root.find("enable_infra_check"));
  job.checkpoint = root.find("checkpoint_s3_uri");
  job.checkpoint_uri = text_field(job.checkpoint);
  job.checkpoint_path = text_field(root.find("checkpoint_local_path"));
  job.channel_list = root.find("inputs");
  if (job.channel_list != nullptr && job.channel_list->is_object() && !is_input(*job.channel_list)) {
    for (const Node& channel : job.channel_list->items) job.channels.push_back(read_input(channel, channel.key));
  } else if (job.channel_list != nullptr) {
    job.channels.push_back(read_input(*job.channel_list, "training"));
  }
  job.hyperparameters = root.find("hyperparameters");
  job.environment = root.find("environment");
  job.tags = root.find("tags");
  job.metrics = root.find("metric_definitions");
  job.subnets = root.find("subnets");
  job.security_groups = root.find("security_group_ids");
  job.entrypoint_words = root.find("container_entry_point");
  job.argument_words = root.find("container_arguments");
  read_container_command(job.entrypoint_words, job.argument_words, job);
  job.debugger = root.find("debugger_hook_config");
  job.profiler = root.find("profiler_config");
  job.compiler = root.find("compiler_config");
  if (const Node* d = first_of(root, {"distribution", "distributions"}); d != nullptr && d->is_object()) {
    read_distribution(*d, job.launcher);
  }
  if (job.hyperparameters != nullptr) read_script_settings(*job.hyperparameters, job);
}

}  // namespace smplan
