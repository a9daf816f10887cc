#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.hpp"

namespace smplan {

/// What may be switched on or off; else the framework decides.
enum class Toggle : std::int8_t { Default, Off, On };
std::string_view to_string(Toggle toggle);
/// `on`, `off`, `default`; `true`, `yes`, `1` and their opposites too.
std::optional<Toggle> toggle_from(std::string_view name);

/// What torch.compile takes.
enum class Compile : std::int8_t {
  Default,
  Off,
  Layers,
  LayersAndLoss,  ///< torchtitan's `compile.components`: model and loss
};
std::string_view to_string(Compile compile);
std::optional<Compile> compile_from(std::string_view name);

/// Which class of fused kernels attends where no scores are stored.
enum class AttentionClass : std::int8_t {
  Default,
  Flash2,  ///< FlashAttention-2 and what PyTorch had of it
  Vendor,  ///< FlashAttention-3, cuDNN, Transformer Engine: written for the part's own instructions
};
std::string_view to_string(AttentionClass kernel);
std::optional<AttentionClass> attention_class_from(std::string_view name);

/// How frozen weights are held between steps. QLoRA's have 4 bits.
enum class BaseFormat : std::int8_t {
  Default,  ///< 16 bits
  Fp32,     ///< as FSDP's mixed precision keeps what it casts for each product
  Int8,     ///< LLM.int8 (Dettmers et al. 2022)
  Fp8,
};
std::string_view to_string(BaseFormat format);
std::optional<BaseFormat> base_format_from(std::string_view name);

/// How the loss of the logits is computed.
enum class LossKernel : std::int8_t {
  Default,
  Whole,  ///< all logits at once, in fp32
  Fused,  ///< the framework's own fused cross-entropy on all logits
  /// On 16-bit logits row by row, their gradients written over them (flash-attention's Triton kernel, as verl calls it:
  /// volcengine/verl 035682e, verl/utils/torch_functional.py, inplace_backward).
  InPlace,
  Linear,  ///< with the output projection, in chunks: no logits are kept (Liger, cut cross-entropy)
};
std::string_view to_string(LossKernel kernel);
std::optional<LossKernel> loss_kernel_from(std::string_view name);

/// Whether products and the collectives of tensor ranks run beside each other.
enum class TensorOverlap : std::int8_t {
  Default,
  Off,
  Async,  ///< in slices: PyTorch's async tensor parallelism
};
std::string_view to_string(TensorOverlap overlap);
std::optional<TensorOverlap> tensor_overlap_from(std::string_view name);

/// How context ranks see each other's tokens.
enum class ContextExchange : std::int8_t {
  Default,
  Ring,      ///< keys and values go around (`cp_comm_type` p2p of Megatron)
  AllToAll,  ///< tokens for heads (Jacobs et al. 2023, Ulysses; `cp_comm_type` a2a)
};
std::string_view to_string(ContextExchange exchange);
std::optional<ContextExchange> context_exchange_from(std::string_view name);

/// How tokens reach their experts.
enum class MoeDispatcher : std::int8_t {
  Default,
  AllToAll,  ///< once for each of its experts
  DeepEp,    ///< once to a node and once to a rank, however many of its experts are there (DeepEP, HybridEP)
};
std::string_view to_string(MoeDispatcher dispatcher);
std::optional<MoeDispatcher> moe_dispatcher_from(std::string_view name);

enum class MoeRouter : std::int8_t {
  Default,
  Balanced,  ///< tokens are dealt out evenly over the experts, as in benchmarks (moe_router_force_load_balancing)
};
std::string_view to_string(MoeRouter router);
std::optional<MoeRouter> moe_router_from(std::string_view name);

/// What of a step of a mixture of experts is captured as CUDA graphs.
enum class CudaGraphs : std::int8_t {
  Default,
  Router,     ///< attention and router of layers with experts
  Layers,     ///< whole layers with experts
  Iteration,  ///< forward and backward as one graph, with fused products of experts
};
std::string_view to_string(CudaGraphs graphs);
std::optional<CudaGraphs> cuda_graphs_from(std::string_view name);

/// Parts of a layer that selective recomputation may run again, as Megatron Core's `recompute_modules` names them.
enum class LayerModule : std::uint8_t {
  CoreAttention,       ///< `core_attn`
  LatentUpProjection,  ///< `mla_up_proj`, with rotary embedding
  Norms,               ///< `layernorm`, before attention and MLP
  ExpertActivation,    ///< `moe_act`
  DenseMlp,            ///< `mlp`
  SharedExperts,       ///< `shared_experts`
  Experts,             ///< `moe`: router, exchange, routed and shared experts
};
inline constexpr int kLayerModules = 7;
std::string_view to_string(LayerModule module);
std::optional<LayerModule> layer_module_from(std::string_view name);

/// A set of them.
struct LayerModules {
  std::uint8_t bits = 0;
  [[nodiscard]] bool has(LayerModule module) const { return (bits >> static_cast<int>(module) & 1) != 0; }
  [[nodiscard]] bool empty() const { return bits == 0; }
  void add(LayerModule module) { bits = static_cast<std::uint8_t>(bits | 1 << static_cast<int>(module)); }
  template <typename F>
  void for_each(F&& take) const {
    for (int i = 0; i < kLayerModules; ++i) {
      if (has(static_cast<LayerModule>(i))) take(static_cast<LayerModule>(i));
    }
  }
  friend auto operator<=>(const LayerModules&, const LayerModules&) = default;
};
/// `core_attn+mlp`; `default` of none.
std::string to_string(LayerModules modules);
std::optional<LayerModules> layer_modules_from(std::string_view name);

/// What software does with a strategy, as far as a job may say it. What it leaves open is the framework's default
/// (catalogs/stack.hpp); `executed()` of models/job/execution.hpp is the framework with all of it switched.
struct Execution {
  Compile compile = Compile::Default;
  Toggle flash_attention = Toggle::Default;  ///< off: attention stores its scores
  AttentionClass attention_kernel = AttentionClass::Default;
  LossKernel loss_kernel = LossKernel::Default;
  Toggle liger_kernels = Toggle::Default;  ///< norms and gates as one kernel each (Hsu et al. 2024)
  TensorOverlap tensor_overlap = TensorOverlap::Default;
  Toggle gradient_overlap = Toggle::Default;  ///< off: gradients are reduced after the last backward pass
  ContextExchange context_exchange = ContextExchange::Default;
  MoeDispatcher moe_dispatcher = MoeDispatcher::Default;
  MoeRouter moe_router = MoeRouter::Default;
  Toggle expert_overlap = Toggle::Default;  ///< the exchange of experts under other work
  Toggle fused_routing = Toggle::Default;   ///< routing, padding and permutation as fused kernels
  CudaGraphs cuda_graphs = CudaGraphs::Default;
  /// Of selective recomputation. None: the attention core where its scores are stored, and under FSDP what its policy
  /// by operation does not keep.
  LayerModules recompute_modules;
  Toggle pure_half = Toggle::Default;       ///< weights, gradients and moments in the 16-bit format, no fp32 master
  Toggle half_gradients = Toggle::Default;  ///< 16-bit gradient buffers beside fp32 master weights
  /// Moments in the 16-bit format beside fp32 masters (Megatron Core's precision-aware optimizer).
  Toggle half_moments = Toggle::Default;
  std::int32_t half_layers = 0;          ///< layers whose products stay in 16 bits where the others' take eight or four
  std::int32_t vocab_multiple = 0;       ///< what the vocabulary is padded to on every tensor rank; 0: the framework's
  Toggle empty_cache = Toggle::Default;  ///< the allocator gives back what is not in use, every few steps
  Toggle reentrant_checkpoint = Toggle::Default;  ///< recomputation runs the whole layer again (PyTorch before 2.1)
  std::int32_t reduce_bucket = 0;  ///< gradients that DeepSpeed reduces at a time; 0: the framework's number
  /// Gradients are let go of after the update, so that a step of one micro-batch begins without: torch's default since
  /// 2.0, `zero_grad(set_to_none=True)`.
  Toggle release_gradients = Toggle::Default;
  /// Each parameter is updated as soon as the backward pass has its gradient, which goes before the next one comes.
  Toggle update_in_backward = Toggle::Default;
  /// FSDP accumulates without synchronising (`no_sync`): ranks hold whole gradients until the last micro-batch.
  Toggle unsharded_gradients = Toggle::Default;
  Toggle fused_optimizer = Toggle::Default;  ///< torch's optimizer updates in one kernel, without temporaries
  /// bitsandbytes' paged optimizers: moments in memory that host and device share, and that moves to the host where the
  /// device has no room (Dettmers et al. 2023, section 3).
  Toggle paged_optimizer = Toggle::Default;
  BaseFormat base_format = BaseFormat::Default;  ///< of frozen weights
  Toggle double_quantization = Toggle::Default;  ///< of a 4-bit base: its scales are quantised too
  /// Embedding and head beside a 4-bit base are fp32, as PEFT's prepare_model_for_kbit_training makes them.
  Toggle wide_embeddings = Toggle::Default;
  std::int32_t host_threads = 0;  ///< of each rank's process, for an optimizer on the host; 0: its share of the node's
  std::int32_t software_release = 0;  ///< year and month of the software, 2602 is 2026-02; 0: today's

  friend auto operator<=>(const Execution&, const Execution&) = default;
};

/// What `software_release` may be, of a framework's dated defaults too.
inline constexpr std::int32_t kFirstRelease = 1801;  // before there was a framework that the catalog knows
inline constexpr std::int32_t kLastRelease = 9912;

/// `"offers": {"compile": ["layers"], ...}` of a stack: what it can be told, of each value an Execution that says that
/// alone. Absent is nothing.
std::vector<Execution> read_offers(ObjectReader& reader);

}  // namespace smplan
