#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planner/preflight/rule.hpp"

namespace smplan {

// Where the rules' facts come from.
inline constexpr std::string_view kApi = "SageMaker API model (botocore 1.44.8, read 2026-11-26)";
inline constexpr std::string_view kSdk2 = "SageMaker Python SDK v2.257.6, executed 2026-11-20";
inline constexpr std::string_view kSdk3 = "SageMaker Python SDK v3.20.0, executed 2026-11-20";
inline constexpr std::string_view kSdkCalls =
    "SageMaker Python SDK v2.257.7, sagemaker-train 1.27.0 and sagemaker-core 2.27.0, read 2026-11-28";
inline constexpr std::string_view kDocs = "SageMaker developer guide, read 2026-11-20";
inline constexpr std::string_view kToolkit = "aws/sagemaker-training-toolkit 3383937";
inline constexpr std::string_view kJudgement = "engineering judgement; the threshold is ours";

/// The setting's name in the file's own format: MaxWaitTimeInSeconds is max_wait in an estimator.
std::string spelled(JobKind kind, std::string_view api_name);

/// The name in the file's own format of a setting that is written as another format has it; empty where the file's
/// format has none, nullopt for unknown names.
std::optional<std::string> respelled(JobKind kind, std::string_view name);
std::string count_text(std::int64_t n);
/// At least 1, which it is where it is not known.
std::int64_t degree(const Count& c);
/// Ranks that hold one copy of the model and share its sequences.
std::int64_t model_ranks(const JobStrategy& s);
/// Those, with the copies that a file states where it leaves the shards open.
std::int64_t ranks_beside_shards(const JobStrategy& s);
/// `ml.p4d.24xlarge` is of family `p4d`; empty for other texts.
std::string_view family_of(std::string_view instance_type);
// What computes on a type: by its entry in the catalog, else by one of its family, else by the lists of families. Of a
// family that none of them has, nothing is true.
bool is_trainium_type(const Catalog& catalog, std::string_view instance_type);
bool is_gpu_type(const CheckInput& in, std::string_view instance_type);
bool is_cpu_type(const CheckInput& in, std::string_view instance_type);
/// `local` and `local_gpu` run on the caller's machine.
bool is_local(const Job& job);
bool any_spot(const Job& job);
/// One of SDK 3's trainers beside ModelTrainer: they have arguments of their own, and the service's recipes and images.
bool other_trainer(const Job& job);
/// True if `version` (2.1, 2.10.0) is below `other` by its numbers; false where it is no version.
bool below(const Text& version, std::string_view other);
bool has_trainium(const CheckInput& in, const InstanceType& type);
/// Capability of the accelerator as major * 10 + minor; 0 for Trainium, nullopt where unknown.
std::optional<int> compute_capability(const CheckInput& in, const InstanceType& type);
/// Of the whole run; nullopt without a model or where its length is not known.
std::optional<Seconds> predicted_time(const CheckInput& in);
/// Where a missing setting of the launcher would stand.
Where launcher_place(const Job& job);
/// What the facts say of the name; nullptr where they do not, and for an empty name.
template <typename Value>
const Value* said_of(const std::optional<Facts::ByName<Value>>& fact, const std::string& name) {
  if (!fact || name.empty()) return nullptr;
  const auto known = fact->find(name);
  return known == fact->end() ? nullptr : &known->second;
}
/// What the facts say of the channel's data, by its URI or its name.
const Facts::Dataset* dataset_of(const CheckInput& in, const JobChannel& channel);
/// The channel's input mode, else the job's, else the service's default.
std::string mode_of(const CheckInput& in, const JobChannel& channel);
/// Bytes that a node downloads in File mode, over the channels whose size is known.
double file_mode_bytes(const CheckInput& in);
/// Text of a node's first member by any of these names.
std::string member_text(const Node& node, std::initializer_list<std::string_view> names);
std::string list_text(const std::vector<std::string>& names);
/// The node at a JSON pointer of the job, or nullptr.
const Node* node_at(const Node& root, std::string_view pointer);
std::string parent_of(std::string_view pointer);
std::string json_text(std::string_view text);
/// True if one letter more, less or other, or two swapped, make `a` of `b`, and they are not the same.
bool one_slip_apart(std::string_view a, std::string_view b);
/// The known name that `name` is a slip of; empty if it is known itself, or like none.
std::string_view one_slip_from(std::string_view name, std::span<const std::string_view> known);

// The families, in the order of their ids.
std::span<const Rule> schema_rules();
std::span<const Rule> limit_rules();
std::span<const Rule> time_rules();
std::span<const Rule> warm_pool_rules();
std::span<const Rule> launcher_rules();
std::span<const Rule> sdk_interface_rules();
std::span<const Rule> framework_rules();
std::span<const Rule> group_rules();
std::span<const Rule> smddp_rules();
std::span<const Rule> smp_v1_rules();
std::span<const Rule> smp_v2_rules();
std::span<const Rule> compiler_rules();
std::span<const Rule> instance_rules();
std::span<const Rule> plan_rules();
std::span<const Rule> prediction_rules();
std::span<const Rule> precision_rules();
std::span<const Rule> deepspeed_rules();
std::span<const Rule> fsdp_rules();
std::span<const Rule> recipe_rules();
std::span<const Rule> hyperpod_rules();
std::span<const Rule> torchtitan_rules();
std::span<const Rule> megatron_rules();
std::span<const Rule> data_rules();
std::span<const Rule> checkpoint_rules();
std::span<const Rule> debugger_rules();
std::span<const Rule> account_rules();
std::span<const Rule> folder_rules();
std::span<const Rule> combination_rules();
std::span<const Rule> reference_rules();
std::span<const Rule> module_rules();
std::span<const Rule> image_rules();
std::span<const Rule> slurm_rules();

}  // namespace smplan
