#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "catalogs/adapted_layers.hpp"
#include "catalogs/adapter_methods.hpp"
#include "catalogs/architecture.hpp"
#include "catalogs/precision.hpp"
#include "catalogs/training_loss.hpp"

namespace smplan {

enum class Optimizer { AdamW, Adam8bit, SgdMomentum, Lion, Adafactor, Muon, Lamb };
std::string_view to_string(Optimizer optimizer);
std::optional<Optimizer> optimizer_from(std::string_view name);

enum class FineTune {
  Full,   ///< every weight is trained (pre-training too)
  Lora,   ///< frozen 16-bit base, low-rank adapters
  Qlora,  ///< frozen 4-bit NF4 base, low-rank adapters
};
std::string_view to_string(FineTune mode);
std::optional<FineTune> finetune_from(std::string_view name);

/// Maps that carry adapters.
enum class LoraTargets {
  QueryValue,  ///< Hu et al. 2021, section 4.2; PEFT's default for Llama
  Attention,   ///< all its projections
  NonExpert,   ///< those, state mixers and the MLPs, but no routed expert
  Linear,      ///< those and the MLPs (every expert's); never router, embedding or head
};

std::string_view to_string(LoraTargets targets);
inline bool reaches_mlps(LoraTargets targets) {
  return targets == LoraTargets::NonExpert || targets == LoraTargets::Linear;
}
std::optional<LoraTargets> lora_targets_from(std::string_view name);

/// What adapters keep of a layer for the backward pass, beside what frozen layers keep.
struct AdapterKeeps {
  double token_bytes = 0;
  double layer_bytes = 0;  ///< however many tokens there are
  friend bool operator==(const AdapterKeeps&, const AdapterKeeps&) = default;
};

/// What adapters do in a layer beyond LoRA's of the same rank: bytes that their operations move.
struct AdapterWork {
  double forward_token_bytes = 0;
  double forward_layer_bytes = 0;  ///< however many tokens there are
  double backward_token_bytes = 0;
  double backward_layer_bytes = 0;
  double read_weights = 0;  ///< frozen weights that the forward pass reads once more
  double launches = 1;      ///< of the forward pass, over LoRA's
  friend bool operator==(const AdapterWork&, const AdapterWork&) = default;
};

struct Lora {
  std::int64_t rank = 16;
  LoraTargets targets = LoraTargets::Linear;
  /// Embedding and head are trained whole beside the adapters (`modules_to_save` of PEFT).
  bool train_embeddings = false;
  std::int64_t virtual_tokens = 0;        ///< of a method that trains prompts
  std::int64_t count = 1;                 ///< adapters trained at once, each on sequences of its own
  AdaptedLayers layers;                   ///< what of a block gets adapters of its own
  const AdapterMethod* method = nullptr;  ///< of PEFT, other than LoRA
  std::optional<AdapterKeeps> keeps;      ///< of adapters other than LoRA's in 16 bits
  std::optional<AdapterWork> work;
  [[nodiscard]] bool trains_prompt() const { return method != nullptr && method->is_prompt(); }
  friend bool operator==(const Lora&, const Lora&) = default;
};

/// What full training trains of a model whose other weights are frozen: blocks next to one another, and of what is
/// outside of them the embedding and the head.
struct TrainedLayers {
  std::int64_t blocks = 0;           ///< 0: embedding or head alone
  std::optional<std::int64_t> from;  ///< the first of them, counted from 0 at the input; nullopt: the last ones
  bool embedding = false;
  bool head = false;
  /// The first of them in a model of so many blocks.
  [[nodiscard]] std::int64_t begin(std::int64_t all) const { return from.value_or(all - blocks); }
  friend bool operator==(const TrainedLayers&, const TrainedLayers&) = default;
};
/// `last:8`, `8` (the last), `first:8+head`, `16-23`, `embedding+head`; nullopt for other words.
std::optional<TrainedLayers> trained_layers_from(std::string_view text);
/// Words that trained_layers_from() reads.
std::string to_string(const TrainedLayers& trained);
/// In sentences: `the last 8 blocks and the head`.
std::string trained_words(const TrainedLayers& trained);

/// Where the reference of a loss comes from.
enum class Reference {
  Copy,         ///< a frozen copy stands beside the trained weights
  Adapters,     ///< the frozen base with its adapters off
  Precomputed,  ///< its log-probabilities were computed before the run
};
std::string_view to_string(Reference reference);
std::optional<Reference> reference_from(std::string_view name);

/// Lengths of sequences; `mean` is 0 where all are as long.
struct SequenceLengths {
  std::int64_t longest = 0;
  std::int64_t mean = 0;
};

/// What is trained, on how much, in which number formats.
struct Workload {
  Architecture architecture;
  std::int64_t seq_len = 0;       ///< virtual tokens before it included
  std::int64_t global_batch = 0;  ///< sequences per optimizer step; a pair of a preference loss is two
  Precision precision = Precision::Bf16;
  Optimizer optimizer = Optimizer::AdamW;
  FineTune finetune = FineTune::Full;
  Lora lora;
  std::optional<TrainedLayers> trained_layers;  ///< of full training; nullopt: all weights
  double tokens = 0;                            ///< whole run
  /// Training goes on from trained weights, which every start fetches; adapters always do.
  bool fine_tunes = false;
  /// Sequences are of different lengths and padded to `seq_len`: attention reads a mask.
  bool padded = false;
  /// Tokens that an average sequence is computed with, padding included, where sequences differ: it decides the time.
  /// `seq_len` is that of the longest, which decides the memory. 0: all are as long.
  std::int64_t mean_seq_len = 0;
  const TrainingLoss* loss = nullptr;  ///< other than that of the next token
  Reference reference = Reference::Copy;
  std::optional<Architecture> teacher;  ///< whose logits a distillation learns

  [[nodiscard]] std::int64_t computed_seq_len() const { return mean_seq_len > 0 ? mean_seq_len : seq_len; }
  /// Virtual tokens that stand before each sequence. They are computed and are none of the data's tokens.
  [[nodiscard]] std::int64_t tokens_before_sequence() const;
  /// Virtual tokens whose keys attention reads beside those of the sequence.
  [[nodiscard]] std::int64_t keys_before_sequence() const;
  /// Of the data, without virtual tokens.
  [[nodiscard]] SequenceLengths data_lengths() const;
  /// An average sequence of the data.
  [[nodiscard]] std::int64_t data_seq_len() const { return computed_seq_len() - tokens_before_sequence(); }
  /// Lengths as the data has them; virtual tokens come before.
  void set_lengths(SequenceLengths of_data);
  /// Of the data.
  [[nodiscard]] double tokens_per_step() const {
    return static_cast<double>(data_seq_len()) * static_cast<double>(global_batch);
  }
  [[nodiscard]] double computed_tokens_per_step() const {
    return static_cast<double>(computed_seq_len()) * static_cast<double>(global_batch);
  }
  /// Sequences that go through the model together: two of a pair.
  [[nodiscard]] std::int32_t sequences_of_example() const { return loss != nullptr ? loss->sequences : 1; }
  /// Forward passes of the frozen model in a step.
  [[nodiscard]] double frozen_forwards() const;
  /// The frozen model whose weights stand beside the trained ones; nullptr where there is none.
  [[nodiscard]] const Architecture* frozen_copy() const;
  [[nodiscard]] bool has_logits() const { return loss == nullptr || !loss->scalar_head; }
  /// Weights stand beside the trained ones that are never updated.
  [[nodiscard]] bool has_frozen_weights() const { return finetune != FineTune::Full || trained_layers; }
  [[nodiscard]] bool trains_embedding() const;
  [[nodiscard]] bool trains_head() const;
  /// Gradients go from the head into the blocks: something is trained below the head.
  [[nodiscard]] bool trains_below_head() const;
  /// GPT-2 and GPT-3 were trained with dropout, later decoders without.
  [[nodiscard]] bool drops_out() const {
    return architecture.positions == PositionEncoding::Learned && !architecture.gated_mlp && finetune == FineTune::Full;
  }
  friend bool operator==(const Workload&, const Workload&) = default;
};

/// The workload as time sees it: every sequence is as long as the average one.
Workload at_mean_length(Workload workload);

Diagnostics check(const Workload& workload);

}  // namespace smplan
