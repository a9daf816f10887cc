// Jobs of HyperPod clusters: what recovers them, and what their pods ask for.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <regex>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/printable.hpp"
#include "base/words.hpp"
#include "catalogs/recovery_features.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/predict.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr Kinds kStanding = kHyperpodJob | kRecipe;

/// The features that the job asks for, and where.
std::vector<std::pair<const RecoveryFeature*, Where>> asked_features(const Job& job) {
  std::vector<std::pair<const RecoveryFeature*, Where>> out;
  const auto add = [&](std::string_view name, const Switch& on) {
    if (on.is(true)) out.emplace_back(recovery_feature(name), on.where);
  };
  add("checkpointless", job.checkpointless);
  add("elastic", job.elastic.on);
  return out;
}

void excluded(const CheckInput& in, Report& report) {
  const auto asked = asked_features(in.job);
  for (std::size_t a = 0; a < asked.size(); ++a) {
    for (std::size_t b = a + 1; b < asked.size(); ++b) {
      const RecoveryFeature& one = *asked[a].first;
      const RecoveryFeature& other = *asked[b].first;
      const bool together = !contains(one.excludes, other.name) && !contains(other.excludes, one.name);
      if (!together) report.at(asked[b].second, {one.title + " excludes " + other.title});
    }
  }
  const std::optional<std::string> stack = stack_of(in.job);
  for (const auto& [feature, where] : asked) {
    if (stack && !feature->stacks.empty() && !contains(feature->stacks, *stack)) {
      report.at(where, {fmt::format("{} is made for {}, not for {}", feature->title, fmt::join(feature->stacks, ", "),
                                    *stack)});
    }
  }
  const Node* cluster = in.job.root().find("cluster_type");
  if (cluster == nullptr || !cluster->is_string() || cluster->text == "k8s") return;
  for (const auto& [feature, where] : asked) {
    report.at(*cluster, {fmt::format("{} needs a cluster with EKS, not {}", feature->title, quote(cluster->text))});
  }
}

void unproven(const CheckInput& in, Report& report) {
  if (!in.job.instance_type) return;
  for (const auto& [feature, where] : asked_features(in.job)) {
    if (feature->validated.empty() || contains(feature->validated, *in.job.instance_type)) continue;
    report.at(where, {feature->title, fmt::format("{}", fmt::join(feature->validated, ", "))});
  }
}

void elastic_counts(const CheckInput& in, Report& report) {
  const JobElastic& e = in.job.elastic;
  if (!e.on.is(true)) return;
  const auto fault = [&](const auto& where, std::string text) { report.at(where, {std::move(text)}); };
  if (e.least && *e.least < 1) fault(e.least, "fewer than one instance at least");
  if (e.least && e.most && *e.least > *e.most) {
    fault(e.least, fmt::format("at least {} instances and at most {}", *e.least, *e.most));
  }
  if (e.step.stated && !e.counts.empty()) fault(e.step, "both a step and a list of counts");
  if (e.step && *e.step < 1) fault(e.step, fmt::format("a step of {}", *e.step));
  if (e.step && e.least && e.most && *e.step >= 1 && minus(*e.most, *e.least) % *e.step != 0) {
    fault(e.step, fmt::format("steps of {} do not lead from {} to {}", *e.step, *e.least, *e.most));
  }
  for (const Count& count : e.counts) {
    const bool outside = count && ((e.least && *count < *e.least) || (e.most && *count > *e.most) || *count < 1);
    if (outside) fault(count, fmt::format("a count of {} outside of its limits", *count));
  }
  const Count& now = in.job.instance_count;
  if (now && ((e.least && *now < *e.least) || (e.most && *now > *e.most))) {
    fault(now, fmt::format("{} instances to start with, outside of {} to {}", *now, e.least.value_or(1),
                           e.most.value_or(*now)));
  }
}

/// What a pod asks of a resource; nullptr where it does not.
const Node* requested(const Job& job, std::string_view name) {
  if (job.pod_resources == nullptr) return nullptr;
  for (const std::string_view part : {"limits", "requests"}) {
    const Node* list = job.pod_resources->find(part);
    const Node* value = list == nullptr ? nullptr : list->find(name);
    if (value != nullptr) return value;
  }
  return nullptr;
}

constexpr std::string_view kGpus = "nvidia.com/gpu";

/// A number with a suffix of Kubernetes': `500m`, `64Gi`, `1e3`.
/// Source: the pattern of quantities in kubeflow/training-operator v1.9.0, manifests/base/crds.
bool is_quantity(std::string_view text) {
  static const std::regex kQuantity(R"([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?)");
  constexpr std::size_t kLongest = 64;
  return text.size() <= kLongest && std::regex_match(text.begin(), text.end(), kQuantity);
}

/// Those that the job or its command starts. What no node of the type has is said beside the command.
void processes_on_devices(const CheckInput& in, const InstanceType* type, Report& report) {
  const Node* devices = requested(in.job, kGpus);
  const std::optional<std::int64_t> n = devices == nullptr ? std::nullopt : integer_of(*devices);
  const Count& stated = in.job.launcher.processes_per_node;
  const bool by_command =
      !stated && in.job.command.processes && (type == nullptr || *in.job.command.processes <= type->accelerator_count);
  const Count& processes = by_command ? in.job.command.processes : stated;
  if (n && processes && *processes > *n) {
    report.at(processes, {fmt::format("{} processes on {} devices", *processes, *n)});
  }
  const Count& started = in.job.command.processes;
  if (stated && started && *started != *stated) {
    report.at(started, {fmt::format("{} processes by the command and {} by nprocPerNode", *started, *stated)});
  }
}

/// Bytes or cores of a quantity; nullopt for what is none.
std::optional<double> quantity_of(const Node& node) {
  if (const auto number = number_of(node)) return number;
  constexpr std::string_view kLetters = "KMGTPE";
  std::string text = node.text;
  if (!is_quantity(text)) return std::nullopt;
  double unit = 1;
  if (text.ends_with('m')) unit = 1e-3;
  if (text.ends_with('k')) unit = 1e3;
  const bool binary = text.ends_with('i');
  if (binary) text.pop_back();
  const std::size_t letter = text.empty() ? std::string_view::npos : kLetters.find(text.back());
  if (letter != std::string_view::npos) unit = std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(letter + 1));
  if (unit != 1) text.pop_back();
  Node digits;
  digits.kind = Node::Kind::String;
  digits.text = text;
  const auto number = number_of(digits);
  return number ? std::optional(*number * unit) : std::nullopt;
}

/// A pod that asks for more memory or cores than a node of the type has never starts. The command line's own file asks
/// in GiB.
void pod_on_host(const CheckInput& in, const InstanceType& type, Report& report) {
  struct Resource {
    std::string_view name, of_file, limit_of_file;
    double unit, has;
    std::string_view words;
  };
  const double gib = type.host_memory / Bytes(kGiB);
  const Resource resources[] = {{"memory", "memory", "memory_limit", kGiB, gib, "GiB of memory"},
                                {"cpu", "vcpu", "vcpu_limit", 1, static_cast<double>(type.vcpus), "cores"}};
  const bool manifest = kubernetes_table(in.job.root()) != "hyp-pytorch-job";
  for (const Resource& r : resources) {
    const Node* asked = manifest ? requested(in.job, r.name) : first_of(in.job.root(), {r.of_file, r.limit_of_file});
    const auto amount = asked == nullptr ? std::nullopt : manifest ? quantity_of(*asked) : number_of(*asked);
    const double wanted = amount ? (manifest ? *amount / r.unit : *amount) : 0;
    if (wanted <= r.has) continue;
    report.at(*asked, {fmt::format("{:g} {} of {}, which has {:g}", wanted, r.words, type.name, r.has)});
  }
}

void pod_devices(const CheckInput& in, Report& report) {
  const InstanceType* type = in.instance();
  processes_on_devices(in, type, report);
  if (type == nullptr) return;
  pod_on_host(in, *type, report);
  const Node* devices = requested(in.job, has_trainium(in, *type) ? "aws.amazon.com/neuron" : kGpus);
  const std::optional<std::int64_t> n = devices == nullptr ? std::nullopt : integer_of(*devices);
  if (n && *n > type->accelerator_count) {
    report.at(*devices, {fmt::format("{} devices of {}, which has {}", *n, type->name, type->accelerator_count)});
  }
  if (devices == nullptr && in.job.pod_resources != nullptr) {
    report.at(*in.job.pod_resources, {"no accelerator"});
  }
  const Node* efa = requested(in.job, "vpc.amazonaws.com/efa");
  const std::int64_t links = efa == nullptr ? 0 : integer_of(*efa).value_or(0);
  const bool has_efa = type->network.kind == NetworkKind::Efa;
  const std::int64_t most = has_efa ? std::max(1, type->network.interfaces) : 0;
  if (links > most) {
    report.at(*efa, {fmt::format("{} EFA interfaces of {}, which has {}", links, type->name, most)});
  }
}

void pod_without_efa(const CheckInput& in, Report& report) {
  const InstanceType* type = in.instance();
  if (type == nullptr || type->network.kind != NetworkKind::Efa || in.job.pod_resources == nullptr) return;
  if (in.nodes().value_or(1) < 2 || requested(in.job, "vpc.amazonaws.com/efa") != nullptr) return;
  report.at(*in.job.pod_resources,
            {count_text(in.nodes().value_or(1)), type->name, count_text(std::max(1, type->network.interfaces))});
}

/// Something fills it in: a shell, or a template.
bool is_unknown_text(std::string_view text) {
  return is_placeholder(text) || text.find('$') != std::string_view::npos || text.find("{{") != std::string_view::npos;
}

bool is_object_name(std::string_view name) {
  const auto inner = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 253 && inner(name.front()) && inner(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return inner(c) || c == '-' || c == '.'; });
}

/// Calls `visit` for every container of the pod.
void each_container(const Node& pod, const std::function<void(const Node&)>& visit) {
  for (const std::string_view list : {"containers", "initContainers"}) {
    const Node* containers = pod.find(list);
    if (containers == nullptr) continue;
    for (const Node& container : containers->items) visit(container);
  }
}

/// Devices, links and huge pages are no shares, as cpu and memory are.
bool is_extended(std::string_view resource) {
  const std::size_t slash = resource.find('/');
  if (slash == std::string_view::npos) return resource.starts_with("hugepages-");
  return !resource.substr(0, slash).ends_with("kubernetes.io");
}

/// What is requested of them is what is allowed, and devices are whole.
void uneven_devices(const Node& resources, Report& report) {
  const Node* limits = resources.find("limits");
  const Node* requests = resources.find("requests");
  for (const Node* list : {limits, requests}) {
    for (const Node& asked : list == nullptr ? std::vector<Node>() : list->items) {
      const bool part = asked.key.find('/') != std::string::npos && is_extended(asked.key) &&
                        asked.kind != Node::Kind::Integer && number_of(asked) && !integer_of(asked);
      if (part) {
        report.at(asked, {fmt::format("asks for {} of {}: devices are whole", asked.text, asked.key)}).fix =
            "ask for a whole number";
      }
    }
  }
  for (const Node& asked : requests == nullptr ? std::vector<Node>() : requests->items) {
    const Node* most = limits == nullptr ? nullptr : limits->find(asked.key);
    if (!is_extended(asked.key) || is_placeholder(asked.text)) continue;
    if (most == nullptr) {
      report.at(asked, {fmt::format("requests {} and limits none of it: it needs a limit", asked.key)}).fix =
          fmt::format("write {}: {} under limits, where a request is not needed", asked.key, asked.text);
      continue;
    }
    const auto least = integer_of(asked);
    if (!least || !integer_of(*most) || *integer_of(*most) == *least) continue;
    report
        .at(asked,
            {fmt::format("requests {} {} and limits {}: they must be the same", asked.text, asked.key, most->text)})
        .fix = "write the same number under both, or drop the request";
  }
}

void mounts_without_volume(const Node& pod, Report& report) {
  std::vector<std::string> volumes;
  const Node* listed = pod.find("volumes");
  for (const Node& volume : listed == nullptr ? std::vector<Node>() : listed->items) {
    volumes.push_back(member_text(volume, {"name"}));
  }
  each_container(pod, [&](const Node& container) {
    const Node* mounts = container.find("volumeMounts");
    for (const Node& mount : mounts == nullptr ? std::vector<Node>() : mounts->items) {
      const Node* name = mount.find("name");
      if (name == nullptr || is_placeholder(name->text) || contains(volumes, name->text)) continue;
      Finding& finding = report.at(*name, {"mounts " + quote(name->text) + ", which is none of the pod's volumes"});
      const auto near = nearest_names(name->text, volumes, 1);
      finding.fix = near.empty() ? "add it under the pod's volumes" : "did you mean " + near.front() + "?";
    }
  });
}

void wrong_quantities(const Node& resources, Report& report) {
  for (const std::string_view part : {"limits", "requests"}) {
    const Node* list = resources.find(part);
    for (const Node& asked : list == nullptr ? std::vector<Node>() : list->items) {
      if (!asked.is_string() || is_unknown_text(asked.text) || is_quantity(asked.text)) continue;
      Finding& finding = report.at(
          asked, {fmt::format("asks for {} of {}, which is no quantity", quote(asked.text), printable(asked.key, 60))});
      finding.fix = "write a number with one of the suffixes m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi and Ei: 64Gi";
    }
  }
}

/// What starts has an image, and Kubeflow's operator looks for the container of its name.
void containers_to_start(const CheckInput& in, Report& report) {
  each_container(*in.job.pod, [&](const Node& container) {
    const Node* image = container.find("image");
    if (!container.is_object() || (image != nullptr && !(image->is_null() || image->text.empty()))) return;
    report.at(image == nullptr ? container : *image, {"has a container without an image"}).fix = "name its image";
  });
  const Node* containers = in.job.pod->find("containers");
  if (kubernetes_table(in.job.root()) != "pytorch-job" || containers == nullptr || !containers->is_array()) return;
  std::string others;
  for (const Node& container : containers->items) {
    const std::string name = member_text(container, {"name"});
    if (name == "pytorch" || is_unknown_text(name)) return;
    others += (others.empty() ? "" : ", ") + quote(name);
  }
  if (others.empty()) return;
  const Node& first = containers->items.front();
  const Node* name = first.find("name");
  Finding& finding =
      report.at(name == nullptr ? first : *name,
                {fmt::format("has no container of the name pytorch, which the operator looks for, but {}", others)});
  finding.fix = "name the container that trains pytorch";
  finding.source = "kubeflow/training-operator v1.9.0, pkg/webhooks/pytorch/pytorchjob_webhook.go";
}

void refused_manifest(const CheckInput& in, Report& report) {
  // The command line's own file has a form for the name.
  const bool has_form = kubernetes_table(in.job.root()) == "hyp-pytorch-job";
  if (in.job.name && !has_form && !is_object_name(*in.job.name)) {
    report.at(in.job.name, {"is named " + quote(*in.job.name) + ": small letters, digits and inner hyphens alone"})
        .fix = "name it with small letters, digits, hyphens and points, the first and the last no hyphen";
  }
  if (in.job.pod == nullptr) return;
  each_container(*in.job.pod, [&](const Node& container) {
    if (const Node* resources = container.find("resources")) {
      uneven_devices(*resources, report);
      wrong_quantities(*resources, report);
    }
  });
  containers_to_start(in, report);
  mounts_without_volume(*in.job.pod, report);
}

constexpr std::string_view kOperator = "aws/sagemaker-hyperpod-cli 3.12.0, hyperpod_pytorch_job_unified_config.py";
constexpr std::string_view kFeatures =
    "SageMaker developer guide, sagemaker-eks-checkpointless and sagemaker-eks-elastic-training, read 2026-11-28";

constexpr Rule kHyperpodRules[] = {
    {"C227", Severity::Error, "Ways to recover",
     "checkpointless training stands with elastic training, or one of them with a trainer or a cluster that has it not",
     "{}", "keep one of them, or use a trainer and a cluster that have it", kFeatures, kStanding, Need::Nothing,
     excluded},
    {"C228", Severity::Error, "Counts of an elastic job",
     "the counts of instances contradict each other, or the job starts with another", "{}",
     "give minReplicas <= replicas <= maxReplicas, and a step or a list that leads from one to the other", kOperator,
     kStanding, Need::Nothing, elastic_counts},
    {"C229", Severity::Error, "Resources of a pod",
     "a pod asks for more devices, EFA interfaces, memory or cores than its type has, starts more processes than it "
     "has "
     "devices or others than nprocPerNode says, or asks for no device",
     "the pod asks for {}", "ask for what one instance has", kOperator, kHyperpodJob, Need::Nothing, pod_devices},
    {"C230", Severity::Warning, "Pods without EFA", "several pods on a type with EFA ask for none of its interfaces",
     "{} x {} talk over TCP: the pods ask for no EFA", "ask for vpc.amazonaws.com/efa: all of the type's interfaces",
     kOperator, kHyperpodJob, Need::Nothing, pod_without_efa},
    {"C236", Severity::Error, "Manifest that Kubernetes refuses",
     "a name has other characters than Kubernetes takes, devices are requested in part, without a limit or with "
     "another, what is asked for is no quantity, a container has no image (of a PyTorchJob: none is named pytorch), or "
     "a volume that is mounted is not there",
     "the manifest {}", "Kubernetes makes no object of it until it is as it should be",
     "Kubernetes documentation, names, extended resources, quantities, containers, volumes", kHyperpodJob,
     Need::Nothing, refused_manifest},
    {"C231", Severity::Warning, "Untried way to recover", "AWS validated the way to recover on other types",
     "{} was validated on {} alone", "try a failure before you count on it", kFeatures, kStanding, Need::Nothing,
     unproven},
};

}  // namespace

std::span<const Rule> hyperpod_rules() { return kHyperpodRules; }

}  // namespace smplan
