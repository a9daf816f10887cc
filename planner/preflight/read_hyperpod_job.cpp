// HyperPodPyTorchJob and PyTorchJob, the objects of Kubernetes that HyperPod's and Kubeflow's training operators run,
// and the configuration of HyperPod's command line, which makes the first of it. Source:
// aws/sagemaker-hyperpod-cli 3.12.0, hyperpod_pytorch_job_unified_config.py; kubeflow/training-operator v1.9.0.
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/words.hpp"
#include "planner/preflight/fields.hpp"
#include "planner/preflight/job_command.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

constexpr std::string_view kOperatorJob = "HyperPodPyTorchJob";
constexpr std::string_view kKubeflowJob = "PyTorchJob";
constexpr std::string_view kCliTemplate = "hyp-pytorch-job";

/// The kind of an object of Kubernetes; empty for other documents.
std::string_view kind_of(const Node& document) {
  const Node* kind = document.has("apiVersion") ? document.find("kind") : nullptr;
  return kind != nullptr && kind->is_string() ? std::string_view(kind->text) : std::string_view();
}

/// A kind that is read, also where its name has a slip: the table of its settings says which it is.
std::string_view read_kind(std::string_view kind) {
  for (const std::string_view known : {kOperatorJob, kKubeflowJob}) {
    if (kind == known || lower_case(kind) == lower_case(known) || one_slip_apart(kind, known)) return known;
  }
  return {};
}

const Node* first_item(const Node* list) {
  return list != nullptr && list->is_array() && !list->items.empty() ? &list->items.front() : nullptr;
}

const Node* member(const Node* object, std::string_view name) {
  return object == nullptr ? nullptr : object->find(name);
}

void read_command(const Node& container, Job& job) {
  job.started = started_by(container.find("command"), container.find("args"), job.file);
  const Result<Node> words = words_of(container.find("command"), container.find("args"), job.file);
  if (!words || !words->is_object()) return;
  job.launcher.stated = true;
  job.launcher.where = container.where;
  job.launcher.torchrun = derived(true, container.where);
  read_launched(job.started, container.where, job.command);
  // What a program says in its command stands where the container does: a list of words has no names.
  Node settings = *words;
  for (Node& option : settings.items) {
    std::replace(option.key.begin(), option.key.end(), '-', '_');
    option.where = container.where;
  }
  for (const Node& option : words->items) {
    if (!option.is_array()) continue;
    for (const Node& word : option.items) {
      if (word.text.ends_with(".py") && !job.entry_point.stated) job.entry_point = derived(word.text, container.where);
    }
  }
  if (settings.has("inprocess_restart")) job.checkpointless = derived(true, container.where);
  read_script_settings(settings, job);
}

/// A container's variables by name, of which the last of a name holds. Those that the cluster fills in have no value.
void read_variables(const Node* list, Job& job) {
  if (list == nullptr || !list->is_array()) return;
  Node variables;
  variables.kind = Node::Kind::Object;
  variables.where = list->where;
  for (const Node& entry : list->items) {
    const Node* name = entry.find("name");
    const Node* value = entry.find("value");
    if (name == nullptr || !name->is_string()) continue;
    std::erase_if(variables.items, [&](const Node& known) { return known.key == name->text; });
    if (value == nullptr) continue;
    variables.items.push_back(*value);
    variables.items.back().key = name->text;
  }
  job.own_environment = std::make_shared<const Node>(std::move(variables));
  job.environment = job.own_environment.get();
}

void read_elastic(const Node* policy, Job& job) {
  if (policy == nullptr || !policy->is_object()) return;
  JobElastic& e = job.elastic;
  e.on = derived(true, policy->where);
  e.least = count_field(policy->find("minReplicas"));
  e.most = count_field(policy->find("maxReplicas"));
  e.step = count_field(policy->find("replicaIncrementStep"));
  const Node* counts = policy->find("replicaDiscreteValues");
  if (counts == nullptr || !counts->is_array()) return;
  for (const Node& count : counts->items) e.counts.push_back(count_field(&count));
}

/// The pod of a replica's template: its type, what it asks for, what its first container starts.
void read_pod(const Node* replicas, Job& job) {
  const Node* pod = replicas == nullptr ? nullptr : replicas->at({"template", "spec"});
  const Node* container = first_item(member(pod, "containers"));
  job.pod = pod;
  job.instance_type =
      text_field(pod == nullptr ? nullptr : pod->at({"nodeSelector", "node.kubernetes.io/instance-type"}));
  if (container == nullptr) return;
  job.pod_resources = container->find("resources");
  read_image(container->find("image"), job);
  if (job.image && job.image->find("checkpointless") != std::string::npos) {
    job.checkpointless = derived(true, job.image.where);
  }
  read_variables(container->find("env"), job);
  read_command(*container, job);
}

/// Kubeflow's PyTorchJob: workers, and a master that is one of the nodes.
void read_pytorch_job(const Node* specs, Job& job) {
  // Older versions of the operator took small letters too.
  const Node* workers = member(specs, specs != nullptr && specs->has("worker") ? "worker" : "Worker");
  const Node* master = member(specs, specs != nullptr && specs->has("master") ? "master" : "Master");
  const Count more = count_field(member(workers, "replicas"));
  if (more) job.instance_count = derived(*more + (master != nullptr ? 1 : 0), more.where);
  if (workers == nullptr && master != nullptr) job.instance_count = derived<std::int64_t>(1, master->where);
  job.strategy.nodes = job.instance_count;
  read_pod(workers != nullptr ? workers : master, job);
}

/// Of the configuration of HyperPod's command line, what the pod asks for. Requests and limits are the same; links that
/// are left out are all of the type's, and without a number of devices a pod has whole nodes. Source:
/// aws/sagemaker-hyperpod-cli 011ca92, training/quota_allocation_util.py.
void read_requests(const Node& root, Job& job) {
  Node list;
  list.kind = Node::Kind::Object;
  list.where = root.where;
  const auto take = [&](const Node* asked, std::string_view resource) {
    if (asked != nullptr) list.items.push_back(*asked);
    if (asked == nullptr) list.items.emplace_back();
    list.items.back().key = resource;
  };
  const Node* devices = first_of(root, {"accelerators", "accelerators_limit"});
  if (devices == nullptr || devices->is_null()) return;
  const bool trainium = job.instance_type && job.instance_type->find("trn") != std::string::npos;
  take(devices, trainium ? "aws.amazon.com/neuron" : "nvidia.com/gpu");
  take(first_of(root, {"efa", "efa_limit"}), "vpc.amazonaws.com/efa");
  Node resources;
  resources.kind = Node::Kind::Object;
  resources.where = devices->where;
  list.key = "limits";
  resources.items.push_back(std::move(list));
  job.own_resources = std::make_shared<const Node>(std::move(resources));
  job.pod_resources = job.own_resources.get();
}

/// Source: hyperpod-pytorch-job-template 1.5.0, v1_1/model.py, to_domain().
void read_cli_job(const Node& root, Job& job) {
  job.name = text_field(root.find("job_name"));
  job.launcher.processes_per_node = count_field(root.find("tasks_per_node"));
  job.strategy.devices_per_node = job.launcher.processes_per_node;
  job.instance_type = text_field(root.find("instance_type"));
  job.instance_count = count_field(first_of(root, {"replica_count", "node_count"}));
  job.strategy.nodes = job.instance_count;
  read_image(root.find("image"), job);
  job.environment = root.find("environment");
  JobElastic& e = job.elastic;
  e.most = count_field(first_of(root, {"max_replica_count", "max_node_count"}));
  e.step = count_field(root.find("elastic_replica_increment_step"));
  for (const Node* counts = root.find("elastic_replica_discrete_values"); counts != nullptr; counts = nullptr) {
    for (const Node& count : counts->items) e.counts.push_back(count_field(&count));
  }
  if (e.most.stated || e.step.stated || !e.counts.empty()) {
    e.on = derived(true, e.most.stated ? e.most.where : root.where);
    e.least = job.instance_count;
  }
  read_requests(root, job);
  read_command(root, job);
}

/// The template that the file says it is of: the command line writes it as a comment, older versions as a member.
std::string hyperpod_template(std::string_view text, const Node& document) {
  constexpr std::string_view kMark = "# template:";
  const std::size_t at = text.starts_with(kMark) ? 0 : text.find("\n" + std::string(kMark));
  if (at == std::string_view::npos) {
    const Node* member = document.find("template");
    return member != nullptr && member->is_string() ? member->text : std::string();
  }
  std::string_view name = text.substr(text.find(kMark, at) + kMark.size());
  name = name.substr(0, name.find_first_of("\r\n"));
  const std::size_t begin = std::min(name.find_first_not_of(' '), name.size());
  const std::size_t end = name.find_last_not_of(' ');
  return std::string(name.substr(begin, end == std::string_view::npos ? 0 : end + 1 - begin));
}

}  // namespace

bool is_hyperpod_template(std::string_view text, const Node& document) {
  return hyperpod_template(text, document) == kCliTemplate;
}

std::string_view kubernetes_table(const Node& root) {
  if (kind_of(root).empty()) return kCliTemplate;
  return read_kind(kind_of(root)) == kKubeflowJob ? "pytorch-job" : to_string(JobKind::HyperpodJob);
}

std::string unread_kubernetes_kind(const Node& document) {
  const std::string_view kind = kind_of(document);
  const bool read = kind.empty() || !read_kind(kind).empty() || is_placeholder(kind);
  return read ? std::string() : std::string(kind);
}

Result<Node> kubernetes_job_of(std::vector<Node> documents, const std::string& file) {
  std::string names;
  std::vector<Node*> jobs;
  for (Node& document : documents) {
    if (!document.is_null() && kind_of(document).empty()) {
      const Node& second = documents[1];
      return fail("yaml-documents", fmt::format("{}:{}:1", file, second.where.line), "holds a second document",
                  "keep one document a file");
    }
    // What has a Job's name is one: MPIJob, RayJob, Job.
    if (!kind_of(document).ends_with("Job")) continue;
    jobs.push_back(&document);
    const Node* name = document.at({"metadata", "name"});
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", printable(kind_of(document), 60),
                         name == nullptr ? "without a name" : printable(name->text, 60));
  }
  if (jobs.size() == 1) return std::move(*jobs.front());
  if (jobs.empty()) {
    return fail("no-job", file, "holds objects of Kubernetes, and none of them is a job",
                fmt::format("give the file of a {} or a {}", kOperatorJob, kKubeflowJob));
  }
  return fail("several-jobs", file, fmt::format("holds {} jobs: {}", jobs.size(), names),
              "keep one job a file: each is checked by itself");
}

std::string unread_hyperpod_template(std::string_view text, const Node& document) {
  static constexpr std::array<std::string_view, 4> kOthers = {"hyp-jumpstart-endpoint", "hyp-custom-endpoint",
                                                              "cluster-stack", "hyp-recipe-job"};
  const std::string name = hyperpod_template(text, document);
  return std::find(kOthers.begin(), kOthers.end(), name) == kOthers.end() ? std::string() : name;
}

void read_hyperpod_job(const Node& root, Job& job) {
  if (kind_of(root).empty()) return read_cli_job(root, job);
  const Node* spec = root.find("spec");
  job.name = text_field(root.at({"metadata", "name"}));
  job.launcher.processes_per_node = count_field(member(spec, "nprocPerNode"));
  job.strategy.devices_per_node = job.launcher.processes_per_node;
  if (read_kind(kind_of(root)) == kKubeflowJob) {
    return read_pytorch_job(member(spec, "pytorchReplicaSpecs"), job);
  }
  const Node* replicas = first_item(member(spec, "replicaSpecs"));
  job.instance_count = count_field(member(replicas, "replicas"));
  job.strategy.nodes = job.instance_count;
  job.spares = count_field(member(replicas, "spares"));
  read_elastic(member(spec, "elasticPolicy"), job);
  read_pod(replicas, job);
}

}  // namespace smplan
