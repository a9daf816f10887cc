#include <string>
#include <vector>

#include "planner/validation/run_resolution.hpp"

namespace smplan {
namespace {

/// NVIDIA's MXFP8 recipes for mixtures of experts run forward and backward as one CUDA graph with fused expert products
/// and overlapped exchange: on Grace Blackwell from container 26.06, on Blackwell from 26.08 (Megatron-Bridge 0.5.1
/// notes). Kimi's do not (its scripts/performance/configs/kimi, 0.5.0 and 0.5.1).
bool runs_as_one_graph(const RunSettings& settings, const Workload& w, const Accelerator& accelerator) {
  constexpr double kJune2026 = 2026 + 5.0 / 12;
  constexpr double kAugust2026 = 2026 + 7.0 / 12;
  if (!settings.software_year || !w.architecture.is_moe() || w.precision != Precision::Fp8) return false;
  if (w.architecture.name.rfind("kimi", 0) == 0) return false;
  const std::string family = family_of(accelerator);
  if (family == "Grace Blackwell") return *settings.software_year >= kJune2026;
  return family == "Blackwell" && *settings.software_year >= kAugust2026;
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
  constexpr int kNode = 8;
  return settings.performance_recipe && s.virtual_pipeline > 1 && s.expert_parallel > 1 && cluster.domain() <= kNode;
}

/// Modules that NVIDIA's recipes recompute where memory is short (Megatron-Bridge 0.2.0 to 0.5.1, scripts/performance/
/// configs): of DeepSeek-V3 and Kimi K2 the projections up from the latent vectors, but for one graph on 288 GB; of
/// GPT-OSS norms and activations, but on 288 GB or in one graph; of Qwen3 nothing.
std::vector<LayerModule> recipe_modules(const RunSettings& settings, const Architecture& a,
                                        const Accelerator& accelerator) {
  if (!settings.performance_recipe || !a.is_moe()) return {};
  const bool roomy = accelerator.device_memory > gib(250);
  if (a.has_latent_attention() && !(roomy && settings.graphed_iteration)) return {LayerModule::LatentUpProjection};
  if (a.moe.expert_bias && !roomy && !settings.graphed_iteration) {
    return {LayerModule::Norms, LayerModule::ExpertActivation};
  }
  return {};
}

}  // namespace

/// Megatron-Bridge's recipes of DeepSeek, Moonlight and OLMoE set bf16 moments (0.2.0 to 0.5.1, src/megatron/bridge/
/// recipes: exp_avg_dtype), its others fp32.
bool recipe_halves_moments(const MeasuredRun& run, const Architecture& a) {
  const bool recipe = run.optimizer.empty() && lower_case(run.framework).find("bridge") != std::string::npos;
  return recipe && (a.family == "olmoe" || (a.family == "deepseek" && a.name.rfind("kimi", 0) != 0));
}

/// NVIDIA's scripts for BERT bin the sequences of their second phase by length, 64 tokens a bin, and cut each batch to
/// its longest (NVIDIA/DeepLearningExamples, PyTorch/LanguageModeling/BERT, phase2_bin_size; NVIDIA/LDDL). Half of
/// Wikipedia's tokens at that length would be padding (Krell et al. 2021, 2107.02027): a batch has the other half and
/// half a bin.
std::optional<std::int64_t> binned_seq_len(const Workload& w, const Stack& stack) {
  constexpr std::int64_t kSecondPhase = 512;
  constexpr std::int64_t kBin = 64;
  const bool script = stack.id == "ddp" && w.architecture.family == "bert" && w.optimizer == Optimizer::Lamb;
  if (!script || w.seq_len != kSecondPhase) return std::nullopt;
  return kSecondPhase / 2 + kBin / 2;
}

void follow_recipes(const MeasuredRun& run, const Workload& w, const Cluster& cluster, Strategy& s,
                    RunSettings& settings, Assumptions& assumptions) {
  settings.graphed_iteration = runs_as_one_graph(settings, w, cluster.accelerator);
  settings.graphed_layers = graphs_layers(run, w, s, cluster.accelerator);
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
