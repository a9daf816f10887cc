#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "models/job/dimensions.hpp"
#include "models/job/execution.hpp"
#include "models/job/strategy.hpp"

namespace smplan {
namespace {

struct Candidate {
  const Strategy& s;
  const Workload& w;
  const Stack& stack;

  [[nodiscard]] const Architecture& arch() const { return w.architecture; }
  [[nodiscard]] std::int64_t layers() const {
    return arch().n_layers + (arch().kind == ModelKind::EncoderDecoder ? arch().n_encoder_layers : 0);
  }
  [[nodiscard]] std::int64_t chunks() const { return std::int64_t{s.pipeline_parallel} * s.virtual_pipeline; }
  [[nodiscard]] std::int64_t replicas() const { return std::int64_t{s.data_parallel} * s.context_parallel; }
  [[nodiscard]] std::int64_t expert_ranks() const { return std::int64_t{s.expert_parallel} * s.expert_tensor(); }
};

/// Whether a run that happened may have had it: a framework can be changed, and cuts more unevenly than its own flags
/// say. No framework splits 32 heads over 3 ranks.
constexpr bool kHappens = true;
constexpr bool kNever = false;

/// One reason to refuse a candidate. A table of these serves the search (first broken rule, no
/// allocation) and the message for people alike.
struct Rule {
  std::string_view id;
  Validity code;
  bool happens;
  const char* flag;
  bool (*broken)(const Candidate&);
  std::string (*message)(const Candidate&);
  const char* hint;
};

template <typename T>
bool lists(const std::vector<T>& allowed, const T& value) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}
bool lists_name(const std::vector<std::string>& allowed, std::string_view value) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

std::string lacks(const Candidate& c, std::string_view what) {
  const std::string limit = c.stack.limitation.empty() ? std::string() : fmt::format(" ({})", c.stack.limitation);
  return fmt::format("{} does not offer {}{}", c.stack.name, what, limit);
}

/// Key-value heads are split over tensor ranks, or copied where there are more ranks than heads.
bool kv_heads_do_not_split(const Candidate& c) {
  const std::int64_t tp = c.s.tensor_parallel;
  const auto splits = [tp](std::int64_t heads) { return heads == 0 || heads % tp == 0 || tp % heads == 0; };
  return !c.arch().has_latent_attention() && !(splits(c.arch().n_kv_heads) && splits(c.arch().global.n_kv_heads));
}
/// What a stage after the first would need of an earlier one beside hidden states.
bool needs_earlier_stages(const Candidate& c) {
  const bool needs = c.arch().shared_key_values.n_layers > 0 || c.arch().layer_embeddings.width > 0;
  return needs && c.s.pipeline_parallel > 1;
}
bool ffn_does_not_split(const Candidate& c) {
  const std::int64_t tp = c.s.tensor_parallel;
  if (c.arch().ffn_hidden % tp != 0) return true;
  return c.arch().is_moe() && c.arch().moe.expert_ffn_hidden % c.s.expert_tensor() != 0;
}
/// Each tensor rank has whole groups of a state mixer, and the ranks of a context whole heads of those: by Mamba-2
/// groups may be copied over them, by the delta rule not (Megatron Core d98e8a6, ssm/mamba_context_parallel.py and
/// transformer/transformer_config.py).
bool state_mixer_does_not_split(const Candidate& c) {
  const StateMixer& m = c.arch().state;
  if (!c.arch().has_state_mixer()) return false;
  const std::int64_t tp = c.s.tensor_parallel;
  const std::int64_t cp = c.s.context_parallel;
  if (m.n_groups % tp != 0 || m.n_heads % (tp * cp) != 0) return true;
  const std::int64_t groups = m.n_groups / tp;
  return groups % cp != 0 && (m.delta_rule || cp % groups != 0);
}
/// Embedding, head and a multi-token-prediction block may each take the place of a layer (Megatron Core's
/// accounting options), so that up to three chunks are one layer short.
bool uneven_chunks(const Candidate& c) {
  const std::int64_t rest = c.layers() % c.chunks();
  return c.s.virtual_pipeline > 1 && rest != 0 && rest < c.chunks() - 3;
}
bool pads_sequence(const Candidate& c) {
  const std::int64_t cp = c.s.context_parallel;
  if (c.arch().kind == ModelKind::Vision) return false;  // class token: the framework pads
  // A causal model gives each rank two slices from both ends of the sequence (zig-zag), for balance.
  if (cp > 1 && c.w.seq_len % (2 * cp) != 0) return true;
  return c.s.sequence_parallel && c.w.seq_len % (cp * c.s.tensor_parallel) != 0;
}
/// The most layers of a chunk: uneven depths leave some chunks one layer more.
std::int64_t chunk_layers(const Candidate& c) { return (c.layers() + c.chunks() - 1) / c.chunks(); }
bool offloads_what_it_recomputes(const Candidate& c) {
  if (!c.s.offload.activations) return false;
  if (c.s.recompute_layers > 0) return true;
  return c.stack.offloads_activations_alone && (c.s.pipeline_parallel > 1 || c.s.recompute != Recompute::None);
}
bool zero_with_pipeline(const Candidate& c) {
  return c.s.pipeline_parallel > 1 && (c.s.sharding == Sharding::Zero2 || c.s.sharding == Sharding::Zero3);
}
/// Parameters leave the device shard by shard (DeepSpeed's offload_param needs stage 3; FSDP's CPUOffload).
bool offloads_whole_parameters(const Candidate& c) {
  const Sharding s = c.s.sharding;
  return c.s.offload.parameters && (s == Sharding::None || s == Sharding::Zero1 || s == Sharding::Zero2);
}
/// DeepSpeed moves what ZeRO shards, so that without a stage `offload_optimizer` does nothing; NVMe is ZeRO-Infinity's,
/// which is stage 3 (DeepSpeed configuration, `offload_optimizer`; Rajbhandari et al. 2021).
bool offloads_without_zero(const Candidate& c) {
  return c.stack.deepspeed_engine && c.s.offload.optimizer && c.s.sharding == Sharding::None;
}
bool nvme_below_zero3(const Candidate& c) {
  return c.stack.deepspeed_engine && c.s.offload.to_nvme && c.s.sharding != Sharding::Zero3;
}
bool lacks_expert_parallel(const Candidate& c) {
  const bool asked = c.s.expert_parallel > 1 || (c.arch().is_moe() && c.s.expert_tensor() != c.s.usual_expert_tensor());
  return asked && (!c.stack.expert_parallel || !c.arch().is_moe());
}
bool lacks_offload(const Candidate& c) {
  const Offload& o = c.s.offload;
  return (o.optimizer && !lists_name(c.stack.offloads, "optimizer")) ||
         (o.parameters && !lists_name(c.stack.offloads, "params")) ||
         (o.activations && !lists_name(c.stack.offloads, "activations")) ||
         (o.to_nvme && !lists_name(c.stack.offloads, "nvme"));
}

/// First of what the execution says and the framework cannot be told; nullptr where it can be told all.
const DimensionRow* refused_option(const Candidate& c) {
  if (c.s.execution == c.stack.execution) return nullptr;
  for (const DimensionRow& row : dimensions()) {
    const std::int32_t wanted = row.get(c.s);
    if (!row.is_offered || wanted == 0 || wanted == row.told(c.stack.execution)) continue;
    // Modules are told together.
    const bool is_set = row.dimension == Dimension::RecomputeModules;
    std::int32_t offered = 0;
    for (const Execution& offer : c.stack.offers) {
      const std::int32_t value = row.told(offer);
      offered = is_set ? offered | value : value == wanted ? value : offered;
    }
    if (is_set ? (wanted & ~offered) != 0 : offered != wanted) return &row;
  }
  return nullptr;
}

bool switches_experts(const Execution& e) {
  return e.moe_dispatcher != MoeDispatcher::Default || e.moe_router != MoeRouter::Default ||
         e.expert_overlap != Toggle::Default || e.fused_routing != Toggle::Default ||
         e.cuda_graphs != CudaGraphs::Default;
}

constexpr std::array kRules{
    Rule{"degrees-are-positive", Validity::OutOfRange, kNever,
         "--dp --tp --pp --vpp --cp --ep --shard-degree --micro-batch",
         [](const Candidate& c) {
           return std::min({c.s.data_parallel, c.s.tensor_parallel, c.s.pipeline_parallel, c.s.virtual_pipeline,
                            c.s.context_parallel, c.s.expert_parallel, c.s.shard_degree, c.s.micro_batch}) < 1;
         },
         [](const Candidate&) { return std::string("every degree and the micro-batch must be at least 1"); },
         "give positive whole numbers"},
    Rule{"heads-by-tensor", Validity::Divisibility, kNever, "--tp",
         [](const Candidate& c) { return c.arch().n_heads % c.s.tensor_parallel != 0; },
         [](const Candidate& c) {
           return fmt::format("{} attention heads do not divide by tensor parallel {}", c.arch().n_heads,
                              c.s.tensor_parallel);
         },
         "choose a divisor of the heads"},
    Rule{"key-value-heads-by-tensor", Validity::Divisibility, kNever, "--tp", kv_heads_do_not_split,
         [](const Candidate& c) {
           return fmt::format("{} key-value heads neither divide by tensor parallel {} nor divide it",
                              c.arch().n_kv_heads, c.s.tensor_parallel);
         },
         "choose a divisor or a multiple of the key-value heads"},
    Rule{"layers-of-one-stage", Validity::Unsupported, kNever, "--pp", needs_earlier_stages,
         [](const Candidate& c) {
           return fmt::format(
               "layers of {} read keys, values or embeddings of earlier layers, which no pipeline hands on",
               c.arch().name);
         },
         "give --pp 1"},
    Rule{"feed-forward-by-tensor", Validity::Divisibility, kNever, "--tp", ffn_does_not_split,
         [](const Candidate& c) {
           return fmt::format("the feed-forward width does not divide by tensor parallel {}", c.s.tensor_parallel);
         },
         "choose a divisor of the width"},
    Rule{"state-mixer-by-tensor-and-context", Validity::Divisibility, kNever, "--tp --cp", state_mixer_does_not_split,
         [](const Candidate& c) {
           return fmt::format(
               "a state mixer of {} groups and {} heads does not divide by tensor parallel {}{}",
               c.arch().state.n_groups, c.arch().state.n_heads, c.s.tensor_parallel,
               c.s.context_parallel > 1 ? fmt::format(" x context parallel {}", c.s.context_parallel) : std::string());
         },
         "choose a divisor of the groups, with context ranks of the heads"},
    Rule{"layers-for-chunks", Validity::Divisibility, kNever, "--pp",
         [](const Candidate& c) { return c.layers() < c.chunks(); },
         [](const Candidate& c) {
           return fmt::format("{} layers are too few for {} pipeline chunks", c.layers(), c.chunks());
         },
         "use fewer pipeline ranks or chunks"},
    Rule{"equal-chunks", Validity::Divisibility, kHappens, "--vpp", uneven_chunks,
         [](const Candidate& c) {
           return fmt::format("{} layers do not divide into {} interleaved chunks", c.layers(), c.chunks());
         },
         "interleaving needs equal chunks"},
    Rule{"sequence-by-context-and-tensor", Validity::Divisibility, kNever, "--cp --sequence-parallel", pads_sequence,
         [](const Candidate& c) {
           return fmt::format(
               "a sequence of {} does not divide over context parallel {} (two slices each) and tensor {}", c.w.seq_len,
               c.s.context_parallel, c.s.tensor_parallel);
         },
         "choose a divisor of the sequence"},
    Rule{"batch-by-data-and-micro-batch", Validity::Divisibility, kNever, "--dp --micro-batch",
         [](const Candidate& c) { return c.w.global_batch % (std::int64_t{c.s.data_parallel} * c.s.micro_batch) != 0; },
         [](const Candidate& c) {
           return fmt::format("a global batch of {} does not divide by data parallel {} x micro-batch {}",
                              c.w.global_batch, c.s.data_parallel, c.s.micro_batch);
         },
         "change the global batch, data parallel or micro-batch"},
    Rule{"experts-by-expert-degree", Validity::Divisibility, kNever, "--ep",
         [](const Candidate& c) { return c.arch().is_moe() && c.arch().moe.n_experts % c.s.expert_parallel != 0; },
         [](const Candidate& c) {
           return fmt::format("{} experts do not divide by expert parallel {}", c.arch().moe.n_experts,
                              c.s.expert_parallel);
         },
         "choose a divisor of the experts"},
    Rule{"expert-groups-in-a-stage", Validity::Divisibility, kHappens, "--ep",
         [](const Candidate& c) { return c.replicas() * c.s.tensor_parallel % c.expert_ranks() != 0; },
         [](const Candidate& c) {
           return fmt::format("expert parallel {}{} does not divide data x context x tensor = {}", c.s.expert_parallel,
                              c.s.expert_tensor() > 1 ? fmt::format(" x expert tensor {}", c.s.expert_tensor()) : "",
                              c.replicas() * c.s.tensor_parallel);
         },
         "expert groups lie inside one pipeline stage"},
    Rule{"shard-groups-in-replicas", Validity::Divisibility, kNever, "--shard-degree",
         [](const Candidate& c) { return c.replicas() % c.s.shard_degree != 0; },
         [](const Candidate& c) {
           return fmt::format("shard degree {} does not divide data x context = {}", c.s.shard_degree, c.replicas());
         },
         "choose a divisor"},
    Rule{"micro-batches-by-pipeline", Validity::Divisibility, kHappens, "--vpp",
         [](const Candidate& c) {
           return c.s.pipeline_parallel > 1 && c.s.schedule == Schedule::Interleaved &&
                  c.s.micro_batches(c.w) % c.s.pipeline_parallel != 0;
         },
         [](const Candidate& c) {
           return fmt::format("{} micro-batches do not divide by {} pipeline ranks, as interleaving needs",
                              c.s.micro_batches(c.w), c.s.pipeline_parallel);
         },
         "change the micro-batch or do not interleave"},
    Rule{"tensor-offered", Validity::Unsupported, kHappens, "--tp",
         [](const Candidate& c) { return c.s.tensor_parallel > 1 && !c.stack.tensor_parallel; },
         [](const Candidate& c) { return lacks(c, "tensor parallelism"); }, "choose another stack or --tp 1"},
    Rule{"sequence-offered", Validity::Unsupported, kHappens, "--sequence-parallel",
         [](const Candidate& c) {
           return c.s.sequence_parallel && (!c.stack.sequence_parallel || c.s.tensor_parallel == 1);
         },
         [](const Candidate& c) {
           return c.s.tensor_parallel == 1 ? std::string("sequence parallelism needs tensor parallelism")
                                           : lacks(c, "sequence parallelism");
         },
         "switch sequence parallelism off"},
    Rule{"sequence-always", Validity::Unsupported, kHappens, "--sequence-parallel",
         [](const Candidate& c) {
           return c.stack.always_sequence_parallel && c.s.tensor_parallel > 1 && !c.s.sequence_parallel;
         },
         [](const Candidate& c) {
           return fmt::format("tensor parallelism of {} is always sequence parallel", c.stack.id);
         },
         "switch sequence parallelism on"},
    Rule{"pipeline-offered", Validity::Unsupported, kHappens, "--pp",
         [](const Candidate& c) { return c.s.pipeline_parallel > 1 && !c.stack.pipeline_parallel; },
         [](const Candidate& c) { return lacks(c, "pipeline parallelism"); }, "choose another stack or --pp 1"},
    Rule{"context-offered", Validity::Unsupported, kHappens, "--cp",
         [](const Candidate& c) { return c.s.context_parallel > 1 && !c.stack.context_parallel; },
         [](const Candidate& c) { return lacks(c, "context parallelism"); }, "choose another stack or --cp 1"},
    Rule{"expert-offered", Validity::Unsupported, kHappens, "--ep", lacks_expert_parallel,
         [](const Candidate& c) {
           return c.arch().is_moe() ? lacks(c, "expert parallelism")
                                    : fmt::format("{} has no experts to distribute", c.arch().name);
         },
         "use --ep 1"},
    Rule{"state-mixers-offered", Validity::Unsupported, kHappens, "--stack",
         [](const Candidate& c) { return c.arch().has_state_mixer() && !c.stack.state_mixers; },
         [](const Candidate& c) { return lacks(c, "state mixers (Mamba-2, the gated delta rule)"); },
         "choose another stack"},
    Rule{"chunks-need-interleaving", Validity::Unsupported, kHappens, "--vpp",
         [](const Candidate& c) {
           const bool interleaved = c.s.schedule == Schedule::Interleaved;
           return (c.s.virtual_pipeline > 1) != interleaved || (interleaved && c.s.pipeline_parallel == 1);
         },
         [](const Candidate&) {
           return std::string(
               "several chunks per pipeline rank and the interleaved schedule need each other and --pp > 1");
         },
         "give --pp and --vpp above 1 together"},
    Rule{"schedule-offered", Validity::Unsupported, kHappens, "--pp",
         [](const Candidate& c) { return c.s.pipeline_parallel > 1 && !lists(c.stack.schedules, c.s.schedule); },
         [](const Candidate& c) { return lacks(c, fmt::format("the {} schedule", to_string(c.s.schedule))); },
         "choose another schedule"},
    Rule{"sharding-offered", Validity::Unsupported, kHappens, "--sharding",
         [](const Candidate& c) { return !lists(c.stack.shardings, c.s.sharding); },
         [](const Candidate& c) { return lacks(c, fmt::format("sharding {}", to_string(c.s.sharding))); },
         "choose another sharding or stack"},
    Rule{"shard-degree-needs-sharding", Validity::Unsupported, kHappens, "--shard-degree",
         [](const Candidate& c) { return c.s.sharding == Sharding::None && c.s.shard_degree > 1; },
         [](const Candidate& c) { return fmt::format("shard degree {} without sharding", c.s.shard_degree); },
         "choose a sharding"},
    // DeepSpeed: gradients and parameters sharded per micro-batch would be reduced once for each of them.
    Rule{"zero-one-with-pipeline", Validity::Unsupported, kHappens, "--zero-stage", zero_with_pipeline,
         [](const Candidate& c) { return fmt::format("{} excludes pipeline parallelism", to_string(c.s.sharding)); },
         "use ZeRO-1 with a pipeline"},
    Rule{"recompute-offered", Validity::Unsupported, kHappens, "--recompute",
         [](const Candidate& c) { return !lists(c.stack.recomputes, c.s.recompute); },
         [](const Candidate& c) { return lacks(c, fmt::format("{} recomputation", to_string(c.s.recompute))); },
         "choose another recomputation"},
    Rule{"recomputed-layers-are-positive", Validity::OutOfRange, kNever, "--recompute-layers",
         [](const Candidate& c) { return c.s.recompute_layers < 0; },
         [](const Candidate& c) { return fmt::format("{} layers cannot be recomputed", c.s.recompute_layers); },
         "give 1 or more"},
    Rule{"recomputed-layers-in-a-chunk", Validity::Divisibility, kNever, "--recompute-layers",
         [](const Candidate& c) { return c.s.recompute_layers > chunk_layers(c); },
         [](const Candidate& c) {
           return fmt::format("recomputes {} layers of a chunk that has {}", c.s.recompute_layers, chunk_layers(c));
         },
         "name no more than a pipeline chunk holds; leave it out for all"},
    Rule{"recomputed-layers-are-full", Validity::Unsupported, kHappens, "--recompute-layers",
         [](const Candidate& c) { return c.s.recompute_layers > 0 && c.s.recompute != Recompute::Full; },
         [](const Candidate& c) {
           return fmt::format("a number of recomputed layers with --recompute {}", to_string(c.s.recompute));
         },
         "use --recompute full"},
    Rule{"recomputed-layers-offered", Validity::Unsupported, kHappens, "--recompute-layers",
         [](const Candidate& c) { return c.s.recompute_layers > 0 && !c.stack.partial_recompute; },
         [](const Candidate& c) { return lacks(c, "recomputation of a number of layers"); },
         "leave --recompute-layers out or use --stack megatron or fsdp"},
    Rule{"recomputed-layers-of-trained-ones", Validity::Unsupported, kHappens, "--recompute-layers --trained-layers",
         [](const Candidate& c) { return c.s.recompute_layers > 0 && c.w.trained_layers.has_value(); },
         [](const Candidate&) {
           return std::string(
               "a number of recomputed layers is counted through a model of which all layers are trained");
         },
         "leave --recompute-layers out"},
    Rule{"activations-offloaded-alone", Validity::Unsupported, kHappens, "--offload", offloads_what_it_recomputes,
         [](const Candidate& c) {
           return fmt::format("{} offloads activations only {}", c.stack.name,
                              c.stack.offloads_activations_alone ? "without a pipeline and without recomputation"
                                                                 : "of all layers alike");
         },
         "use --offload none"},
    Rule{"collectives-offered", Validity::Unsupported, kHappens, "--collectives",
         [](const Candidate& c) { return !lists(c.stack.collectives, c.s.collectives); },
         [](const Candidate& c) { return lacks(c, to_string(c.s.collectives)); }, "use --collectives nccl"},
    Rule{"offload-offered", Validity::Unsupported, kHappens, "--offload", lacks_offload,
         [](const Candidate& c) { return lacks(c, fmt::format("offload of {}", to_string(c.s.offload))); },
         "use --offload none"},
    Rule{"parameters-offloaded-by-shards", Validity::Unsupported, kHappens, "--offload", offloads_whole_parameters,
         [](const Candidate& c) { return fmt::format("{} does not offload parameters", to_string(c.s.sharding)); },
         "shard the parameters (zero3, fsdp-full)"},
    Rule{"optimizer-offloaded-by-shards", Validity::Unsupported, kHappens, "--offload", offloads_without_zero,
         [](const Candidate& c) { return fmt::format("{} offloads the optimizer in a ZeRO stage only", c.stack.name); },
         "shard it (zero1, zero2, zero3)"},
    Rule{"nvme-with-zero-three", Validity::Unsupported, kHappens, "--offload", nvme_below_zero3,
         [](const Candidate& c) {
           return fmt::format("{} offloads to NVMe with zero3 only, not with {}", c.stack.name,
                              to_string(c.s.sharding));
         },
         "use --sharding zero3, or offload to host memory"},
    Rule{"nvme-of-states", Validity::Unsupported, kHappens, "--offload",
         [](const Candidate& c) { return c.s.offload.to_nvme && !c.s.offload.optimizer && !c.s.offload.parameters; },
         [](const Candidate&) { return std::string("only optimizer and parameters go to NVMe"); },
         "name what is offloaded"},
    Rule{"precision-offered", Validity::Unsupported, kHappens, "--dtype",
         [](const Candidate& c) { return !lists_name(c.stack.precisions, to_string(c.w.precision)); },
         [](const Candidate& c) { return lacks(c, to_string(c.w.precision)); }, "choose another --dtype or stack"},
    Rule{"quantised-base-offered", Validity::Unsupported, kHappens, "--finetune",
         [](const Candidate& c) { return c.w.finetune == FineTune::Qlora && !c.stack.quantized_base; },
         [](const Candidate& c) { return lacks(c, "a 4-bit base model"); },
         "use --stack fsdp, deepspeed or hf-trainer"},
    Rule{"execution-offered", Validity::Unsupported, kHappens, "--stack",
         [](const Candidate& c) { return refused_option(c) != nullptr; },
         [](const Candidate& c) {
           const DimensionRow& row = *refused_option(c);
           return fmt::format("{} does not offer {} {}", c.stack.name, row.flag(), row.text(row.get(c.s)));
         },
         "see `smplan catalog show STACK` for what it can be told, or leave the flag out"},
    Rule{"experts-to-switch", Validity::Unsupported, kHappens,
         "--moe-dispatcher --moe-router --expert-overlap --fused-routing --cuda-graphs",
         [](const Candidate& c) { return !c.arch().is_moe() && switches_experts(c.s.execution); },
         [](const Candidate& c) { return fmt::format("{} has no experts", c.arch().name); },
         "leave them out, or choose a mixture of experts"},
    Rule{"modules-with-selective-recomputation", Validity::Unsupported, kHappens, "--recompute-modules",
         [](const Candidate& c) {
           return !c.s.execution.recompute_modules.empty() && c.s.recompute != Recompute::Selective;
         },
         [](const Candidate& c) {
           return fmt::format("recomputation is {}; modules are named of selective recomputation",
                              to_string(c.s.recompute));
         },
         "use --recompute selective"},
    Rule{"pure-half-format", Validity::Unsupported, kNever, "--dtype --pure-half",
         [](const Candidate& c) { return c.s.execution.pure_half == Toggle::On && keeps_32_bits(c.w.precision); },
         [](const Candidate&) { return std::string("16-bit states need a 16-bit compute format"); },
         "use --dtype bf16"},
    Rule{"update-in-backward-of-one-micro-batch", Validity::Unsupported, kNever, "--update-in-backward --micro-batch",
         [](const Candidate& c) {
           return is_on(c.s.execution.update_in_backward) && (c.s.micro_batches(c.w) > 1 || c.s.pipeline_parallel > 1);
         },
         [](const Candidate& c) {
           return fmt::format("a gradient that goes with its update is of one micro-batch, the step has {}",
                              c.s.micro_batches(c.w));
         },
         "give a micro-batch that needs no accumulation, without a pipeline, or leave --update-in-backward out"},
    Rule{"update-in-backward-by-torch", Validity::Unsupported, kNever, "--update-in-backward --stack",
         [](const Candidate& c) {
           return is_on(c.s.execution.update_in_backward) &&
                  (!uses_torch_optimizer(c.s, c.stack) || c.s.offload.optimizer || c.s.offload.parameters);
         },
         [](const Candidate& c) {
           return fmt::format("{} with {} and offload {} updates all parameters after the backward pass", c.stack.name,
                              to_string(c.s.sharding), to_string(c.s.offload));
         },
         "use --stack torchtune, or leave --update-in-backward out"},
    Rule{"pages-of-bitsandbytes", Validity::Unsupported, kNever, "--paged-optimizer --optimizer --offload",
         [](const Candidate& c) {
           const bool pages = c.w.optimizer == Optimizer::AdamW || c.w.optimizer == Optimizer::Adam8bit ||
                              c.w.optimizer == Optimizer::Lion;
           return is_on(c.s.execution.paged_optimizer) && (!pages || c.s.offload.optimizer || c.s.offload.parameters);
         },
         [](const Candidate& c) {
           return fmt::format("bitsandbytes pages the states of AdamW and Lion on the device, not {} with offload {}",
                              to_string(c.w.optimizer), to_string(c.s.offload));
         },
         "use --optimizer adamw, adam8bit or lion without offload of it, or leave --paged-optimizer out"},
    Rule{"prefix-without-recomputation", Validity::Unsupported, kNever, "--recompute --adapters",
         [](const Candidate& c) { return c.w.keys_before_sequence() > 0 && c.s.recompute != Recompute::None; },
         [](const Candidate& c) {
           return fmt::format("PEFT hands the keys of {} over as a cache, which no recomputed layer reads",
                              c.w.lora.method->name);
         },
         "use --recompute none, or --adapters prompt_tuning"},
    Rule{"adapters-of-peft", Validity::Unsupported, kNever, "--stack --adapters",
         [](const Candidate& c) {
           const bool of_peft = c.w.lora.trains_prompt() || c.w.lora.count > 1;
           const bool own = c.stack.own_adapters || c.stack.joins_adapters || c.stack.expert_parallel;
           return c.w.finetune != FineTune::Full && of_peft && own;
         },
         [](const Candidate& c) {
           return lacks(c, c.w.lora.trains_prompt() ? "virtual tokens, which PEFT trains" : "several adapters at once");
         },
         "use --stack hf-trainer, ddp, fsdp or deepspeed"},
    Rule{"base-format-of-adapters", Validity::Unsupported, kNever, "--base-format --finetune",
         [](const Candidate& c) {
           return c.s.execution.base_format != BaseFormat::Default && c.w.finetune != FineTune::Lora;
         },
         [](const Candidate& c) {
           return c.w.finetune == FineTune::Full ? std::string("no weight is frozen where all are trained")
                                                 : std::string("QLoRA's frozen weights have 4 bits");
         },
         "use --finetune lora, or leave --base-format out"},
    Rule{"half-layers-of-the-model", Validity::Divisibility, kNever, "--half-layers",
         [](const Candidate& c) { return c.s.execution.half_layers > c.layers(); },
         [](const Candidate& c) {
           return fmt::format("{} layers keep 16 bits; {} has {}", c.s.execution.half_layers, c.arch().name,
                              c.layers());
         },
         "name fewer layers"},
    Rule{"half-layers-beside-narrow-formats", Validity::Unsupported, kNever, "--half-layers --dtype",
         [](const Candidate& c) {
           return c.s.execution.half_layers > 0 && c.w.precision != Precision::Fp8 && c.w.precision != Precision::Fp4;
         },
         [](const Candidate&) { return std::string("layers in 16 bits stand beside others in fp8 or fp4"); },
         "leave --half-layers out, or give --dtype fp8 or fp4"},
    Rule{"micro-batch-of-whole-examples", Validity::Divisibility, kNever, "--micro-batch",
         [](const Candidate& c) { return c.s.micro_batch % c.w.sequences_of_example() != 0; },
         [](const Candidate& c) {
           return fmt::format("{} compares {} sequences of an example in one pass, the micro-batch has {}",
                              c.w.loss->name, c.w.sequences_of_example(), c.s.micro_batch);
         },
         "give a multiple of the sequences of an example"},
    Rule{"linear-kernel-of-next-tokens", Validity::Unsupported, kNever, "--loss-kernel --loss",
         [](const Candidate& c) { return c.w.loss != nullptr && c.s.execution.loss_kernel == LossKernel::Linear; },
         [](const Candidate& c) {
           return fmt::format("kernels that keep no logits compute the loss of the next token, not {}", c.w.loss->name);
         },
         "leave --loss-kernel out"},
    // Megatron Core: transformer_config.py 0.17.1, overlap_moe_expert_parallel_comm.
    Rule{"expert-overlap-interleaved", Validity::Unsupported, kHappens, "--expert-overlap --vpp",
         [](const Candidate& c) {
           return c.s.execution.expert_overlap == Toggle::On && c.s.pipeline_parallel > 1 && c.s.virtual_pipeline == 1;
         },
         [](const Candidate&) { return std::string("the exchange of experts overlaps in interleaved pipelines only"); },
         "give --vpp 2 or more, or --expert-overlap off"},
    Rule{"expert-overlap-of-half-precision", Validity::Unsupported, kHappens, "--expert-overlap --dtype",
         [](const Candidate& c) {
           const bool half = c.w.precision == Precision::Bf16 || c.w.precision == Precision::Fp16;
           return c.s.execution.expert_overlap == Toggle::On && (!half || c.s.expert_parallel == 1);
         },
         [](const Candidate&) {
           return std::string("the exchange of experts overlaps in bf16 or fp16, between expert-parallel ranks");
         },
         "use --dtype bf16 and --ep 2 or more, or --expert-overlap off"},
    Rule{"expert-overlap-without-full-recomputation", Validity::Unsupported, kHappens, "--expert-overlap --recompute",
         [](const Candidate& c) {
           return c.s.execution.expert_overlap == Toggle::On && c.s.recompute == Recompute::Full;
         },
         [](const Candidate&) { return std::string("an overlapped exchange of experts allows no full recomputation"); },
         "use --recompute selective or none"},
};

Diagnostic fault_of(const Rule& rule, const Candidate& candidate) {
  return {std::string(to_string(rule.code)), rule.flag, rule.message(candidate), rule.hint};
}

const Rule& rule_of(std::string_view id) {
  const auto* rule = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& r) { return r.id == id; });
  SMPLAN_ASSERT(rule != kRules.end());
  return *rule;
}

}  // namespace

std::string_view to_string(Validity validity) {
  switch (validity) {
    case Validity::Ok:
      return "ok";
    case Validity::OutOfRange:
      return "out-of-range";
    case Validity::Divisibility:
      return "divisibility";
    case Validity::Unsupported:
      return "unsupported";
  }
  return "unknown";
}

Validity quick_check(const Strategy& strategy, const Workload& workload, const Stack& stack) {
  const Candidate candidate{strategy, workload, stack};
  for (const Rule& rule : kRules) {
    if (rule.broken(candidate)) return rule.code;
  }
  return Validity::Ok;
}

std::vector<BrokenRule> broken_rules(const Strategy& strategy, const Workload& workload, const Stack& stack) {
  const Candidate candidate{strategy, workload, stack};
  std::vector<BrokenRule> out;
  for (const Rule& rule : kRules) {
    if (!rule.broken(candidate)) continue;
    out.push_back(
        {rule.id, rule.happens, {std::string(to_string(rule.code)), rule.flag, rule.message(candidate), rule.hint}});
    if (rule.code == Validity::OutOfRange) break;  // the other rules divide by the degrees
  }
  return out;
}

Diagnostics check(const Strategy& strategy, const Workload& workload, const Stack& stack) {
  Diagnostics out;
  for (BrokenRule& rule : broken_rules(strategy, workload, stack)) out.push_back(std::move(rule.fault));
  return out;
}

std::optional<Diagnostic> broken_rule(std::string_view rule_id, const Strategy& strategy, const Workload& workload,
                                      const Stack& stack) {
  const Candidate candidate{strategy, workload, stack};
  const Rule& rule = rule_of(rule_id);
  return rule.broken(candidate) ? std::optional(fault_of(rule, candidate)) : std::nullopt;
}

std::vector<std::string_view> strategy_rule_ids() {
  std::vector<std::string_view> ids;
  for (const Rule& rule : kRules) ids.push_back(rule.id);
  return ids;
}

}  // namespace smplan
