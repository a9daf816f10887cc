#include <algorithm>
#include <array>

#include "planner/preflight/job_command.hpp"
#include "planner/preflight/tool_settings.hpp"

namespace smplan {
namespace {

/// `distributed` is an object of a class: {"class": "Torchrun", ...}, or one told by its own field.
void read_distributed(const Node& d, Launcher& launcher) {
  launcher.stated = true;
  launcher.where = d.where;
  const Text name = text_field(first_of(d, {"class", "_class", "type"}));
  const bool mpi = name ? name->find("MPI") != std::string::npos : d.has("mpi_additional_options");
  (mpi ? launcher.mpi : launcher.torchrun) = derived(true, d.where);
  launcher.processes_per_node = count_field(d.find("process_count_per_node"));
  if (const Node* smp = d.find("smp"); smp != nullptr && smp->is_object()) {
    launcher.smp = derived(true, smp->where);
    launcher.smp_parameters = smp;
  }
}

void read_compute(const Node& c, Job& job) {
  job.instance_type = text_field(c.find("instance_type"));
  job.instance_count = count_field(c.find("instance_count"));
  job.volume_gb = count_field(c.find("volume_size_in_gb"));
  job.volume_kms_key = text_field(c.find("volume_kms_key_id"));
  job.keep_alive_s = count_field(c.find("keep_alive_period_in_seconds"));
  job.spot = switch_field(c.find("enable_managed_spot_training"));
  job.training_plan = text_field(c.find("training_plan_arn"));
  job.placement = c.find("instance_placement_config");
  read_preferences(c.find("instance_preferences"), {"instance_type", "instance_count", "training_plan_arns"}, job);
  if (const Node* groups = c.find("instance_groups")) {
    for (const Node& g : groups->items) {
      job.groups.push_back({g.where, text_field(g.find("instance_group_name")), text_field(g.find("instance_type")),
                            count_field(g.find("instance_count"))});
    }
  }
}

JobChannel read_input(const Node& node) {
  JobChannel channel;
  channel.where = node.where;
  channel.name = text_field(node.find("channel_name"));
  channel.input_mode = text_field(node.find("input_mode"));
  channel.compression = text_field(node.find("compression_type"));
  channel.record_wrapper = text_field(node.find("record_wrapper_type"));
  const Node* source = node.find("data_source");
  if (source == nullptr) return channel;
  if (source->is_string()) channel.s3_uri = text_field(source);
  const Node* s3 = first_of(*source, {"s3_data_source"});
  const Node& from = s3 == nullptr ? *source : *s3;
  if (from.is_object()) {
    channel.s3_uri = text_field(from.find("s3_uri"));
    channel.s3_type = text_field(from.find("s3_data_type"));
    channel.attributes = from.find("attribute_names");
    channel.distribution = text_field(from.find("s3_data_distribution_type"));
  }
  const Node* disk = first_of(*source, {"file_system_data_source"});
  const Node& mounted = disk == nullptr ? *source : *disk;
  if (mounted.is_object()) {
    channel.file_system_id = text_field(mounted.find("file_system_id"));
    channel.directory = text_field(mounted.find("directory_path"));
    channel.file_system_type = text_field(mounted.find("file_system_type"));
  }
  return channel;
}

/// A trainer beside ModelTrainer. One without a loss learns from its own answers.
/// Source: sagemaker-train 1.x, sagemaker/train/*_trainer.py; `training_type` is LORA where it is left out.
struct OtherTrainer {
  std::string_view name;
  std::string_view loss;
  std::string_view algorithm;
  bool adapts = true;  ///< takes `training_type`
};
constexpr std::array<OtherTrainer, 6> kOtherTrainers = {{{"SFTTrainer", "sft", ""},
                                                         {"DPOTrainer", "dpo", ""},
                                                         {"CPTTrainer", "sft", "", false},
                                                         {"RLVRTrainer", "", "rlvr"},
                                                         {"RLAIFTrainer", "", "rlaif"},
                                                         {"MultiTurnRLTrainer", "", "multi-turn", false}}};

constexpr std::array<ToolWord, 4> kTrainingTypes = {
    {{"lora", "lora"}, {"full", "full"}, {"trainingtype.lora", "lora"}, {"trainingtype.full", "full"}}};

constexpr ToolRow kOtherRows[] = {
    {"model", &Job::model},
    {"base_model_name", &Job::model},
    {"training_type", &JobStrategy::finetune, kTrainingTypes},
    {"sequence_length", &JobStrategy::sequence_length},
};

/// The trainers beside ModelTrainer leave recipe, degrees and batch to the service.
void read_class(const Node& root, Job& job) {
  if (!job.class_name || *job.class_name == "ModelTrainer") return;
  const std::string& name = *job.class_name;
  const bool reinforced = name.find("RL") != std::string::npos;
  job.not_modelled = reinforced ? std::string("reinforcement learning is not modelled")
                     : name == "DPOTrainer"
                         ? std::string("preference tuning is not modelled")
                         : "the service chooses the recipe of a " + name + ", which is not in this file";
  const auto* known = std::find_if(kOtherTrainers.begin(), kOtherTrainers.end(),
                                   [&](const OtherTrainer& trainer) { return trainer.name == name; });
  if (known == kOtherTrainers.end()) return;
  if (known->loss.empty()) {
    job.reinforcement.algorithm = derived(std::string(known->algorithm), job.class_name.where);
  } else {
    job.strategy.loss = derived(std::string(known->loss), job.class_name.where);
  }
  read_rows(root, kOtherRows, job);
  if (known->adapts) otherwise(job.strategy.finetune, "lora", job.class_name.where);
}

}  // namespace

void read_model_trainer(const Node& root, Job& job) {
  job.class_name = text_field(root.find("class"));
  read_class(root, job);
  read_image(root.find("training_image"), job);
  job.algorithm = text_field(root.find("algorithm_name"));
  job.name = text_field(root.find("base_job_name"));
  job.role = text_field(root.find("role"));
  job.region = text_field(first_of(root, {"region", "region_name"}));
  job.input_mode = text_field(root.find("training_input_mode"));
  job.entry_point = text_field(root.at({"source_code", "entry_script"}));
  job.started = started_by(root.at({"source_code", "command"}), nullptr, job.file);
  if (const Node* compute = root.find("compute"); compute != nullptr && compute->is_object()) {
    read_compute(*compute, job);
  }
  job.max_run_s = count_field(root.at({"stopping_condition", "max_runtime_in_seconds"}));
  job.max_wait_s = count_field(root.at({"stopping_condition", "max_wait_time_in_seconds"}));
  job.max_pending_s = count_field(root.at({"stopping_condition", "max_pending_time_in_seconds"}));
  job.retries = count_field(root.at({"retry_strategy", "maximum_retry_attempts"}));
  job.output_uri = text_field(root.at({"output_data_config", "s3_output_path"}));
  job.output_compression = text_field(root.at({"output_data_config", "compression_type"}));
  job.checkpoint = root.find("checkpoint_config");
  job.checkpoint_uri = text_field(root.at({"checkpoint_config", "s3_uri"}));
  job.checkpoint_path = text_field(root.at({"checkpoint_config", "local_path"}));
  job.subnets = root.at({"networking", "subnets"});
  job.security_groups = root.at({"networking", "security_group_ids"});
  job.network_isolation = switch_field(root.at({"networking", "enable_network_isolation"}));
  job.encrypt_traffic = switch_field(root.at({"networking", "enable_inter_container_traffic_encryption"}));
  job.infra_check = switch_field(root.at({"infra_check_config", "enable_infra_check"}));
  job.channel_list = root.find("input_data_config");
  if (job.channel_list != nullptr) {
    for (const Node& channel : job.channel_list->items) job.channels.push_back(read_input(channel));
  }
  job.hyperparameters = root.find("hyperparameters");
  job.environment = root.find("environment");
  job.tags = root.find("tags");
  if (const Node* d = root.find("distributed"); d != nullptr && d->is_object()) read_distributed(*d, job.launcher);
  if (job.hyperparameters != nullptr) read_script_settings(*job.hyperparameters, job);
}

}  // namespace smplan
