#include "planner/preflight/rules/tools.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/json_writer.hpp"
#include "catalogs/containers.hpp"

namespace smplan {

namespace {

/// One setting by its names in a request, in the SDK's version 2 (empty: its estimators have none) and in version 3.
struct Spelling {
  std::string_view api, v2, v3;
};
constexpr std::array<Spelling, 16> kSpellings = {{
    {"MaxRuntimeInSeconds", "max_run", "max_runtime_in_seconds"},
    {"MaxWaitTimeInSeconds", "max_wait", "max_wait_time_in_seconds"},
    {"MaxPendingTimeInSeconds", "max_pending_time", "max_pending_time_in_seconds"},
    {"EnableManagedSpotTraining", "use_spot_instances", "enable_managed_spot_training"},
    {"KeepAlivePeriodInSeconds", "keep_alive_period_in_seconds", "keep_alive_period_in_seconds"},
    {"CheckpointConfig.S3Uri", "checkpoint_s3_uri", "checkpoint_config.s3_uri"},
    {"VolumeSizeInGB", "volume_size", "volume_size_in_gb"},
    {"VolumeKmsKeyId", "volume_kms_key", "volume_kms_key_id"},
    {"InstanceType", "instance_type", "instance_type"},
    {"InstanceCount", "instance_count", "instance_count"},
    {"InstanceGroups", "instance_groups", "instance_groups"},
    {"InstancePreferences", "", "instance_preferences"},
    {"InstancePlacementConfig", "instance_placement_config", "instance_placement_config"},
    {"TrainingImage", "image_uri", "training_image"},
    {"MaximumRetryAttempts", "max_retry_attempts", "maximum_retry_attempts"},
    {"TrainingInputMode", "input_mode", "training_input_mode"},
}};

}  // namespace

namespace {

std::string_view name_in(JobKind kind, const Spelling& s) {
  return kind == JobKind::Estimator ? s.v2 : kind == JobKind::ModelTrainer ? s.v3 : s.api;
}

}  // namespace

std::string spelled(JobKind kind, std::string_view api_name) {
  for (const Spelling& s : kSpellings) {
    if (s.api == api_name && !name_in(kind, s).empty()) return std::string(name_in(kind, s));
  }
  return std::string(api_name);
}

std::optional<std::string> respelled(JobKind kind, std::string_view name) {
  for (const Spelling& s : kSpellings) {
    if (name == s.api || name == s.v2 || name == s.v3) return std::string(name_in(kind, s));
  }
  return std::nullopt;
}

std::string count_text(std::int64_t n) { return std::to_string(n); }

std::string_view family_of(std::string_view type) {
  if (type.starts_with("ml.")) type.remove_prefix(3);
  const std::size_t dot = type.find('.');
  return dot == std::string_view::npos ? std::string_view() : type.substr(0, dot);
}

std::int64_t degree(const Count& c) { return std::max<std::int64_t>(1, c.value_or(1)); }

std::int64_t model_ranks(const JobStrategy& s) {
  return times(times(degree(s.tensor), degree(s.pipeline)), degree(s.context));
}

std::int64_t ranks_beside_shards(const JobStrategy& s) { return times(degree(s.data_replicate), model_ranks(s)); }

namespace {

/// The type's entry in the catalog, else one of its family; nullptr where there is neither.
const InstanceType* likeness_of(const Catalog& catalog, std::string_view type) {
  const std::string_view family = family_of(type);
  if (family.empty()) return nullptr;
  const std::string named = (type.starts_with("ml.") ? "" : "ml.") + std::string(type);
  if (const InstanceType* entry = catalog.find_instance(named)) return entry;
  for (const InstanceType& other : catalog.instances()) {
    if (family_of(other.name) == family) return &other;
  }
  return nullptr;
}

bool is_of_aws(const Catalog& catalog, const InstanceType& type) {
  const Accelerator* a = catalog.find_accelerator(type.accelerator);
  return a != nullptr && a->vendor == Vendor::Aws;
}

}  // namespace

bool is_trainium_type(const Catalog& catalog, std::string_view type) {
  const InstanceType* like = likeness_of(catalog, type);
  return like != nullptr && is_of_aws(catalog, *like);
}

bool is_gpu_type(const CheckInput& in, std::string_view type) {
  const InstanceType* like = likeness_of(in.catalog, type);
  if (like == nullptr) return contains(in.limits.gpu_families, family_of(type));
  return like->accelerator_count > 0 && !is_of_aws(in.catalog, *like);
}

bool is_cpu_type(const CheckInput& in, std::string_view type) {
  const InstanceType* like = likeness_of(in.catalog, type);
  return like != nullptr ? like->accelerator_count == 0 : contains(in.limits.cpu_families, family_of(type));
}

bool is_local(const Job& job) { return job.instance_type.is("local") || job.instance_type.is("local_gpu"); }
bool other_trainer(const Job& job) {
  return job.kind == JobKind::ModelTrainer && job.class_name && *job.class_name != "ModelTrainer";
}
bool any_spot(const Job& job) { return job.spot.is(true); }

bool below(const Text& version, std::string_view other) {
  return version && !version->empty() && (*version)[0] >= '0' && (*version)[0] <= '9' &&
         version_before(*version, other);
}

bool has_trainium(const CheckInput& in, const InstanceType& type) { return is_of_aws(in.catalog, type); }

std::optional<int> compute_capability(const CheckInput& in, const InstanceType& type) {
  const Accelerator* a = in.catalog.find_accelerator(type.accelerator);
  if (a == nullptr) return std::nullopt;
  if (has_trainium(in, type)) return 0;
  if (a->capability() > 0) return a->capability();
  // A Blackwell part whose capability nobody has published yet.
  return a->architecture.starts_with("Blackwell") ? std::optional(120) : std::nullopt;
}

std::optional<Seconds> predicted_time(const CheckInput& in) {
  if (in.prediction == nullptr || !in.prediction->length_unknown.empty()) return std::nullopt;
  return in.prediction->time_to_train;
}

Where launcher_place(const Job& job) {
  if (job.launcher.stated) return job.launcher.where;
  if (job.hyperparameters != nullptr) return job.hyperparameters->where;
  return job.instance_count.stated ? job.instance_count.where : job.root().where;
}

const Facts::Dataset* dataset_of(const CheckInput& in, const JobChannel& c) {
  if (!in.facts.datasets) return nullptr;  // what nobody can look up is not missed
  const Facts::Dataset* by_uri = said_of(in.facts.datasets, c.s3_uri.value_or(""));
  return by_uri != nullptr ? by_uri : said_of(in.facts.datasets, c.name.value_or(""));
}

std::string mode_of(const CheckInput& in, const JobChannel& c) {
  return c.input_mode.value_or(in.job.input_mode.value_or("File"));
}

double file_mode_bytes(const CheckInput& in) {
  double total = 0;
  for (const JobChannel& c : in.job.channels) {
    if (mode_of(in, c) != "File" || c.on_file_system()) continue;
    const Facts::Dataset* d = dataset_of(in, c);
    if (d == nullptr) continue;
    const bool split = c.distribution.is("ShardedByS3Key");
    const auto nodes = static_cast<double>(std::max<std::int64_t>(1, in.nodes().value_or(1)));
    total += d->bytes.value_or(0) / (split ? nodes : 1);
  }
  return total;
}

std::string member_text(const Node& node, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const Node* member = node.find(name)) return member->text;
  }
  return "";
}

std::string list_text(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

const Node* node_at(const Node& root, std::string_view pointer) {
  const Node* node = &root;
  while (node != nullptr && node->where.path != pointer) {
    const Node* next = nullptr;
    for (const Node& item : node->items) {
      const std::string& path = item.where.path;
      if (pointer == path || (pointer.starts_with(path) && pointer[path.size()] == '/')) next = &item;
    }
    node = next;
  }
  return node;
}

std::string parent_of(std::string_view pointer) { return std::string(pointer.substr(0, pointer.rfind('/'))); }

bool one_slip_apart(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  if (a == b || a.size() > b.size() + 1) return false;
  std::size_t same = 0;
  while (same < b.size() && a[same] == b[same]) ++same;
  const std::string_view rest_a = a.substr(same);
  const std::string_view rest_b = b.substr(same);
  if (a.size() > b.size()) return rest_a.substr(1) == rest_b;
  if (rest_a.substr(1) == rest_b.substr(1)) return true;
  return rest_a.size() > 1 && rest_a[0] == rest_b[1] && rest_a[1] == rest_b[0] && rest_a.substr(2) == rest_b.substr(2);
}

std::string_view one_slip_from(std::string_view name, std::span<const std::string_view> known) {
  std::string_view meant;
  for (const std::string_view other : known) {
    if (other == name) return {};
    if (meant.empty() && one_slip_apart(name, other)) meant = other;
  }
  return meant;
}

std::string json_text(std::string_view text) { return Json(text).dump(); }

}  // namespace smplan
