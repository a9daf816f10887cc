// Megatron's arguments.
#include "models/layers/layer_inputs.hpp"
#include "planner/preflight/rules/tools.hpp"

namespace smplan {
namespace {

bool flag(const CheckInput& in, std::string_view name) {
  const Node* node = in.job.root().find(name);
  return node != nullptr && truth_of(*node) != false;
}

/// A variable of the script may hold what is not there.
bool may_follow(const CheckInput& in) { return in.job.root().open; }

void distributed_optimizer(const CheckInput& in, Report& report) {
  if (may_follow(in)) return;
  const bool optimizer = flag(in, "use-distributed-optimizer");
  const Node* kind = in.job.root().find("optimizer");
  const bool gathers = optimizer || flag(in, "use-megatron-fsdp") || (kind != nullptr && kind->text == "dist_muon");
  if (flag(in, "overlap-param-gather") && (!gathers || !flag(in, "overlap-grad-reduce"))) {
    report.at(*in.job.root().find("overlap-param-gather"),
              {"overlap-param-gather",
               std::string("needs ") + (gathers ? "--overlap-grad-reduce" : "--use-distributed-optimizer")});
  }
  for (const std::string_view name : {"fp8-param-gather", "fp4-param-gather"}) {
    const bool sharded = optimizer || flag(in, "use-torch-fsdp2") || flag(in, "use-megatron-fsdp");
    if (flag(in, name) && !sharded) {
      report.at(*in.job.root().find(name), {std::string(name), "needs --use-distributed-optimizer"});
    }
  }
}

/// Whether the prediction of these arguments counts on overlap of tensor ranks.
bool overlap_is_expected(const CheckInput& in) {
  const InstanceType* instance = in.instance();
  const Stack* megatron = in.catalog.find_stack("megatron");
  const JobStrategy& s = in.job.strategy;
  if (instance == nullptr || megatron == nullptr || s.tensor.value_or(1) == 1) return false;
  const TensorRanks ranks{.fabric = instance->fabric.kind,
                          .one_domain = *s.tensor <= instance->fabric.domain_size,
                          .sequence_parallel = s.sequence_parallel.is(true),
                          .latent_attention = flag(in, "multi-latent-attention"),
                          .precision = in.job.root().has("fp4-format") ? Precision::Fp4 : Precision::Bf16};
  return overlaps(ranks, *megatron);
}

/// Megatron asserts sequence parallelism beside the overlap of tensor ranks, which it leaves off.
void tensor_overlap(const CheckInput& in, Report& report) {
  const Count& tensor = in.job.strategy.tensor;
  if (flag(in, "tp-comm-overlap")) {
    if (may_follow(in) || in.job.strategy.sequence_parallel.is(true)) return;
    report.at(*in.job.root().find("tp-comm-overlap"), {"tp-comm-overlap", "needs --sequence-parallel"});
  } else if (!may_follow(in) && overlap_is_expected(in)) {
    const char* text = "ranks wait for their collectives: predictions count on --tp-comm-overlap";
    Finding& finding = report.at(tensor, {"tensor-model-parallel-size", text});
    finding.severity = Severity::Warning;
    finding.fix = "add --tp-comm-overlap";
  }
}

/// TransformerConfig.__post_init__ raises on both.
void offloaded_activations(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (!s.activation_offload.is(true)) return;
  const auto exclude = [&](const char* what, const char* fix) {
    report.at(s.activation_offload, {"cpu-offloading-num-layers", what}).fix = fix;
  };
  if (s.pipeline.value_or(1) > 1) exclude("excludes a pipeline", "drop it, or use --pipeline-model-parallel-size 1");
  if (s.recompute && *s.recompute != "none") exclude("excludes recomputation", "keep one of them");
}

/// The offloaded optimizer is built on the precision-aware one, and that on the distributed one.
void offloaded_optimizer(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  if (may_follow(in)) return;
  if (flag(in, "optimizer-cpu-offload") && !flag(in, "use-precision-aware-optimizer")) {
    report.at(*root.find("optimizer-cpu-offload"), {"optimizer-cpu-offload", "needs --use-precision-aware-optimizer"});
  }
  if (flag(in, "use-precision-aware-optimizer") && !flag(in, "use-distributed-optimizer") &&
      !flag(in, "use-megatron-fsdp")) {
    report.at(*root.find("use-precision-aware-optimizer"),
              {"use-precision-aware-optimizer", "needs --use-distributed-optimizer"});
  }
}

void recomputation(const CheckInput& in, Report& report) {
  const Node& root = in.job.root();
  const Node* granularity = root.find("recompute-granularity");
  if (granularity == nullptr || is_placeholder(granularity->text)) return;
  const auto fault = [&](std::string text, std::string fix) {
    report.at(*granularity, {"recompute-granularity", std::move(text)}).fix = std::move(fix);
  };
  const bool method = root.has("recompute-method");
  const bool layers = root.has("recompute-num-layers");
  if (granularity->text == "full") {
    if (!method && !root.open) fault("full needs --recompute-method", "add --recompute-method uniform or block");
    if (!layers && !root.open) fault("full needs --recompute-num-layers", "add --recompute-num-layers 1");
  } else if (granularity->text == "selective") {
    if (layers) fault("selective excludes --recompute-num-layers", "drop the number of layers");
  } else {
    fault("must be full or selective, is " + quote(granularity->text), "write full or selective");
  }
}

void sequence_of_positions(const CheckInput& in, Report& report) {
  const Node* positions = in.job.root().find("max-position-embeddings");
  const auto n = positions == nullptr ? std::nullopt : integer_of(*positions);
  const Count& length = in.job.strategy.sequence_length;
  if (!n || !length || *n >= *length) return;
  report.at(*positions, {"max-position-embeddings", count_text(*n) + " is below --seq-length " + count_text(*length)})
      .fix = "raise it to the sequence length";
}

void repeated_options(const CheckInput& in, Report& report) {
  for (const Node& option : in.job.root().items) {
    if (option.overridden_line == 0) continue;
    Finding& finding = report.at(option, {option.key, "overrides that of line " + count_text(option.overridden_line)});
    finding.severity = Severity::Warning;
    finding.fix = "keep one of them";
  }
}

/// Megatron Core's MoE layer raises in training. Source: megatron-core 0.16.1, transformer/moe/moe_layer.py.
void sequence_of_experts(const CheckInput& in, Report& report) {
  const JobStrategy& s = in.job.strategy;
  if (s.experts.value_or(1) > 1 && s.tensor.value_or(1) > 1 && !s.sequence_parallel.is(true)) {
    report.at(s.experts, {"num-experts", "with tensor ranks needs --sequence-parallel"});
  }
}

void megatron_options(const CheckInput& in, Report& report) {
  sequence_of_experts(in, report);
  distributed_optimizer(in, report);
  tensor_overlap(in, report);
  offloaded_activations(in, report);
  offloaded_optimizer(in, report);
  recomputation(in, report);
  sequence_of_positions(in, report);
  repeated_options(in, report);
}

constexpr Rule kMegatronRules[] = {
    {"C180", Severity::Error, "Options of Megatron",
     "an option lacks another that it needs (overlapped or low-precision gathering, overlap of tensor ranks, an "
     "offloaded optimizer, full recomputation, experts with tensor ranks), collectives of tensor ranks overlap with "
     "nothing (a warning), "
     "activations are offloaded in a pipeline or beside recomputation, the sequence is longer than the positions, "
     "or an option stands twice (a warning)",
     "--{} {}", "add the option", "Megatron-LM d98e8a6 (2026-08-22), arguments.py and transformer_config.py", kMegatron,
     Need::Nothing, megatron_options},
};

}  // namespace

std::span<const Rule> megatron_rules() { return kMegatronRules; }

}  // namespace smplan
