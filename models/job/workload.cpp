#include "models/job/workload.hpp"

#include <array>
#include <charconv>
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

constexpr std::array<std::pair<LoraTargets, std::string_view>, 4> kTargets{{
    {LoraTargets::Linear, "linear"},
    {LoraTargets::NonExpert, "non-expert"},
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

/// `8`, `last:8`, `first:8` or `16-23`.
bool read_blocks(std::string_view word, TrainedLayers& out) {
  constexpr std::int64_t kMost = 1 << 20;
  const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    return whole && n >= 0 && n <= kMost ? std::optional(n) : std::nullopt;
  };
  const std::size_t colon = word.find(':');
  const std::string_view end = colon == std::string_view::npos ? "last" : word.substr(0, colon);
  if (colon != std::string_view::npos) word.remove_prefix(colon + 1);
  if (end != "last" && end != "first") return false;
  const std::size_t dash = word.find('-');
  const auto first = number(word.substr(0, dash));
  if (dash == std::string_view::npos) {
    if (end == "first") out.from = 0;
    out.blocks = first.value_or(0);
    return out.blocks > 0;
  }
  const bool to_end = dash + 1 == word.size();
  const auto last = to_end ? std::optional(kMost) : number(word.substr(dash + 1));
  if (colon != std::string_view::npos || !first || !last || *last < *first) return false;
  out.from = *first;
  out.blocks = *last - *first + 1;
  return true;
}

void check_trained_layers(Diagnostics& out, const Workload& workload) {
  const Architecture& a = workload.architecture;
  const auto add = [&](const char* code, std::string message, std::string hint) {
    out.push_back({code, "--trained-layers", std::move(message), std::move(hint)});
  };
  if (workload.finetune != FineTune::Full) {
    add("conflict", "adapters are trained beside a base of which all is frozen",
        "leave --trained-layers out, or use --finetune full");
  }
  if (a.kind == ModelKind::EncoderDecoder) {
    add("unsupported", fmt::format("{} has two rows of blocks, an encoder's and a decoder's", a.name),
        "leave --trained-layers out: freezing is modelled for models of one row of blocks");
  }
  const std::int64_t blocks = workload.trained_layers->blocks;
  const std::int64_t from = workload.trained_layers->from.value_or(0);
  if (blocks < 0 || blocks > a.n_layers || from < 0 || from > a.n_layers - blocks) {
    add("out-of-range",
        fmt::format("{} has {} blocks, {} is to be trained", a.name, a.n_layers, to_string(*workload.trained_layers)),
        fmt::format("name 1 to {} blocks, or a range from 0 to {}", a.n_layers, a.n_layers - 1));
  }
  if (blocks == 0 && !workload.trained_layers->embedding && !workload.trained_layers->head) {
    add("out-of-range", "nothing is trained", "name blocks, embedding or head, such as last:8");
  }
  if (workload.trained_layers->head && a.vocab <= 0) {
    add("conflict", fmt::format("{} has no head over a vocabulary", a.name), "leave the head out");
  }
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

std::optional<TrainedLayers> trained_layers_from(std::string_view text) {
  TrainedLayers out;
  while (true) {
    const std::size_t plus = text.find('+');
    const std::string_view word = text.substr(0, plus);
    if (word == "embedding" || word == "head") {
      bool& named = word == "head" ? out.head : out.embedding;
      if (named) return std::nullopt;
      named = true;
    } else if (out.blocks > 0 || !read_blocks(word, out)) {
      return std::nullopt;
    }
    if (plus == std::string_view::npos) return out;
    text.remove_prefix(plus + 1);
  }
}

std::string to_string(const TrainedLayers& trained) {
  std::string text;
  if (trained.blocks > 0) {
    text = !trained.from        ? fmt::format("last:{}", trained.blocks)
           : *trained.from == 0 ? fmt::format("first:{}", trained.blocks)
                                : fmt::format("{}-{}", *trained.from, *trained.from + trained.blocks - 1);
  }
  if (trained.embedding) text += text.empty() ? "embedding" : "+embedding";
  if (trained.head) text += text.empty() ? "head" : "+head";
  return text;
}

std::string trained_words(const TrainedLayers& trained) {
  std::string text;
  const auto add = [&](const std::string& part) { text += text.empty() ? part : " and " + part; };
  if (trained.blocks > 0 && trained.from.value_or(0) > 0) {
    add(fmt::format("blocks {} to {}", *trained.from, *trained.from + trained.blocks - 1));
  } else if (trained.blocks > 0) {
    add(fmt::format("the {} {} block{}", trained.from ? "first" : "last", trained.blocks,
                    trained.blocks == 1 ? "" : "s"));
  }
  if (trained.embedding) add("the embedding");
  if (trained.head) add("the head");
  return text;
}

// A tied head is the embedding.
bool Workload::trains_embedding() const {
  if (finetune != FineTune::Full) return lora.train_embeddings;
  if (!trained_layers) return true;
  return trained_layers->embedding || (trained_layers->head && architecture.tied_embeddings);
}

bool Workload::trains_head() const {
  if (finetune != FineTune::Full) return lora.train_embeddings;
  if (!trained_layers) return true;
  return trained_layers->head || (trained_layers->embedding && architecture.tied_embeddings);
}

bool Workload::trains_below_head() const { return !trained_layers || trained_layers->blocks > 0 || trains_embedding(); }

std::int64_t Workload::tokens_before_sequence() const {
  const bool before = finetune != FineTune::Full && lora.trains_prompt() && lora.method->prompt.embeddings > 0;
  return before ? lora.virtual_tokens : 0;
}

std::int64_t Workload::keys_before_sequence() const {
  const bool before = finetune != FineTune::Full && lora.trains_prompt() && lora.method->prompt.keys > 0;
  return before ? lora.virtual_tokens : 0;
}

SequenceLengths Workload::data_lengths() const {
  const std::int64_t before = tokens_before_sequence();
  return {seq_len - before, mean_seq_len > 0 ? mean_seq_len - before : 0};
}

void Workload::set_lengths(SequenceLengths of_data) {
  const std::int64_t before = tokens_before_sequence();
  seq_len = of_data.longest + before;
  mean_seq_len = of_data.mean > 0 ? of_data.mean + before : 0;
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
  const std::int64_t before = workload.tokens_before_sequence() + workload.keys_before_sequence();
  const std::int64_t positions = workload.data_lengths().longest + before;
  if (a.positions == PositionEncoding::Learned && a.max_positions > 0 && positions > a.max_positions) {
    out.push_back({"sequence-too-long", before > 0 ? "--seq-len and --virtual-tokens" : "--seq-len",
                   fmt::format("{} learns {} positions, the sequence has {}", a.name, a.max_positions, positions),
                   fmt::format("use --seq-len {} or less", std::max<std::int64_t>(1, a.max_positions - before))});
  }
  if (!std::isfinite(workload.tokens) || workload.tokens < 0) {
    out.push_back({"out-of-range", "--tokens", "the number of tokens must be finite and not negative",
                   "give a count such as 300B"});
  }
  if (workload.trained_layers) check_trained_layers(out, workload);
  if (workload.finetune != FineTune::Full) {
    if (!workload.lora.trains_prompt()) {
      check_range(out, "--lora-rank", "LoRA rank", workload.lora.rank, a.hidden > 0 ? a.hidden : 1);
    }
    if (workload.precision == Precision::Fp32 && workload.finetune == FineTune::Qlora) {
      out.push_back({"conflict", "--dtype", "QLoRA computes in a 16-bit format, not in fp32", "use --dtype bf16"});
    }
  }
  return out;
}

}  // namespace smplan
