#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "catalogs/precision.hpp"
#include "catalogs/stack.hpp"

namespace smplan {

/// Settings that tables of measured runs state in words rather than in columns.
struct RunSettings {
  std::optional<Precision> precision;
  std::optional<std::int64_t> lora_rank;
  std::optional<std::int64_t> global_batch;
  bool seq_len_is_limit = false;  ///< most samples are shorter: memory peaks at the longest, time is not of it
  bool pure_half = false;         ///< `MP_mode=PURE`: 16-bit parameters, reduction and buffers
  bool half_gradients = false;    ///< 16-bit gradient buffers beside fp32 master weights
  bool full_adapters = false;     ///< PEFT keeps adapters in fp32 beside weights in 16 bits
  bool empties_cache = false;     ///< the allocator gives back what is not in use, every few steps
  bool lora_embeddings = false;   ///< embedding and head trained beside the adapters
  bool tied_embeddings = false;
  bool fused_loss = false;           ///< Liger, cut cross-entropy: no logits are kept
  bool all_to_all_context = false;   ///< context ranks exchange tokens for heads
  bool exact_vocabulary = false;     ///< no padding
  bool unpacked = false;             ///< sequences are shorter than stated
  bool compiled_loss = false;        ///< torch.compile of the loss beside the layers
  bool whole_logits = false;         ///< a loss of all logits in fp32 where the framework's own takes chunks
  bool liger_kernels = false;        ///< norms and gates as one kernel each
  bool fused_cross_entropy = false;  ///< the framework's own, which takes all logits at once
  std::optional<bool> compiled;      ///< torch.compile
  bool async_tensor_parallel = false;
  bool tensor_overlap = true;                   ///< false: stated to be off
  bool checkpoints_run_through = false;         ///< PyTorch before 2.1
  bool gradient_overlap = true;                 ///< false: a framework that leaves it off, and nothing says it is on
  std::optional<bool> deduplicated_dispatch;    ///< DeepEP or HybridEP against plain all-to-all
  bool performance_recipe = false;              ///< a vendor's tuned configuration
  bool interleaved = false;                     ///< each stage runs several chunks of layers in turn
  std::optional<double> software_year;          ///< `container 26.04` is 2026.25
  std::optional<bool> expert_overlap;           ///< all-to-all under other work
  bool graphed_experts = false;                 ///< router and attention of layers with experts run as CUDA graphs
  bool graphed_layers = false;                  ///< layers of experts as CUDA graphs
  std::vector<LayerModule> recomputed_modules;  ///< of selective recomputation; empty: the stack's own
  bool rowwise_scales = false;                  ///< of 8-bit products
  bool graphed_iteration = false;               ///< forward and backward as one CUDA graph, experts' products fused
};

/// Reads the notes and the framework's name; what they do not say stays unset. What only a program's own defaults tell
/// is read from the framework, where it is stated. The model's name is no setting: words in it name something else
/// (`Mistral-NeMo` is no recipe of NeMo).
RunSettings read_settings(std::string_view notes, std::string_view framework = {});

class Phrases;
/// The frozen weights, and neither the optimizer's states nor gradients, have 4 bits.
bool says_four_bit_format(const Phrases& words);
/// The same, or the method is called QLoRA.
bool says_four_bit_weights(const Phrases& words);

/// What the settings switch, of a model with experts or of another.
Execution execution_of(const RunSettings& settings, bool has_experts = true);

}  // namespace smplan
