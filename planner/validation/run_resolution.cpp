#include "planner/validation/run_resolution.hpp"

#include <algorithm>

#include "base/result.hpp"
#include "base/words.hpp"
#include "models/dimensions.hpp"
#include "models/execution.hpp"
#include "models/flops.hpp"
#include "models/model_states.hpp"
#include "planner/validation/adapter_methods.hpp"
#include "planner/validation/phrases.hpp"

namespace smplan {
namespace {

constexpr double kMostBucket = 2e9;

/// `shard 'cut' is not understood`, so that a default in its place is no surprise.
void note_unread(std::string_view column, const std::string& cell, Assumptions& assumptions) {
  if (!cell.empty()) assumptions.push_back(std::string(column) + " " + quote(cell) + " is not understood");
}

/// What notes and names say, and the columns that say more.
RunSettings settings_of(const MeasuredRun& run) {
  RunSettings settings = read_settings(run.notes, run.framework);
  const std::string dtype = lower_case(run.dtype);  // `bf16-true` of Lightning, `pure bf16`: weights too
  const bool pure = dtype.find("-true") != std::string::npos || dtype.find("pure") != std::string::npos;
  if (pure && dtype.find("32") == std::string::npos) settings.pure_half = true;
  const Execution& told = run.stated.execution;
  if (told.compile != Compile::Default) {
    settings.compiled = told.compile != Compile::Off;
    settings.compiled_loss =
        told.compile == Compile::LayersAndLoss || (settings.compiled_loss && told.compile == Compile::Layers);
  }
  if (told.expert_overlap != Toggle::Default) settings.expert_overlap = is_on(told.expert_overlap);
  if (told.moe_dispatcher != MoeDispatcher::Default) {
    settings.deduplicated_dispatch = told.moe_dispatcher == MoeDispatcher::DeepEp;
  }
  return settings;
}

/// What the row's figures count, for the comparison with them.
void resolve_kinds(const MeasuredRun& run, ResolvedRun& resolved) {
  if (const std::optional<MemoryKind> kind = memory_kind_in(run.mem_kind)) {
    resolved.memory_kind = *kind;
  } else {
    note_unread("mem_kind", run.mem_kind, resolved.assumptions);
  }
  if (const std::optional<FlopsKind> kind = flops_kind_in(run.tflops_kind)) {
    resolved.flops_kind = *kind;
  } else {
    note_unread("tflops_kind", run.tflops_kind, resolved.assumptions);
  }
}

Optimizer resolve_optimizer(const MeasuredRun& run, Assumptions& assumptions) {
  if (const std::optional<Optimizer> stated = optimizer_in(run.optimizer)) return *stated;
  note_unread("optimizer", run.optimizer, assumptions);
  assumptions.emplace_back("optimizer is AdamW");
  return Optimizer::AdamW;
}

Precision resolve_precision(const MeasuredRun& run, const RunSettings& settings, const Accelerator& accelerator,
                            Assumptions& assumptions) {
  const std::optional<Precision> stated = precision_in(run.dtype);
  // Scales by row and column take their rate from the 8-bit units: torchtitan's table of 2025-06 has such runs within 4
  // % of bf16, with one scale a tensor they are 1.4 times as fast.
  if (settings.rowwise_scales && stated == Precision::Fp8) {
    assumptions.emplace_back("products with a scale a row run at the rate of bf16");
    return Precision::Bf16;
  }
  if (stated) return *stated;
  note_unread("dtype", run.dtype, assumptions);
  if (settings.precision) {
    assumptions.push_back("dtype is " + std::string(to_string(*settings.precision)) + ", by the notes");
    return *settings.precision;
  }
  const Precision fallback = accelerator.supports(Precision::Bf16) ? Precision::Bf16 : Precision::Fp16;
  assumptions.push_back("dtype is " + std::string(to_string(fallback)));
  return fallback;
}

/// FLOP/s of the model on one device as the row has them; nullopt where it has none.
std::optional<FlopsPerSecond> measured_rate(const MeasuredRun& run, const Workload& w) {
  if (run.tflops_per_gpu) return tflops(*run.tflops_per_gpu);
  const Flops step = step_flops(w, Recompute::None, AttentionCounting::CausalHalf).model;
  const auto devices = static_cast<double>(*run.n_gpus);
  if (run.tokens_per_s_per_gpu) return step * (*run.tokens_per_s_per_gpu / w.tokens_per_step()) / Seconds(1);
  if (run.step_time_s && *run.step_time_s > 0) return step / (Seconds(*run.step_time_s) * devices);
  const auto batch = static_cast<double>(w.global_batch);
  if (run.samples_per_s) return step * (*run.samples_per_s / batch / devices) / Seconds(1);
  return std::nullopt;
}

/// What calls itself fp32 on Ampere and later is often TF32, as PyTorch did by default up to 1.11: a run that is faster
/// than the fp32 units can be nothing else.
void read_as_tf32(const MeasuredRun& run, const Accelerator& accelerator, Workload& w, Assumptions& assumptions) {
  if (w.precision != Precision::Fp32 || !accelerator.supports(Precision::Tf32)) return;
  const std::optional<FlopsPerSecond> rate = measured_rate(run, w);
  if (!rate || *rate <= accelerator.peak_rate(Precision::Fp32)) return;
  w.precision = Precision::Tf32;
  assumptions.emplace_back("fp32 is tf32: the run is faster than the fp32 units of " + accelerator.key);
}

/// The optimizer's cell may speak of the host (`AdamW (CPU offload)`), and the sharding's (`zero2+offload`).
Offload resolve_offload(const MeasuredRun& run, Assumptions& assumptions) {
  if (run.offload.empty()) {
    const Phrases beside(run.optimizer + "; " + run.shard);
    Offload offload;
    offload.optimizer = beside.say("offload") ? !beside.deny("cpu") : beside.say("cpu") && !beside.deny("offload");
    if (offload.optimizer) assumptions.emplace_back("the optimizer runs on the host");
    return offload;
  }
  const std::optional<Offload> stated = offload_in(run.offload);
  if (!stated) note_unread("offload", run.offload, assumptions);
  return stated.value_or(Offload{});
}

/// Degrees of parallelism. One accelerator needs none; who shards parameters or gradients uses none unless stated;
/// another model-parallel run that does not say how it was cut cannot be predicted.
Result<void> resolve_degrees(const MeasuredRun& run, const Stack& stack, Strategy& s, Assumptions& assumptions) {
  const Sharding sharding = stated_sharding(run).value_or(stack.shardings.front());
  const bool cuts_weights = sharding == Sharding::Zero2 || sharding == Sharding::Zero3 || is_fsdp(sharding);
  const bool model_parallel = stack.tensor_parallel && stack.pipeline_parallel && !cuts_weights;
  if (model_parallel && *run.n_gpus > 1 && !run.tp && !run.pp && run.dp.value_or(0) != *run.n_gpus) {
    return fail("unsupported", run.id,
                "tp and pp are not stated for a model-parallel run on " + std::to_string(*run.n_gpus) + " accelerators",
                "state tp and pp");
  }
  s.tensor_parallel = static_cast<std::int32_t>(run.tp.value_or(1));
  s.pipeline_parallel = static_cast<std::int32_t>(run.pp.value_or(1));
  s.context_parallel = static_cast<std::int32_t>(run.cp.value_or(1));
  s.expert_parallel = static_cast<std::int32_t>(run.ep.value_or(1));
  s.virtual_pipeline = s.pipeline_parallel > 1 ? static_cast<std::int32_t>(run.vpp.value_or(1)) : 1;
  const std::int64_t cut = std::int64_t{s.tensor_parallel} * s.pipeline_parallel * s.context_parallel;
  if (*run.n_gpus % cut != 0) {
    return fail(
        "invalid", run.id,
        "tp x pp x cp = " + std::to_string(cut) + " does not divide " + std::to_string(*run.n_gpus) + " accelerators",
        "correct the degrees");
  }
  s.data_parallel = static_cast<std::int32_t>(*run.n_gpus / cut);
  if (run.dp && *run.dp != s.data_parallel) {
    assumptions.push_back("dp is " + std::to_string(s.data_parallel) + ", so that the degrees fill the accelerators");
  }
  if (!run.tp && *run.n_gpus > 1) assumptions.emplace_back("tp is 1");
  if (!run.pp && stack.pipeline_parallel && *run.n_gpus > 1) assumptions.emplace_back("pp is 1");
  return {};
}

/// A schedule that is called interleaved without the number of its chunks has two a rank, torchtitan's default
/// (parallelisms/pipeline_llama.py, 2024-12).
/// Megatron Core overlaps the exchange of experts in interleaved pipelines only (transformer_config.py, 0.17.1).
void resolve_interleaving(const MeasuredRun& run, const RunSettings& settings, Strategy& s, Assumptions& assumptions) {
  const bool overlaps = settings.expert_overlap.value_or(false) && s.expert_parallel > 1;
  const bool interleaved = settings.interleaved || schedule_in(run.schedule) == Schedule::Interleaved;
  if ((!interleaved && !overlaps) || run.vpp || s.pipeline_parallel == 1) return;
  s.virtual_pipeline = 2;
  assumptions.emplace_back(overlaps ? "vpp is 2, as the exchange of experts is overlapped"
                                    : "vpp is 2, as the schedule is interleaved");
}

/// Layers per rank bound the chunks; rows give virtual stages either as chunks or as layers per chunk. Chunks run
/// interleaved, whatever the row calls the schedule.
void resolve_schedule(const MeasuredRun& run, const Architecture& a, Strategy& s, Assumptions& assumptions) {
  const std::int64_t layers_per_rank = std::max<std::int64_t>(1, a.n_layers / s.pipeline_parallel);
  s.virtual_pipeline = static_cast<std::int32_t>(std::min<std::int64_t>(s.virtual_pipeline, layers_per_rank));
  const std::optional<Schedule> stated = schedule_in(run.schedule);
  if (!stated) note_unread("schedule", run.schedule, assumptions);
  const bool plain = stated && *stated != Schedule::Interleaved && s.pipeline_parallel > 1;
  s.schedule = s.virtual_pipeline > 1 ? Schedule::Interleaved : plain ? *stated : Schedule::OneFOneB;
}

/// torchtune's recipes for several devices shard by FSDP, those for one do not (meta-pytorch/torchtune, recipes/
/// *_distributed.py).
bool shards_on_many(const Stack& stack, const MeasuredRun& run) { return stack.id == "torchtune" && *run.n_gpus > 1; }

/// What the stack does unless told otherwise; who can shard does where the model leaves no choice.
Sharding usual_sharding(const Stack& stack, bool shards) {
  if (stack.shardings.empty()) return Sharding::None;
  const bool second = shards && stack.shardings.front() == Sharding::None && stack.shardings.size() > 1;
  return stack.shardings[second ? 1 : 0];
}

void resolve_sharding(const MeasuredRun& run, const Stack& stack, bool shards, std::int64_t node, Strategy& s,
                      Assumptions& assumptions) {
  const std::optional<Sharding> stated = stated_sharding(run);
  if (!stated) note_unread("shard", run.shard, assumptions);
  const std::int32_t ranks = s.data_parallel * s.context_parallel;
  s.sharding = stated ? sharding_under(stack, *stated) : usual_sharding(stack, shards);
  // DeepSpeed runs its stage on one device too, where nothing is cut.
  const bool engine_alone = ranks == 1 && stack.deepspeed_engine && !stack.pipeline_parallel;
  if (engine_alone && s.sharding == Sharding::None) s.sharding = usual_sharding(stack, shards);
  if (ranks == 1 && s.sharding == Sharding::Zero1 && !stack.deepspeed_engine) s.sharding = Sharding::None;
  if ((!stated || run.shard.empty()) && ranks > 1)
    assumptions.push_back("sharding is " + std::string(to_string(s.sharding)));
  s.shard_degree = s.sharding == Sharding::None ? 1 : ranks;
  if (s.sharding == Sharding::FsdpHybrid) {
    const std::int64_t degree = run.shard_degree.value_or(node);
    if (degree <= ranks && ranks % degree == 0) {
      s.shard_degree = static_cast<std::int32_t>(degree);
    } else {
      assumptions.push_back("all " + std::to_string(ranks) + " ranks share one copy, " + std::to_string(degree) +
                            " do not divide them");
    }
  }
}

void resolve_experts(const MeasuredRun& run, const Architecture& a, Strategy& s, Assumptions& assumptions) {
  if (!a.is_moe()) {
    if (s.expert_parallel > 1) {
      assumptions.push_back("ep " + std::to_string(s.expert_parallel) + " is passed over, the model has no experts");
    }
    s.expert_parallel = 1;
    return;
  }
  const std::int64_t stage_ranks = s.gpus() / s.pipeline_parallel;
  if (stage_ranks % s.expert_parallel != 0) {
    assumptions.push_back("ep " + std::to_string(s.expert_parallel) + " does not divide the " +
                          std::to_string(stage_ranks) + " ranks of a stage");
  }
  s.expert_tensor_parallel = static_cast<std::int32_t>(run.etp.value_or(0));
}

/// Overlapped exchange of experts allows no recomputation. Who trains DeepSeek-V3 or Kimi K2 on few nodes without that
/// recomputes whole layers, or they do not fit (Megatron-Bridge 0.4.2, recipes/deepseek/deepseek_v3.py, 32 nodes;
/// awslabs/awsome-distributed-ai, bench_kimi_k2_pretrain.py).
bool recomputes_for_room(const RunSettings& settings, const Architecture& a) {
  return a.is_moe() && a.has_latent_attention() && !settings.expert_overlap.value_or(true);
}

/// Of each chunk; 0, all of them, where the row names no number.
std::int32_t recomputed_layers(const MeasuredRun& run, const Architecture& a, const Strategy& s) {
  const std::int64_t chunks = std::int64_t{s.pipeline_parallel} * s.virtual_pipeline;
  return static_cast<std::int32_t>(std::min(run.recompute_layers.value_or(0), (a.n_layers + chunks - 1) / chunks));
}

void resolve_recompute(const MeasuredRun& run, RunSettings& settings, const Architecture& architecture,
                       const Stack& stack, Strategy& s, Assumptions& assumptions) {
  if (const std::optional<Recompute> stated = recompute_in(run.recompute)) {
    s.recompute = *stated;
    if (s.recompute == Recompute::Full) s.recompute_layers = recomputed_layers(run, architecture, s);
    if (s.recompute == Recompute::Selective && !is_fsdp(s.sharding)) {
      settings.recomputed_modules = modules_in(run.recompute);
    }
    return;
  }
  note_unread("recompute", run.recompute, assumptions);
  if (!run.stated.execution.recompute_modules.empty()) {
    s.recompute = Recompute::Selective;
    assumptions.emplace_back("recompute is selective, as modules are named");
    return;
  }
  if (s.sharding == Sharding::FsdpFull && stack.shardings.front() == Sharding::None) {
    s.recompute = Recompute::Full;  // LitGPT checkpoints the layers that it shards, and only those
    assumptions.emplace_back("recompute is full, as the layers are sharded");
  } else if (recomputes_for_room(settings, architecture)) {
    s.recompute = Recompute::Full;
    assumptions.emplace_back("recompute is full, as the exchange of experts is not overlapped");
  } else {
    s.recompute = stack.recomputes.empty() ? Recompute::None : stack.recomputes.front();
    assumptions.push_back("recompute is " + std::string(to_string(s.recompute)));
  }
}

void resolve_sequence_parallel(const MeasuredRun& run, const Stack& stack, Strategy& s, Assumptions& assumptions) {
  s.sequence_parallel = run.sequence_parallel.value_or(stack.sequence_parallel) && s.tensor_parallel > 1;
  if (!run.sequence_parallel && s.tensor_parallel > 1) {
    assumptions.push_back(s.sequence_parallel ? "sequence parallelism is on" : "sequence parallelism is off");
  }
}

/// `q_proj+v_proj`, `query+key+value+projection+mlp+head`, `all linear incl. output`. Not stated: every linear map.
LoraTargets targets_of(std::string_view stated) {
  const std::string text = lower_case(stated);
  bool queries_and_values = !text.empty();
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of("+, ", begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    begin = end + 1;
    if (name == "all" || name == "mlp" || name == "gate_proj" || name == "up_proj" || name == "down_proj") {
      return LoraTargets::Linear;
    }
    if (name != "q" && name != "v" && name != "query" && name != "value" && name != "q_proj" && name != "v_proj") {
      queries_and_values = false;
    }
  }
  if (text.empty()) return LoraTargets::Linear;
  return queries_and_values ? LoraTargets::QueryValue : LoraTargets::Attention;
}

/// What is known of the execution before the strategy is; the rest follows from recipes.
Execution stated_execution(const MeasuredRun& run, const RunSettings& settings, const Workload& w, const Stack& stack) {
  Execution e = execution_of(settings, w.architecture.is_moe());
  if (run.flash_attention) e.flash_attention = *run.flash_attention ? Toggle::On : Toggle::Off;
  // `bnb.nf4` and `bnb.nf4-dq` are Lightning's names; elsewhere 4 bits mean QLoRA's double quantisation.
  const bool plain_scales = stack.lightning_quantization && lower_case(run.quant).find("-dq") == std::string::npos;
  if (w.finetune == FineTune::Qlora && plain_scales) e.double_quantization = Toggle::Off;
  if (!stack.deepspeed_engine || stack.reduce_bucket_elements == Stack().reduce_bucket_elements) return e;
  // Hugging Face's Trainer writes the square of the hidden size for "auto".
  const auto hidden = static_cast<double>(w.architecture.hidden);
  const double bucket = stack.reduce_bucket_elements > 0 ? stack.reduce_bucket_elements : hidden * hidden;
  e.reduce_bucket = static_cast<std::int32_t>(std::min(bucket, kMostBucket));
  return e;
}

/// Columns say more than notes and recipes.
void follow_columns(const MeasuredRun& run, Strategy& s) {
  for (const DimensionRow& row : dimensions()) {
    if (row.of_execution && row.applies(run.stated)) row.set(s, row.get(run.stated));
  }
}

/// What states and products are kept in.
void resolve_formats(const MeasuredRun& run, const RunSettings& settings, const Workload& w, Execution& e,
                     Assumptions& assumptions) {
  const bool adapters_in_32_bits = settings.full_adapters && w.finetune != FineTune::Full;
  if (settings.pure_half && !adapters_in_32_bits) e.pure_half = Toggle::On;
  if (recipe_halves_moments(run, w.architecture) && !keeps_32_bits(w.precision)) {
    e.half_moments = Toggle::On;
    assumptions.emplace_back("moments are bf16, as in Megatron-Bridge's recipe");
  }
  e.half_layers = static_cast<std::int32_t>(recipe_half_layers(run, w));
  if (e.half_layers > 0) {
    assumptions.push_back(std::to_string(e.half_layers) + " layers keep 16 bits, as in Megatron-Bridge's recipe");
  }
}

Result<void> resolve_finetune(const MeasuredRun& run, const RunSettings& settings, const Stack& stack, Workload& w,
                              Assumptions& assumptions) {
  const std::optional<Method> method = method_in(run.method);
  if (!method) {
    return fail("unsupported", run.id, "no model of the method '" + run.method + "'",
                "full, lora, qlora and the adapters of PEFT are known");
  }
  if (!run.quant.empty() && !four_bits_in(run.quant)) {
    note_unread("quant", run.quant, assumptions);
    assumptions.emplace_back("frozen weights have 16 bits");
  }
  w.finetune = trained_part(run);
  if (w.finetune == FineTune::Full) return {};
  const bool own_kind = !method->kind.empty() && method->kind != "lora" && method->kind != "qlora";
  const bool plain_layers = !w.architecture.is_moe() && !w.architecture.has_latent_attention();
  const AdapterMethod* adapters = plain_layers ? adapter_method(method->kind) : nullptr;
  if (own_kind && !adapters) assumptions.push_back("adapters of the kind " + method->kind + " are taken as LoRA's");
  w.lora.targets = own_kind && run.lora_targets.empty() ? LoraTargets::QueryValue : targets_of(run.lora_targets);
  w.lora.train_embeddings = settings.lora_embeddings || method->trains_embeddings;
  std::optional<std::int64_t> rank = run.lora_rank ? run.lora_rank : method->rank ? method->rank : settings.lora_rank;
  // LoRA's kin are called so; what others call their rank is no width of two matrices, and they train fewer numbers.
  if (own_kind && !method->kind.ends_with("ora")) rank = 1;
  w.lora.rank = rank.value_or(stack.usual_lora_rank);
  if (!rank) assumptions.push_back("the rank of the adapters is " + std::to_string(w.lora.rank));
  if (adapters && (own_kind || settings.full_adapters)) {
    w.lora.keeps = adapter_keeps(*adapters, w.architecture, run.lora_targets, run.lora_rank.value_or(w.lora.rank));
    w.seq_len += adapters->virtual_tokens;
  }
  return {};
}

/// On one device the states of AdamW must fit; where they do not, the run that finished had another optimizer. Tables
/// of memory name the method; those of speed do not, and an optimizer hardly changes that.
Result<void> check_unstated_optimizer(const MeasuredRun& run, const Workload& w, const Strategy& s, const Stack& stack,
                                      const Accelerator& accelerator) {
  const bool full = !run.method.empty() && w.finetune == FineTune::Full;
  if (!run.optimizer.empty() || run.n_gpus != 1 || !full || s.offload.optimizer) return {};
  const StateWidths widths = state_widths(w, s, stack);
  const double bytes = widths.weight + widths.gradient + widths.optimizer;
  if (Bytes(bytes * static_cast<double>(count_parameters(w.architecture).total())) <= accelerator.device_memory) {
    return {};
  }
  return fail("unsupported", run.id, "the optimizer is not stated, and AdamW's states do not fit the device",
              "state the optimizer");
}

}  // namespace

Result<ResolvedRun> resolve_run(const MeasuredRun& stated, const Catalog& catalog) {
  if (Result<void> r = check_limits(stated); !r) return tl::unexpected(r.error());
  ResolvedRun resolved;
  Assumptions& assumptions = resolved.assumptions;
  const MeasuredRun run = counted_in_cores(stated, catalog, assumptions);
  RunSettings settings = settings_of(run);

  Result<Architecture> architecture = resolve_architecture(run, catalog, assumptions);
  if (!architecture) return tl::unexpected(architecture.error());
  Result<Cluster> cluster = resolve_cluster(run, catalog, assumptions);
  if (!cluster) return tl::unexpected(cluster.error());
  Result<Stack> stack = resolve_stack(run, catalog, assumptions);
  if (!stack) return tl::unexpected(stack.error());
  if (!run.seq_len) return fail("unsupported", run.id, "seq_len is not stated", "state it");
  const bool packed = run.packing.value_or(!settings.unpacked);
  if (!packed && !settings.seq_len_is_limit) {
    return fail("unsupported", run.id, "sequences are not packed, seq_len is only their limit", "state packed runs");
  }

  Workload& w = resolved.workload;
  Strategy& s = resolved.strategy;
  w.architecture = std::move(*architecture);
  if (settings.tied_embeddings) w.architecture.tied_embeddings = true;
  w.seq_len = *run.seq_len;
  w.precision = resolve_precision(run, settings, cluster->accelerator, assumptions);
  if (!cluster->accelerator.supports(w.precision)) {
    return fail("unsupported", run.id,
                cluster->accelerator.key + " has no " + std::string(to_string(w.precision)) + " units",
                "correct dtype or gpu");
  }
  w.optimizer = resolve_optimizer(run, assumptions);
  if (Result<void> r = resolve_finetune(run, settings, *stack, w, assumptions); !r) return tl::unexpected(r.error());

  Execution& e = s.execution;
  e = stated_execution(run, settings, w, *stack);
  resolve_formats(run, settings, w, e, assumptions);
  follow_columns(run, s);
  if (Result<void> r = resolve_degrees(run, *stack, s, assumptions); !r) return tl::unexpected(r.error());
  resolve_interleaving(run, settings, s, assumptions);
  resolve_schedule(run, w.architecture, s, assumptions);
  const bool shards = must_shard(run, &cluster->accelerator, catalog) || shards_on_many(*stack, run);
  resolve_sharding(run, *stack, shards, cluster->gpus_per_node, s, assumptions);
  resolve_recompute(run, settings, w.architecture, *stack, s, assumptions);
  resolve_experts(run, w.architecture, s, assumptions);
  resolve_sequence_parallel(run, *stack, s, assumptions);
  s.offload = resolve_offload(run, assumptions);
  std::optional<std::int64_t> global_batch = run.global_batch;
  // Tables repeat the batch of one device for several: each still takes the micro-batch of the row.
  if (!global_batch && settings.global_batch) {
    global_batch = std::max(*settings.global_batch, run.micro_batch.value_or(1) * s.data_parallel);
  }
  if (Result<void> r = resolve_batch(run, global_batch, *cluster, executed(*stack, e), w, s, assumptions); !r) {
    return tl::unexpected(r.error());
  }
  w.tokens = w.tokens_per_step();
  read_as_tf32(run, cluster->accelerator, w, assumptions);
  resolve_kinds(run, resolved);
  if (!run.flash_attention && is_nvidias_bert(w, *stack)) {
    e.flash_attention = Toggle::Off;  // modeling.py multiplies, normalises and drops out scores one by one
    assumptions.emplace_back("attention stores its scores, as in NVIDIA's scripts for BERT");
  }
  resolved.mean_seq_len = binned_seq_len(w, *stack);
  if (resolved.mean_seq_len) {
    assumptions.push_back("batches are binned by length to " + std::to_string(*resolved.mean_seq_len) + " tokens");
  }
  if (Result<void> r = check_unstated_optimizer(run, w, s, executed(*stack, e), cluster->accelerator); !r) {
    return tl::unexpected(r.error());
  }
  // What a framework was told that it does not offer, somebody made it offer.
  if (Result<void> r = check_resolved(run, w, s, executed(*stack, e), assumptions); !r)
    return tl::unexpected(r.error());
  // vTrain's steps show products that load rows of 50,257 (models/compute.cpp), as long as no tensor ranks cut them.
  settings.exact_vocabulary = !run.vocab && w.architecture.vocab == kGpt2Entries && s.tensor_parallel == 1;
  follow_recipes(run, w, *cluster, *stack, s, settings, assumptions);
  const Execution before = e;
  e = execution_of(settings, w.architecture.is_moe());
  e.flash_attention = before.flash_attention;
  e.pure_half = before.pure_half;
  e.half_moments = before.half_moments;
  e.half_layers = before.half_layers;
  e.double_quantization = before.double_quantization;
  e.reduce_bucket = before.reduce_bucket;
  follow_columns(run, s);
  resolved.stack = executed(*stack, e);
  resolved.cluster = std::move(*cluster);
  resolved.settings = settings;
  resolved.devices_per_counted = static_cast<double>(*run.n_gpus) / static_cast<double>(*stated.n_gpus);
  return resolved;
}

}  // namespace smplan
