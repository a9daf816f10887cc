#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "catalogs/architecture.hpp"
#include "catalogs/precision.hpp"

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
  Linear,      ///< those and the MLPs (every expert's); never router, embedding or head
};

/// What adapters keep of a layer for the backward pass, beside what frozen layers keep.
struct AdapterKeeps {
  double token_bytes = 0;
  double layer_bytes = 0;  ///< however many tokens there are
  friend bool operator==(const AdapterKeeps&, const AdapterKeeps&) = default;
};

struct Lora {
  std::int64_t rank = 16;
  LoraTargets targets = LoraTargets::Linear;
  /// Embedding and head are trained whole beside the adapters (`modules_to_save` of PEFT).
  bool train_embeddings = false;
  std::optional<AdapterKeeps> keeps;  ///< of adapters other than LoRA's in 16 bits. What a measured run did.
  friend bool operator==(const Lora&, const Lora&) = default;
};

/// What is trained, on how much, in which number formats.
struct Workload {
  Architecture architecture;
  std::int64_t seq_len = 0;
  std::int64_t global_batch = 0;  ///< sequences per optimizer step
  Precision precision = Precision::Bf16;
  Optimizer optimizer = Optimizer::AdamW;
  FineTune finetune = FineTune::Full;
  Lora lora;
  double tokens = 0;  ///< whole run
  /// Training goes on from trained weights, which every start fetches; adapters always do.
  bool fine_tunes = false;
  /// Sequences are of different lengths and padded to `seq_len`: attention reads a mask.
  bool padded = false;

  [[nodiscard]] double tokens_per_step() const {
    return static_cast<double>(seq_len) * static_cast<double>(global_batch);
  }
  [[nodiscard]] bool trains_embeddings() const { return finetune == FineTune::Full || lora.train_embeddings; }
  /// GPT-2 and GPT-3 were trained with dropout, later decoders without.
  [[nodiscard]] bool drops_out() const {
    return architecture.positions == PositionEncoding::Learned && !architecture.gated_mlp && finetune == FineTune::Full;
  }
  friend bool operator==(const Workload&, const Workload&) = default;
};

Diagnostics check(const Workload& workload);

}  // namespace smplan
