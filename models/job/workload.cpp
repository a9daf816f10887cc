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

Diagnostics check(const Workload& workload) {
  Diagnostics out = check(workload.architecture, workload.architecture.name);
  check_range(out, "--seq-len", "sequence length", workload.seq_len, kMaxSequence);
  check_range(out, "--global-batch", "global batch", workload.global_batch, kMaxBatch);
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
