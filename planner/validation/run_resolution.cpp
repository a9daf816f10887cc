#include "planner/validation/run_resolution.hpp"

#include <algorithm>

#include "base/result.hpp"
#include "models/engines/engine.hpp"
#include "models/job/execution.hpp"
#include "models/memory/memory.hpp"

namespace smplan {
namespace {

/// What the step model keeps room for (models/step/step.cpp).
constexpr std::int32_t kMostStages = 256;

bool offers(const Stack& stack, Sharding sharding) {
  return std::find(stack.shardings.begin(), stack.shardings.end(), sharding) != stack.shardings.end();
}

/// A stage under the name that the stack has for it: people call FSDP's strategies by ZeRO's stages too.
Sharding sharding_under(const Stack& stack, Sharding sharding) {
  if (offers(stack, sharding)) return sharding;
  if (sharding == Sharding::Zero3 && offers(stack, Sharding::FsdpFull)) return Sharding::FsdpFull;
  if (sharding == Sharding::Zero2 && offers(stack, Sharding::FsdpGradOp)) return Sharding::FsdpGradOp;
  return sharding;
}

void resolve_formats(const MeasuredRun& run, const Accelerator& accelerator, Workload& w, Assumptions& assumptions) {
  w.precision = run.precision.value_or(accelerator.supports(Precision::Bf16) ? Precision::Bf16 : Precision::Fp16);
  if (!run.precision) assumptions.push_back("dtype is " + std::string(to_string(w.precision)));
  // NVIDIA's containers, TensorFlow and XLA multiply fp32 matrices as TF32 unless told not to; PyTorch's own builds do
  // where a script allows it, and benchmarks do (pytorch.org, notes on CUDA semantics; NVIDIA, TF32 in deep learning).
  if (w.precision == Precision::Fp32 && !run.ieee_fp32 && accelerator.vendor == Vendor::Nvidia &&
      accelerator.supports(Precision::Tf32)) {
    w.precision = Precision::Tf32;
    assumptions.emplace_back("fp32 is taken as TF32 products; state fp32-ieee for products in fp32");
  }
  w.optimizer = run.optimizer.value_or(Optimizer::AdamW);
  if (!run.optimizer) assumptions.emplace_back("optimizer is AdamW");
}

/// LoRA's kin are called so (`rslora`); what other methods call their rank is no width of two matrices.
std::int64_t adapter_rank(const MeasuredRun& run, const TrainedPart& trained, const Stack& stack,
                          Assumptions& assumptions) {
  if (trained.adapters != nullptr && !trained.adapters->name.ends_with("ora")) return 1;
  if (run.lora_rank) return *run.lora_rank;
  assumptions.push_back("the rank of the adapters is " + std::to_string(stack.usual_lora_rank));
  return stack.usual_lora_rank;
}

void resolve_training(const MeasuredRun& run, const Stack& stack, Workload& w, Assumptions& assumptions) {
  const TrainedPart trained = run.trained.value_or(TrainedPart{});
  w.finetune = trained.mode;
  w.loss = run.loss;
  w.reference = run.reference.value_or(w.finetune == FineTune::Full ? Reference::Copy : Reference::Adapters);
  w.trained_layers = run.trained_layers;
  if (trained.mode == FineTune::Full) return;
  const LinearLayers usual = linear_layers_from(trained.adapters == nullptr ? "all" : "query-value").value();
  w.lora.targets = lora_targets_of(run.lora_targets.value_or(usual));
  w.lora.train_embeddings = run.lora_embeddings.value_or(false);
  w.lora.rank = adapter_rank(run, trained, stack, assumptions);
  w.lora.layers = adapted_layers_of(w.architecture, stack);
  const AdapterMethod* method = trained.adapters;
  if (method == nullptr && run.fp32_adapters) method = adapter_method("lora");
  if (method == nullptr) return;
  if (method->is_prompt()) {
    w.lora.method = method;
    w.lora.virtual_tokens = run.virtual_tokens.value_or(method->prompt.virtual_tokens);
    weigh_adapters_of(w);
    w.set_lengths({w.seq_len, w.mean_seq_len});
    return;
  }
  if (w.architecture.is_moe() || w.architecture.has_latent_attention()) {
    if (trained.adapters != nullptr) {
      assumptions.push_back("adapters of the kind " + method->name + " are taken as LoRA's");
    }
    return;
  }
  w.lora.keeps = adapter_keeps(*method, w.architecture, run.lora_targets, run.lora_rank.value_or(w.lora.rank));
  if (trained.adapters != nullptr) {
    w.lora.method = method;
    w.lora.work = adapter_work(*method, w.architecture, run.lora_targets);
  }
}

/// A run that finished had positions for its sequences, however many the published model learned.
void extend_positions(Workload& w, Assumptions& assumptions) {
  Architecture& a = w.architecture;
  if (a.positions != PositionEncoding::Learned || a.kind == ModelKind::Vision || w.seq_len <= a.max_positions) return;
  if (a.max_positions > 0) assumptions.push_back("the model learns " + std::to_string(w.seq_len) + " positions");
  a.max_positions = w.seq_len;
}

/// Degrees of parallelism. One accelerator needs none; who shards parameters or gradients uses none unless stated;
/// another model-parallel run that does not say how it was cut cannot be predicted.
Result<void> resolve_degrees(const MeasuredRun& run, std::int64_t gpus, const Stack& stack, Strategy& s,
                             Assumptions& assumptions) {
  const bool cuts_weights = s.sharding == Sharding::Zero2 || s.sharding == Sharding::Zero3 || is_fsdp(s.sharding);
  const bool model_parallel = stack.tensor_parallel && stack.pipeline_parallel && !cuts_weights;
  const bool all_data = run.states(Dimension::Data) && s.data_parallel == gpus;
  const bool tensor = run.states(Dimension::Tensor);
  const bool pipeline = run.states(Dimension::Pipeline);
  if (model_parallel && gpus > 1 && !tensor && !pipeline && !all_data) {
    return fail("unsupported", run.id,
                "tp and pp are not stated for a model-parallel run on " + std::to_string(gpus) + " accelerators",
                "state tp and pp");
  }
  if (s.pipeline_parallel == 1) s.virtual_pipeline = 1;
  const std::int64_t cut = std::int64_t{s.tensor_parallel} * s.pipeline_parallel * s.context_parallel;
  if (gpus % cut != 0) {
    return fail("invalid", run.id,
                "tp x pp x cp = " + std::to_string(cut) + " does not divide " + std::to_string(gpus) + " accelerators",
                "correct the degrees");
  }
  const auto data = static_cast<std::int32_t>(gpus / cut);
  if (run.states(Dimension::Data) && s.data_parallel != data) {
    assumptions.push_back("dp is " + std::to_string(data) + ", so that the degrees fill the accelerators");
  }
  s.data_parallel = data;
  if (!tensor && gpus > 1) assumptions.emplace_back("tp is 1");
  if (!pipeline && stack.pipeline_parallel && gpus > 1) assumptions.emplace_back("pp is 1");
  return {};
}

/// A schedule that is called interleaved without the number of its chunks has two a rank, torchtitan's default
/// (parallelisms/pipeline_llama.py, 2024-12). Megatron Core overlaps the exchange of experts in interleaved pipelines
/// only (transformer_config.py, 0.17.1). Several chunks are interleaved, whatever the row calls the schedule.
void resolve_schedule(const MeasuredRun& run, Strategy& s, Assumptions& assumptions) {
  const bool overlaps = is_on(s.execution.expert_overlap) && s.expert_parallel > 1;
  const bool interleaved = run.states(Dimension::Schedule) && s.schedule == Schedule::Interleaved;
  if ((interleaved || overlaps) && !run.states(Dimension::VirtualPipeline) && s.pipeline_parallel > 1) {
    s.virtual_pipeline = 2;
    assumptions.emplace_back(overlaps ? "vpp is 2, as the exchange of experts is overlapped"
                                      : "vpp is 2, as the schedule is interleaved");
  }
  if (s.virtual_pipeline > 1) {
    s.schedule = Schedule::Interleaved;
  } else if (s.pipeline_parallel == 1 || s.schedule == Schedule::Interleaved) {
    s.schedule = Schedule::OneFOneB;
  }
}

void resolve_sharding(const MeasuredRun& run, const Cluster& cluster, const Stack& stack, Strategy& s,
                      Assumptions& assumptions) {
  const std::int32_t ranks = s.data_parallel * s.context_parallel;
  // DeepSpeed runs its stage on one device too, where nothing is cut.
  if (ranks == 1 && s.sharding == Sharding::Zero1 && !stack.deepspeed_engine) s.sharding = Sharding::None;
  if (!run.states(Dimension::Sharding) && ranks > 1) {
    assumptions.push_back("sharding is " + std::string(to_string(s.sharding)));
  }
  const std::int32_t stated = run.states(Dimension::ShardDegree) ? s.shard_degree : cluster.gpus_per_node;
  s.shard_degree = s.sharding == Sharding::None ? 1 : ranks;
  if (s.sharding != Sharding::FsdpHybrid) return;
  if (stated <= ranks && ranks % stated == 0) {
    s.shard_degree = stated;
  } else {
    assumptions.push_back("all " + std::to_string(ranks) + " ranks share one copy, " + std::to_string(stated) +
                          " do not divide them");
  }
}

void resolve_experts(const Architecture& a, Strategy& s, Assumptions& assumptions) {
  if (!a.is_moe()) {
    if (s.expert_parallel > 1) {
      assumptions.push_back("ep " + std::to_string(s.expert_parallel) + " is passed over, the model has no experts");
    }
    s.expert_parallel = 1;
    s.expert_tensor_parallel = 0;
    return;
  }
  const std::int64_t stage_ranks = s.gpus() / s.pipeline_parallel;
  if (stage_ranks % s.expert_parallel != 0) {
    assumptions.push_back("ep " + std::to_string(s.expert_parallel) + " does not divide the " +
                          std::to_string(stage_ranks) + " ranks of a stage");
  }
}

void resolve_recompute(const MeasuredRun& run, const Architecture& a, const Stack& stack, Strategy& s,
                       Assumptions& assumptions) {
  if (run.states(Dimension::Recompute)) {
    const std::int64_t chunks = std::int64_t{s.pipeline_parallel} * s.virtual_pipeline;
    const auto most = static_cast<std::int32_t>((a.n_layers + chunks - 1) / chunks);
    s.recompute_layers = s.recompute == Recompute::Full ? std::min(s.recompute_layers, most) : 0;
    return;
  }
  s.recompute_layers = 0;
  if (!s.execution.recompute_modules.empty()) {
    s.recompute = Recompute::Selective;
    assumptions.emplace_back("recompute is selective, as modules are named");
    return;
  }
  s.recompute = stack.recomputes.empty() ? Recompute::None : stack.recomputes.front();
  assumptions.push_back("recompute is " + std::string(to_string(s.recompute)));
}

void resolve_sequence_parallel(const MeasuredRun& run, const Stack& stack, Strategy& s, Assumptions& assumptions) {
  const bool stated = run.states(Dimension::SequenceParallel);
  const bool usual = stack.sequence_parallel && (run.program == Program::Tuned || stack.torch_parallelism);
  s.sequence_parallel = (stated ? s.sequence_parallel : usual) && s.tensor_parallel > 1;
  if (stated || s.tensor_parallel == 1) return;
  assumptions.push_back(s.sequence_parallel ? "sequence parallelism is on" : "sequence parallelism is off");
}

Result<void> resolve_strategy(const MeasuredRun& run, const Cluster& cluster, const Stack& stack, const Workload& w,
                              Strategy& s, Assumptions& assumptions) {
  s = run.strategy;
  const bool shards = run.states(Dimension::Sharding) && !stack.shardings.empty();
  if (!run.states(Dimension::Sharding)) s.sharding = stack.shardings.empty() ? Sharding::None : stack.shardings.front();
  if (shards) s.sharding = sharding_under(stack, s.sharding);
  if (!run.states(Dimension::Collectives)) s.collectives = Strategy().collectives;
  if (Result<void> r = resolve_degrees(run, cluster.gpus(), stack, s, assumptions); !r) return r;
  resolve_schedule(run, s, assumptions);
  resolve_sharding(run, cluster, stack, s, assumptions);
  resolve_recompute(run, w.architecture, stack, s, assumptions);
  resolve_experts(w.architecture, s, assumptions);
  resolve_sequence_parallel(run, stack, s, assumptions);
  return {};
}

/// On one device the states of AdamW must fit; where they do not, the run that finished had another optimizer. Who
/// states the method measured memory; an optimizer hardly changes a speed.
Result<void> check_unstated_optimizer(const MeasuredRun& run, const Workload& w, const Strategy& s, const Stack& stack,
                                      const Accelerator& accelerator) {
  const bool full = run.trained && w.finetune == FineTune::Full;
  if (run.optimizer || s.gpus() != 1 || !full || s.offload.optimizer) return {};
  const StateWidths widths = state_widths(w, s, stack);
  const double bytes = widths.weight + widths.gradient + widths.optimizer;
  if (Bytes(bytes * static_cast<double>(count_parameters(w.architecture).total())) <= accelerator.device_memory) {
    return {};
  }
  return fail("unsupported", run.id, "the optimizer is not stated, and AdamW's states do not fit the device",
              "state the optimizer");
}

/// Who names DeepSpeed and no stage takes the second where it fits, which costs no more traffic than plain data
/// parallelism, and the third where the weights leave no choice (DeepSpeed's tutorial on ZeRO).
void resolve_stage(const MeasuredRun& run, ResolvedRun& resolved) {
  Strategy& s = resolved.strategy;
  const bool open = !run.states(Dimension::Sharding) && s.sharding == Sharding::Zero3 && s.shard_degree > 1;
  if (!open || !offers(resolved.stack, Sharding::Zero2)) return;
  Strategy lighter = s;
  lighter.sharding = Sharding::Zero2;
  const Stack& stack = resolved.stack;
  if (!estimate_memory(resolved.workload, lighter, resolved.cluster, stack).fits_device()) return;
  s = lighter;
  std::erase(resolved.assumptions, "sharding is zero3");
  resolved.assumptions.emplace_back("sharding is zero2, which fits");
}

/// Launchers of several ranks give each one thread unless told otherwise (torchrun, accelerate); recipes that were
/// tuned for an optimizer on the host tell them.
void resolve_host_threads(const MeasuredRun& run, const Cluster& cluster, Strategy& s, Assumptions& assumptions) {
  const bool open = !run.states(Dimension::HostThreads) && run.program == Program::Unknown;
  if (!open || !updates_on_host(s) || cluster.gpus() == 1 || cluster.gpus_per_node == 1) return;
  s.execution.host_threads = 1;
  assumptions.emplace_back("each rank has one thread on the host");
}

/// Weights that were loaded in 16 bits stay so under torch's optimizers, and most tables do not say how they were
/// loaded. Where states with fp32 copies alone are more than the device has, nobody began a run with them.
void resolve_state_format(const MeasuredRun& run, const Stack& stack, ResolvedRun& resolved) {
  Strategy& s = resolved.strategy;
  const Workload& w = resolved.workload;
  const bool open = !run.states(Dimension::PureHalf) && w.finetune == FineTune::Full && !keeps_32_bits(w.precision) &&
                    !s.offload.any();
  if (!open || !uses_torch_optimizer(s, resolved.stack)) return;
  const MemoryEstimate memory = estimate_memory(w, s, resolved.cluster, resolved.stack);
  const MemoryComponents& m = memory.components;
  if (m.weights + m.gradients + m.optimizer <= memory.limit) return;
  s.execution.pure_half = Toggle::On;
  resolved.stack = executed_by(resolved, stack);
  resolved.assumptions.emplace_back("weights and their states are in 16 bits, as fp32 ones do not fit the device");
}

/// Refuses what the models have no answer for once the row is understood.
Result<void> check_resolved(const MeasuredRun& run, const ResolvedRun& resolved, Assumptions& assumptions) {
  const Workload& w = resolved.workload;
  const Strategy& s = resolved.strategy;
  const auto invalid = [&](const Diagnostic& fault) { return fail("invalid", run.id, fault.message, fault.hint); };
  if (const Diagnostics faults = check(w); !faults.empty()) return invalid(faults.front());
  for (const BrokenRule& rule : broken_rules(s, w, resolved.stack)) {
    // Ranks of experts that do not fill a stage are stated where the row says how experts are cut.
    const bool stated = rule.id == "expert-groups-in-a-stage" && run.states(Dimension::ExpertTensor);
    if (!rule.happens || stated) return invalid(rule.fault);
    assumptions.push_back("no plan would have this: " + rule.fault.message);
  }
  if (s.pipeline_parallel > kMostStages) {
    return fail("unsupported", run.id, "pp is " + std::to_string(s.pipeline_parallel),
                "pipelines of more than " + std::to_string(kMostStages) + " ranks are not modelled");
  }
  return check_unstated_optimizer(run, w, s, resolved.stack, resolved.cluster.accelerator);
}

std::string_view implied_stack(const MeasuredRun& run, const Accelerator* accelerator) {
  const Strategy& s = run.strategy;
  if (accelerator != nullptr && accelerator->vendor == Vendor::Aws) return "neuron";
  if (s.tensor_parallel > 1 || s.pipeline_parallel > 1 || s.expert_parallel > 1) return "megatron";
  if (is_fsdp(s.sharding)) return "fsdp";
  return s.sharding == Sharding::None ? "ddp" : "deepspeed";
}

}  // namespace

Stack executed_by(const ResolvedRun& run, const Stack& framework) {
  return executed(run.older ? as_of_release(framework, kFirstRelease) : framework, run.strategy.execution);
}

Result<const Stack*> stack_of_run(const MeasuredRun& run, const Catalog& catalog, Assumptions& assumptions) {
  const std::string& name = run.stack.empty() ? run.framework : run.stack;
  if (!name.empty()) {
    Result<const Stack*> named = catalog.stack(name, "stack");
    if (named) return named;
    const Diagnostic& fault = named.error().front();
    return fail("unsupported", run.id, fault.message,
                fault.hint + "; scripts/runs/normalise finds the stack of a framework's words");
  }
  const Stack* implied = catalog.find_stack(implied_stack(run, accelerator_of(run.machine, catalog)));
  if (implied == nullptr) return fail("unsupported", run.id, "no stack is stated", "state it");
  assumptions.push_back("stack is " + implied->id);
  return implied;
}

Result<ResolvedRun> resolve_run(const MeasuredRun& run, const Catalog& catalog) {
  if (!run.faults.empty()) return tl::unexpected(run.faults);
  ResolvedRun resolved;
  Assumptions& assumptions = resolved.assumptions;
  Result<Architecture> architecture = architecture_of(run.model, catalog, assumptions);
  if (!architecture) return tl::unexpected(architecture.error());
  Result<Cluster> cluster = cluster_of(run.machine, catalog, assumptions);
  if (!cluster) return tl::unexpected(cluster.error());
  resolved.cluster = std::move(*cluster);
  const Result<const Stack*> stack = stack_of_run(run, catalog, assumptions);
  if (!stack) return tl::unexpected(stack.error());
  if (!run.seq_len) return fail("unsupported", run.id, "seq_len is not stated", "state it");

  Workload& w = resolved.workload;
  w.architecture = std::move(*architecture);
  w.seq_len = *run.seq_len;
  w.padded = !run.packing.value_or(true);
  // A mean that is no shorter than the longest is none.
  if (run.mean_seq_len.value_or(w.seq_len) < w.seq_len) w.mean_seq_len = *run.mean_seq_len;
  extend_positions(w, assumptions);
  const Accelerator& accelerator = resolved.cluster.accelerator;
  resolve_formats(run, accelerator, w, assumptions);
  if (!accelerator.supports(w.precision)) {
    return fail("unsupported", run.id, accelerator.key + " has no " + std::string(to_string(w.precision)) + " units",
                "correct dtype or gpu");
  }
  resolve_training(run, **stack, w, assumptions);

  Strategy& s = resolved.strategy;
  if (Result<void> r = resolve_strategy(run, resolved.cluster, **stack, w, s, assumptions); !r) {
    return tl::unexpected(r.error());
  }
  resolve_host_threads(run, resolved.cluster, s, assumptions);
  resolved.older = !run.states(Dimension::SoftwareRelease);
  resolved.stack = executed_by(resolved, **stack);
  if (s.execution.fused_optimizer == Toggle::Default && resolved.stack.fused_optimizer != (*stack)->fused_optimizer) {
    assumptions.emplace_back("the optimizer is not fused");
  }
  if (Result<void> r = resolve_batch(run, resolved.cluster, resolved.stack, w, s, assumptions); !r) {
    return tl::unexpected(r.error());
  }
  resolve_stage(run, resolved);
  resolve_state_format(run, **stack, resolved);
  w.tokens = w.tokens_per_step();
  if (Result<void> r = check_resolved(run, resolved, assumptions); !r) return tl::unexpected(r.error());
  return resolved;
}

}  // namespace smplan
