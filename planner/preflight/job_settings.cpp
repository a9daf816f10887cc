#include "planner/preflight/job_settings.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/job/dimensions.hpp"

namespace smplan {
namespace {

std::string in_text(const std::string& value) { return value; }
std::string in_text(std::int64_t value) { return std::to_string(value); }
std::string in_text(bool value) { return value ? "true" : "false"; }

template <typename T>
Said said(const Field<T>& field) {
  Said out{field.stated, std::nullopt, field.where};
  if (field.value) out.value = in_text(*field.value);
  return out;
}

Said said(std::string value, const Where& where) { return {true, std::move(value), where}; }

template <auto Member>
Said of_job(const Job& job, const Catalog&) {
  return said(job.*Member);
}

template <auto Member>
Said of_strategy(const Job& job, const Catalog&) {
  return said(job.strategy.*Member);
}

Said instances(const Job& job, const Catalog&) {
  return said(job.instance_count.stated ? job.instance_count : job.strategy.nodes);
}

Said processes_a_node(const Job& job, const Catalog&) {
  const Count& of_launcher = job.launcher.processes_per_node;
  return said(of_launcher.stated ? of_launcher : job.strategy.devices_per_node);
}

/// As stated, else one for each device of the instances, else those of each node.
Said processes(const Job& job, const Catalog& catalog) {
  const JobStrategy& s = job.strategy;
  if (s.world.stated) return said(s.world);
  const Count& nodes = job.instance_count.stated ? job.instance_count : s.nodes;
  if (!nodes.value) return {};
  const InstanceType* type = job.instance_type.value ? catalog.find_instance(*job.instance_type.value) : nullptr;
  const Count& a_node = job.launcher.processes_per_node.stated ? job.launcher.processes_per_node : s.devices_per_node;
  const std::int64_t each = a_node.value ? *a_node.value : type != nullptr ? type->accelerator_count : 0;
  if (each < 1) return {};
  return {true, in_text(times(*nodes.value, each)), nodes.where, true};
}

Said launcher(const Job& job, const Catalog&) {
  const Launcher& l = job.launcher;
  constexpr std::array<std::pair<std::string_view, Switch Launcher::*>, 5> kLaunchers = {
      {{"the model-parallel library", &Launcher::smp},
       {"SMDDP", &Launcher::smddp},
       {"mpi", &Launcher::mpi},
       {"torchrun", &Launcher::torchrun},
       {"pytorchddp", &Launcher::pytorchddp}}};
  for (const auto& [name, on] : kLaunchers) {
    if ((l.*on).value == true) return said(std::string(name), (l.*on).where);
  }
  return {};
}

Said dtype(const Job& job, const Catalog&) {
  const JobStrategy& s = job.strategy;
  constexpr std::array<std::pair<std::string_view, Switch JobStrategy::*>, 5> kFormats = {{
      {"fp4", &JobStrategy::fp4},
      {"fp8", &JobStrategy::fp8},
      {"bf16", &JobStrategy::bf16},
      {"fp16", &JobStrategy::fp16},
      {"fp32", &JobStrategy::fp32},
  }};
  for (const auto& [name, on] : kFormats) {
    if ((s.*on).value == true) return said(std::string(name), (s.*on).where);
  }
  return {};
}

std::vector<JobSetting> all_settings() {
  std::vector<JobSetting> all = {
      {"instance_type", of_job<&Job::instance_type>},
      {"instance_count", instances},
      {"processes_per_node", processes_a_node},
      {"processes", processes},
      {"region", of_job<&Job::region>},
      {"spot", of_job<&Job::spot>},
      {"max_run", of_job<&Job::max_run_s>},
      {"max_wait", of_job<&Job::max_wait_s>},
      {"launcher", launcher, false},
      {"image", of_job<&Job::image>, false},
      {"framework_version", of_job<&Job::framework_version>, false},
      {"entry_point", of_job<&Job::entry_point>, false},
      {"seq_len", of_strategy<&JobStrategy::sequence_length>},
      {"micro_batch", of_strategy<&JobStrategy::micro_batch>},
      {"gradient_accumulation", of_strategy<&JobStrategy::accumulation>},
      {"global_batch", of_strategy<&JobStrategy::global_batch>},
      {"max_steps", of_strategy<&JobStrategy::steps>},
      {"save_interval", of_strategy<&JobStrategy::save_interval>},
      {"dtype", dtype},
      {"optimizer", of_strategy<&JobStrategy::optimizer>},
      {"finetune", of_strategy<&JobStrategy::finetune>},
      {"lora_rank", of_strategy<&JobStrategy::lora_rank>},
      {"lora_embeddings", of_strategy<&JobStrategy::lora_embeddings>},
      {"virtual_tokens", of_strategy<&JobStrategy::virtual_tokens>},
      {"adapter_count", of_strategy<&JobStrategy::adapter_count>},
      {"trained_layers", of_strategy<&JobStrategy::trained_layers>},
      {"recompute", of_strategy<&JobStrategy::recompute>},
      {"recompute_layers", of_strategy<&JobStrategy::recompute_layers>},
      {"tensor", of_strategy<&JobStrategy::tensor>},
      {"pipeline", of_strategy<&JobStrategy::pipeline>},
      {"virtual_pipeline", of_strategy<&JobStrategy::virtual_pipeline>},
      {"context", of_strategy<&JobStrategy::context>},
      {"expert", of_strategy<&JobStrategy::expert>},
      {"expert_tensor", of_strategy<&JobStrategy::expert_tensor>},
      {"data", of_strategy<&JobStrategy::data>},
      {"data_replicate", of_strategy<&JobStrategy::data_replicate>},
      {"data_shard", of_strategy<&JobStrategy::data_shard>},
      {"shard_degree", of_strategy<&JobStrategy::shard_degree>},
      {"zero_stage", of_strategy<&JobStrategy::zero_stage>},
      {"sharding", of_strategy<&JobStrategy::sharding>, false},  // each format has names of its own
      {"sequence_parallel", of_strategy<&JobStrategy::sequence_parallel>},
      {"optimizer_offload", of_strategy<&JobStrategy::optimizer_offload>},
      {"parameter_offload", of_strategy<&JobStrategy::parameter_offload>},
      {"optimizer_nvme_path", of_strategy<&JobStrategy::optimizer_nvme_path>},
      {"parameter_nvme_path", of_strategy<&JobStrategy::parameter_nvme_path>},
      {"activation_offload", of_strategy<&JobStrategy::activation_offload>},
      {"layers", of_strategy<&JobStrategy::layers>},
      {"hidden", of_strategy<&JobStrategy::hidden>},
      {"heads", of_strategy<&JobStrategy::heads>},
      {"kv_heads", of_strategy<&JobStrategy::kv_heads>},
      {"ffn", of_strategy<&JobStrategy::ffn>},
      {"experts", of_strategy<&JobStrategy::experts>},
      {"vocabulary", of_strategy<&JobStrategy::vocabulary>},
      {"attention", of_strategy<&JobStrategy::attention>, false},
  };
  for (const DimensionRow& row : dimensions()) {
    if (row.of_execution) all.push_back({row.keyword, nullptr, false, &row});
  }
  return all;
}

/// Whether the plan's own files leave it to the user.
bool left_to_user(const Said& planned, const std::vector<std::string>& placeholders) {
  if (!planned.stated) return false;
  if (!planned.value) return true;
  return std::any_of(placeholders.begin(), placeholders.end(), [&](const std::string& placeholder) {
    return planned.value->find(placeholder) != std::string::npos;
  });
}

}  // namespace

Said JobSetting::said_by(const Job& job, const Catalog& catalog) const {
  if (told == nullptr) return of(job, catalog);
  const std::int32_t value = told->told(job.strategy.execution);
  if (value == 0) return {};
  const Node* node = job.hyperparameters == nullptr ? nullptr : job.hyperparameters->find(told->keyword);
  return said(told->text(value), node == nullptr ? Where{"", 0} : node->where);
}

std::span<const JobSetting> job_settings() {
  static const std::vector<JobSetting> kSettings = all_settings();
  return kSettings;
}

void add_changes(const Job& planned, const Job& found, const std::string& file, const Catalog& catalog,
                 const std::vector<std::string>& placeholders, std::vector<Change>& out) {
  const auto named = [&](const Where& where) {
    return !where.path.empty() && std::any_of(out.begin(), out.end(), [&](const Change& change) {
      return change.file == file && change.where.path == where.path;
    });
  };
  for (const JobSetting& setting : job_settings()) {
    const Said plan = setting.said_by(planned, catalog);
    const Said now = setting.said_by(found, catalog);
    if (plan.stated == now.stated && plan.value == now.value) continue;
    if (plan.follows || now.follows) continue;  // what they follow from is named
    if (left_to_user(plan, placeholders) || (now.stated && !now.value)) continue;
    Change change;
    change.sign = !plan.stated ? '+' : !now.stated ? '-' : '~';
    change.name = setting.name;
    change.planned = plan.value.value_or("");
    change.found = now.value.value_or("");
    change.file = file;
    change.where = now.stated ? now.where : Where{plan.where.path, 0};
    if (!named(change.where)) out.push_back(std::move(change));
  }
}

std::string place_in(const std::string& file, const Where& where) {
  return where.path.empty() || where.path.starts_with("--") ? file : file + ' ' + where.path;
}

std::string to_string(const Change& change) {
  const std::string head = fmt::format("{} {}: ", change.sign, change.name);
  const std::string where = fmt::format(" ({})", place_in(change.file, change.where));
  if (change.sign == '+') return head + change.found + where;
  if (change.sign == '-') return head + change.planned + where;
  return fmt::format("{}{} -> {}{}", head, change.planned, change.found, where);
}

std::vector<Contradiction> contradictions_in(const JobFiles& files, const Catalog& catalog) {
  std::vector<Contradiction> out;
  const auto named = [&](const std::string& file, const Where& where) {
    return std::any_of(out.begin(), out.end(), [&](const Contradiction& c) {
      return c.second_file == file && c.second.where.path == where.path;
    });
  };
  for (const JobSetting& setting : job_settings()) {
    if (!setting.shared) continue;
    const std::string* first = nullptr;
    Said by_first;
    for (const auto& [path, job] : files) {
      Said now = setting.said_by(*job, catalog);
      if (!now.value) continue;
      if (first == nullptr) {
        first = &path;
        by_first = std::move(now);
      } else if (by_first.value != now.value && !named(path, now.where)) {
        out.push_back({setting.name, *first, path, by_first, std::move(now)});
      }
    }
  }
  return out;
}

}  // namespace smplan
