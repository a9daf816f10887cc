// SageMaker's model-parallel library, version 1: archived, still found in examples.
#include <array>

#include "planner/preflight/rules/smp.hpp"

namespace smplan {

const Node* smp_parameter(const CheckInput& in, std::string_view name) {
  const Node* parameters = in.job.launcher.smp_node();
  return parameters == nullptr ? nullptr : parameters->find(name);
}

std::optional<std::int64_t> smp_count(const CheckInput& in, std::string_view name) {
  const Node* node = smp_parameter(in, name);
  return node == nullptr ? std::nullopt : integer_of(*node);
}

namespace {

bool has_key_only_in(const CheckInput& in, const std::vector<std::string>& these,
                     const std::vector<std::string>& others) {
  const Node* parameters = in.job.launcher.smp_node();
  if (parameters == nullptr) return false;
  for (const Node& entry : parameters->items) {
    if (contains(these, entry.key) && !contains(others, entry.key)) return true;
  }
  return false;
}

}  // namespace

bool is_smp_v2(const CheckInput& in) {
  if (!in.job.launcher.smp.is(true)) return false;
  return in.job.launcher.torchrun.is(true) || has_key_only_in(in, in.limits.smp_v2, in.limits.smp_v1);
}

bool is_smp_v1(const CheckInput& in) { return in.job.launcher.smp.is(true) && !is_smp_v2(in); }

namespace {

/// Partitions by either of the names.
std::int64_t pipeline_degree(const CheckInput& in) {
  return smp_count(in, "pipeline_parallel_degree").value_or(smp_count(in, "partitions").value_or(1));
}

void archived(const CheckInput& in, Report& report) {
  const bool v1_keys = in.job.launcher.smp.is(true) && has_key_only_in(in, in.limits.smp_v1, in.limits.smp_v2);
  const bool recipe = in.job.root().has("training_recipe");
  if (is_smp_v1(in) || (v1_keys && !recipe)) report.at(in.job.launcher.smp);
}

void needs_mpi(const CheckInput& in, Report& report) {
  if (is_smp_v1(in) && !in.job.launcher.mpi.is(true)) report.at(in.job.launcher.smp);
}

bool one_of(const std::string& text, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (text == name) return true;
  }
  return false;
}

void values(const CheckInput& in, Report& report) {
  if (!is_smp_v1(in)) return;
  const auto fault = [&](std::string_view key, std::string why) {
    if (const Node* node = smp_parameter(in, key)) report.at(*node, {std::string(key), std::move(why)});
  };
  for (const std::string_view key :
       {"partitions", "pipeline_parallel_degree", "microbatches", "active_microbatches", "tensor_parallel_degree"}) {
    const Node* node = smp_parameter(in, key);
    if (node != nullptr && !is_placeholder(node->text) && integer_of(*node).value_or(0) < 1) {
      fault(key, "must be a whole number from 1");
    }
  }
  const auto choose = [&](std::string_view key, std::initializer_list<std::string_view> names,
                          const std::string& words) {
    const Node* node = smp_parameter(in, key);
    if (node != nullptr && node->is_string() && !is_placeholder(node->text) && !one_of(node->text, names)) {
      fault(key, "is " + quote(node->text) + ", must be " + words);
    }
  };
  choose("pipeline", {"simple", "interleaved", "_only_forward"}, "simple or interleaved");
  choose("placement_strategy", {"spread", "cluster"}, "spread or cluster");
  choose("optimize", {"speed", "memory"}, "speed or memory");
  const Node* weight = smp_parameter(in, "memory_weight");
  if (weight != nullptr && !(number_of(*weight).value_or(-1) >= 0 && number_of(*weight).value_or(2) <= 1)) {
    fault("memory_weight", "must be 0 to 1");
  }
  const auto says = [&](std::string_view key) {
    const Node* node = smp_parameter(in, key);
    return node == nullptr ? std::optional<bool>() : truth_of(*node);
  };
  if (says("ddp") == true && says("horovod") == true) fault("horovod", "excludes ddp");
  for (const std::string_view key : {"ddp_port", "ddp_dist_backend"}) {
    if (says("ddp") != true) fault(key, "needs ddp");
  }
  const Node* default_partition = smp_parameter(in, "default_partition");
  if (says("auto_partition") == false && default_partition == nullptr) {
    fault("auto_partition", "is off and default_partition is not given");
  }
  if (default_partition != nullptr && integer_of(*default_partition).value_or(0) >= pipeline_degree(in)) {
    fault("default_partition", "must be below the number of partitions, " + count_text(pipeline_degree(in)));
  }
}

void unknown_keys(const CheckInput& in, Report& report) {
  if (!is_smp_v1(in) || in.job.launcher.smp_node() == nullptr) return;
  for (const Node& entry : in.job.launcher.smp_node()->items) {
    if (contains(in.limits.smp_v1, entry.key)) continue;
    Finding& finding = report.at(entry, {quote(entry.key)});
    const auto near = nearest_names(entry.key, in.limits.smp_v1, 1);
    if (!near.empty()) finding.fix = "did you mean " + near.front() + "?";
  }
}

void framework_and_instance(const CheckInput& in, Report& report) {
  if (!is_smp_v1(in)) return;
  const Text& v = in.job.framework_version;
  if (in.pytorch() && v && version_before("2.0.0", *v)) report.at(v, {"PyTorch " + *v});
  const Text& type = in.job.instance_type;
  if (type && !contains(in.limits.smp_v1_instances, *type) && !is_local(in.job)) report.at(type, {*type});
}

/// Processes of the job: MPI's per node, else one an accelerator.
std::optional<std::int64_t> processes(const CheckInput& in) {
  const auto nodes = in.nodes();
  if (!nodes || (in.instance() == nullptr && !in.job.launcher.processes_per_node)) return std::nullopt;
  return times(*nodes, in.processes_per_node());
}

void degrees(const CheckInput& in, Report& report) {
  if (!is_smp_v1(in)) return;
  const std::int64_t pp = pipeline_degree(in);
  const std::int64_t tp = smp_count(in, "tensor_parallel_degree").value_or(1);
  const std::int64_t sdp = smp_count(in, "sharded_data_parallel_degree").value_or(1);
  const auto world = processes(in);
  if (pp < 1 || tp < 1 || sdp < 1) return;
  const std::int64_t model_ranks = times(pp, tp);
  const Where& where = in.job.launcher.smp.where;
  if (sdp > 1 && pp > 1)
    report.at(where, {"sharded data parallelism " + count_text(sdp) + " excludes pipeline " + count_text(pp)});
  if (!world) return;
  if (*world % model_ranks != 0) {
    report.at(where, {count_text(*world) + " processes do not divide by pipeline " + count_text(pp) + " x tensor " +
                      count_text(tp)});
  } else if ((*world / model_ranks) % sdp != 0) {
    report.at(where, {"sharded data parallelism " + count_text(sdp) + " does not divide the " +
                      count_text(*world / model_ranks) + " data-parallel ranks"});
  }
}

void tensor_degree(const CheckInput& in, Report& report) {
  const auto tp = smp_count(in, "tensor_parallel_degree");
  if (!is_smp_v1(in) || !tp || *tp < 1) return;
  const Node& node = *smp_parameter(in, "tensor_parallel_degree");
  const auto devices = in.devices_per_node();
  if ((*tp & (*tp - 1)) != 0) report.at(node, {count_text(*tp), "is no power of two"});
  if (devices && *tp > *devices)
    report.at(node, {count_text(*tp), "leaves the node's " + count_text(*devices) + " accelerators"});
}

void offload(const CheckInput& in, Report& report) {
  const Node* on = smp_parameter(in, "offload_activations");
  if (!is_smp_v1(in) || on == nullptr || truth_of(*on) != true) return;
  if (pipeline_degree(in) <= 1) {
    report.at(*on, {"without pipeline parallelism"});
  } else if (smp_count(in, "microbatches").value_or(1) <= 1) {
    report.at(*on, {"with one microbatch"});
  } else if (in.facts.script && in.facts.script->activation_checkpointing == false) {
    report.at(*on, {"without activation checkpointing"});
  }
}

constexpr Rule kSmpV1Rules[] = {
    {"C090", Severity::Warning, "Model-parallel library 1",
     "modelparallel without torch_distributed, or with keys of version 1",
     "version 1 of the model-parallel library is archived: PyTorch 2.0.0 and TensorFlow 2.6 are its last",
     "use FSDP2 or TorchTitan, Megatron or DeepSpeed, or version 2 of the library", kDocs, kSubmitted | kSmp,
     Need::Nothing, archived},
    {"C091", Severity::Error, "Version 1 needs mpi", "modelparallel of version 1 and mpi is not on",
     "version 1 of the model-parallel library is started by MPI, which is not on; the SDK does not look",
     "add \"mpi\": {\"enabled\": true, \"processes_per_host\": <accelerators of a node>}", kSdk2, kSubmitted,
     Need::Nothing, needs_mpi},
    {"C092", Severity::Error, "Values of version 1", "a parameter of version 1 is outside its range", "{} {}",
     "give an allowed value", kSdk2, kSubmitted | kSmp, Need::Nothing, values},
    {"C093", Severity::Warning, "Unknown key of version 1", "a parameter is none of version 1",
     "{} is no parameter of the library and is ignored", "delete it", kSdk2, kSubmitted | kSmp, Need::Nothing,
     unknown_keys},
    {"C094", Severity::Error, "Where version 1 runs",
     "PyTorch above 2.0.0, or another type than g4dn.12xlarge, p3.16xlarge, p3dn, p4d, p4de",
     "version 1 of the model-parallel library does not run on {}", "use a framework that is maintained", kDocs,
     kSubmitted, Need::Nothing, framework_and_instance},
    {"C095", Severity::Error, "Degrees of version 1", "the degrees do not divide the processes", "{}",
     "choose degrees whose product divides the processes", kDocs, kSubmitted | kSmp, Need::Nothing, degrees},
    {"C096", Severity::Warning, "Tensor degree of version 1",
     "it is no power of two, or above the accelerators of a node", "a tensor degree of {} {}",
     "use a power of two inside the node", kDocs, kSubmitted | kSmp, Need::Nothing, tensor_degree},
    {"C097", Severity::Warning, "Offloaded activations of version 1",
     "offload_activations without checkpointing and a pipeline, or with one microbatch",
     "offload_activations does nothing {}",
     "switch it off, or use a pipeline with several microbatches and checkpointing", kDocs, kSubmitted | kSmp,
     Need::Nothing, offload},
};

}  // namespace

std::span<const Rule> smp_v1_rules() { return kSmpV1Rules; }

}  // namespace smplan
