// SageMaker's model-parallel library, version 2, from an estimator or a HyperPod recipe.
#include <array>

#include <fmt/format.h>

#include "planner/preflight/image.hpp"
#include "planner/preflight/rules/smp.hpp"

namespace smplan {
namespace {

constexpr std::int64_t kDelayedInitAbove = 60'000'000'000;

/// The degrees that the library and its recipes share.
struct Degrees {
  Count shard, tensor, context, expert;
  [[nodiscard]] bool transforms() const {
    return tensor.value_or(1) > 1 || context.value_or(1) > 1 || expert.value_or(1) > 1;
  }
};

bool is_smp_recipe(const CheckInput& in) {
  const Node* use = in.job.root().find("use_smp_model");
  return in.job.kind == JobKind::HyperpodRecipe && in.job.root().has("model") &&
         (use == nullptr ? in.job.strategy.shard_degree.stated : truth_of(*use) == true);
}

bool applies(const CheckInput& in) { return is_smp_v2(in) || is_smp_recipe(in); }

Count parameter(const CheckInput& in, std::string_view name) {
  Count field;
  const Node* node = smp_parameter(in, name);
  if (node == nullptr) return field;
  field.stated = true;
  field.where = node->where;
  field.value = integer_of(*node);
  return field;
}

Degrees degrees_of(const CheckInput& in) {
  if (in.job.kind == JobKind::HyperpodRecipe) {
    const JobStrategy& s = in.job.strategy;
    return {s.shard_degree, s.tensor, s.context, s.expert};
  }
  return {parameter(in, "hybrid_shard_degree"), parameter(in, "tensor_parallel_degree"),
          parameter(in, "context_parallel_degree"), parameter(in, "expert_parallel_degree")};
}

Where place(const CheckInput& in, const Count& degree) {
  if (degree.stated) return degree.where;
  return in.job.launcher.smp.stated ? in.job.launcher.smp.where : in.job.root().where;
}

void needs_torchrun(const CheckInput& in, Report& report) {
  if (is_smp_v2(in) && !in.job.launcher.torchrun.is(true)) report.at(in.job.launcher.smp);
}

void version(const CheckInput& in, Report& report) {
  const Text& v = in.job.framework_version;
  if (!is_smp_v2(in) || !v || contains(in.limits.smp_v2_versions, *v)) return;
  // An image's own version counts only where it is the library's image.
  const bool own_image = in.job.image && in.job.image->find("smdistributed-modelparallel") == std::string::npos;
  if (in.job.image.stated && in.job.kind == JobKind::Estimator) return;
  if (own_image) {
    report.at(in.job.image, {"this image", list_text(in.limits.smp_v2_versions)});
  } else {
    report.at(v, {"PyTorch " + *v, list_text(in.limits.smp_v2_versions)});
  }
}

void region(const CheckInput& in, Report& report) {
  if (!is_smp_v2(in) || in.region.empty()) return;
  const ContainerRegistry* registry = in.catalog.containers().registry_of("smdistributed-modelparallel");
  if (registry == nullptr || !registry->account_in(in.region).empty()) return;
  report.at(in.job.launcher.smp, {in.region});
}

void instance(const CheckInput& in, Report& report) {
  if (!applies(in)) return;
  for (const Machines& m : in.machines) {
    if (m.type && !contains(in.limits.smp_v2_instances, *m.type) &&
        !contains(in.limits.smp_v2_instances, "ml." + *m.type)) {
      report.at(m.type, {*m.type});
    }
  }
}

void unknown_parameter(const CheckInput& in, Report& report) {
  if (!is_smp_v2(in) || in.job.launcher.smp_node() == nullptr) return;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kSuccessors = {{
      {"sharded_data_parallel_degree", "hybrid_shard_degree"},
      {"offload_activations", "sm_activation_offloading"},
      {"delayed_parameter_initialization", "torch.sagemaker.delayed_param in the script"},
  }};
  for (const Node& entry : in.job.launcher.smp_node()->items) {
    if (contains(in.limits.smp_v2, entry.key)) continue;
    Finding& finding = report.at(entry, {quote(entry.key)});
    for (const auto& [old_name, now] : kSuccessors) {
      if (old_name == entry.key) finding.fix = "version 2 calls it " + std::string(now);
    }
    if (entry.key.find("pipeline") != std::string::npos || entry.key == "partitions" || entry.key == "microbatches") {
      finding.fix = "drop it: version 2 has no pipeline parallelism";
    }
  }
}

void product(const CheckInput& in, Report& report) {
  if (!applies(in)) return;
  const Degrees d = degrees_of(in);
  const auto world = in.world();
  const std::int64_t shard = d.shard.value_or(1) < 1 ? 1 : d.shard.value_or(1);
  const std::int64_t tensor = d.tensor.value_or(1);
  const std::int64_t expert = d.expert.value_or(1);
  if (!world || tensor < 1 || expert < 1 || *world % times(times(shard, tensor), expert) == 0) return;
  report.at(place(in, d.shard), {count_text(*world), count_text(shard), count_text(tensor), count_text(expert)});
}

void context(const CheckInput& in, Report& report) {
  if (!applies(in)) return;
  const Degrees d = degrees_of(in);
  if (!d.context || *d.context <= 1 || !d.shard || *d.shard < 1) return;
  if (*d.shard % *d.context != 0) report.at(d.context, {count_text(*d.context), count_text(*d.shard)});
}

void ranges(const CheckInput& in, Report& report) {
  if (!applies(in)) return;
  const Degrees d = degrees_of(in);
  const auto world = in.world();
  const auto judge = [&](std::string_view name, const Count& value, std::int64_t min) {
    if (!value) return;
    if (*value < min || (world && *value > *world)) {
      report.at(value, {std::string(name), count_text(*value),
                        count_text(min) + " to " + (world ? count_text(*world) : std::string("the number of ranks"))});
    }
  };
  judge("the shard degree", d.shard, 0);
  judge("the tensor degree", d.tensor, 1);
  judge("the context degree", d.context, 1);
  judge("the expert degree", d.expert, 1);
  const Node* horizon = in.job.kind == JobKind::HyperpodRecipe
                            ? in.job.root().at({"model", "activation_loading_horizon"})
                            : smp_parameter(in, "activation_loading_horizon");
  const auto n = horizon == nullptr ? std::nullopt : integer_of(*horizon);
  if (n && *n < 1) report.at(*horizon, {"the activation loading horizon", count_text(*n), "at least 1"});
}

void tensor_across_nodes(const CheckInput& in, Report& report) {
  if (!applies(in)) return;
  const Degrees d = degrees_of(in);
  const auto devices = in.devices_per_node();
  if (d.tensor && devices && *d.tensor > *devices) report.at(d.tensor, {count_text(*d.tensor), count_text(*devices)});
}

void shard_degree_open(const CheckInput& in, Report& report) {
  if (!is_smp_v2(in)) return;
  const Degrees d = degrees_of(in);
  if (d.shard.stated && !d.shard.is(0)) return;
  report.at(place(in, d.shard), {d.tensor.value_or(1) > 1 ? "the largest degree that is possible"
                                                          : "what the script's FSDP strategy does"});
}

void offload_without_checkpointing(const CheckInput& in, Report& report) {
  const Node* offload = smp_parameter(in, "sm_activation_offloading");
  if (is_smp_v2(in) && offload != nullptr && truth_of(*offload) == true &&
      in.facts.script->activation_checkpointing == false) {
    report.at(*offload);
  }
}

void needs_transform(const CheckInput& in, Report& report) {
  if (!is_smp_v2(in) || !degrees_of(in).transforms()) return;
  if (in.facts.script && in.facts.script->transform_supported) {
    if (!*in.facts.script->transform_supported) report.at(in.job.launcher.smp, {"this model"});
    return;
  }
  if (in.prediction == nullptr) return;
  const std::string& family = in.prediction->request.workload.architecture.family;
  for (const std::string_view known : {"llama", "mistral", "mixtral", "gpt-neox", "gpt_neox"}) {
    if (family.starts_with(known)) return;
  }
  report.at(in.job.launcher.smp, {family.empty() ? "this model" : "models like " + family});
}

/// Parameters of the recipe's own architecture, attention and gated feed-forward layers counted.
std::optional<double> parameters_of(const CheckInput& in) {
  if (in.facts.script && in.facts.script->parameters) return static_cast<double>(*in.facts.script->parameters);
  const JobStrategy& s = in.job.strategy;
  if (!s.hidden || !s.layers || !s.ffn) return std::nullopt;
  const auto h = static_cast<double>(*s.hidden);
  const double kv =
      s.heads && s.kv_heads && *s.heads > 0 ? static_cast<double>(*s.kv_heads) / static_cast<double>(*s.heads) : 1.0;
  const auto experts = static_cast<double>(std::max<std::int64_t>(1, s.experts.value_or(1)));
  const double layer = h * h * (2 + 2 * kv) + 3 * h * static_cast<double>(*s.ffn) * experts;
  return layer * static_cast<double>(*s.layers) + 2 * h * static_cast<double>(s.vocabulary.value_or(0));
}

void delayed_init(const CheckInput& in, Report& report) {
  if (!applies(in)) return;
  const Node* delayed = in.job.root().at({"model", "delayed_param"});
  const bool off = in.job.kind == JobKind::HyperpodRecipe
                       ? delayed == nullptr || truth_of(*delayed) != true
                       : !(in.facts.script && in.facts.script->delayed_parameter_init == true);
  const auto parameters = parameters_of(in);
  if (!off || !parameters || *parameters <= static_cast<double>(kDelayedInitAbove)) return;
  report.at(delayed != nullptr ? delayed->where : place(in, {}), {format_count(*parameters)});
}

void fp8_off_hopper(const CheckInput& in, Report& report) {
  if (!applies(in) || !in.job.strategy.fp8.is(true)) return;
  const InstanceType* type = in.instance();
  if (type == nullptr) return;
  const auto capability = compute_capability(in, *type);
  if (capability && *capability < 90) report.at(in.job.strategy.fp8, {type->name});
}

void no_smp_with_degrees(const CheckInput& in, Report& report) {
  const Node* use = in.job.root().find("use_smp_model");
  const JobStrategy& s = in.job.strategy;
  if (use == nullptr || truth_of(*use) != false) return;
  if (s.tensor.value_or(1) > 1) report.at(s.tensor, {"tensor", count_text(*s.tensor)});
  if (s.expert.value_or(1) > 1) report.at(s.expert, {"expert", count_text(*s.expert)});
}

constexpr std::string_view kAdapter =
    "HyperPod training adapter for NeMo 1.4.0, config_schemas.py, executed 2026-11-20";
constexpr std::string_view kBest = "SageMaker developer guide, model-parallel-best-practices-v2";

constexpr Rule kSmpV2Rules[] = {
    {"C098", Severity::Error, "Version 2 needs torch_distributed",
     "modelparallel with keys of version 2 and torch_distributed is not on",
     "without torch_distributed the SDK takes a plain PyTorch image, which lacks version 2 of the library",
     "add \"torch_distributed\": {\"enabled\": true}", kSdk2, kSubmitted, Need::Nothing, needs_torchrun},
    {"C099", Severity::Error, "Framework version of version 2", "no image of the library has this PyTorch",
     "no image of the model-parallel library has {}; there are {}", "use FSDP2, TorchTitan or NeMo on a current image",
     kSdk2, kSubmitted, Need::Nothing, version},
    {"C100", Severity::Error, "Region of version 2", "the library's images are not in the region",
     "{} has no images of the model-parallel library", "use one of its 17 regions, or another framework",
     "SageMaker Python SDK v2.257.6, pytorch-smp.json", kSubmitted, Need::Nothing, region},
    {"C101", Severity::Error, "Instance type of version 2", "another type than p4d, p4de, p5, p5e",
     "the model-parallel library is not made for {}", "use p4d, p4de, p5 or p5e", kDocs, kSubmitted | kSmp | kRecipe,
     Need::Nothing, instance},
    {"C102", Severity::Error, "Unknown parameter of version 2", "a parameter is none of the library's nine",
     "version 2 of the library has no {}", "drop it",
     "SageMaker Python SDK v3.20.0 refuses it, v2.257.6 passes it through", kSubmitted | kSmp, Need::Nothing,
     unknown_parameter},
    {"C103", Severity::Error, "Degrees of version 2", "shard x tensor x expert does not divide the ranks",
     "{} ranks are no multiple of shard {} x tensor {} x expert {}", "choose degrees whose product divides the ranks",
     kAdapter, kSubmitted | kSmp | kRecipe, Need::Nothing, product},
    {"C104", Severity::Error, "Context degree of version 2", "the context degree does not divide the shard degree",
     "context parallelism {} does not divide the shard degree {}", "choose a divisor of the shard degree", kAdapter,
     kSubmitted | kSmp | kRecipe, Need::Nothing, context},
    {"C105", Severity::Error, "Ranges of version 2", "a degree is below its minimum or above the ranks",
     "{} is {}, must be {}", "give a value in the range", kDocs, kSubmitted | kSmp | kRecipe, Need::Nothing, ranges},
    {"C106", Severity::Warning, "Tensor parallelism across nodes",
     "the tensor degree is above the accelerators of a node",
     "tensor parallelism {} leaves the node's {} accelerators and runs at the speed of the network",
     "stay inside the node", kBest, kSubmitted | kSmp | kRecipe, Need::Nothing, tensor_across_nodes},
    {"C107", Severity::Warning, "Shard degree left open", "hybrid_shard_degree is 0 or absent",
     "hybrid_shard_degree is open, which means {}", "state the lowest degree that fits", kDocs, kSubmitted | kSmp,
     Need::Nothing, shard_degree_open},
    {"C108", Severity::Warning, "Offloading without checkpointing",
     "sm_activation_offloading is on and the script does no checkpointing",
     "sm_activation_offloading does nothing without activation checkpointing and offload_wrapper",
     "wrap the layers, or switch it off", kDocs, kSubmitted, &Facts::script, offload_without_checkpointing},
    {"C109", Severity::Error, "Degrees that need a transformed model",
     "tensor, context or expert parallelism of a model that the library cannot transform",
     "tensor, context and expert parallelism need torch.sagemaker.transform, which does not know {}",
     "use sharding alone, or a framework that knows the model", kDocs, kSubmitted | kSmp, Need::Nothing,
     needs_transform},
    {"C110", Severity::Warning, "Delayed initialisation", "over 60 billion parameters are initialised on every rank",
     "{} parameters are built whole in host memory by every rank", "initialise them late (delayed_param)", kBest,
     kSubmitted | kRecipe, Need::Nothing, delayed_init},
    {"C111", Severity::Error, "FP8 off Hopper", "FP8 on accelerators before Hopper", "{} has no FP8 units",
     "use bf16, or p5", kDocs, kSubmitted | kRecipe, Need::Nothing, fp8_off_hopper},
    {"C112", Severity::Warning, "Degrees without the library",
     "use_smp_model is off and tensor or expert parallelism is asked for",
     "without the model-parallel library {} parallelism {} is not supported",
     "set use_smp_model: true, or the degree to 1", kAdapter, kRecipe, Need::Nothing, no_smp_with_degrees},
};

}  // namespace

std::string smp_obstacle(const CheckInput& in) {
  const Text& v = in.job.framework_version;
  const auto image = in.job.image ? parse_image(*in.job.image) : std::nullopt;
  // Version 1 came inside the framework's images up to PyTorch 2.0.0; version 2 has images of its own.
  if (!in.pytorch() || !v || below(v, "2.0.1") || (image && image->repository == "smdistributed-modelparallel"))
    return {};
  if (image) {
    const bool of_aws = in.catalog.containers().registry_of(image->repository) != nullptr;
    return of_aws ? fmt::format("{} {} does not hold it", image->repository, image->version) : std::string();
  }
  for (const std::string& known : in.limits.smp_v2_versions) {
    if (known == *v || known.starts_with(*v + '.')) return {};
  }
  return in.job.image.stated ? std::string() : fmt::format("no image holds it for PyTorch {}", *v);
}

std::span<const Rule> smp_v2_rules() { return kSmpV2Rules; }

}  // namespace smplan
