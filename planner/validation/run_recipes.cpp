#include <algorithm>
#include <string>
#include <vector>

#include "base/words.hpp"
#include "planner/validation/run_resolution.hpp"

namespace smplan {
namespace {

constexpr int kNode = 8;  // GPUs of one NVLink domain, where that is no rack
constexpr double kJune2026 = 2026 + 5.0 / 12;

/// NVIDIA's MXFP8 recipes for mixtures of experts run forward and backward as one CUDA graph with fused expert products
/// and overlapped exchange: on Grace Blackwell from container 26.06, on Blackwell from 26.08 (Megatron-Bridge 0.5.1
/// notes). Kimi's and those of hybrids do not (its scripts/performance/configs, kimi and nemotronh, 0.5.0 and 0.5.1).
bool runs_as_one_graph(const RunSettings& settings, const Workload& w, const Accelerator& accelerator) {
  constexpr double kAugust2026 = 2026 + 7.0 / 12;
  if (!settings.software_year || !w.architecture.is_moe() || w.precision != Precision::Fp8) return false;
  if (w.architecture.name.rfind("kimi", 0) == 0 || w.architecture.has_state_mixer()) return false;
  const std::string generation = silicon_generation(accelerator);
  if (generation == "Grace Blackwell") return *settings.software_year >= kJune2026;
  return generation == "Blackwell" && *settings.software_year >= kAugust2026;
}

/// NeMo's performance scripts pad experts to capacity and run layers as CUDA graphs on Blackwell where mixtures of
/// experts have no pipeline (NVIDIA/NeMo, scripts/performance/recommended_model_configs of B200 and GB200: cuda_graphs;
/// NVIDIA/dgxc-benchmarking, grok1/launch.sh).
bool graphs_layers(const MeasuredRun& run, const Workload& w, const Strategy& s, const Accelerator& accelerator) {
  const std::string framework = lower_case(run.framework);
  const bool scripts = framework.find("nemo") != std::string::npos && framework.find("bridge") == std::string::npos;
  return scripts && accelerator.architecture.rfind("Blackwell", 0) == 0 && w.architecture.is_moe() &&
         s.pipeline_parallel == 1;
}

/// NVIDIA's recipes for eight-GPU nodes interleave stages to run the exchange of one chunk under the passes of another;
/// on Grace Blackwell they leave it bare (Megatron-Bridge 0.2.0 to 0.5.0, scripts/performance/configs: 28 of the 38
/// that interleave stages of experts on such nodes, by release, model and device).
bool overlaps_exchange(const RunSettings& settings, const Strategy& s, const Cluster& cluster) {
  return settings.performance_recipe && s.virtual_pipeline > 1 && s.expert_parallel > 1 && cluster.domain() <= kNode;
}

/// NVIDIA's recipes capture router and attention of layers with experts as CUDA graphs on racks; on eight-GPU nodes
/// those of Qwen3-30B do, but in fp8 on Hopper, of GPT-OSS where memory is large, of hybrids on Blackwell, and the
/// others from container 26.06 on B300 (Megatron-Bridge 0.2.0 to 0.5.1, scripts/performance/configs: cuda_graph_scope).
bool graphs_experts(const RunSettings& settings, const Workload& w, const Cluster& cluster) {
  const Architecture& a = w.architecture;
  if (!settings.performance_recipe || !a.is_moe()) return false;
  if (cluster.domain() > kNode) return true;
  const bool hopper = cluster.accelerator.architecture.rfind("Hopper", 0) == 0;
  const bool roomy = cluster.accelerator.device_memory > gib(250);
  if (a.name.rfind("qwen3-30b", 0) == 0) return !hopper || w.precision != Precision::Fp8;
  if (a.has_state_mixer()) return !hopper;
  return roomy && (a.moe.expert_bias || settings.software_year.value_or(0) >= kJune2026);
}

/// NVIDIA's recipes send a token once to each rank (HybridEP, DeepEP) on racks and, from container 26.02, on eight-GPU
/// nodes too, but for Qwen3-235B and GPT-OSS there; before, DeepSeek on Hopper alone (Megatron-Bridge 0.2.0 to 0.5.1,
/// scripts/performance/configs: moe_flex_dispatcher_backend, moe_token_dispatcher_type).
bool dispatches_once(const RunSettings& settings, const Architecture& a, const Cluster& cluster) {
  constexpr double kFebruary2026 = 2026 + 1.0 / 12;
  if (!settings.performance_recipe) return false;
  if (cluster.domain() > kNode) return true;
  if (settings.software_year.value_or(0) < kFebruary2026) {
    return a.family == "deepseek" && cluster.accelerator.architecture.rfind("Hopper", 0) == 0;
  }
  return a.name.rfind("qwen3-235b", 0) != 0 && !a.moe.expert_bias;
}

/// Modules that NVIDIA's recipes recompute where memory is short (Megatron-Bridge 0.2.0 to 0.5.1, scripts/performance/
/// configs): of DeepSeek-V3 and Kimi K2 the projections up from the latent vectors, but for one graph on 288 GB; of
/// GPT-OSS norms and activations, but on 288 GB or in one graph; of Qwen3 nothing; of Nemotron 3 on 80 GB experts,
/// norms and attention.
std::vector<LayerModule> recipe_modules(const RunSettings& settings, const Architecture& a,
                                        const Accelerator& accelerator) {
  if (!settings.performance_recipe || !a.is_moe()) return {};
  const bool roomy = accelerator.device_memory > gib(250);
  if (a.has_latent_attention() && !(roomy && settings.graphed_iteration)) return {LayerModule::LatentUpProjection};
  if (a.moe.expert_bias && !roomy && !settings.graphed_iteration) {
    return {LayerModule::Norms, LayerModule::ExpertActivation};
  }
  if (a.family == "nemotron-h" && accelerator.device_memory < gib(100)) {
    return {LayerModule::Experts, LayerModule::Norms, LayerModule::CoreAttention};
  }
  return {};
}

/// NVIDIA's recipes for MaxText and PaxML keep what the products around attention make and run norms, attention and the
/// MLP's first products again; PaxML's of 5B keeps all products. Weights are sharded over all nodes, from 64 on and by
/// PaxML over 16, its 5B over one (NVIDIA/dgxc-benchmarking v24.11.1 to v25.02.02, maxtext/configure.sh,
/// paxml/configure.sh and paxml_mod_configs.py: remat_policy, CHECKPOINT_POLICY, dcn_fsdp_parallelism, FSDP).
void follow_jax_recipes(const MeasuredRun& run, const Workload& w, const Cluster& cluster, bool pax, Strategy& s,
                        RunSettings& settings, Assumptions& assumptions) {
  constexpr double kSmall = 15e9;
  constexpr std::int32_t kManyNodes = 64;
  constexpr std::int32_t kShardNodes = 16;
  const bool small = pax && static_cast<double>(count_parameters(w.architecture).total()) < kSmall;
  if (s.recompute == Recompute::Selective) {
    settings.recomputed_modules = {LayerModule::Norms, LayerModule::CoreAttention};
    if (!small) settings.recomputed_modules.push_back(LayerModule::DenseMlp);
    assumptions.emplace_back("recompute takes what NVIDIA's recipes for JAX run again");
  }
  const std::int32_t all = cluster.nodes;
  const std::int32_t nodes = small ? 1 : std::min(all, pax || all >= kManyNodes ? kShardNodes : all);
  if (run.shard.empty() && s.sharding == Sharding::FsdpFull && nodes < all && all % nodes == 0) {
    s.sharding = Sharding::FsdpHybrid;
    s.shard_degree = nodes * cluster.gpus_per_node;
    assumptions.push_back("weights are sharded over " + std::to_string(s.shard_degree) +
                          " devices, as in NVIDIA's recipes for JAX");
  }
}

}  // namespace

/// Megatron-Bridge's recipes of DeepSeek, Moonlight and OLMoE set bf16 moments (0.2.0 to 0.5.1, src/megatron/bridge/
/// recipes: exp_avg_dtype), its others fp32.
bool recipe_halves_moments(const MeasuredRun& run, const Architecture& a) {
  const bool recipe = run.optimizer.empty() && lower_case(run.framework).find("bridge") != std::string::npos;
  return recipe && (a.family == "olmoe" || (a.family == "deepseek" && a.name.rfind("kimi", 0) != 0));
}

/// Megatron-Bridge's NVFP4 recipe of hybrids keeps the first layer and the last 14 in bf16 (0.4.0 to 0.6.0,
/// nemotron_3_super_bf16_with_nvfp4_mixed).
std::int64_t recipe_half_layers(const MeasuredRun& run, const Workload& w) {
  constexpr std::int64_t kFirstAndLast = 1 + 14;
  const bool recipe = lower_case(run.framework).find("bridge") != std::string::npos;
  if (!recipe || w.architecture.family != "nemotron-h" || w.precision != Precision::Fp4) return 0;
  return std::min(kFirstAndLast, w.architecture.n_layers);
}

/// Only NVIDIA's scripts train BERT with LAMB (NVIDIA/DeepLearningExamples, PyTorch/LanguageModeling/BERT).
bool is_nvidias_bert(const Workload& w, const Stack& stack) {
  return stack.id == "ddp" && w.architecture.family == "bert" && w.optimizer == Optimizer::Lamb;
}

/// NVIDIA's scripts for BERT bin the sequences of their second phase by length, 64 tokens a bin, and cut each batch to
/// its longest (NVIDIA/DeepLearningExamples, PyTorch/LanguageModeling/BERT, phase2_bin_size; NVIDIA/LDDL). Half of
/// Wikipedia's tokens at that length would be padding (Krell et al. 2021, 2107.02027): a batch has the other half and
/// half a bin.
std::optional<std::int64_t> binned_seq_len(const Workload& w, const Stack& stack) {
  constexpr std::int64_t kSecondPhase = 512;
  constexpr std::int64_t kBin = 64;
  if (!is_nvidias_bert(w, stack) || w.seq_len != kSecondPhase) return std::nullopt;
  return kSecondPhase / 2 + kBin / 2;
}

void follow_recipes(const MeasuredRun& run, const Workload& w, const Cluster& cluster, const Stack& stack, Strategy& s,
                    RunSettings& settings, Assumptions& assumptions) {
  const bool pax = stack.id == "paxml";
  if (pax || stack.id == "maxtext") return follow_jax_recipes(run, w, cluster, pax, s, settings, assumptions);
  settings.graphed_iteration = runs_as_one_graph(settings, w, cluster.accelerator);
  settings.graphed_experts = graphs_experts(settings, w, cluster);
  settings.graphed_layers = graphs_layers(run, w, s, cluster.accelerator);
  if (w.architecture.is_moe() && !settings.deduplicated_dispatch) {
    settings.deduplicated_dispatch = dispatches_once(settings, w.architecture, cluster);
  }
  if (!settings.expert_overlap && overlaps_exchange(settings, s, cluster)) {
    settings.expert_overlap = true;
    assumptions.push_back("the exchange of experts is overlapped, as in NVIDIA's recipes for such nodes");
  }
  if (run.recompute.empty() && s.recompute == Recompute::None) {
    settings.recomputed_modules = recipe_modules(settings, w.architecture, cluster.accelerator);
    for (const LayerModule module : settings.recomputed_modules) {
      s.recompute = Recompute::Selective;
      assumptions.push_back("recompute takes " + std::string(to_string(module)) + ", as in NVIDIA's recipes");
    }
  }
}

}  // namespace smplan
