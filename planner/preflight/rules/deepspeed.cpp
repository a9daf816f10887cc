// ds_config.json.
#include <algorithm>

#include "planner/preflight/rules/settings.hpp"
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

void stage_range(const CheckInput& in, Report& report) {
  const bool accelerate = in.job.kind == JobKind::Accelerate;
  const Node* node = accelerate ? in.job.root().at({"deepspeed_config", "zero_stage"}) : zero_member(in, "stage");
  if (node == nullptr || node->text == "auto" || is_placeholder(node->text)) return;
  // Its enumeration takes true for 1, and false for 0.
  if (!accelerate && node->kind == Node::Kind::Bool) return;
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
    if (device == nullptr || is_placeholder(device->text) || device->text == "auto") continue;
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
  if (!r || *r > 1 || *r < 0) return;  // that is no ratio at all
  if (*r < 1 && stage(in) != 3) {
    report.at(*ratio, {ratio->text, "works in stage 3 only, and this is stage " + count_text(stage(in))});
  }
}

/// Of two old keys that became objects the rewriting is safe; old_settings() leaves them here.
void old_keys(const CheckInput& in, Report& report) {
  old_settings(in, report);
  for (const std::string_view name : {"cpu_offload", "cpu_offload_param"}) {
    const Node* old_key = in.job.kind == JobKind::DeepSpeed ? zero_member(in, name) : nullptr;
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

/// Values that Hugging Face's Trainer fills in. Source: transformers 5.24.0, integrations/deepspeed.py.
bool is_filled(std::string_view path) {
  static constexpr std::string_view kFilled[] = {"/train_batch_size",
                                                 "/train_micro_batch_size_per_gpu",
                                                 "/gradient_accumulation_steps",
                                                 "/gradient_clipping",
                                                 "/optimizer/params/lr",
                                                 "/optimizer/params/betas",
                                                 "/optimizer/params/eps",
                                                 "/optimizer/params/weight_decay",
                                                 "/scheduler/params/warmup_min_lr",
                                                 "/scheduler/params/warmup_max_lr",
                                                 "/scheduler/params/warmup_num_steps",
                                                 "/scheduler/params/total_num_steps",
                                                 "/fp16/enabled",
                                                 "/fp16/fp16_backend",
                                                 "/bf16/enabled",
                                                 "/amp/enabled",
                                                 "/amp/opt_level",
                                                 "/zero_optimization/reduce_bucket_size",
                                                 "/zero_optimization/stage3_prefetch_bucket_size",
                                                 "/zero_optimization/stage3_param_persistence_threshold"};
  return std::find(std::begin(kFilled), std::end(kFilled), path) != std::end(kFilled);
}

/// Who reads the file decides: without the fact it is a warning. What nobody fills in takes DeepSpeed's default.
void autos_below(const Node& node, const std::optional<bool>& trainer, Report& report) {
  const bool automatic = node.is_string() && node.text == "auto";
  if (automatic && trainer != true) {
    // The sections drop the word and take their defaults; what stands outside of them is compared as it is, and fails.
    const bool outside = std::count(node.where.path.begin(), node.where.path.end(), '/') == 1;
    Finding& finding = report.at(node, {node.key, outside ? "fails on it" : "quietly takes its default"});
    if (!trainer) finding.severity = Severity::Warning;
  } else if (automatic && !is_filled(node.where.path)) {
    Finding& finding = report.at(node, {node.key});
    finding.severity = Severity::Warning;
    finding.message = node.key + " is auto, which the Trainer does not fill in: DeepSpeed takes its default";
    finding.fix = "write the value";
  }
  for (const Node& item : node.items) autos_below(item, trainer, report);
}

void automatic(const CheckInput& in, Report& report) {
  autos_below(in.job.root(), in.facts.hugging_face_trainer, report);
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

constexpr Rule kDeepspeedRules[] = {
    {"C158", Severity::Error, "ZeRO with a pipeline", "ZeRO stage 2 or 3 with pipeline parallelism",
     "ZeRO stage {} and a pipeline of {} stages exclude each other", "use stage 0 or 1, or no pipeline", kEngine,
     kDeepSpeed, Need::Nothing, pipeline},
    {"C159", Severity::Error, "Unknown setting",
     "a framework's file or command line has a key that no version of the framework knows (a warning where the "
     "framework drops it, or where the user's script may take it)",
     "{} is no setting of {}", "delete it", "catalogs/data/frameworks, read by scripts/refresh",
     kFrameworkFiles | kTorchrun, Need::Nothing, unknown_settings},
    {"C234", Severity::Error, "Override that Hydra refuses",
     "an override of Hydra's has a plus and the setting is there, or has none and the setting is not; or its grammar "
     "does not take it",
     "{} is {}", "set the plus right", "catalogs/data/frameworks, read by scripts/refresh",
     one(JobKind::Verl) | one(JobKind::NemoRl), Need::Nothing, wrong_signs},
    {"C160", Severity::Error, "ZeRO stage", "the stage is not 0, 1, 2 or 3", "ZeRO stage {} does not exist",
     "write 0, 1, 2 or 3", kZero, kDeepSpeed | kAccelerate, Need::Nothing, stage_range},
    {"C161", Severity::Error, "Offload device", "the device is not none, cpu or nvme, or nvme has no path", "{}: {}",
     "write none, cpu or nvme with its nvme_path", kZero, kDeepSpeed | kAccelerate, Need::Nothing, offload_device},
    {"C162", Severity::Error, "Offload below its stage",
     "offload_param or NVMe with a stage below 3, or offload_optimizer in stage 0",
     "{} in stage {}; the schema takes it without a word", "use stage 3, or drop it", kZero, kDeepSpeed, Need::Nothing,
     offload_below_stage},
    {"C163", Severity::Error, "Partial offload", "the offload ratio is below 1 outside stage 3",
     "an offload ratio of {} {}", "use stage 3, or offload all", kZero, kDeepSpeed, Need::Nothing, partial_offload},
    {"C164", Severity::Warning, "Old setting",
     "a key of a framework's file or command line is deprecated (a note where nothing takes its place), or the newest "
     "version no longer has it",
     "{} is deprecated, {} takes its place", "use the new key", "catalogs/data/frameworks, read by scripts/refresh",
     kFrameworkFiles, Need::Nothing, old_keys},
    {"C165", Severity::Error, "Secondary partition",
     "zero_hpz_partition_size does not divide the ranks, or the stage is not 3", "zero_hpz_partition_size {} {}",
     "use stage 3 and the accelerators of a node", kEngine, kDeepSpeed, Need::Nothing, secondary_partition},
    {"C166", Severity::Error, "Values left to auto",
     "a value is auto and the file does not go through Hugging Face's Trainer (a warning where that is not known, or "
     "where the Trainer does not fill it in)",
     "{} is auto, which only Hugging Face's Trainer fills in: DeepSpeed {}",
     "write the value (facts: \"hugging_face_trainer\": true if the Trainer reads this file)", kZero, kDeepSpeed,
     Need::Nothing, automatic},
    {"C167", Severity::Error, "Master weights", "16-bit master weights outside ZeRO stages 1 to 3",
     "{} needs ZeRO stage 1 to 3, and this is {}", "use a stage from 1, or drop the flag", kEngine, kDeepSpeed,
     Need::Nothing, master_weights},
};

}  // namespace

std::span<const Rule> deepspeed_rules() { return kDeepspeedRules; }

}  // namespace smplan
