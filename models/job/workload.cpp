#include "models/job/workload.hpp"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/words.hpp"

namespace smplan {
namespace {

constexpr std::array<std::pair<Optimizer, std::string_view>, 7> kOptimizers{{
    {Optimizer::AdamW, "adamw"},
    {Optimizer::Adam8bit, "adam8bit"},
    {Optimizer::SgdMomentum, "sgd-momentum"},
    {Optimizer::Lion, "lion"},
    {Optimizer::Adafactor, "adafactor"},
    {Optimizer::Muon, "muon"},
    {Optimizer::Lamb, "lamb"},
}};

/// Spellings of PyTorch, Megatron, Apex, DeepSpeed, Composer, bitsandbytes and TrainingArguments by their letters and
/// digits. Fusion, paging and the kind of weight decay do not change a byte on the device.
constexpr auto kOptimizerSynonyms = std::to_array<std::pair<std::string_view, Optimizer>>({
    {"adam", Optimizer::AdamW},
    {"fusedadam", Optimizer::AdamW},
    {"fusedadamw", Optimizer::AdamW},
    {"adamwtorch", Optimizer::AdamW},
    {"adamwtorchfused", Optimizer::AdamW},
    {"adamwfused", Optimizer::AdamW},
    {"adamwapexfused", Optimizer::AdamW},
    {"decoupledadamw", Optimizer::AdamW},
    {"distributedfusedadam", Optimizer::AdamW},
    {"pagedadamw", Optimizer::AdamW},
    {"pagedadamw32bit", Optimizer::AdamW},
    {"adamw8bit", Optimizer::Adam8bit},
    {"adamwbnb8bit", Optimizer::Adam8bit},
    {"pagedadamw8bit", Optimizer::Adam8bit},
    {"sgd", Optimizer::SgdMomentum},
});

constexpr std::array<std::pair<FineTune, std::string_view>, 3> kFineTunes{{
    {FineTune::Full, "full"},
    {FineTune::Lora, "lora"},
    {FineTune::Qlora, "qlora"},
}};

constexpr std::array<std::pair<LoraTargets, std::string_view>, 3> kTargets{{
    {LoraTargets::Linear, "linear"},
    {LoraTargets::Attention, "attention"},
    {LoraTargets::QueryValue, "query-value"},
}};

constexpr std::array<std::pair<Reference, std::string_view>, 3> kReferences{{
    {Reference::Copy, "copy"},
    {Reference::Adapters, "adapters"},
    {Reference::Precomputed, "precomputed"},
}};

/// Largest sequence, batch and adapter rank that products with widths still hold exactly in 64 bits.
constexpr std::int64_t kMaxSequence = std::int64_t{1} << 32;
constexpr std::int64_t kMaxBatch = std::int64_t{1} << 32;

void check_range(Diagnostics& out, const char* flag, const char* what, std::int64_t value, std::int64_t max) {
  if (value >= 1 && value <= max) return;
  out.push_back({"out-of-range", flag, fmt::format("{} must be between 1 and {}, is {}", what, max, value),
                 fmt::format("give a positive {}", what)});
}

}  // namespace

std::string_view to_string(Optimizer optimizer) {
  for (const auto& [value, name] : kOptimizers) {
    if (value == optimizer) return name;
  }
  return "unknown";
}

std::optional<Optimizer> optimizer_from(std::string_view name) {
  for (const auto& [value, known] : kOptimizers) {
    if (known == name) return value;
  }
  const std::string letters = letters_and_digits(name);
  for (const auto& [word, value] : kOptimizerSynonyms) {
    if (letters == word) return value;
  }
  return std::nullopt;
}

std::string_view to_string(FineTune mode) {
  for (const auto& [value, name] : kFineTunes) {
    if (value == mode) return name;
  }
  return "unknown";
}

std::optional<FineTune> finetune_from(std::string_view name) {
  for (const auto& [value, known] : kFineTunes) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::string_view to_string(LoraTargets targets) {
  for (const auto& [value, name] : kTargets) {
    if (value == targets) return name;
  }
  return "unknown";
}

std::optional<LoraTargets> lora_targets_from(std::string_view name) {
  for (const auto& [value, known] : kTargets) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::string_view to_string(Reference reference) {
  for (const auto& [value, name] : kReferences) {
    if (value == reference) return name;
  }
  return "unknown";
}

std::optional<Reference> reference_from(std::string_view name) {
  for (const auto& [value, known] : kReferences) {
    if (known == name) return value;
  }
  return std::nullopt;
}

double Workload::frozen_forwards() const {
  if (loss == nullptr || (loss->frozen == FrozenModel::Reference && reference == Reference::Precomputed)) return 0;
  return loss->frozen_forwards;
}

const Architecture* Workload::frozen_copy() const {
  if (loss == nullptr) return nullptr;
  if (loss->frozen == FrozenModel::Teacher) return teacher ? &*teacher : &architecture;
  return loss->frozen == FrozenModel::Reference && reference == Reference::Copy ? &architecture : nullptr;
}

Workload at_mean_length(Workload workload) {
  workload.seq_len = workload.computed_seq_len();
  workload.mean_seq_len = 0;
  return workload;
}

Diagnostics check(const Workload& workload) {
  Diagnostics out = check(workload.architecture, workload.architecture.name);
  check_range(out, "--seq-len", "sequence length", workload.seq_len, kMaxSequence);
  check_range(out, "--global-batch", "global batch", workload.global_batch, kMaxBatch);
  if (workload.mean_seq_len < 0 || workload.mean_seq_len > workload.seq_len) {
    out.push_back({"out-of-range", "--mean-seq-len",
                   fmt::format("an average sequence has 1 to {} tokens, the longest; {} is given", workload.seq_len,
                               workload.mean_seq_len),
                   "give a smaller --mean-seq-len or a longer --seq-len"});
  }
  const std::int32_t together = workload.sequences_of_example();
  if (workload.global_batch % together != 0) {
    out.push_back({"divisibility", "--global-batch",
                   fmt::format("{} compares {} sequences of an example, {} do not divide by them", workload.loss->name,
                               together, workload.global_batch),
                   fmt::format("give a multiple of {}", together)});
  }
  if (workload.teacher && workload.teacher->vocab != workload.architecture.vocab) {
    out.push_back(
        {"conflict", "--teacher",
         fmt::format("{} has a vocabulary of {}, {} of {}: their logits cannot be compared", workload.teacher->name,
                     workload.teacher->vocab, workload.architecture.name, workload.architecture.vocab),
         "name a teacher of the same vocabulary"});
  }
  const Architecture& a = workload.architecture;
  if (a.positions == PositionEncoding::Learned && a.max_positions > 0 && workload.seq_len > a.max_positions) {
    out.push_back(
        {"sequence-too-long", "--seq-len",
         fmt::format("{} learns {} positions, the sequence has {}", a.name, a.max_positions, workload.seq_len),
         fmt::format("use --seq-len {} or less", a.max_positions)});
  }
  if (!std::isfinite(workload.tokens) || workload.tokens < 0) {
    out.push_back({"out-of-range", "--tokens", "the number of tokens must be finite and not negative",
                   "give a count such as 300B"});
  }
  if (workload.finetune != FineTune::Full) {
    check_range(out, "--lora-rank", "LoRA rank", workload.lora.rank, a.hidden > 0 ? a.hidden : 1);
    if (workload.precision == Precision::Fp32 && workload.finetune == FineTune::Qlora) {
      out.push_back({"conflict", "--dtype", "QLoRA computes in a 16-bit format, not in fp32", "use --dtype bf16"});
    }
  }
  return out;
}

}  // namespace smplan
