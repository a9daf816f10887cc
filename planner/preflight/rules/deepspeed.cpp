// ds_config.json.
#include <algorithm>

#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

const Node* zero(const CheckInput& in) { return in.job.root().find("zero_optimization"); }

const Node* zero_member(const CheckInput& in, std::string_view name) {
  return zero(in) == nullptr ? nullptr : zero(in)->find(name);
}

std::int64_t stage(const CheckInput& in) { return in.job.strategy.zero_stage.value_or(0); }

void pipeline(const CheckInput& in, Report& report) {
  const Count& pp = in.job.strategy.pipeline;
  if (pp && *pp > 1 && stage(in) >= 2) {
    report.at(in.job.strategy.zero_stage, {count_text(stage(in)), count_text(*pp)});
  }
}

/// Keys of the file itself, unknown ones of which DeepSpeed leaves to the caller. Source: DeepSpeed 0.19.5,
/// runtime/constants.py and docs/_pages/config-json.md.
constexpr std::string_view kTopLevel[] = {"train_batch_size",
                                          "train_micro_batch_size_per_gpu",
                                          "gradient_accumulation_steps",
                                          "gradient_clipping",
                                          "zero_optimization",
                                          "zero_allow_untested_optimizer",
                                          "zero_force_ds_cpu_optimizer",
                                          "bf16",
                                          "fp16",
                                          "amp",
                                          "optimizer",
                                          "scheduler",
                                          "activation_checkpointing",
                                          "steps_per_print",
                                          "wall_clock_breakdown",
                                          "prescale_gradients",
                                          "gradient_predivide_factor",
                                          "communication_data_type",
                                          "sparse_attention",
                                          "sparse_gradients",
                                          "flops_profiler",
                                          "tensorboard",
                                          "comms_logger",
                                          "data_efficiency",
                                          "elasticity",
                                          "tensor_parallel",
                                          "pipeline",
                                          "checkpoint",
                                          "data_types"};

void unknown_key(const CheckInput& in, Report& report) {
  for (const Node& entry : in.job.root().items) {
    const std::string_view meant = one_slip_from(entry.key, kTopLevel);
    if (meant.empty()) continue;
    Finding& finding = report.at(entry);
    finding.severity = Severity::Warning;
    finding.message = quote(entry.key) + " is dropped without a word";
    finding.fix = "did you mean " + std::string(meant) + "?";
  }
  if (zero(in) == nullptr) return;
  for (const Node& entry : zero(in)->items) {
    if (contains(in.limits.zero_optimization, entry.key)) continue;
    Finding& finding = report.at(entry, {quote(entry.key)});
    const auto near = nearest_names(entry.key, in.limits.zero_optimization, 1);
    if (!near.empty()) finding.fix = "did you mean " + near.front() + "?";
  }
}

void stage_range(const CheckInput& in, Report& report) {
  const bool accelerate = in.job.kind == JobKind::Accelerate;
  const Node* node = accelerate ? in.job.root().at({"deepspeed_config", "zero_stage"}) : zero_member(in, "stage");
  if (node == nullptr || node->text == "auto" || is_placeholder(node->text)) return;
  const auto n = integer_of(*node);
  if (!n || *n < 0 || *n > 3)
    report.at(*node, {node->text.empty() ? std::string(kind_name(node->kind)) : quote(node->text)});
}

void offload_device(const CheckInput& in, Report& report) {
  for (const std::string_view name : {"offload_optimizer_device", "offload_param_device"}) {
    const Node* device = in.job.root().at({"deepspeed_config", name});
    if (device == nullptr || !device->is_string() || is_placeholder(device->text)) continue;
    const std::string& d = device->text;
    if (d != "none" && d != "cpu" && d != "nvme") {
      report.at(*device, {std::string(name), quote(d) + " is none of none, cpu, nvme"});
    }
  }
  for (const std::string_view name : {"offload_optimizer", "offload_param"}) {
    const Node* offload = zero_member(in, name);
    const Node* device = offload == nullptr ? nullptr : offload->find("device");
    if (device == nullptr || is_placeholder(device->text)) continue;
    const std::string& d = device->text;
    const Node* path = offload->find("nvme_path");
    if (d != "none" && d != "cpu" && d != "nvme") {
      report.at(*device, {std::string(name), "device " + quote(d) + " is none of none, cpu, nvme"});
    } else if (d == "nvme" && (path == nullptr || path->is_null())) {
      report.at(*device, {std::string(name), "device nvme needs nvme_path"});
    }
  }
}

bool offloads(const Node* offload) {
  if (offload == nullptr || !offload->is_object()) return false;
  const Node* device = offload->find("device");
  return device != nullptr && device->text != "none";
}

/// Parameters leave the device in stage 3, optimizer states in any stage that shards them; stages 1 and 2 take NVMe for
/// host memory (runtime/zero/stage_1_and_2.py).
void offload_below_stage(const CheckInput& in, Report& report) {
  const std::string n = count_text(stage(in));
  const Node* parameters = zero_member(in, "offload_param");
  if (offloads(parameters) && stage(in) < 3) report.at(*parameters, {"offload_param has no effect", n});
  const Node* optimizer = zero_member(in, "offload_optimizer");
  if (!offloads(optimizer)) return;
  if (stage(in) < 1) {
    report.at(*optimizer, {"offload_optimizer has no effect", n}).fix = "use a stage from 1, or drop it";
  } else if (stage(in) < 3 && optimizer->find("device")->text == "nvme") {
    report.at(*optimizer, {"offload_optimizer stays in host memory, off the NVMe,", n}).fix = "use stage 3, or cpu";
  }
}

void partial_offload(const CheckInput& in, Report& report) {
  const Node* offload = zero_member(in, "offload_optimizer");
  const Node* ratio = offload == nullptr ? nullptr : offload->find("ratio");
  const auto r = ratio == nullptr ? std::nullopt : number_of(*ratio);
  if (!r) return;
  if (*r > 1 || *r < 0) {
    report.at(*ratio, {ratio->text, "is not between 0 and 1"});
  } else if (*r < 1 && stage(in) != 3) {
    report.at(*ratio, {ratio->text, "works in stage 3 only, and this is stage " + count_text(stage(in))});
  }
}

void cpu_offload(const CheckInput& in, Report& report) {
  for (const std::string_view name : {"cpu_offload", "cpu_offload_param"}) {
    const Node* old_key = zero_member(in, name);
    if (old_key == nullptr) continue;
    const std::string now = name == "cpu_offload" ? "offload_optimizer" : "offload_param";
    Finding& finding = report.at(*old_key, {std::string(name), now});
    finding.fix = "write \"" + now + "\": {\"device\": \"cpu\"}";
    if (zero_member(in, now) == nullptr && truth_of(*old_key)) {
      finding.edits = {{Edit::Kind::Set, old_key->where.path,
                        *truth_of(*old_key) ? R"({"device": "cpu"})" : R"({"device": "none"})"},
                       {Edit::Kind::Rename, old_key->where.path, now}};
    }
  }
}

void secondary_partition(const CheckInput& in, Report& report) {
  const Node* hpz = zero_member(in, "zero_hpz_partition_size");
  const auto n = hpz == nullptr ? std::nullopt : integer_of(*hpz);
  if (!n || *n == 1) return;
  const auto world = in.world();
  if (*n < 1 || (world && *world % *n != 0)) {
    report.at(*hpz, {count_text(*n),
                     world ? "does not divide the " + count_text(*world) + " ranks" : "is no number of ranks"});
  } else if (stage(in) != 3) {
    report.at(*hpz, {count_text(*n), "does nothing in stage " + count_text(stage(in))});
  }
}

void autos_below(const Node& node, Report& report) {
  if (node.is_string() && node.text == "auto") report.at(node, {node.key});
  for (const Node& item : node.items) autos_below(item, report);
}

void automatic(const CheckInput& in, Report& report) {
  if (in.facts.hugging_face_trainer != true) autos_below(in.job.root(), report);
}

void master_weights(const CheckInput& in, Report& report) {
  for (const std::string_view format : {"bf16", "fp16"}) {
    const std::string name = std::string(format) + "_master_weights_and_grads";
    const Node* flag = in.job.root().at({format, name});
    if (flag == nullptr) flag = in.job.root().find(name);
    if (flag != nullptr && truth_of(*flag) == true && (stage(in) < 1 || stage(in) > 3)) {
      report.at(*flag, {name, count_text(stage(in))});
    }
  }
}

constexpr std::string_view kZero = "DeepSpeed 0.19.5 zero/config.py, executed 2026-11-20";
constexpr std::string_view kEngine = "DeepSpeed 0.19.5, pipe/engine.py and config.py";

constexpr Rule kRules[] = {
    {"C158", Severity::Error, "ZeRO with a pipeline", "ZeRO stage 2 or 3 with pipeline parallelism",
     "ZeRO stage {} and a pipeline of {} stages exclude each other", "use stage 0 or 1, or no pipeline", kEngine,
     kDeepSpeed, Need::Nothing, pipeline},
    {"C159", Severity::Error, "Unknown ZeRO key",
     "zero_optimization has a key that DeepSpeed does not know, or (a warning) a key of the file is a slip of a known "
     "one",
     "{} is no key of zero_optimization, which refuses unknown ones", "delete it", kZero, kDeepSpeed, Need::Nothing,
     unknown_key},
    {"C160", Severity::Error, "ZeRO stage", "the stage is not 0, 1, 2 or 3", "ZeRO stage {} does not exist",
     "write 0, 1, 2 or 3", kZero, kDeepSpeed | kAccelerate, Need::Nothing, stage_range},
    {"C161", Severity::Error, "Offload device", "the device is not none, cpu or nvme, or nvme has no path", "{}: {}",
     "write none, cpu or nvme with its nvme_path", kZero, kDeepSpeed | kAccelerate, Need::Nothing, offload_device},
    {"C162", Severity::Error, "Offload below its stage",
     "offload_param or NVMe with a stage below 3, or offload_optimizer in stage 0",
     "{} in stage {}; the schema takes it without a word", "use stage 3, or drop it", kZero, kDeepSpeed, Need::Nothing,
     offload_below_stage},
    {"C163", Severity::Error, "Partial offload", "the offload ratio is above 1, or below 1 outside stage 3",
     "an offload ratio of {} {}", "use stage 3, or offload all", kZero, kDeepSpeed, Need::Nothing, partial_offload},
    {"C164", Severity::Warning, "cpu_offload", "the deprecated key is used", "{} is deprecated, {} takes its place",
     "use the new key", kZero, kDeepSpeed, Need::Nothing, cpu_offload},
    {"C165", Severity::Error, "Secondary partition",
     "zero_hpz_partition_size does not divide the ranks, or the stage is not 3", "zero_hpz_partition_size {} {}",
     "use stage 3 and the accelerators of a node", kEngine, kDeepSpeed, Need::Nothing, secondary_partition},
    {"C166", Severity::Error, "Values left to auto",
     "a value is auto and the file does not go through Hugging Face's Trainer",
     "{} is auto, which only Hugging Face's Trainer fills in: DeepSpeed quietly takes its default",
     "write the value (facts: \"hugging_face_trainer\": true if the Trainer reads this file)", kZero, kDeepSpeed,
     Need::Nothing, automatic},
    {"C167", Severity::Error, "Master weights", "16-bit master weights outside ZeRO stages 1 to 3",
     "{} needs ZeRO stage 1 to 3, and this is {}", "use a stage from 1, or drop the flag", kEngine, kDeepSpeed,
     Need::Nothing, master_weights},
};

}  // namespace

std::span<const Rule> deepspeed_rules() { return kRules; }

}  // namespace smplan
