#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/job/execution.hpp"
#include "models/layers/layer_inputs.hpp"
#include "planner/export/hub_name.hpp"
#include "planner/export/megatron.hpp"
#include "planner/export/program.hpp"
#include "planner/export/text.hpp"
#include "planner/export/writers.hpp"

// Names of arguments: NVIDIA/Megatron-LM d98e8a6 (2026-08-22), megatron/training/arguments.py.

namespace smplan {
namespace {

/// Arguments a line, in groups.
class Arguments {
 public:
  void group(const std::string& title) { text_ += '\n' + commented({title}); }
  void flag(std::string_view name) { text_ += fmt::format("--{}\n", name); }
  template <typename T>
  void set(std::string_view name, const T& value) {
    text_ += fmt::format("--{} {}\n", name, value);
  }
  void flag_if(bool wanted, std::string_view name) {
    if (wanted) flag(name);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_graphs(CudaGraphs graphs, Arguments& out) {
  if (graphs == CudaGraphs::Default) return;
  out.set("cuda-graph-impl", graphs == CudaGraphs::Iteration ? "local" : "transformer_engine");
  if (graphs == CudaGraphs::Iteration) out.set("cuda-graph-scope", "full_iteration");
  if (graphs == CudaGraphs::Router) out.set("cuda-graph-scope", "attn moe_router");
}

void add_experts(const TrainingPlan& plan, Arguments& out, Export& exported) {
  if (!plan.model.is_moe()) return;
  const MixtureOfExperts& moe = plan.model.moe;
  out.set("num-experts", moe.n_experts);
  out.set("moe-router-topk", moe.top_k);
  out.flag("moe-grouped-gemm");
  const Execution& e = plan.strategy.execution;
  const bool deepep = e.moe_dispatcher == MoeDispatcher::DeepEp;
  out.set("moe-token-dispatcher-type", deepep ? "flex" : "alltoall");
  if (deepep) {
    out.set("moe-flex-dispatcher-backend", "deepep");
    exported.notes.emplace_back("The token dispatcher is DeepEP's: the image needs its package deep_ep.");
  }
  out.flag_if(is_on(e.expert_overlap), "overlap-moe-expert-parallel-comm");
  out.flag_if(e.moe_router == MoeRouter::Balanced, "moe-router-force-load-balancing");
  out.flag_if(is_on(e.fused_routing), "moe-router-fusion");
  out.flag_if(is_on(e.fused_routing), "moe-permute-fusion");
  add_graphs(e.cuda_graphs, out);
  exported.notes.emplace_back(
      "How tokens are routed is not in the catalog, and Megatron's default is softmax scores without balancing. "
      "DeepSeek-V3 and its kin take --moe-router-score-function sigmoid, --moe-router-enable-expert-bias and "
      "--moe-router-topk-scaling-factor (routed_scaling_factor of config.json).");
  out.set("moe-ffn-hidden-size", moe.expert_ffn_hidden);
  if (moe.n_shared_experts > 0) {
    out.set("moe-shared-expert-intermediate-size", moe.n_shared_experts * moe.shared_expert_ffn_hidden);
    out.flag_if(moe.shared_expert_gate, "moe-shared-expert-gate");
  }
  if (moe.latent_hidden > 0) out.set("moe-latent-size", moe.latent_hidden);
  if (moe.n_leading_dense_layers > 0) {
    out.set("moe-layer-freq", fmt::format("([0]*{}+[1]*{})", moe.n_leading_dense_layers,
                                          plan.model.n_layers - moe.n_leading_dense_layers));
  } else if (moe.layer_stride > 1) {
    out.set("moe-layer-freq", moe.layer_stride);
  }
}

void add_latent_attention(const LatentAttention& latent, Arguments& out) {
  out.flag("multi-latent-attention");
  if (latent.q_lora_rank > 0) out.set("q-lora-rank", latent.q_lora_rank);
  out.set("kv-lora-rank", latent.kv_lora_rank);
  out.set("qk-head-dim", latent.qk_nope_head_dim);
  out.set("qk-pos-emb-head-dim", latent.qk_rope_head_dim);
  out.set("v-head-dim", latent.v_head_dim);
}

/// Mamba-2 as layers of a pattern, or the gated delta rule as a variant of attention.
void add_state_mixer(const StateMixer& state, std::int64_t attention_stride, Arguments& out) {
  if (!state.delta_rule) {
    out.set("mamba-num-heads", state.n_heads);
    out.set("mamba-head-dim", state.head_dim);
    out.set("mamba-num-groups", state.n_groups);
    out.set("mamba-state-dim", state.state_dim);
    return;
  }
  out.set("experimental-attention-variant", "gated_delta_net");
  out.set("linear-attention-freq", attention_stride);
  out.set("linear-num-value-heads", state.n_heads);
  out.set("linear-value-head-dim", state.head_dim);
  out.set("linear-num-key-heads", state.n_groups);
  out.set("linear-key-head-dim", state.state_dim);
  out.set("linear-conv-kernel-dim", state.conv_kernel);
}

/// Blocks that predict further tokens; a pattern names their layers and so their number itself.
void add_prediction(const Architecture& a, Arguments& out) {
  if (a.prediction.depth == 0) return;
  if (a.layer_pattern.empty()) out.set("mtp-num-layers", a.prediction.depth);
  out.flag_if(a.prediction.shared_block, "mtp-use-repeated-layer");
}

constexpr std::string_view kRotaryBase = "REPLACE-ME-rotary-base";

/// What the widths leave open. Megatron's defaults are GPT-2's.
void add_kind(const Architecture& a, Arguments& out) {
  out.flag_if(a.gated_mlp, "swiglu");
  if (a.model_type() == "nemotron") {  // as Megatron trained them
    out.flag("squared-relu");
    out.flag("apply-layernorm-1p");
    out.set("rotary-percent", "0.5");
  }
  out.flag_if(a.model_type() == "nemotron_h", "squared-relu");
  // GPT-2 and GPT-3 were trained with dropout; what came after was not.
  if (a.family != "gpt") {
    out.set("attention-dropout", "0.0");
    out.set("hidden-dropout", "0.0");
  }
  if (a.norm == NormKind::RmsNorm) out.set("normalization", "RMSNorm");
  const bool biased = a.mlp_bias || a.attention_output_bias;
  out.flag_if(!biased, "disable-bias-linear");
  out.flag_if(a.qkv_bias && !biased, "add-qkv-bias");
  out.flag_if(a.qk_norm, "qk-layernorm");
  out.flag_if(a.attention_output_gate, "attention-output-gate");
  out.flag_if(!a.tied_embeddings, "untie-embeddings-and-output-weights");
  switch (a.positions) {
    case PositionEncoding::Rope:
      out.set("position-embedding-type", "rope");
      if (a.rotary_base > 0) {
        out.set("rotary-base", std::llround(a.rotary_base));  // Megatron reads a whole number
      } else {
        out.set("rotary-base", kRotaryBase);
      }
      break;
    case PositionEncoding::Learned:
      out.set("position-embedding-type", "learned_absolute");
      break;
    case PositionEncoding::Alibi:
    case PositionEncoding::RelativeBias:
    case PositionEncoding::None:
      out.set("position-embedding-type", "none");
      break;
  }
  if (a.sliding_window > 0) {
    out.set("window-size", fmt::format("{},0", a.sliding_window));
    if (a.sliding_window_stride > 0) out.set("window-attn-skip-freq", a.sliding_window_stride);
  }
  if (a.has_latent_attention()) add_latent_attention(a.latent, out);
  if (a.has_state_mixer()) add_state_mixer(a.state, a.attention_stride, out);
  add_prediction(a, out);
}

void add_model(const TrainingPlan& plan, Arguments& out, Export& exported) {
  const Architecture& m = plan.model;
  out.group(m.name);
  if (const std::string pattern = megatron_pattern(plan); !pattern.empty()) {
    out.set("hybrid-layer-pattern", fmt::format("'{}'", pattern));  // says layers and stages
    out.set("spec", "megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec");
  } else {
    out.set("num-layers", m.n_layers);
  }
  out.set("hidden-size", m.hidden);
  if (m.ffn_hidden > 0) out.set("ffn-hidden-size", m.ffn_hidden);
  out.set("num-attention-heads", m.n_heads);
  if (m.n_kv_heads != m.n_heads) {
    out.flag("group-query-attention");
    out.set("num-query-groups", m.n_kv_heads);
  }
  if (m.head_dim > 0 && m.head_dim * m.n_heads != m.hidden) out.set("kv-channels", m.head_dim);
  out.set("seq-length", plan.seq_len);
  out.set("max-position-embeddings", plan.seq_len);
  add_experts(plan, out, exported);
  add_kind(m, out);
}

/// The prediction counts on it; Megatron-LM leaves it off.
bool overlaps_tensor_ranks(const TrainingPlan& plan) {
  const Strategy& s = plan.strategy;
  const IntraNodeFabric& fabric = plan.instance->fabric;
  const TensorRanks ranks{.fabric = fabric.kind,
                          .one_domain = s.tensor_parallel <= fabric.domain_size,
                          .sequence_parallel = s.sequence_parallel,
                          .latent_attention = plan.model.has_latent_attention(),
                          .precision = plan.precision};
  const bool off = s.execution.tensor_overlap == TensorOverlap::Off;
  return !off && s.tensor_parallel > 1 && plan.stack->profile.tensor_overlap > 0 && overlaps(ranks, *plan.stack);
}

void add_split(const TrainingPlan& plan, Arguments& out) {
  const Strategy& s = plan.strategy;
  out.group(world_equation(plan));
  out.set("tensor-model-parallel-size", s.tensor_parallel);
  out.set("pipeline-model-parallel-size", s.pipeline_parallel);
  out.set("context-parallel-size", s.context_parallel);
  if (const std::string layout = megatron_layout(plan); !layout.empty()) {
    out.set("pipeline-model-parallel-layout", fmt::format("'{}'", layout));  // says the virtual stages too
  } else if (s.virtual_pipeline > 1 && megatron_pattern(plan).empty()) {
    out.set("num-virtual-stages-per-pipeline-rank", s.virtual_pipeline);
  }
  if (plan.model.is_moe()) {
    out.set("expert-model-parallel-size", s.expert_parallel);
    out.set("expert-tensor-parallel-size", s.expert_tensor());
  }
  out.flag_if(s.sequence_parallel, "sequence-parallel");
  out.flag_if(overlaps_tensor_ranks(plan), "tp-comm-overlap");
  if (s.execution.context_exchange == ContextExchange::AllToAll) out.set("cp-comm-type", "a2a");
  const bool overlaps = plan.replicas() > 1 && s.execution.gradient_overlap != Toggle::Off;
  out.flag_if(overlaps, "overlap-grad-reduce");
  // Megatron offloads none but the distributed optimizer, though it be over one replica each.
  if (s.sharding == Sharding::Zero1 || s.offload.optimizer) {
    out.flag("use-distributed-optimizer");
    out.flag_if(overlaps, "overlap-param-gather");
    if (s.shard_degree < plan.replicas()) {
      out.set("num-distributed-optimizer-instances", plan.replicas() / s.shard_degree);
    }
  }
}

void add_memory(const TrainingPlan& plan, Arguments& out) {
  const Strategy& s = plan.strategy;
  const Execution& e = s.execution;
  if (s.recompute == Recompute::Selective) out.set("recompute-granularity", "selective");
  if (!e.recompute_modules.empty()) {
    std::string modules = to_string(e.recompute_modules);
    std::replace(modules.begin(), modules.end(), '+', ' ');
    out.set("recompute-modules", modules);
  }
  out.flag_if(is_on(e.half_gradients), "grad-reduce-in-bf16");
  if (s.recompute == Recompute::Full) {
    out.set("recompute-granularity", "full");
    out.set("recompute-method", s.recompute_layers > 0 ? "block" : "uniform");
    out.set("recompute-num-layers", std::max(1, s.recompute_layers));
  }
  if (s.offload.optimizer) {
    out.flag("optimizer-cpu-offload");
    out.set("optimizer-offload-fraction", "1.0");
  }
  out.flag_if(s.offload.optimizer || is_on(e.half_moments), "use-precision-aware-optimizer");
  if (is_on(e.half_moments)) {
    out.set("exp-avg-dtype", "bf16");
    out.set("exp-avg-sq-dtype", "bf16");
  }
  if (s.offload.activations) {
    // One layer of each stage stays: Megatron asks for fewer than there are.
    out.set("cpu-offloading-num-layers", std::max<std::int64_t>(1, plan.model.n_layers / s.pipeline_parallel - 1));
  }
}

void add_precision(const TrainingPlan& plan, Arguments& out) {
  switch (plan.precision) {
    case Precision::Fp16:
      out.flag("fp16");
      break;
    case Precision::Fp8:
      out.flag("bf16");
      out.set("fp8-format", "hybrid");
      break;
    case Precision::Fp4:
      out.flag("bf16");
      out.set("fp4-format", "e2m1");
      break;
    case Precision::Bf16:
      out.flag("bf16");
      break;
    case Precision::Fp32:
    case Precision::Tf32:
      break;
  }
}

std::string_view optimizer_name(Optimizer optimizer) {
  return optimizer == Optimizer::SgdMomentum ? "sgd" : optimizer == Optimizer::Muon ? "muon" : "adam";
}

}  // namespace

ExportFile framework_entry(std::string_view body) {
  return {"smplan_entry.py",
          fmt::format("\"\"\"Runs the framework's own entry point with the exported arguments, under torchrun.\"\"\"\n"
                      "import runpy\nimport shlex\nimport sys\nfrom pathlib import Path\n\n"
                      "here = Path(__file__).resolve().parent\nsys.path.insert(0, str(here))\n{}",
                      body)};
}

void write_megatron(const ExportJob& job, Export& out, Diagnostics&) {
  const TrainingPlan& plan = job.plan;
  Arguments arguments;
  add_model(plan, arguments, out);
  add_split(plan, arguments);
  arguments.group(fmt::format("{} sequences a step = micro-batch {} x accumulation {} x data {}", plan.global_batch,
                              plan.strategy.micro_batch, plan.gradient_accumulation, plan.strategy.data_parallel));
  arguments.set("micro-batch-size", plan.strategy.micro_batch);
  arguments.set("global-batch-size", plan.global_batch);
  arguments.set("train-iters", plan.steps());
  arguments.group(
      fmt::format("predicted peak {:.1f} of {:.1f} GiB", plan.prediction.peak_gib, plan.prediction.limit_gib));
  add_precision(plan, arguments);
  add_memory(plan, arguments);
  arguments.set("transformer-impl", "transformer_engine");
  const Execution& e = plan.strategy.execution;
  const Toggle flash = e.flash_attention;
  arguments.set("attention-backend", flash == Toggle::Default ? "auto" : is_on(flash) ? "flash" : "unfused");
  arguments.flag_if(e.loss_kernel == LossKernel::Fused, "cross-entropy-loss-fusion");
  if (e.vocab_multiple > 0) arguments.set("make-vocab-size-divisible-by", e.vocab_multiple);
  out.said = {Dimension::FlashAttention,  Dimension::LossKernel,       Dimension::TensorOverlap,
              Dimension::GradientOverlap, Dimension::ContextExchange,  Dimension::MoeDispatcher,
              Dimension::MoeRouter,       Dimension::ExpertOverlap,    Dimension::FusedRouting,
              Dimension::CudaGraphs,      Dimension::RecomputeModules, Dimension::HalfGradients,
              Dimension::HalfMoments,     Dimension::VocabMultiple};
  arguments.set("distributed-backend", "nccl");
  arguments.group("training: yours to choose");
  arguments.set("optimizer", optimizer_name(plan.optimizer));
  arguments.set("lr", fmt::format("{:g}", learning_rate(plan)));
  arguments.set("data-path", "REPLACE-ME-data-path");
  arguments.set("tokenizer-type", "HuggingFaceTokenizer");
  arguments.set("tokenizer-model",
                hub_name_or(job, "REPLACE-ME-tokenizer", "Hugging Face name or folder of the tokenizer", out));
  arguments.set("save", folders_of(plan).checkpoints);
  arguments.set("load", folders_of(plan).checkpoints);
  arguments.set("save-interval", plan.save_steps());
  arguments.set("ckpt-format", "torch_dist");
  out.files.push_back({"megatron_args.txt", commented(provenance_lines(job)) + arguments.text()});
  const std::string_view script = megatron_pattern(plan).empty() ? "pretrain_gpt.py" : "pretrain_hybrid.py";
  out.files.push_back(framework_entry(
      fmt::format("sys.argv = [\"{0}\", *shlex.split((here / \"megatron_args.txt\").read_text(), comments=True)]\n"
                  "runpy.run_path(str(here / \"{0}\"), run_name=\"__main__\")\n",
                  script)));
  out.placeholders.push_back({std::string(kRotaryBase), "rope_theta of the model's config.json"});
  out.placeholders.push_back(
      {"REPLACE-ME-data-path", "prefix of the tokenized .bin and .idx files under " + folders_of(plan).data});
  out.placeholders.push_back(
      {std::string(script), "Megatron-LM's entry point, to be put in src/ with the megatron package"});
}

}  // namespace smplan
