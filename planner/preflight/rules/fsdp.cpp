// FSDP, mostly through accelerate.
#include <algorithm>
#include <array>

#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kManyNodes = 16;
constexpr std::int64_t kSmallHidden = 4096;

void context_and_sequence(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (s.context.value_or(1) > 1 && s.sequence_ranks.value_or(1) > 1) {
    report.at(s.sequence_ranks, {count_text(*s.context), count_text(*s.sequence_ranks)});
  }
}

/// Ranks that states are cut over; nullopt where that is not known. Without a number TorchTitan cuts them over all
/// ranks that are left, and accelerate over none.
std::optional<std::int64_t> shards_of(const CheckInput& in) {
  const JobStrategy& s = in.job.strategy;
  if (s.data_shard || in.job.kind != JobKind::TorchTitan) return s.data_shard.value_or(1);
  const auto world = in.world();
  return world ? std::optional(*world / ranks_beside_shards(s)) : std::nullopt;
}

void pure_data_parallel(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  const bool split = s.tensor.value_or(1) > 1 || s.context.value_or(1) > 1;
  if (split && s.data_replicate.value_or(1) > 1 && shards_of(in) == 1) {
    report.at(s.data_replicate, {count_text(*s.data_replicate)});
  }
}

void sizes(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  std::int64_t product = 1;
  bool stated = false;
  for (const Count* c : {&s.data_replicate, &s.data_shard, &s.tensor, &s.context, &s.sequence_ranks}) {
    if (!*c) continue;
    stated = true;
    if (**c < 1) {
      report.at(*c, {"a size of " + count_text(**c) + " is below 1"});
      return;
    }
    product = times(product, **c);
  }
  if (stated && s.world && product != *s.world) {
    report.at(s.world, {"the sizes multiply to " + count_text(product) + ", num_processes is " + count_text(*s.world)});
  }
}

std::string upper_case(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

void strategy_name(const CheckInput& in, Report& report) {
  const Text& name = in.job.strategy.sharding;
  if (!name || in.job.strategy.stack.is("megatron")) return;
  constexpr std::array<std::string_view, 10> kAccelerateNames = {
      "FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD", "HYBRID_SHARD_ZERO2", "1", "2", "3", "4", "5"};
  constexpr std::array<std::string_view, 5> kRecipeNames = {"no_shard", "shard_grad_op", "hybrid_shard",
                                                            "_hybrid_shard_zero2", "full_shard"};
  // The adapter's own names; llmft takes FSDP's.
  const bool recipe = in.job.kind == JobKind::HyperpodRecipe && !in.job.strategy.stack;
  const std::string word = recipe ? *name : upper_case(*name);  // accelerate takes either case
  const auto known = [&](const auto& names) { return std::find(names.begin(), names.end(), word) != names.end(); };
  if (recipe ? known(kRecipeNames) : known(kAccelerateNames)) return;
  report.at(name, {quote(*name), recipe ? "no_shard, shard_grad_op, hybrid_shard, _hybrid_shard_zero2 or full_shard"
                                        : "FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD or HYBRID_SHARD_ZERO2"});
}

void wide_shard_group(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (s.hidden && *s.hidden > kSmallHidden) return;
  const auto nodes = in.nodes();
  const bool titan = in.job.kind == JobKind::TorchTitan;
  const bool full =
      !titan && s.sharding && (*s.sharding == "FULL_SHARD" || *s.sharding == "1" || *s.sharding == "full_shard");
  // TorchTitan's -1: all that is left.
  const bool rest = titan && s.data_shard.stated && !s.data_shard && !s.shard_degree;
  std::int64_t spanned = 0;
  if (full || rest) {
    spanned = nodes.value_or(0);
  } else if (s.shard_degree) {
    spanned = *s.shard_degree / std::max<std::int64_t>(1, in.devices_per_node().value_or(8));
  }
  if (spanned > kManyNodes) {
    report.at(s.shard_degree.stated         ? s.shard_degree.where
              : s.sharding.stated && !titan ? s.sharding.where
                                            : s.data_shard.where,
              {count_text(spanned)});
  }
}

void sagemaker_defaults(const CheckInput& in, Report& report) {
  const Node* environment = in.job.root().find("compute_environment");
  if (environment == nullptr || environment->text != "AMAZON_SAGEMAKER") return;
  const auto stale = [&](std::string_view key, std::string_view value) {
    const Node* node = in.job.root().find(key);
    if (node != nullptr && node->text == value) report.at(*node, {std::string(key) + " " + std::string(value)});
  };
  const auto no_newer = [&](std::string_view key, std::string_view value) {
    const Node* node = in.job.root().find(key);
    if (node == nullptr || node->text.empty() || node->text[0] < '0' || node->text[0] > '9') return;
    if (!version_before(value, node->text)) report.at(*node, {std::string(key) + " " + node->text});
  };
  no_newer("pytorch_version", "1.10.2");
  no_newer("transformers_version", "4.17.0");
  stale("py_version", "py38");
  stale("ec2_instance_type", "ml.p4dn.24xlarge");
}

void wrap_policy(const CheckInput& in, Report& report) {
  const Node* fsdp = in.job.root().find("fsdp_config");
  const Node* policy = fsdp == nullptr ? nullptr : fsdp->find("fsdp_auto_wrap_policy");
  if (policy == nullptr || policy->text != "TRANSFORMER_BASED_WRAP") return;
  const Node* layer = fsdp->find("fsdp_transformer_layer_cls_to_wrap");
  if (layer == nullptr || layer->is_null() || layer->text.empty()) report.at(*policy);
}

/// Rank 0 alone reads the weights, so the others must be sent them; the launcher asks for it with FSDP2 too.
void efficient_loading(const CheckInput& in, Report& report) {
  const Node* fsdp = in.job.root().find("fsdp_config");
  if (fsdp == nullptr || !fsdp->is_object()) return;
  const Node* loading = fsdp->find("fsdp_cpu_ram_efficient_loading");
  const Node* sync = fsdp->find("fsdp_sync_module_states");
  if (loading == nullptr || sync == nullptr || truth_of(*loading) != true || truth_of(*sync) != false) return;
  report.at(*sync).edits = {{Edit::Kind::Set, sync->where.path, "true"}};
}

constexpr std::string_view kSource = "accelerate 1.14.0, parallelism_config.py and constants.py";

constexpr Rule kFsdpRules[] = {
    {"C168", Severity::Error, "Context and sequence ranks", "cp_size and sp_size are both above 1",
     "context ranks ({}) and sequence ranks ({}) exclude each other", "keep one of them", kSource, kAccelerate,
     Need::Nothing, context_and_sequence},
    {"C169", Severity::Error, "Tensor or context ranks with replicas alone",
     "tensor or context ranks with several replicas and no shards",
     "{} replicas without sharding cannot be combined with tensor or context ranks", "shard (dp_shard_size above 1)",
     kSource, kAccelerate | kTorchTitan, Need::Nothing, pure_data_parallel},
    {"C170", Severity::Error, "Sizes of the mesh", "a size is below 1, or the product is not num_processes", "{}",
     "choose sizes that multiply to num_processes", kSource, kAccelerate, Need::Nothing, sizes},
    {"C171", Severity::Error, "Sharding strategy", "the name is none that the format knows",
     "{} is no sharding strategy here; there are {}", "use one of them, in this spelling",
     "accelerate 1.14.0 constants.py; HyperPod training adapter, config_schemas.py", kAccelerate | kRecipe,
     Need::Nothing, strategy_name},
    {"C172", Severity::Warning, "Sharding over many nodes",
     "parameters of small layers are sharded over more than 16 nodes",
     "a shard group over {} nodes is bound by latency", "use hybrid sharding with the least degree that fits",
     "SageMaker developer guide, model-parallel-best-practices-v2", kAccelerate | kRecipe | kTorchTitan, Need::Nothing,
     wide_shard_group},
    {"C173", Severity::Warning, "Defaults of accelerate's SageMaker mode",
     "the file keeps the built-in versions of 2022, or older ones",
     "{} is no newer than the stale default of accelerate's SageMaker mode",
     "write current versions, or launch torchrun from an estimator", kSource, kAccelerate, Need::Nothing,
     sagemaker_defaults},
    {"C174", Severity::Info, "Wrapping without a layer",
     "TRANSFORMER_BASED_WRAP without fsdp_transformer_layer_cls_to_wrap",
     "TRANSFORMER_BASED_WRAP names no layer class: accelerate takes the model's _no_split_modules, and fails on a "
     "model "
     "that has none",
     "name the model's decoder layer, e.g. LlamaDecoderLayer, if it is none of transformers' models",
     "accelerate 1.14.0, utils/dataclasses.py, set_auto_wrap_policy", kAccelerate, Need::Nothing, wrap_policy},
    {"C218", Severity::Error, "Weights that one rank reads",
     "fsdp_cpu_ram_efficient_loading is on and fsdp_sync_module_states is off",
     "fsdp_cpu_ram_efficient_loading reads the weights on rank 0 alone, and fsdp_sync_module_states false does not "
     "send them to the others: accelerate launch refuses that",
     "set fsdp_sync_module_states: true", "accelerate 1.15.0, utils/launch.py; huggingface/transformers#25100",
     kAccelerate, Need::Nothing, efficient_loading},
};

}  // namespace

std::span<const Rule> fsdp_rules() { return kFsdpRules; }

}  // namespace smplan
