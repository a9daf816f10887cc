#pragma once

#include <utility>

#include "models/job/strategy.hpp"
#include "tests/preflight/job_cases.hpp"

namespace smplan::test {

/// What a reader found: `value path` of each setting that is stated, `? path` where only the user knows the value.
class Settings {
 public:
  explicit Settings(const Job& job) {
    note_job(job);
    note_launcher(job.launcher);
    note_strategy(job.strategy);
    note_reinforcement(job.reinforcement);
  }
  Json all = Json::object();

 private:
  template <typename T>
  void note(const std::string& name, const Field<T>& field) {
    if (!field.stated) return;
    all[name] = (field.value ? text(*field.value) : std::string("?")) + " " + place(field.where);
  }
  void note(const std::string& name, const Node* node) {
    if (node != nullptr) all[name] = place(node->where);
  }
  void note(const std::string& name, const std::string& words) {
    if (!words.empty()) all[name] = words;
  }
  static std::string text(const std::string& value) { return value; }
  static std::string text(bool value) { return value ? "true" : "false"; }
  static std::string text(std::int64_t value) { return std::to_string(value); }
  static std::string text(double value) { return Json(value).dump(); }
  static std::string place(const Where& where) { return where.name().empty() ? "/" : where.name(); }

  void note_job(const Job& job) {
    constexpr const char* kFrameworks[] = {"", "PyTorch", "TensorFlow", "HuggingFace", "other"};
    note("framework", std::string(kFrameworks[static_cast<std::size_t>(job.framework)]));
    for (const auto& [name, field] : std::initializer_list<std::pair<const char*, Text Job::*>>{
             {"class_name", &Job::class_name},
             {"framework_version", &Job::framework_version},
             {"transformers_version", &Job::transformers_version},
             {"py_version", &Job::py_version},
             {"image", &Job::image},
             {"algorithm", &Job::algorithm},
             {"region", &Job::region},
             {"name", &Job::name},
             {"role", &Job::role},
             {"input_mode", &Job::input_mode},
             {"entry_point", &Job::entry_point},
             {"output_uri", &Job::output_uri},
             {"output_compression", &Job::output_compression},
             {"instance_type", &Job::instance_type},
             {"volume_kms_key", &Job::volume_kms_key},
             {"training_plan", &Job::training_plan},
             {"checkpoint_uri", &Job::checkpoint_uri},
             {"checkpoint_path", &Job::checkpoint_path}}) {
      note(name, job.*field);
    }
    for (const auto& [name, field] :
         std::initializer_list<std::pair<const char*, Count Job::*>>{{"instance_count", &Job::instance_count},
                                                                     {"volume_gb", &Job::volume_gb},
                                                                     {"keep_alive_s", &Job::keep_alive_s},
                                                                     {"max_run_s", &Job::max_run_s},
                                                                     {"max_wait_s", &Job::max_wait_s},
                                                                     {"max_pending_s", &Job::max_pending_s},
                                                                     {"retries", &Job::retries}}) {
      note(name, job.*field);
    }
    for (const auto& [name, field] :
         std::initializer_list<std::pair<const char*, Switch Job::*>>{{"spot", &Job::spot},
                                                                      {"network_isolation", &Job::network_isolation},
                                                                      {"encrypt_traffic", &Job::encrypt_traffic},
                                                                      {"infra_check", &Job::infra_check}}) {
      note(name, job.*field);
    }
    for (const auto& [name, node] : std::initializer_list<std::pair<const char*, const Node * Job::*>>{
             {"preference_list", &Job::preference_list},
             {"placement", &Job::placement},
             {"checkpoint", &Job::checkpoint},
             {"channel_list", &Job::channel_list},
             {"hyperparameters", &Job::hyperparameters},
             {"environment", &Job::environment},
             {"tags", &Job::tags},
             {"metrics", &Job::metrics},
             {"subnets", &Job::subnets},
             {"security_groups", &Job::security_groups},
             {"entrypoint_words", &Job::entrypoint_words},
             {"argument_words", &Job::argument_words},
             {"debugger", &Job::debugger},
             {"profiler", &Job::profiler},
             {"compiler", &Job::compiler}}) {
      note(name, job.*node);
    }
    if (job.serverless) all["serverless"] = true;
    note("not_modelled", job.not_modelled);
    note("adapters_unknown", job.adapters_unknown);
    note("split_unknown", job.split_unknown);
    note("model", job.model);
    for (const Unread& setting : job.unread) note("unread " + place(setting.where), setting.why);
    for (const JobGroup& g : job.groups) {
      const std::string name = "group " + place(g.where) + " ";
      note(name + "name", g.name);
      note(name + "type", g.type);
      note(name + "count", g.count);
    }
    for (const JobPreference& p : job.preferences) {
      const std::string name = "preference " + place(p.where) + " ";
      note(name + "type", p.type);
      note(name + "count", p.count);
      note(name + "plans", p.training_plans);
    }
    for (const JobChannel& c : job.channels) note_channel(c);
  }

  void note_channel(const JobChannel& c) {
    const std::string of = "channel " + place(c.where) + " ";
    for (const auto& [name, field] : std::initializer_list<std::pair<const char*, Text JobChannel::*>>{
             {"name", &JobChannel::name},
             {"s3_uri", &JobChannel::s3_uri},
             {"s3_type", &JobChannel::s3_type},
             {"distribution", &JobChannel::distribution},
             {"input_mode", &JobChannel::input_mode},
             {"disk", &JobChannel::file_system_id},
             {"disk_type", &JobChannel::file_system_type}}) {
      note(of + name, c.*field);
    }
    for (std::size_t i = 0; i < c.groups.size(); ++i) note(of + "group " + std::to_string(i + 1), c.groups[i]);
  }

  void note_launcher(const Launcher& l) {
    if (l.stated) all["launcher"] = place(l.where);
    for (const auto& [name, field] : std::initializer_list<std::pair<const char*, Switch Launcher::*>>{
             {"torchrun", &Launcher::torchrun},
             {"mpi", &Launcher::mpi},
             {"smddp", &Launcher::smddp},
             {"smp", &Launcher::smp},
             {"parameter_server", &Launcher::parameter_server},
             {"multi_worker_mirrored", &Launcher::multi_worker_mirrored},
             {"xla", &Launcher::xla},
             {"pytorchddp", &Launcher::pytorchddp}}) {
      note(name, l.*field);
    }
    note("processes_per_node", l.processes_per_node);
    note("mpi_options", l.mpi_options);
    if (l.smp_parameters != nullptr) all["smp_parameters"] = place(l.smp_parameters->where);
    if (l.own_smp_parameters) {
      all["own_smp_parameters"] = place(l.own_smp_parameters->where);
      for (const Node& item : l.own_smp_parameters->items) all["own_smp_parameters " + item.key] = place(item.where);
    }
    for (std::size_t i = 0; i < l.groups.size(); ++i) note("launcher group " + std::to_string(i + 1), l.groups[i]);
  }

  void note_reinforcement(const JobReinforcement& r) {
    note("algorithm", r.algorithm);
    note("rollout_engine", r.rollout_engine);
    note("memory_share", r.memory_share);
    for (const auto& [name, field] : std::initializer_list<std::pair<const char*, Count JobReinforcement::*>>{
             {"prompts", &JobReinforcement::prompts},
             {"samples", &JobReinforcement::samples},
             {"prompt_tokens", &JobReinforcement::prompt_tokens},
             {"response_tokens", &JobReinforcement::response_tokens},
             {"rollout_tensor", &JobReinforcement::rollout_tensor},
             {"mini_batch", &JobReinforcement::mini_batch},
             {"rl_micro_batch", &JobReinforcement::micro_batch}}) {
      note(name, r.*field);
    }
  }

  void note_strategy(const JobStrategy& s) {
    for (const auto& [name, field] : std::initializer_list<std::pair<const char*, Count JobStrategy::*>>{
             {"nodes", &JobStrategy::nodes},
             {"devices_per_node", &JobStrategy::devices_per_node},
             {"world", &JobStrategy::world},
             {"tensor", &JobStrategy::tensor},
             {"pipeline", &JobStrategy::pipeline},
             {"virtual_pipeline", &JobStrategy::virtual_pipeline},
             {"context", &JobStrategy::context},
             {"expert", &JobStrategy::expert},
             {"expert_tensor", &JobStrategy::expert_tensor},
             {"sequence_ranks", &JobStrategy::sequence_ranks},
             {"data", &JobStrategy::data},
             {"data_replicate", &JobStrategy::data_replicate},
             {"data_shard", &JobStrategy::data_shard},
             {"shard_degree", &JobStrategy::shard_degree},
             {"micro_batch", &JobStrategy::micro_batch},
             {"global_batch", &JobStrategy::global_batch},
             {"accumulation", &JobStrategy::accumulation},
             {"sequence_length", &JobStrategy::sequence_length},
             {"steps", &JobStrategy::steps},
             {"epochs", &JobStrategy::epochs},
             {"recompute_layers", &JobStrategy::recompute_layers},
             {"lora_rank", &JobStrategy::lora_rank},
             {"heads", &JobStrategy::heads},
             {"kv_heads", &JobStrategy::kv_heads},
             {"hidden", &JobStrategy::hidden},
             {"ffn", &JobStrategy::ffn},
             {"vocabulary", &JobStrategy::vocabulary},
             {"layers", &JobStrategy::layers},
             {"experts", &JobStrategy::experts},
             {"save_interval", &JobStrategy::save_interval},
             {"virtual_tokens", &JobStrategy::virtual_tokens},
             {"adapter_count", &JobStrategy::adapter_count},
             {"zero_stage", &JobStrategy::zero_stage}}) {
      note(name, s.*field);
    }
    for (const auto& [name, field] : std::initializer_list<std::pair<const char*, Text JobStrategy::*>>{
             {"sharding", &JobStrategy::sharding},
             {"stack", &JobStrategy::stack},
             {"finetune", &JobStrategy::finetune},
             {"lora_targets", &JobStrategy::lora_targets},
             {"adapters", &JobStrategy::adapters},
             {"loss", &JobStrategy::loss},
             {"optimizer", &JobStrategy::optimizer},
             {"split_file", &JobStrategy::split_file},
             {"trained_layers", &JobStrategy::trained_layers},
             {"recompute", &JobStrategy::recompute},
             {"attention", &JobStrategy::attention},
             {"optimizer_offload", &JobStrategy::optimizer_offload},
             {"parameter_offload", &JobStrategy::parameter_offload},
             {"optimizer_nvme_path", &JobStrategy::optimizer_nvme_path},
             {"parameter_nvme_path", &JobStrategy::parameter_nvme_path}}) {
      note(name, s.*field);
    }
    for (const auto& [name, field] : std::initializer_list<std::pair<const char*, Switch JobStrategy::*>>{
             {"sequence_parallel", &JobStrategy::sequence_parallel},
             {"pipeline_layout", &JobStrategy::pipeline_layout},
             {"lora_embeddings", &JobStrategy::lora_embeddings},
             {"packing", &JobStrategy::packing},
             {"bf16", &JobStrategy::bf16},
             {"fp16", &JobStrategy::fp16},
             {"fp8", &JobStrategy::fp8},
             {"fp4", &JobStrategy::fp4},
             {"fp32", &JobStrategy::fp32},
             {"activation_offload", &JobStrategy::activation_offload}}) {
      note(name, s.*field);
    }
    Strategy told;
    told.execution = s.execution;
    if (s.execution != Execution{}) all["execution"] = to_string(told);
  }
};

}  // namespace smplan::test
